"""Scores by hand, beside the libraries that compute the same."""

from __future__ import annotations

import math

import jiwer
import pytest
import torch
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor
from torch.testing import assert_close
from torchmetrics.functional.classification import multiclass_f1_score, multiclass_precision, multiclass_recall

from course_lib.from_scratch.scoring import (
    PrecisionRecallF1,
    accuracy,
    bleu,
    brevity_penalty,
    clipped_ngrams,
    corpus_bleu,
    edit_distance,
    edit_table,
    evaluate_labels,
    label_scores,
    log_likelihoods,
    micro_and_macro,
    ngram_precision,
    ngrams,
    perplexity,
    precision_recall_f1,
    sequence_accuracy,
    sequence_log_probability,
    word_error_rate,
)
from course_lib.objectives.losses import smoothed_cross_entropy

PREDICTED = torch.tensor([[0, 1, 2, 2], [1, 1, 0, 0]])
EXPECTED = torch.tensor([[0, 1, 1, 2], [1, 1, 2, 2]])
WORDS = torch.tensor([[True, True, True, True], [True, True, False, False]])


class TestAccuracy:
    def test_is_the_share_of_tokens_that_are_right(self) -> None:
        assert accuracy(PREDICTED, EXPECTED) == pytest.approx(5 / 8)
        assert accuracy(PREDICTED, EXPECTED, WORDS) == pytest.approx(5 / 6)

    def test_of_sequences_asks_for_all_their_words(self) -> None:
        assert sequence_accuracy(PREDICTED, EXPECTED, WORDS) == 0.5
        assert sequence_accuracy(PREDICTED, EXPECTED, torch.ones_like(WORDS)) == 0.0

    def test_nothing_to_score_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no label counts"):
            accuracy(PREDICTED, EXPECTED, torch.zeros_like(WORDS))
        with pytest.raises(ValueError, match="no sequence"):
            sequence_accuracy(PREDICTED[:0], EXPECTED[:0], WORDS[:0])

    def test_different_shapes_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"the same shape, not \[2, 4\], \[2, 3\], \[2, 3\]"):
            accuracy(PREDICTED, EXPECTED[:, :3])
        with pytest.raises(ValueError, match=r"the same shape, not \[2, 4\], \[2, 4\], \[1, 4\]"):
            sequence_accuracy(PREDICTED, EXPECTED, WORDS[:1])


def test_a_mask_of_numbers_is_refused() -> None:
    """It would be taken for indices, and give another score."""
    numbers = torch.ones_like(EXPECTED)
    for score in (accuracy, sequence_accuracy):
        with pytest.raises(TypeError, match=r"mask must be boolean .* write mask.bool\(\)"):
            score(PREDICTED, EXPECTED, numbers)
    with pytest.raises(TypeError, match="mask must be boolean"):
        precision_recall_f1(PREDICTED, EXPECTED, [0], numbers)
    with pytest.raises(TypeError, match="mask must be boolean"):
        perplexity(torch.zeros(2, 4), numbers)


class TestPrecisionRecallF1:
    def test_of_one_label(self) -> None:
        # Label 2 is predicted at 2 of the words that count, once rightly, and expected at 1 of them.
        score = precision_recall_f1(PREDICTED, EXPECTED, [2], WORDS)
        assert score == PrecisionRecallF1(precision=0.5, recall=1.0, f1=pytest.approx(2 / 3), support=1)

        assert label_scores(PREDICTED, EXPECTED, WORDS, 2) == (0.5, 1.0, pytest.approx(2 / 3))

    @pytest.mark.parametrize("average", ["micro", "macro"])
    @pytest.mark.parametrize("seed", range(5))
    def test_equals_torchmetrics(self, average: str, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        predicted, expected = torch.randint(0, 4, (2, 6, 7), generator=generator)
        ours = precision_recall_f1(predicted, expected, range(4), average=average)
        theirs = [
            measure(predicted, expected, num_classes=4, average=average).item()
            for measure in (multiclass_precision, multiclass_recall, multiclass_f1_score)
        ]
        assert [ours.precision, ours.recall, ours.f1] == pytest.approx(theirs)
        assert ours.support == 42

    def test_over_every_label_micro_is_the_accuracy(self) -> None:
        score = precision_recall_f1(PREDICTED, EXPECTED, range(3), WORDS, average="micro")
        assert [score.precision, score.recall, score.f1] == pytest.approx([accuracy(PREDICTED, EXPECTED, WORDS)] * 3)

    def test_without_the_most_frequent_label_it_is_not(self) -> None:
        nothing, entity = torch.tensor([0] * 8 + [1, 1]), torch.tensor([0] * 10)
        assert accuracy(entity, nothing) == pytest.approx(0.8)
        assert precision_recall_f1(entity, nothing, [1]).f1 == 0.0

    def test_macro_counts_a_rare_label_as_much_as_a_frequent_one(self) -> None:
        expected = torch.tensor([0] * 9 + [1])
        predicted = torch.zeros(10, dtype=torch.long)
        assert precision_recall_f1(predicted, expected, [0, 1], average="micro").recall == pytest.approx(0.9)
        assert precision_recall_f1(predicted, expected, [0, 1], average="macro").recall == pytest.approx(0.5)

    def test_a_label_that_never_occurs_scores_nothing(self) -> None:
        assert precision_recall_f1(PREDICTED, EXPECTED, [7]) == PrecisionRecallF1(0.0, 0.0, 0.0, 0)

    def test_no_labels_are_refused(self) -> None:
        with pytest.raises(ValueError, match="at least one label"):
            precision_recall_f1(PREDICTED, EXPECTED, [])


class TestLabelReport:
    PREDICTED = torch.tensor([[0, 1, 2, 2], [1, 1, 0, -100]])
    EXPECTED = torch.tensor([[0, 1, 1, 2], [1, 1, -100, -100]])
    MASK = torch.tensor([[True, True, True, True], [True, True, False, False]])

    def test_every_label_has_a_row(self) -> None:
        report = evaluate_labels(self.PREDICTED, self.EXPECTED, ["noun", "verb", "other"], self.MASK)
        rows = [line.split() for line in str(report).splitlines()[2:]]
        assert rows == [
            ["noun", "100.0", "100.0", "100.0", "1"],
            ["verb", "100.0", "75.0", "85.7", "4"],
            ["other", "50.0", "100.0", "66.7", "1"],
            ["micro", "83.3", "83.3", "83.3", "6"],
            ["macro", "83.3", "91.7", "84.1", "6"],
            ["accuracy:", "83.3"],
        ]
        assert BeautifulSoup(report._repr_html_(), "html.parser").find("td").text == "noun"

    def test_a_label_without_a_name_is_refused(self) -> None:
        with pytest.raises(ValueError, match="label -100 has no name; there are 3 names"):
            evaluate_labels(self.PREDICTED, self.EXPECTED, ["noun", "verb", "other"])
        with pytest.raises(ValueError, match="label 2 has no name; there are 2 names"):
            evaluate_labels(self.PREDICTED, self.EXPECTED, ["noun", "verb"], self.MASK)


class TestSequences:
    """S1's *The gray fluffy cat meowed very loudly EOS*; the slide prints .2 for EOS, whose row says .3."""

    RIGHT = torch.tensor([0.2, 0.12, 0.2, 0.19, 0.3, 0.2, 0.2, 0.3])
    PRINTED = torch.tensor([0.2, 0.12, 0.2, 0.19, 0.3, 0.2, 0.2, 0.2])
    WORDS = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])

    def logits(self, right: Tensor) -> Tensor:
        """Scores that give each right word its probability, and the rest of it to nine others; any number may be added
        to all scores of a place."""
        others = ((1 - right) / 9).unsqueeze(-1).repeat(1, 10)
        return others.scatter(-1, self.WORDS.unsqueeze(-1), right.unsqueeze(-1)).log() + torch.randn(8, 1)

    @pytest.mark.parametrize(("right", "mean", "equal_choices"), [(RIGHT, 1.5783, 4.847), (PRINTED, 1.6290, 5.099)])
    def test_of_the_slide(self, right: Tensor, mean: float, equal_choices: float) -> None:
        logits = self.logits(right)
        assert_close(log_likelihoods(logits, self.WORDS), right.log())
        total = sequence_log_probability(logits, self.WORDS)
        assert_close(total.exp(), right.prod())
        assert -total.item() / 8 == pytest.approx(mean, abs=5e-5)
        assert smoothed_cross_entropy(logits, self.WORDS).item() == pytest.approx(mean, abs=5e-5)
        assert perplexity(log_likelihoods(logits, self.WORDS)) == pytest.approx(equal_choices, abs=5e-4)

    def test_are_torchs(self) -> None:
        logits, words = torch.randn(2, 3, 5, 7), torch.randint(7, (2, 3, 5))
        theirs = torch.distributions.Categorical(logits=logits).log_prob(words)
        assert_close(log_likelihoods(logits, words), theirs)
        assert_close(sequence_log_probability(logits, words), theirs.sum(dim=-1))

    def test_padding_does_not_count(self) -> None:
        logits, words = torch.randn(2, 5, 7), torch.randint(7, (2, 5))
        logits[1, 3:] = -torch.inf
        logits[1, 3:, words[1, 3:] - 1] = 0.0  # padding is impossible here
        mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
        alone = sequence_log_probability(logits[1, :3], words[1, :3])
        assert_close(sequence_log_probability(logits, words, mask)[1], alone)

    def test_what_does_not_fit_is_refused(self) -> None:
        logits, words = torch.randn(2, 5, 7), torch.randint(7, (2, 5))
        with pytest.raises(ValueError, match=r"logits \[2, 5, 7\] need words \[2, 5\], not \[2, 4\]"):
            log_likelihoods(logits, words[:, :4])
        with pytest.raises(ValueError, match="the same shape"):
            sequence_log_probability(logits, words, torch.ones(2, 4, dtype=torch.bool))
        with pytest.raises(TypeError, match="mask must be boolean"):
            sequence_log_probability(logits, words, torch.ones(2, 5))


class TestPerplexity:
    def test_of_equal_choices_is_their_number(self) -> None:
        assert perplexity(torch.full((3, 5), 1 / 7).log()) == pytest.approx(7, rel=1e-6)

    def test_padding_does_not_count(self) -> None:
        log_likelihoods = torch.tensor([[0.5, 1e-9]]).log()
        assert perplexity(log_likelihoods, torch.tensor([[True, False]])) == pytest.approx(2)

    def test_nothing_to_score_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no word counts"):
            perplexity(torch.zeros(0))


class TestNgrams:
    def test_are_runs_of_words(self) -> None:
        assert ngrams(list("abab"), 2) == {("a", "b"): 2, ("b", "a"): 1}
        assert ngrams(["a"], 2) == {}
        with pytest.raises(ValueError, match="at least 1 word, not 0"):
            ngrams(["a"], 0)

    def test_are_clipped_to_the_reference_that_has_most(self) -> None:
        """Papineni et al. (2002), section 2.1, example 2: the precision is 2/7, not 7/7."""
        hypothesis = ["the"] * 7
        references = [text.split() for text in ("the cat is on the mat", "there is a cat on the mat")]
        assert clipped_ngrams(hypothesis, references, 1) == (2, 7)
        assert clipped_ngrams(hypothesis, references, 2) == (0, 6)

    def test_need_a_reference(self) -> None:
        with pytest.raises(ValueError, match="at least one reference"):
            clipped_ngrams(["a"], [], 1)

    def test_no_ngram_at_all_has_a_precision_of_0(self) -> None:
        assert ngram_precision([["a"]], [[["a"]]], 2) == 0.0


SENTENCES = st.lists(st.sampled_from("abcd"), max_size=9)
REFERENCES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=9)


class TestNgramPrecision:
    @given(st.lists(st.tuples(SENTENCES, st.lists(REFERENCES, min_size=2, max_size=2)), min_size=1, max_size=4))
    def test_equals_sacrebleus(self, corpus: list[tuple[list[str], list[list[str]]]]) -> None:
        hypotheses, references = [hypothesis for hypothesis, _ in corpus], [right for _, right in corpus]
        streams = [[" ".join(right[i]) for right in references] for i in range(2)]
        sacrebleu = BLEU(tokenize="none", smooth_method="none", force=True)
        theirs = sacrebleu.corpus_score([" ".join(hypothesis) for hypothesis in hypotheses], streams)
        ours = [ngram_precision(hypotheses, references, n) for n in range(1, 5)]
        counts = [
            matched / total if total else 0.0 for matched, total in zip(theirs.counts, theirs.totals, strict=True)
        ]
        assert ours == pytest.approx(counts)
        assert 100 * corpus_bleu(hypotheses, references) == pytest.approx(theirs.score)

    def test_of_a_corpus_is_not_the_mean_over_its_sentences(self) -> None:
        hypotheses = [["a"], ["b", "c", "d"]]
        references = [[["a"]], [["x"]]]
        assert ngram_precision(hypotheses, references, 1) == 0.25
        assert micro_and_macro([1, 0], [1, 3]) == (0.25, 0.5)

    def test_a_sentence_without_ngrams_has_a_precision_of_0(self) -> None:
        assert micro_and_macro([0, 1], [0, 2]) == (0.5, 0.25)
        with pytest.raises(ValueError, match="there are 1 and 2"):
            micro_and_macro([0], [1, 2])


class TestBLEU:
    def test_a_short_hypothesis_is_punished(self) -> None:
        assert brevity_penalty(3, 6) == pytest.approx(math.exp(-1))
        assert brevity_penalty(6, 6) == brevity_penalty(9, 6) == 1.0
        assert brevity_penalty(0, 6) == 0.0

    def test_is_a_geometric_mean(self) -> None:
        assert bleu([0.5, 0.25, 0.25, 0.5], 0.8) == pytest.approx(0.8 * math.sqrt(0.5 * 0.25))
        assert bleu([1.0, 0.5, 0.0, 0.0], 1.0) == 0.0
        with pytest.raises(ValueError, match="no precisions"):
            bleu([], 1.0)


class TestWordErrorRate:
    @given(SENTENCES, REFERENCES)
    def test_the_distance_equals_jiwers(self, hypothesis: list[str], reference: list[str]) -> None:
        theirs = jiwer.process_words(" ".join(reference), " ".join(hypothesis))
        assert edit_distance(hypothesis, reference) == theirs.substitutions + theirs.deletions + theirs.insertions

    @given(st.lists(st.tuples(SENTENCES, REFERENCES), min_size=1, max_size=4))
    def test_the_rate_equals_jiwers(self, corpus: list[tuple[list[str], list[str]]]) -> None:
        hypotheses, references = [pair[0] for pair in corpus], [pair[1] for pair in corpus]
        theirs = jiwer.wer([" ".join(words) for words in references], [" ".join(words) for words in hypotheses])
        assert word_error_rate(hypotheses, references) == pytest.approx(theirs)

    def test_the_table_holds_the_distances_of_all_beginnings(self) -> None:
        hypothesis, reference = list("ab"), list("bca")
        table = [[edit_distance(hypothesis[:i], reference[:j]) for j in range(4)] for i in range(3)]
        assert edit_table(hypothesis, reference).tolist() == table == [[0, 1, 2, 3], [1, 1, 2, 2], [2, 1, 2, 3]]

    def test_another_distance_can_be_given(self) -> None:
        assert word_error_rate([["a"]], [["a", "b"]], lambda hypothesis, reference: 5) == 2.5

    def test_may_exceed_1(self) -> None:
        assert word_error_rate([["a", "b", "c"]], [["x"]]) == 3.0

    def test_bad_input_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no hypotheses"):
            word_error_rate([], [])
        with pytest.raises(ValueError, match="there are 1 and 2"):
            word_error_rate([["a"]], [["a"], ["b"]])
        with pytest.raises(ValueError, match="references with words"):
            word_error_rate([["a"]], [[]])
        with pytest.raises(ValueError, match="there are 2 and 1"):
            ngram_precision([["a"], ["b"]], [[["a"]]], 1)


@pytest.mark.parametrize("log_likelihood", [-1000.0, -math.inf])
def test_perplexity_of_what_is_all_but_impossible_is_infinite(log_likelihood: float) -> None:
    assert perplexity(torch.full((3,), log_likelihood)) == math.inf


def test_perplexity_does_not_lose_precision_over_many_words() -> None:
    words = torch.full((100_000,), math.log(0.1), dtype=torch.float32)
    assert perplexity(words) == pytest.approx(10, rel=1e-6)
