"""Scores computed by hand: what the lesson on evaluation explains and has students write (S1, "evaluation").

    labels      accuracy, precision, recall, F1; over all tokens, or whole sentences
    generation  a text's log-probability, perplexity, BLEU, word error rate

`course_lib.evaluation.metrics` computes published metrics with the libraries that papers report; these few are equal to
theirs and short enough to read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_lib.ground.refusals import require_boolean
from course_lib.ground.tables import Table

Words = Sequence[str]
"""A sentence that is already split into words."""

# --- Labels ----------------------------------------------------------------------------------------------------


def accuracy(
    predicted: Int[Tensor, "..."], expected: Int[Tensor, "..."], mask: Bool[Tensor, "..."] | None = None
) -> float:
    """The share of labels that are right: of tokens ([batch, words]), or of sequences ([batch]).

    Args:
        predicted, expected: labels, in the same shape.
        mask: True at the labels that count, such as those of words and not of padding; None counts all.

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: the shapes differ, or no label counts.
    """
    predicted, expected = _counted(predicted, expected, mask)
    return (predicted == expected).float().mean().item()


def sequence_accuracy(
    predicted: Int[Tensor, "batch words"], expected: Int[Tensor, "batch words"], mask: Bool[Tensor, "batch words"]
) -> float:
    """The share of sequences in which every label that counts is right (S1: whole-sentence accuracy).

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: the shapes differ, or there is no sequence.
    """
    _require_same_shape(predicted, expected, mask)
    if not len(predicted):
        raise ValueError("there is nothing to score: no sequence")
    whole = ((predicted == expected) | ~mask).all(dim=-1)
    return whole.float().mean().item()


@dataclass(frozen=True)
class PrecisionRecallF1:
    """How well a label, or a set of them, is found. All are shares from 0 to 1; 0 where they would be 0 / 0.

    Attributes:
        precision: of what was predicted to be it, how much is.
        recall: of what is it, how much was predicted to be.
        f1: their harmonic mean.
        support: how often it is expected.
    """

    precision: float
    recall: float
    f1: float
    support: int


def precision_recall_f1(
    predicted: Int[Tensor, "..."],
    expected: Int[Tensor, "..."],
    labels: Sequence[int],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    average: Literal["micro", "macro"] = "micro",
) -> PrecisionRecallF1:
    """Precision, recall and F1 of several labels together.

    "micro" adds up the counts of all the labels first, so that a frequent label weighs more: over *every*
    label it is the accuracy. "macro" is the plain mean over the labels, rare ones included.

    Args:
        predicted, expected: labels, in the same shape; of tokens or of sequences.
        labels: those to score; leave out some, such as "no entity", to score how well the others are found.
        mask: True at the labels that count; None counts all.
        average: how to join the labels.

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: the shapes differ, no label counts, or `labels` is empty.
    """
    if not labels:
        raise ValueError("there is nothing to score: name at least one label")
    predicted, expected = _counted(predicted, expected, mask)
    counts = [_LabelCounts.of(label, predicted, expected) for label in labels]
    if average == "micro":
        return sum(counts, start=_LabelCounts(0, 0, 0)).score()
    scores = [count.score() for count in counts]
    return PrecisionRecallF1(
        precision=sum(score.precision for score in scores) / len(scores),
        recall=sum(score.recall for score in scores) / len(scores),
        f1=sum(score.f1 for score in scores) / len(scores),
        support=sum(score.support for score in scores),
    )


def label_scores(
    predicted: Int[Tensor, "..."], expected: Int[Tensor, "..."], mask: Bool[Tensor, "..."], label: int
) -> tuple[float, float, float]:
    """Precision, recall and F1 of one label, as plain numbers.

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: the shapes differ, or no label counts.
    """
    score = precision_recall_f1(predicted, expected, [label], mask)
    return score.precision, score.recall, score.f1


@dataclass(frozen=True)
class LabelReport:
    """Precision, recall and F1 of every label, and of all of them together.

    Attributes:
        names: of the labels; a label is an index into them.
        scores: of each label, in the same order.
        micro: over the summed counts of all labels.
        macro: the plain mean over the labels.
        accuracy: the share of labels that are right.
    """

    names: tuple[str, ...]
    scores: tuple[PrecisionRecallF1, ...]
    micro: PrecisionRecallF1
    macro: PrecisionRecallF1
    accuracy: float

    @property
    def table(self) -> Table:
        """A row for each label, then the averages."""
        named = [*zip(self.names, self.scores, strict=True), ("micro", self.micro), ("macro", self.macro)]
        rows = [
            (name, *(f"{100 * share:.1f}" for share in (score.precision, score.recall, score.f1)), str(score.support))
            for name, score in named
        ]
        header = ("label, in percent", "precision", "recall", "F1", "support")
        return Table(header, rows, (f"accuracy: {100 * self.accuracy:.1f}",))

    def __str__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def evaluate_labels(
    predicted: Int[Tensor, "..."],
    expected: Int[Tensor, "..."],
    names: Sequence[str],
    mask: Bool[Tensor, "..."] | None = None,
) -> LabelReport:
    """Judge labels of tokens ([batch, words], with a mask) or of sequences ([batch]).

    Args:
        predicted, expected: labels, in the same shape.
        names: of the labels, from 0.
        mask: True at the labels that count, such as those of words and not of padding; None counts all.

    Raises:
        ValueError: shapes differ, no label counts, or a label that counts has no name.
    """
    every = range(len(names))
    for labels in (predicted, expected):
        counted = labels if mask is None or mask.shape != labels.shape else labels[mask]
        unnamed = counted[(counted < 0) | (counted >= len(names))]
        if unnamed.numel():
            raise ValueError(f"label {int(unnamed[0])} has no name; there are {len(names)} names")
    score = partial(precision_recall_f1, predicted, expected, mask=mask)
    return LabelReport(
        names=tuple(names),
        scores=tuple(score([label]) for label in every),
        micro=score(every),
        macro=score(every, average="macro"),
        accuracy=accuracy(predicted, expected, mask),
    )


@dataclass(frozen=True)
class _LabelCounts:
    """How often a label was right, was predicted, and was expected."""

    right: int
    predicted: int
    expected: int

    @classmethod
    def of(cls, label: int, predicted: Tensor, expected: Tensor) -> _LabelCounts:
        said, true = predicted == label, expected == label
        return cls(int((said & true).sum()), int(said.sum()), int(true.sum()))

    def __add__(self, other: _LabelCounts) -> _LabelCounts:
        return _LabelCounts(self.right + other.right, self.predicted + other.predicted, self.expected + other.expected)

    def score(self) -> PrecisionRecallF1:
        return PrecisionRecallF1(
            precision=self.right / max(self.predicted, 1),
            recall=self.right / max(self.expected, 1),
            f1=2 * self.right / max(self.predicted + self.expected, 1),
            support=self.expected,
        )


def _counted(predicted: Tensor, expected: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """The labels that count, in one row each."""
    mask = torch.ones_like(expected, dtype=torch.bool) if mask is None else mask
    _require_same_shape(predicted, expected, mask)
    if not mask.any():
        raise ValueError("there is nothing to score: no label counts")
    return predicted[mask], expected[mask]


def _require_same_shape(predicted: Tensor, expected: Tensor, mask: Tensor) -> None:
    require_boolean(mask, "counts")
    if not predicted.shape == expected.shape == mask.shape:
        shapes = ", ".join(str(list(tensor.shape)) for tensor in (predicted, expected, mask))
        raise ValueError(f"predicted, expected and mask must have the same shape, not {shapes}")


# --- Language models -------------------------------------------------------------------------------------------


def log_likelihoods(
    logits: Float[Tensor, "... words vocabulary"], expected: Int[Tensor, "... words"]
) -> Float[Tensor, "... words"]:
    """ln P(word | the words before it) of each right word, in nats.

    Args:
        logits: scores of all words at each place, read with teacher forcing: from the right words before it.
        expected: the right words.

    Raises:
        ValueError: there is not one row of logits for each right word.
    """
    if logits.shape[:-1] != expected.shape:
        raise ValueError(
            f"logits {list(logits.shape)} need words {list(logits.shape[:-1])}, not {list(expected.shape)}"
        )
    return torch.log_softmax(logits, dim=-1).gather(-1, expected.unsqueeze(-1)).squeeze(-1)


def sequence_log_probability(
    logits: Float[Tensor, "... words vocabulary"],
    expected: Int[Tensor, "... words"],
    mask: Bool[Tensor, "... words"] | None = None,
) -> Float[Tensor, "..."]:
    """ln P(e | f) of each whole sequence by the chain rule: Σ_t ln P(e_t | e_1, ..., e_t-1, f), in nats (S1, S4).

    Args:
        logits, expected: as for `log_likelihoods`.
        mask: True at the words that count, not at padding; None counts all.

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: the shapes differ.
    """
    found = log_likelihoods(logits, expected)
    if mask is None:
        return found.sum(dim=-1)
    _require_same_shape(expected, expected, mask)
    return found.masked_fill(~mask, 0.0).sum(dim=-1)


def perplexity(log_likelihoods: Float[Tensor, "..."], mask: Bool[Tensor, "..."] | None = None) -> float:
    """exp of the mean negative log-likelihood of the words: among how many equal choices the model seems to guess.

    Args:
        log_likelihoods: ln of the probability that the model gave to each right word, in nats, as the function of that
            name gives it.
        mask: True at the words that count; None counts all.

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: no word counts.
    """
    if mask is not None:
        require_boolean(mask, "counts")
    counted = log_likelihoods if mask is None else log_likelihoods[mask]
    if not counted.numel():
        raise ValueError("there is nothing to score: no word counts")
    return counted.double().mean().neg().exp().item()  # infinite where `math.exp` would refuse


# --- Generated text --------------------------------------------------------------------------------------------


def ngrams(words: Words, n: int) -> Counter[tuple[str, ...]]:
    """How often each run of n consecutive words occurs.

    Raises:
        ValueError: `n` is below 1.
    """
    if n < 1:
        raise ValueError(f"an n-gram has at least 1 word, not {n}")
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


def clipped_ngrams(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    """How many of a hypothesis's n-grams its references also have, and how many it has, as BLEU counts them.

    Each n-gram is found at most as often as the reference that has it most often. Without this clipping
    *the the the* would match every *the* of *the cat*, and be perfect. Papineni et al. (2002), section 2.1.

    Raises:
        ValueError: there is no reference, or `n` is below 1.
    """
    if not references:
        raise ValueError("there is nothing to compare with: give at least one reference")
    allowed: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        allowed |= ngrams(reference, n)  # the larger count of each n-gram
    found = ngrams(hypothesis, n)
    return (found & allowed).total(), found.total()


def micro_and_macro(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    """A precision of many sentences, joined both ways (S1: corpus and sentence BLEU).

    Args:
        matched: of each sentence, how many of its n-grams are right.
        total: of each sentence, how many it has.

    Returns:
        "micro", the counts added up before they are divided, and "macro", the mean of the sentences' own
        precisions. A sentence without n-grams has a precision of 0.

    Raises:
        ValueError: there are no sentences, or not as many totals.
    """
    _require_pairs(len(matched), len(total))
    micro = _share(sum(matched), sum(total))
    macro = sum(_share(*counts) for counts in zip(matched, total, strict=True)) / len(matched)
    return micro, macro


def _share(matched: int, total: int) -> float:
    return matched / total if total else 0.0


def ngram_precision(hypotheses: Sequence[Words], references: Sequence[Sequence[Words]], n: int) -> float:
    """BLEU's modified n-gram precision of a corpus, from 0 to 1: the sentences' counts are added, then divided.

    Args:
        hypotheses: the sentences to judge.
        references: for each of them one or more right ones.
        n: the length of the n-grams; BLEU takes 1 to 4.

    Raises:
        ValueError: there are no hypotheses, or not as many lists of references.
    """
    _require_pairs(len(hypotheses), len(references))
    counts = [clipped_ngrams(*pair, n) for pair in zip(hypotheses, references, strict=True)]
    micro, _macro = micro_and_macro(*zip(*counts, strict=True))
    return micro


def brevity_penalty(hypothesis_length: int, reference_length: int) -> float:
    """BLEU's factor for being short: 1 from the reference's length on, exp(1 - r/c) below, 0 for nothing at all.

    Papineni et al. (2002), section 2.2.
    """
    if hypothesis_length >= reference_length:
        return 1.0
    return math.exp(1 - reference_length / hypothesis_length) if hypothesis_length else 0.0


def bleu(precisions: Sequence[float], penalty: float) -> float:
    """The geometric mean of the n-gram precisions, times the brevity penalty; from 0 to 1.

    Papineni et al. (2002), section 2.3, with equal weights. One precision of 0 makes it 0.

    Args:
        precisions: of 1-grams, 2-grams and so on; usually four.
        penalty: the brevity penalty.

    Raises:
        ValueError: there are no precisions.
    """
    if not precisions:
        raise ValueError("there is nothing to average: no precisions")
    mean = math.prod(precisions) ** (1 / len(precisions))
    return penalty * mean


def corpus_bleu(hypotheses: Sequence[Words], references: Sequence[Sequence[Words]], longest: int = 4) -> float:
    """BLEU of a corpus, from 0 to 1, as Papineni et al. (2002) define it; nothing is smoothed.

    Of several references the one that is closest in length counts for the brevity penalty, the shorter of two
    equally close ones.

    Raises:
        ValueError: there are no hypotheses, not as many lists of references, or a hypothesis without reference.
    """
    precisions = [ngram_precision(hypotheses, references, n) for n in range(1, longest + 1)]
    lengths = [
        min((len(reference) for reference in several), key=lambda length: (abs(length - len(hypothesis)), length))
        for hypothesis, several in zip(hypotheses, references, strict=True)
    ]
    return bleu(precisions, brevity_penalty(sum(map(len, hypotheses)), sum(lengths)))


def edit_table(hypothesis: Words, reference: Words) -> Int[Tensor, "rows columns"]:
    """At [i, j], the fewest edits that turn the first i words of the hypothesis into the first j of the reference.

    Its rows are counted from no word of the hypothesis to all of them, its columns likewise for the reference.

    An edit substitutes, deletes or inserts one word:

        D[i, 0] = i,  D[0, j] = j
        D[i, j] = min(D[i-1, j] + 1, D[i, j-1] + 1, D[i-1, j-1] + [hypothesis word i ≠ reference word j])

    Levenshtein (1966), Wagner and Fischer (1974).
    """
    rows = [list(range(len(reference) + 1))]
    for i, word in enumerate(hypothesis, start=1):
        above, row = rows[-1], [i]
        for j, right in enumerate(reference, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (word != right)))
        rows.append(row)
    return torch.tensor(rows)


def edit_distance(hypothesis: Words, reference: Words) -> int:
    """The fewest words to substitute, delete or insert that turn one sentence into the other."""
    return int(edit_table(hypothesis, reference)[-1, -1])


def word_error_rate(
    hypotheses: Sequence[Words], references: Sequence[Words], distance: Callable[[Words, Words], int] = edit_distance
) -> float:
    """Edits over reference words, summed over the corpus first; it may exceed 1.

    Args:
        hypotheses, references: pairs of sentences.
        distance: counts the edits between the two of a pair.

    Raises:
        ValueError: there are no hypotheses, not as many references, or the references have no word.
    """
    _require_pairs(len(hypotheses), len(references))
    words = sum(len(reference) for reference in references)
    if not words:
        raise ValueError("a word error rate needs references with words")
    edits = sum(distance(*pair) for pair in zip(hypotheses, references, strict=True))
    return edits / words


def _require_pairs(hypotheses: int, references: int) -> None:
    if not hypotheses:
        raise ValueError("there is nothing to score: no hypotheses")
    if hypotheses != references:
        raise ValueError(f"each hypothesis needs its reference, but there are {hypotheses} and {references}")
