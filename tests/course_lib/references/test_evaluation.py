"""Scores by hand, beside the libraries that compute the same."""

from __future__ import annotations

import math

import jiwer
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from torchmetrics.functional.classification import multiclass_f1_score, multiclass_precision, multiclass_recall

from course_lib.references.evaluation import (
    brevity_penalty,
    clipped_ngrams,
    corpus_bleu,
    edit_distance,
    edit_table,
    micro_and_macro,
    ngrams,
    pairwise_accuracy,
    precision_recall_f1,
    seen_before,
    sequence_accuracy,
    word_error_rate,
)

PREDICTED = torch.tensor([[0, 1, 2, 2], [1, 1, 0, 0]])
EXPECTED = torch.tensor([[0, 1, 1, 2], [1, 1, 2, 2]])
WORDS = torch.tensor([[True, True, True, True], [True, True, False, False]])


class TestLabels:
    def test_a_sequence_is_right_if_all_its_words_are(self) -> None:
        assert sequence_accuracy(PREDICTED, EXPECTED, WORDS) == 0.5
        assert sequence_accuracy(PREDICTED, EXPECTED, torch.ones_like(WORDS)) == 0.0

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("label", range(4))
    def test_precision_recall_and_f1_are_torchmetrics(self, seed: int, label: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        predicted, expected = torch.randint(0, 4, (2, 6, 7), generator=generator)
        theirs = [
            measure(predicted, expected, num_classes=4, average="none")[label].item()
            for measure in (multiclass_precision, multiclass_recall, multiclass_f1_score)
        ]
        mask = torch.ones_like(expected, dtype=torch.bool)
        assert precision_recall_f1(predicted, expected, mask, label) == pytest.approx(theirs)

    def test_padding_does_not_count(self) -> None:
        # Label 2 is predicted at 2 of the words that count, once rightly, and expected at 1 of them.
        assert precision_recall_f1(PREDICTED, EXPECTED, WORDS, 2) == (0.5, 1.0, pytest.approx(2 / 3))

    def test_a_label_that_never_occurs_scores_nothing(self) -> None:
        assert precision_recall_f1(PREDICTED, EXPECTED, WORDS, 7) == (0.0, 0.0, 0.0)


class TestNgrams:
    def test_are_runs_of_words(self) -> None:
        assert ngrams(list("abab"), 2) == {("a", "b"): 2, ("b", "a"): 1}
        assert ngrams(["a"], 2) == {}

    def test_are_clipped_to_the_reference_that_has_most(self) -> None:
        """Papineni et al. (2002), section 2.1, example 2: the precision is 2/7, not 7/7."""
        hypothesis = ["the"] * 7
        references = [text.split() for text in ("the cat is on the mat", "there is a cat on the mat")]
        assert clipped_ngrams(hypothesis, references, 1) == (2, 7)
        assert clipped_ngrams(hypothesis, references, 2) == (0, 6)


SENTENCES = st.lists(st.sampled_from("abcd"), max_size=9)
REFERENCES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=9)


class TestNgramPrecision:
    @given(st.lists(st.tuples(SENTENCES, st.lists(REFERENCES, min_size=2, max_size=2)), min_size=1, max_size=4))
    def test_equals_sacrebleus(self, corpus: list[tuple[list[str], list[list[str]]]]) -> None:
        hypotheses, references = [hypothesis for hypothesis, _ in corpus], [right for _, right in corpus]
        streams = [[" ".join(right[i]) for right in references] for i in range(2)]
        sacrebleu = BLEU(tokenize="none", smooth_method="none", force=True)
        theirs = sacrebleu.corpus_score([" ".join(hypothesis) for hypothesis in hypotheses], streams)
        counted = [[clipped_ngrams(*pair, n) for n in range(1, 5)] for pair in zip(hypotheses, references, strict=True)]
        lengths = [(len(said), [len(one) for one in right]) for said, right in corpus]
        assert 100 * corpus_bleu(counted, lengths) == pytest.approx(theirs.score)

    def test_of_a_corpus_is_not_the_mean_over_its_sentences(self) -> None:
        assert micro_and_macro([1, 0], [1, 3]) == (0.25, 0.5)

    def test_a_sentence_without_ngrams_has_a_precision_of_0(self) -> None:
        assert micro_and_macro([0, 1], [0, 2]) == (0.5, 0.25)


class TestBLEU:
    def test_a_short_hypothesis_is_punished(self) -> None:
        assert brevity_penalty(3, 6) == pytest.approx(math.exp(-1))
        assert brevity_penalty(6, 6) == brevity_penalty(9, 6) == 1.0
        assert brevity_penalty(0, 6) == 0.0

    def test_is_a_geometric_mean(self) -> None:
        mean = math.sqrt(0.5 * 0.25)
        assert corpus_bleu([[(4, 8), (2, 8)]], [(8, [6])]) == pytest.approx(mean)
        assert corpus_bleu([[(4, 8), (2, 8)]], [(8, [9, 16])], lambda said, right: said / right) == pytest.approx(
            8 / 9 * mean
        )
        assert corpus_bleu([[(4, 8), (0, 8)]], [(8, [8])]) == 0.0


class TestPairwiseAccuracy:
    @pytest.mark.parametrize(
        ("metric", "people", "tolerance", "agreed"),
        [
            ([1.0, 2.0, 3.0], [1, 2, 3], 0.0, 3),
            ([3.0, 2.0, 1.0], [1, 2, 3], 0.0, 0),
            ([1.0, 1.5, 3.0], [2, 2, 3], 0.0, 2),
            ([1.0, 1.5, 3.0], [2, 2, 3], 0.5, 3),
            ([1.0, 1.5, 3.0], [2, 2, 3], 2.0, 1),
        ],
    )
    def test_counts_agreement_and_ties(
        self, metric: list[float], people: list[float], tolerance: float, agreed: int
    ) -> None:
        assert pairwise_accuracy(metric, people, tolerance) == agreed / 3


class TestSeenBefore:
    @given(st.lists(SENTENCES, max_size=4), st.lists(SENTENCES, max_size=4), st.integers(1, 4))
    def test_words_are_covered_by_runs_that_are_in_the_training_data(
        self, test: list[list[str]], training: list[list[str]], n: int
    ) -> None:
        texts = ["".join(words) for words in training]
        for words, share in zip(test, seen_before(test, training, n), strict=True):
            runs = [i for i in range(len(words) - n + 1) if any("".join(words[i : i + n]) in text for text in texts)]
            inside = [any(i <= place < i + n for i in runs) for place in range(len(words))]
            assert share == pytest.approx(sum(inside) / len(words) if words else 0.0)


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
