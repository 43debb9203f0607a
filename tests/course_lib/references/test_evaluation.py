"""Scores beside the libraries that compute the same."""

import jiwer
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from torchmetrics.functional.classification import multiclass_f1_score, multiclass_precision, multiclass_recall

from course_lib.references.evaluation import (
    clipped_ngrams,
    corpus_bleu,
    edit_distance,
    precision_recall_f1,
    word_error_rate,
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("label", range(4))
def test_precision_recall_and_f1_are_torchmetrics(seed: int, label: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    predicted, expected = torch.randint(0, 4, (2, 6, 7), generator=generator)
    theirs = [
        measure(predicted, expected, num_classes=4, average="none")[label].item()
        for measure in (multiclass_precision, multiclass_recall, multiclass_f1_score)
    ]
    mask = torch.ones_like(expected, dtype=torch.bool)
    assert precision_recall_f1(predicted, expected, mask, label) == pytest.approx(theirs)


SENTENCES = st.lists(st.sampled_from("abcd"), max_size=9)
REFERENCES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=9)


@given(st.lists(st.tuples(SENTENCES, st.lists(REFERENCES, min_size=2, max_size=2)), min_size=1, max_size=4))
def test_ngram_precisions_equal_sacrebleus(corpus: list[tuple[list[str], list[list[str]]]]) -> None:
    hypotheses, references = [hypothesis for hypothesis, _ in corpus], [right for _, right in corpus]
    streams = [[" ".join(right[i]) for right in references] for i in range(2)]
    sacrebleu = BLEU(tokenize="none", smooth_method="none", force=True)
    theirs = sacrebleu.corpus_score([" ".join(hypothesis) for hypothesis in hypotheses], streams)
    counted = [[clipped_ngrams(*pair, n) for n in range(1, 5)] for pair in zip(hypotheses, references, strict=True)]
    lengths = [(len(said), [len(one) for one in right]) for said, right in corpus]
    assert 100 * corpus_bleu(counted, lengths) == pytest.approx(theirs.score)


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
