"""The exercises of lesson 10: tags, clipped n-grams and what BLEU makes of them, edits, and two ways to average.

Built like those of `course_lib/exercises/attention.py`; read that file first. Answers are plain numbers here. What is
divided by nothing (a label that is never predicted, a sentence without n-grams) has cases, and points, of its own.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Generator, Tensor

from course_lib import scoring
from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception
from course_lib.exercises.common import integer, sizes
from course_lib.exercises.correct import evaluation as correct

LESSON = "10_evaluation"
WITHHELD = ("course_lib.scoring",)

LIBRARIES = (
    *("precision_recall_fscore_support", "evaluate_texts", "modified_precision", "corpus_score", "sentence_score"),
    *("corpus_bleu", "sentence_bleu"),
)
"""Forbidden where the student writes the metric that a library has."""

EDITS = ("edit_distance", "process_words", "levenshtein", "Levenshtein", "get_opcodes", "editops", "wer")
"""The same for edit distances."""

VOCABULARY = ("the", "cat", "dog", "sat", "on")
"""Few words, so that sentences repeat them and share n-grams."""


_words = str.split
"""A sentence as a list of its words."""


def _sentence(generator: Generator, length: int) -> list[str]:
    drawn = torch.randint(len(VOCABULARY), (length,), generator=generator).tolist()
    return [VOCABULARY[index] for index in drawn]


# evaluation.precision_recall_f1 ----------------------------------------------------------------------------

_HEADLINES = (
    torch.tensor([[2, 0, 0, 0, 2, 2], [2, 0, 0, 0, 1, 1], [0, 0, 2, 2, 2, 2]]),
    torch.tensor([[1, 1, 0, 0, 2, 2], [2, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]]),
    torch.tensor([[True] * 6, [True] * 6, [True] * 2 + [False] * 4]),
)
"""Predicted and expected tags of three headlines (0 Other, 1 ORG, 2 LOC), S1's first, and where there are words."""


def _tags(generator: Generator, shape: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Predicted tags, a third of them wrong, and expected ones; a mask that leaves out some of both kinds."""
    expected = torch.randint(4, shape, generator=generator)
    wrong = torch.rand(shape, generator=generator) < 0.35
    predicted = torch.where(wrong, torch.randint(4, shape, generator=generator), expected)
    return predicted, expected, torch.rand(shape, generator=generator) < 0.7


def _found(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[int, int, int]:
    """How often a label is right, predicted and expected."""
    said, true = (predicted == label) & mask, (expected == label) & mask
    return int((said & true).sum()), int(said.sum()), int(true.sum())


def _zeros(generator: Generator, shape: tuple[int, int]) -> tuple[Tensor, Tensor, Tensor]:
    """Tags of which some are 0, rightly and wrongly, and where there is padding none: who makes it 0 is found out."""
    predicted, expected, mask = _tags(generator, shape)
    mask[-1, -3:] = torch.tensor([True, True, False])
    predicted[-1, -3:], expected[-1, -3:] = torch.tensor([0, 1, 2]), torch.tensor([0, 0, 3])
    return predicted.masked_fill(~mask, 2), expected.masked_fill(~mask, 3), mask


def _tag_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: places in three headlines", (*_HEADLINES, 2))
    few, many = integer(generator, 5, 8), integer(generator, 12, 18)
    for name, shape in (
        ("sentences of words", (few, many)),
        ("more sentences", (many, few)),
        ("one tag for each sentence", (4 * many,)),
        ("transposed in memory", (few, many)),
    ):
        while True:
            drawn = _tags(generator, shape)
            right, said, true = _found(*drawn, 1)
            if 0 < right < said != true > right:
                break
        if name == "transposed in memory":
            drawn = tuple(tensor.t().contiguous().t() for tensor in drawn)  # type: ignore[assignment]
        yield Case(name, (*drawn, 1))
    yield Case("label 0, with padding", (*_zeros(generator, (many, few)), 0))
    predicted, expected, mask = _tags(generator, (few, many))
    once, twice = expected.clone(), expected.clone()
    once[0, 0], twice[0, :2], mask[0, :2] = 7, 7, True
    yield Case("a label that is predicted once and there twice", (once, twice, mask, 7))
    yield Case("a label that is predicted twice and there once", (twice, once, mask, 7))
    for name, answer in (
        ("a label that is never predicted", (predicted % 3, expected, mask, 3)),
        ("a label that never occurs", (predicted, expected % 3, mask, 3)),
        ("a label that is neither predicted nor occurs", (predicted, expected, mask, 5)),
        ("a label that is never found where it is", (predicted, (predicted + 1) % 4, mask, 2)),
    ):
        yield Case(name, answer, part="0 / 0")


def _of_label(right: float, said: float, true: float, when_nothing: float = 0.0) -> tuple[float, float, float]:
    """Precision, recall and F1 from counts, with `when_nothing` for 0 / 0."""
    precision = right / said if said else when_nothing
    recall = right / true if true else when_nothing
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else when_nothing


def _with_f1(mean: str) -> Callable[..., tuple[float, float, float]]:
    """A wrong answer whose F1 is another mean of the two."""

    def answer(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
        precision, recall, _f1 = _of_label(*_found(predicted, expected, mask, label))
        both = precision + recall
        means = {
            "arithmetic": both / 2,
            "geometric": math.sqrt(precision * recall),
            "no factor": precision * recall / both if both else 0.0,
            "not divided": 2 * precision * recall,
        }
        return precision, recall, means[mean]

    return answer


def _swapped(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
    return _of_label(*_found(expected, predicted, mask, label))


def _accuracy_three_times(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
    share = (predicted == expected)[mask].double().mean().item()
    return share, share, share


def _of_the_yes_and_no(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
    _right, said, true = _found(predicted, expected, mask, label)
    agreed = int((((predicted == label) == (expected == label)) & mask).sum())
    return _of_label(agreed, said, true)


def _over_all_words(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
    right, _said, _true = _found(predicted, expected, mask, label)
    words = int(mask.sum())
    return _of_label(right, words, words)


def _nan_for_nothing(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
    right, said, true = (torch.tensor(float(count)) for count in _found(predicted, expected, mask, label))
    precision, recall = right / said, right / true
    return precision.item(), recall.item(), (2 * precision * recall / (precision + recall)).item()


PRECISION_RECALL_F1 = Exercise(
    id="evaluation.precision_recall_f1",
    lesson=LESSON,
    name="label_scores",
    title="Precision, recall and F1",
    statement=(
        "label_scores(predicted, expected, mask bool, all [...], label int) -> (precision, recall, f1), three floats: "
        "how well that label is found where the mask is True; 0 where it would be 0 / 0."
    ),
    points=3,
    minutes=12,
    section="Precision and recall",
    source="S1, evaluating sequence prediction",
    reference=scoring.label_scores,
    cases=_tag_cases,
    parts={CORE: 2, "0 / 0": 1},
    correct=correct.PRECISION_RECALL_F1,
    misconceptions=(
        Misconception(
            "nan_for_nothing",
            "Your answer is right as long as the label is predicted, occurs, and is found. Where a division is 0 / 0 "
            "it gives NaN: make it 0.",
            _nan_for_nothing,
        ),
        Misconception(
            "one_for_nothing",
            "Your answer is right as long as the label is predicted, occurs, and is found. Where a division is 0 / 0 "
            "it gives 1, a prize for nothing: make it 0.",
            lambda predicted, expected, mask, label: _of_label(*_found(predicted, expected, mask, label), 1.0),
        ),
        Misconception(
            "swapped",
            "Your answer has precision and recall swapped. Precision divides by how often the label was predicted, "
            "recall by how often it is there.",
            _swapped,
        ),
        Misconception(
            "mask_ignored",
            "Your answer counts padding. Only where the mask is True is there a word: index predicted and expected "
            "with it first.",
            lambda predicted, expected, mask, label: _of_label(
                *_found(predicted, expected, torch.ones_like(mask), label)
            ),
        ),
        Misconception(
            "mask_inverted",
            "Your answer scores the padding and leaves out the words: the mask is True at the words.",
            lambda predicted, expected, mask, label: _of_label(*_found(predicted, expected, ~mask, label)),
        ),
        Misconception(
            "padding_is_zero",
            "Your answer makes padding label 0 (a product with the mask does), and counts it when label 0 is scored. "
            "Leave padding out: predicted[mask].",
            lambda predicted, expected, mask, label: _of_label(
                *_found(predicted * mask, expected * mask, torch.ones_like(mask), label)
            ),
        ),
        Misconception(
            "accuracy",
            "Your answer is the accuracy over all labels, three times. Precision and recall are about one label: of "
            "what was predicted to be it, and of what is it.",
            _accuracy_three_times,
        ),
        Misconception(
            "agreement_on_other_labels",
            "Your answer also counts the words that rightly did not get this label. Only those count as right that "
            "are this label and were predicted to be.",
            _of_the_yes_and_no,
        ),
        Misconception(
            "over_all_words",
            "Your answer divides by the number of all words. Divide by how often the label was predicted "
            "(precision), and by how often it is there (recall).",
            _over_all_words,
        ),
        Misconception(
            "arithmetic_mean",
            "Precision and recall are right, but your F1 is their ordinary mean. It is the harmonic mean, "
            "2 · precision · recall / (precision + recall).",
            _with_f1("arithmetic"),
        ),
        Misconception(
            "geometric_mean",
            "Precision and recall are right, but your F1 is the root of their product. It is the harmonic mean, "
            "2 · precision · recall / (precision + recall).",
            _with_f1("geometric"),
        ),
        Misconception(
            "factor_two_forgotten",
            "Precision and recall are right, but your F1 lacks the factor 2: "
            "2 · precision · recall / (precision + recall).",
            _with_f1("no factor"),
        ),
        Misconception(
            "in_percent",
            "Your answer is in percent. Return shares from 0 to 1.",
            lambda predicted, expected, mask, label: tuple(
                100 * share for share in _of_label(*_found(predicted, expected, mask, label))
            ),
        ),
        Misconception(
            "hits_of_all_labels",
            "Your answer counts as found every word that is labelled rightly, whatever its label. Count those where "
            "both are `label`.",
            lambda predicted, expected, mask, label: _of_label(
                int(((predicted == expected) & mask).sum()), *_found(predicted, expected, mask, label)[1:]
            ),
        ),
        Misconception(
            "mask_for_the_hits_alone",
            "Your answer uses the mask for what was found, but not for how often the label was predicted and "
            "expected. Use it for all three.",
            lambda predicted, expected, mask, label: _of_label(
                _found(predicted, expected, mask, label)[0],
                *_found(predicted, expected, torch.ones_like(mask), label)[1:],
            ),
        ),
        Misconception(
            "not_divided_by_the_sum",
            "Precision and recall are right, but your F1 is 2 · precision · recall alone. Divide it by their sum.",
            _with_f1("not divided"),
        ),
    ),
    withheld=WITHHELD,
    forbidden=LIBRARIES,
)


# evaluation.sequence_accuracy ------------------------------------------------------------------------------


def _sequence_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: three headlines", _HEADLINES)
        tags = torch.tensor([[1, 1, 0, 2], [0, 2, 2, 1], [1, 0, 2, 0]])
        first, last = tags.clone(), tags.clone()
        first[0, 0] = last[1, 3] = last[2, 3] = 3
        yield Case("only a first word is wrong", (first, tags, torch.ones_like(tags, dtype=torch.bool)))
        yield Case("only two last words are wrong", (last, tags, torch.ones_like(tags, dtype=torch.bool)))
    for name, transposed in (("short sentences", False), ("others", False), ("transposed in memory", True)):
        batch, words = integer(generator, 8, 12), integer(generator, 5, 8)
        lengths = 2 + torch.randint(words - 1, (batch, 1), generator=generator)
        lengths[:3] = words - 1
        mask = torch.arange(words) < lengths
        expected = torch.randint(4, (batch, words), generator=generator)
        predicted = expected.clone()
        wrong = 2 + integer(generator, 0, 2)
        predicted[:wrong, 1] = (expected[:wrong, 1] + 1) % 4  # one word wrong,
        predicted[wrong] = (expected[wrong] + 1) % 4  # all words wrong,
        predicted[wrong + 1] = torch.where(mask[wrong + 1], expected[wrong + 1], 9)  # and padding that differs
        if transposed:
            predicted, expected, mask = (tensor.t().contiguous().t() for tensor in (predicted, expected, mask))
        yield Case(name, (predicted, expected, mask))


def _right(predicted: Tensor, expected: Tensor, mask: Tensor) -> Tensor:
    return (predicted == expected) & mask


SEQUENCE_ACCURACY = Exercise(
    id="evaluation.sequence_accuracy",
    lesson=LESSON,
    name="sequence_accuracy",
    title="Whole sentences",
    statement=(
        "sequence_accuracy(predicted [batch, words], expected [batch, words], mask bool [batch, words]) -> float: the "
        "share of sentences in which the label of every word is right; padding does not count."
    ),
    points=2,
    minutes=8,
    section="Whole sentences",
    source="S1, evaluating sequence prediction",
    reference=scoring.sequence_accuracy,
    cases=_sequence_cases,
    correct=correct.SEQUENCE_ACCURACY,
    misconceptions=(
        Misconception(
            "token_accuracy",
            "Your answer is the share of words that are right. Ask for each sentence whether all its words are, and "
            "take the share of sentences.",
            lambda predicted, expected, mask: (predicted == expected)[mask].double().mean().item(),
        ),
        Misconception(
            "padding_must_match",
            "Your answer also asks padding to be right. A place where the mask is False counts as right, whatever "
            "stands there.",
            lambda predicted, expected, mask: (predicted == expected).all(dim=1).double().mean().item(),
        ),
        Misconception(
            "padding_is_wrong",
            "Your answer takes padding for a mistake, so that no sentence that is shorter than the longest can be "
            "right. Where the mask is False any label will do: combine with | ~mask.",
            lambda predicted, expected, mask: _right(predicted, expected, mask).all(dim=1).double().mean().item(),
        ),
        Misconception(
            "one_right_word_is_enough",
            "Your answer takes a sentence for right that has one right word. All its words must be: .all(), "
            "not .any().",
            lambda predicted, expected, mask: _right(predicted, expected, mask).any(dim=1).double().mean().item(),
        ),
        Misconception(
            "mean_of_accuracies",
            "Your answer is the mean of the sentences' own accuracies. A sentence with one mistake counts as wrong, "
            "however long it is.",
            lambda predicted, expected, mask: (
                (_right(predicted, expected, mask).sum(dim=1) / mask.sum(dim=1)).double().mean().item()
            ),
        ),
        Misconception(
            "over_the_batch",
            "Your answer asks for each place whether it is right in all sentences (dim=0). Ask for each sentence "
            "whether all its places are, dim=1.",
            lambda predicted, expected, mask: ((predicted == expected) | ~mask).all(dim=0).double().mean().item(),
        ),
        Misconception(
            "count",
            "Your answer is the number of right sentences. Divide by the number of all.",
            lambda predicted, expected, mask: float(((predicted == expected) | ~mask).all(dim=1).sum()),
        ),
        Misconception(
            "error_rate",
            "Your answer is the share of sentences that are wrong. The accuracy is the share of those that are right.",
            lambda predicted, expected, mask: 1 - ((predicted == expected) | ~mask).all(dim=1).double().mean().item(),
        ),
    ),
    withheld=WITHHELD,
)


# evaluation.clipped_ngrams ---------------------------------------------------------------------------------


def _ngram_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the the the", (["the"] * 7, [_words("the cat is on the chair")], 1))
        yield Case("parts of words", (_words("the cat"), [_words("other cats there")], 1))
        yield Case("the same letters, other words", (_words("the a bc"), [_words("the ab c")], 2))
        yield Case(
            "worked example: pairs of words",
            (_words("le chat sont sur la chaise"), [_words("le chat est sur la chaise")], 2),
        )
    for n in (1, 2, 3):
        hypothesis, reference = (_sentence(generator, integer(generator, 8, 13)) for _ in range(2))
        hypothesis[:4], reference[-4:] = hypothesis[4:8], hypothesis[4:8]  # what is said twice and found once
        yield Case(f"n = {n}", (hypothesis, [reference], n))
    forwards = _sentence(generator, integer(generator, 7, 10)) + ["the", "cat"]
    yield Case("the same words backwards", (forwards, [forwards[::-1]], 2))
    yield Case("fewer words than n", (_sentence(generator, 2), [_sentence(generator, 6)], 3))
    yield Case("far fewer words than n", (_sentence(generator, 1), [_sentence(generator, 6)], 4))
    for n in (1, 2):
        # The first, the last, the longest and the shortest are four different ones.
        hypothesis, *several = (_sentence(generator, words) for words in (integer(generator, 9, 14), 11, 14, 8, 12))
        yield Case(f"four references, n = {n}", (hypothesis, several, n), part="several references")
    some, others = _sentence(generator, 5), ["meow", "purr"]
    yield Case(
        "a part in each of two references", (some + others, [["hiss"], some, others], 1), part="several references"
    )
    yield Case(
        "the same word in each of two references",
        (["meow", "meow"], [["meow"], ["purr", "meow"]], 1),
        part="several references",
    )
    two = [[*_sentence(generator, 4), "meow"], ["purr", *_sentence(generator, 4)]]
    yield Case("words that two references share between them", (["meow", "purr"], two, 2), part="several references")


def _grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def _clipped(hypothesis: Sequence[tuple[str, ...]], allowed: Counter[tuple[str, ...]]) -> int:
    return sum(min(count, allowed[gram]) for gram, count in Counter(hypothesis).items())


def _most(references: Sequence[Sequence[str]], n: int) -> Counter[tuple[str, ...]]:
    """The largest count of each n-gram in any of the references."""
    most: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        most |= Counter(_grams(reference, n))
    return most


def _smallest(references: Sequence[Sequence[str]], n: int) -> Counter[tuple[str, ...]]:
    least = Counter(_grams(references[0], n))
    for reference in references[1:]:
        least &= Counter(_grams(reference, n))
    return least


def _cut_short(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + n]) for start in range(len(words) - n)]


CLIPPED_NGRAMS = Exercise(
    id="evaluation.clipped_ngrams",
    lesson=LESSON,
    name="clipped_ngrams",
    title="Clipped n-grams",
    statement=(
        "clipped_ngrams(hypothesis, references, n) -> (matched, total), two ints: how many n-grams of the hypothesis "
        "a reference has too, each at most as often as the reference that has it most, and how many there are."
    ),
    points=4,
    minutes=20,
    section="Counting, and clipping",
    source="S1, BLEU; Papineni et al. (2002), section 2.1",
    reference=scoring.clipped_ngrams,
    cases=_ngram_cases,
    parts={CORE: 3, "several references": 1},
    correct=correct.CLIPPED_NGRAMS,
    misconceptions=(
        Misconception(
            "first_reference_only",
            "Your answer is right for one reference, and uses only the first of several. An n-gram may be found in "
            "any of them.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), _most(references[:1], n)),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "references_added",
            "Your answer is right for one reference, and adds the counts of several up. Clip at the reference that "
            "has the n-gram most often: the largest count, not the sum.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), Counter(gram for words in references for gram in _grams(words, n))),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "references_joined",
            "Your answer is right for one reference, and joins several into one text: their counts add up, and "
            "n-grams appear that begin in one and end in the next. Take the largest count in any single reference.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), Counter(_grams([word for words in references for word in words], n))),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "in_every_reference",
            "Your answer is right for one reference, and wants an n-gram to be in all of several: it takes the "
            "smallest count. One reference that has it is enough: take the largest.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), _smallest(references, n)),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "best_reference",
            "Your answer is right for one reference, and takes the best of several as a whole. Each n-gram by itself "
            "is clipped at the reference that has it most often.",
            lambda hypothesis, references, n: (
                max(_clipped(_grams(hypothesis, n), Counter(_grams(words, n))) for words in references),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "not_clipped",
            "Your answer counts every n-gram that the reference has, however often it is repeated: `the the the` would "
            "be perfect. Count each at most as often as the reference has it.",
            lambda hypothesis, references, n: (
                sum(gram in _most(references, n) for gram in _grams(hypothesis, n)),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "different_ngrams",
            "Your answer counts different n-grams, each once, as a set does. Repetitions count, up to the "
            "reference's number of them: use Counter.",
            lambda hypothesis, references, n: (
                len(set(_grams(hypothesis, n)) & set(_most(references, n))),
                len(set(_grams(hypothesis, n))),
            ),
        ),
        Misconception(
            "each_matched_once",
            "Your total is right, but your answer matches each n-gram once only. What the reference says twice may be "
            "matched twice.",
            lambda hypothesis, references, n: (
                len(set(_grams(hypothesis, n)) & set(_most(references, n))),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "recall",
            "Your total counts the n-grams of the reference, which makes a recall of it, as ROUGE has. BLEU is about "
            "precision: count those of the hypothesis.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), _most(references, n)),
                len(_grams(references[0], n)),
            ),
        ),
        Misconception(
            "last_ngram_missing",
            "Your answer misses the last n-gram. A sentence has len(words) - n + 1 of them.",
            lambda hypothesis, references, n: (
                _clipped(
                    _cut_short(hypothesis, n),
                    Counter(gram for words in references[:1] for gram in _cut_short(words, n)),
                ),
                len(_cut_short(hypothesis, n)),
            ),
        ),
        Misconception(
            "single_words",
            "Your answer counts single words, whatever n is. An n-gram is a run of n words.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, 1), _most(references, 1)),
                len(hypothesis),
            ),
        ),
        Misconception(
            "total_of_words",
            "Your total is the number of words. A sentence has len(words) - n + 1 n-grams, and none if it is shorter.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), _most(references, n)),
                len(hypothesis),
            ),
        ),
        Misconception(
            "order_ignored",
            "Your answer takes `cat the` for `the cat`. The words of an n-gram stand in order: compare tuples as they "
            "are, not sorted and not as sets.",
            lambda hypothesis, references, n: (
                _clipped(
                    [tuple(sorted(gram)) for gram in _grams(hypothesis, n)],
                    functools.reduce(
                        Counter.__or__,
                        (Counter(tuple(sorted(gram)) for gram in _grams(words, n)) for words in references),
                    ),
                ),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "same_place",
            "Your answer matches n-grams only at the same place of both sentences. They count wherever they stand.",
            lambda hypothesis, references, n: (
                sum(map(tuple.__eq__, _grams(hypothesis, n), _grams(references[0], n))),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "swapped",
            "Your answer has the two counts swapped. First those that are matched, then all: (matched, total).",
            lambda hypothesis, references, n: (
                len(_grams(hypothesis, n)),
                _clipped(_grams(hypothesis, n), _most(references, n)),
            ),
        ),
        Misconception(
            "negative_total",
            "Your total is negative where a sentence is much shorter than n. It has no n-gram then: max(..., 0).",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), _most(references, n)),
                len(hypothesis) - n + 1,
            ),
        ),
        Misconception(
            "divided",
            "Your answer is the precision. Return the two counts that it is made of, (matched, total): a corpus adds "
            "them up before it divides.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), _most(references, n)) / max(len(_grams(hypothesis, n)), 1)
            ),
        ),
        Misconception(
            "total_of_different_ngrams",
            "What matches is right, but your total counts each n-gram of the hypothesis once. It is how many there "
            "are: len(hypothesis) - n + 1, and at least 0.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), _most(references, n)),
                len(set(_grams(hypothesis, n))),
            ),
        ),
        Misconception(
            "last_reference_only",
            "With one reference your answer is right. With several it looks at the last alone. An n-gram matches "
            "where any of them has it.",
            lambda hypothesis, references, n: (
                _clipped(_grams(hypothesis, n), _most(references[-1:], n)),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "matches_added_up",
            "With one reference your answer is right. With several it adds up what matches in each, so that one "
            "n-gram counts more than once. Clip by the reference that has it most.",
            lambda hypothesis, references, n: (
                sum(_clipped(_grams(hypothesis, n), _most([reference], n)) for reference in references),
                len(_grams(hypothesis, n)),
            ),
        ),
        Misconception(
            "shorter_ngrams_too",
            "Your answer counts the shorter n-grams as well. Here n is one length: the caller asks for 1, 2, 3 and 4 "
            "by turns.",
            lambda hypothesis, references, n: (
                sum(_clipped(_grams(hypothesis, k), _most(references, k)) for k in range(1, n + 1)),
                sum(len(_grams(hypothesis, k)) for k in range(1, n + 1)),
            ),
        ),
    ),
    withheld=WITHHELD,
    forbidden=LIBRARIES,
)


# evaluation.brevity_penalty --------------------------------------------------------------------------------


def _brevity_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: three words for six", (3, 6))
    shorter = integer(generator, 5, 9)
    longer = shorter + integer(generator, 2, 6)
    yield Case("shorter than the reference", (shorter, longer))
    yield Case("as long as the reference", (longer, longer))
    yield Case("longer than the reference", (longer, shorter))
    yield Case("a whole corpus, a little short", (100 * longer - shorter, 100 * longer))
    yield Case("one word for many", (1, longer))
    yield Case("not a single word", (0, longer), part="no word")


def _exp(exponent: float) -> float:
    return math.exp(min(exponent, 700.0))


def _one_word_at_least(hypothesis_length: int, reference_length: int) -> float:
    at_least = max(hypothesis_length, 1)
    return 1.0 if hypothesis_length >= reference_length else _exp(1 - reference_length / at_least)


def _penalty(hypothesis_length: int, reference_length: int, nothing: float = 0.0) -> float:
    if not hypothesis_length:
        return nothing
    return 1.0 if hypothesis_length >= reference_length else _exp(1 - reference_length / hypothesis_length)


BREVITY_PENALTY = Exercise(
    id="evaluation.brevity_penalty",
    lesson=LESSON,
    name="brevity_penalty",
    title="Brevity penalty",
    statement=(
        "brevity_penalty(hypothesis_length int, reference_length int) -> float: 1 if the hypothesis is at least as "
        "long as the reference, exp(1 - reference_length / hypothesis_length) if it is shorter, 0 without any word."
    ),
    points=2,
    minutes=8,
    section="The brevity penalty",
    source="Papineni et al. (2002), section 2.2",
    reference=scoring.brevity_penalty,
    cases=_brevity_cases,
    parts={CORE: 1, "no word": 1},
    correct=correct.BREVITY_PENALTY,
    misconceptions=(
        Misconception(
            "one_for_nothing",
            "Your answer is right as long as there is a word. A hypothesis without any gets 1, no penalty at all: "
            "exp(1 - r/c) goes to 0 as c does, so return 0.",
            lambda hypothesis_length, reference_length: _penalty(hypothesis_length, reference_length, 1.0),
        ),
        Misconception(
            "nan_for_nothing",
            "Your answer is right as long as there is a word. Without any it is NaN: exp(1 - r/c) goes to 0 as c "
            "does, so return 0.",
            lambda hypothesis_length, reference_length: _penalty(hypothesis_length, reference_length, math.nan),
        ),
        Misconception(
            "one_word_at_least",
            "Your answer is right as long as there is a word. A hypothesis without any is treated as if it had one: "
            "return 0.",
            _one_word_at_least,
        ),
        Misconception(
            "rewards_length",
            "Your answer is above 1 for a long hypothesis, and so rewards it. From the reference's length on the "
            "penalty is 1: what is too long has already lost precision.",
            lambda hypothesis_length, reference_length: (
                _exp(1 - reference_length / hypothesis_length) if hypothesis_length else 0.0
            ),
        ),
        Misconception(
            "punishes_length",
            "Your answer punishes long hypotheses and lets short ones pass. It is brevity that pays: below the "
            "reference's length exp(1 - r/c), from there on 1.",
            lambda hypothesis_length, reference_length: _penalty(reference_length, hypothesis_length),
        ),
        Misconception(
            "cases_swapped",
            "Your answer gives 1 to what is shorter than the reference, and the formula to what is longer. It is the "
            "other way round: exp(1 - r/c) below the reference's length (so it is min, not max, with 1), and 1 from "
            "there on.",
            lambda hypothesis_length, reference_length: (
                float(hypothesis_length > 0)
                if hypothesis_length <= reference_length
                else _exp(1 - reference_length / hypothesis_length)
            ),
        ),
        Misconception(
            "lengths_swapped",
            "Your exponent has the two lengths swapped, so that a short hypothesis gets more than 1. It is "
            "1 - reference_length / hypothesis_length.",
            lambda hypothesis_length, reference_length: (
                1.0 if hypothesis_length >= reference_length else _exp(1 - hypothesis_length / reference_length)
            ),
        ),
        Misconception(
            "plain_ratio",
            "Your answer is the ratio of the lengths. Where the hypothesis is shorter the penalty is exp of one minus "
            "their ratio, exp(1 - r/c).",
            lambda hypothesis_length, reference_length: min(1.0, hypothesis_length / reference_length),
        ),
        Misconception(
            "one_forgotten",
            "Your exponent lacks the 1: exp(-r/c) jumps to 0.37 as soon as one word is missing. It is 1 - r/c.",
            lambda hypothesis_length, reference_length: (
                1.0
                if hypothesis_length >= reference_length
                else _exp(-reference_length / hypothesis_length)
                if hypothesis_length
                else 0.0
            ),
        ),
        Misconception(
            "difference_of_lengths",
            "Your exponent is the difference of the lengths. It is one minus their ratio, so that one word missing "
            "out of six costs more than one out of sixty.",
            lambda hypothesis_length, reference_length: _exp(min(0, hypothesis_length - reference_length)),
        ),
        Misconception(
            "not_exponential",
            "Your answer is 1 - r/c, which is 0 or negative where the hypothesis is shorter. Take exp of it.",
            lambda hypothesis_length, reference_length: (
                1.0
                if hypothesis_length >= reference_length
                else 1 - reference_length / hypothesis_length
                if hypothesis_length
                else 0.0
            ),
        ),
        Misconception(
            "nothing_for_brevity",
            "Your answer is 0 for every hypothesis that is shorter than the reference. Being short costs gradually: "
            "exp(1 - r/c).",
            lambda hypothesis_length, reference_length: float(hypothesis_length >= reference_length),
        ),
    ),
    withheld=WITHHELD,
    forbidden=LIBRARIES,
)


# evaluation.bleu -------------------------------------------------------------------------------------------


def _bleu_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def precisions(count: int) -> list[float]:
        return (0.1 + 0.85 * torch.rand(count, generator=generator, dtype=torch.float64)).tolist()

    def penalty() -> float:
        return 0.5 + 0.4 * float(torch.rand((), generator=generator, dtype=torch.float64))

    if not hidden:
        yield Case("worked example: the cat did (not) dance", ([1.0, 8 / 9, 6 / 8, 4 / 7], math.exp(-0.1)))
    for number in ("", "again"):
        yield Case(f"four precisions {number}".strip(), (precisions(4), penalty()))
    yield Case("no penalty", (precisions(4), 1.0))
    for count in sizes(generator, 2):
        yield Case(f"{count} precisions", (precisions(count), penalty()))
    yield Case("a single precision", (precisions(1), penalty()))
    for place in sorted(sizes(generator, 4))[:2]:
        some = precisions(4)
        some[place % 4] = 0.0
        yield Case(f"precision {place % 4} is 0", (some, penalty()), part="a precision of 0")
    yield Case("nothing matches", ([0.0] * 4, penalty()), part="a precision of 0")


def _log_mean(precisions: Sequence[float], smallest: float = 0.0) -> float:
    """The mean of the logarithms; -inf where one of them is of 0."""
    logs = [math.log(max(precision, smallest)) if max(precision, smallest) else -math.inf for precision in precisions]
    return sum(logs) / len(logs)


def _without_zeros(precisions: Sequence[float], penalty: float) -> float:
    some = [precision for precision in precisions if precision]
    return penalty * math.exp(_log_mean(some)) if some else 0.0


BLEU = Exercise(
    id="evaluation.bleu",
    lesson=LESSON,
    name="bleu",
    title="BLEU",
    statement=(
        "bleu(precisions list of float, penalty float) -> float: the geometric mean of the precisions times the "
        "penalty; 0 as soon as one precision is 0."
    ),
    points=3,
    minutes=10,
    section="Putting BLEU together",
    source="S1, BLEU; Papineni et al. (2002), section 2.3",
    reference=scoring.bleu,
    cases=_bleu_cases,
    parts={CORE: 2, "a precision of 0": 1},
    correct=correct.BLEU,
    misconceptions=(
        Misconception(
            "zeros_left_out",
            "Your answer is right as long as no precision is 0, and leaves out those that are. BLEU is 0 then: a "
            "product with a 0 in it.",
            _without_zeros,
        ),
        Misconception(
            "zeros_made_small",
            "Your answer is right as long as no precision is 0; for 0 it takes a very small number instead. Without "
            "smoothing BLEU is 0 then.",
            lambda precisions, penalty: penalty * math.exp(_log_mean(precisions, 1e-9)),
        ),
        Misconception(
            "nan_for_zero",
            "Your answer is right as long as no precision is 0, and NaN where one is. BLEU is 0 then: test for it "
            "before you take logarithms.",
            lambda precisions, penalty: penalty * math.exp(_log_mean(precisions)) if all(precisions) else math.nan,
        ),
        Misconception(
            "arithmetic_mean",
            "Your answer takes the ordinary mean of the precisions. The geometric mean is the n-th root of their "
            "product, with n precisions.",
            lambda precisions, penalty: penalty * sum(precisions) / len(precisions),
        ),
        Misconception(
            "harmonic_mean",
            "Your answer takes the harmonic mean, as F1 does. The geometric mean is the n-th root of the product.",
            lambda precisions, penalty: (
                penalty * len(precisions) / sum(1 / precision for precision in precisions) if all(precisions) else 0.0
            ),
        ),
        Misconception(
            "root_forgotten",
            "Your answer multiplies the precisions and takes no root: it shrinks with each of them. Take the n-th "
            "root for n precisions, or exp of the mean logarithm.",
            lambda precisions, penalty: penalty * math.prod(precisions),
        ),
        Misconception(
            "always_the_fourth_root",
            "Your answer takes the fourth root, or a weight of 1/4, however many precisions there are. Use "
            "len(precisions).",
            lambda precisions, penalty: penalty * math.prod(precisions) ** 0.25,
        ),
        Misconception(
            "divided_after_the_power",
            "Your answer divides by the number of precisions in place of taking a root: Python reads ** 1 / N as "
            "(** 1) / N. Put brackets: ** (1 / N).",
            lambda precisions, penalty: penalty * math.prod(precisions) / len(precisions),
        ),
        Misconception(
            "square_root",
            "Your answer takes the square root of the product. For n precisions it is the n-th root, ** (1 / n).",
            lambda precisions, penalty: penalty * math.prod(precisions) ** 0.5,
        ),
        Misconception(
            "penalty_forgotten",
            "Your answer is the geometric mean of the precisions. Multiply it by the brevity penalty.",
            lambda precisions, penalty: math.exp(_log_mean(precisions)),
        ),
        Misconception(
            "penalty_under_the_root",
            "Your answer has the penalty under the root, where most of it is lost. Take the geometric mean first, "
            "then multiply.",
            lambda precisions, penalty: (penalty * math.prod(precisions)) ** (1 / len(precisions)),
        ),
        Misconception(
            "not_exponentiated",
            "Your answer is the mean logarithm times the penalty. Take exp of the mean before you multiply.",
            lambda precisions, penalty: penalty * _log_mean(precisions),
        ),
        Misconception(
            "last_precision_only",
            "Your answer uses the last precision only. BLEU is the geometric mean of all of them.",
            lambda precisions, penalty: penalty * precisions[-1],
        ),
        Misconception(
            "in_percent",
            "Your answer is in percent, as libraries print it. Return a share from 0 to 1.",
            lambda precisions, penalty: 100 * penalty * math.exp(_log_mean(precisions)),
        ),
        Misconception(
            "penalty_added",
            "Your answer adds the penalty. It is a factor: multiply by it.",
            lambda precisions, penalty: penalty + math.exp(_log_mean(precisions)),
        ),
        Misconception(
            "divided_by_the_penalty",
            "Your answer divides by the penalty, which makes short translations better. Multiply by it.",
            lambda precisions, penalty: math.exp(_log_mean(precisions)) / penalty if penalty else 0.0,
        ),
        Misconception(
            "logarithm_to_base_10",
            "Your answer takes logarithms to base 10, but exp goes back from natural ones. Take math.log.",
            lambda precisions, penalty: penalty * math.exp(_log_mean(precisions) / math.log(10)),
        ),
    ),
    withheld=WITHHELD,
    forbidden=LIBRARIES,
)


# evaluation.corpus_or_sentence -----------------------------------------------------------------------------


def _corpus_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: a long sentence and a short one", ([9, 0], [10, 2]))
    for count in sizes(generator, 3):
        total = [integer(generator, 5, 20) for _ in range(count)]
        total[0] = 40
        matched = [integer(generator, 1, words) for words in total]
        yield Case(f"{count} sentences", (matched, total))
    total = [integer(generator, 5, 20), 0, 30]
    matched = [total[0] - 2, 0, integer(generator, 3, 20)]
    yield Case("a sentence without n-grams", (matched, total), part="no n-grams")
    yield Case("only sentences without n-grams", ([0, 0], [0, 0]), part="no n-grams")


def _ratio(matched: float, total: float, nothing: float = 0.0) -> float:
    return matched / total if total else nothing


def _both(matched: Sequence[int], total: Sequence[int], nothing: float = 0.0) -> tuple[float, float]:
    shares = [_ratio(*counts, nothing) for counts in zip(matched, total, strict=True)]
    return _ratio(sum(matched), sum(total), nothing), sum(shares) / len(shares)


def _passing_over(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    shares = [one / of for one, of in zip(matched, total, strict=True) if of]
    return _ratio(sum(matched), sum(total)), sum(shares) / len(shares) if shares else 0.0


CORPUS_OR_SENTENCE = Exercise(
    id="evaluation.corpus_or_sentence",
    lesson=LESSON,
    name="micro_and_macro",
    title="Corpus or sentence",
    statement=(
        "micro_and_macro(matched list of int, total list of int) -> (micro, macro), two floats: the precision of the "
        "added-up counts, and the mean of the sentences' precisions; 0 where there is nothing to divide by."
    ),
    points=2,
    minutes=8,
    section="Corpus or sentence",
    source="S1, a note on BLEU and ROUGE",
    reference=scoring.micro_and_macro,
    cases=_corpus_cases,
    parts={CORE: 1, "no n-grams": 1},
    correct=correct.CORPUS_OR_SENTENCE,
    misconceptions=(
        Misconception(
            "passed_over",
            "Your answer is right as long as each sentence has an n-gram, and leaves out those that have none. They "
            "count as sentences with a precision of 0.",
            _passing_over,
        ),
        Misconception(
            "one_for_nothing",
            "Your answer is right as long as each sentence has an n-gram, and gives one that has none a precision of "
            "1. It gets 0.",
            lambda matched, total: _both(matched, total, 1.0),
        ),
        Misconception(
            "nan_for_nothing",
            "Your answer is right as long as each sentence has an n-gram. One that has none makes it NaN: its "
            "precision is 0.",
            lambda matched, total: _both(matched, total, math.nan),
        ),
        Misconception(
            "swapped",
            "Your answer has the two swapped. Micro adds the counts up first, for the whole corpus; macro is the mean "
            "over the sentences.",
            lambda matched, total: _both(matched, total)[::-1],
        ),
        Misconception(
            "micro_twice",
            "Your second number is the micro average, too: a mean that is weighted by length comes out as that. "
            "Macro is the plain mean of the sentences' precisions.",
            lambda matched, total: (_both(matched, total)[0], _both(matched, total)[0]),
        ),
        Misconception(
            "macro_twice",
            "Your first number is the macro average, too. Micro divides once: the sum of all matched by the sum of "
            "all totals.",
            lambda matched, total: (_both(matched, total)[1], _both(matched, total)[1]),
        ),
        Misconception(
            "macro_not_divided",
            "Micro is right, but your macro is the sum of the sentences' precisions. Divide by the number of "
            "sentences.",
            lambda matched, total: (_both(matched, total)[0], len(matched) * _both(matched, total)[1]),
        ),
        Misconception(
            "micro_over_sentences",
            "Your micro average divides the matched n-grams by the number of sentences. Divide by the number of "
            "n-grams, the sum of all totals.",
            lambda matched, total: (sum(matched) / len(matched), _both(matched, total)[1]),
        ),
        Misconception(
            "in_percent",
            "Your answer is in percent. Return shares from 0 to 1.",
            lambda matched, total: tuple(100 * share for share in _both(matched, total)),
        ),
    ),
    withheld=WITHHELD,
    forbidden=LIBRARIES,
)


# evaluation.edit_table -------------------------------------------------------------------------------------


def _edit_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: the cat did (not) dance", (_words("the cat did dance"), _words("a cat did not dance"))
        )
    for name in ("two sentences", "two more"):
        shorter, longer = sorted(sizes(generator, 2))
        yield Case(f"{name}, the hypothesis longer", (_sentence(generator, longer + 2), _sentence(generator, shorter)))
        yield Case(f"{name}, the reference longer", (_sentence(generator, shorter), _sentence(generator, longer + 2)))
    said = _sentence(generator, integer(generator, 4, 8))
    yield Case("the same sentence twice", (said, list(said)))
    yield Case("no words in the hypothesis", ([], said))
    yield Case("no words in the reference", (said, []))


def _table(
    hypothesis: Sequence[str],
    reference: Sequence[str],
    *,
    substitution: float = 1,
    insertion: float = 1,
    deletion: float = 1,
    match: float = 0,
    border: tuple[int, int] = (1, 1),
    better: str = "min",
) -> Tensor:
    """The table of edits at other prices, with other first rows and columns, or with the worst instead of the best."""
    choose = min if better == "min" else max
    table = [[border[1] * j for j in range(len(reference) + 1)]]
    for i, word in enumerate(hypothesis, start=1):
        row: list[float] = [border[0] * i]
        for j, right in enumerate(reference, start=1):
            row.append(
                choose(
                    table[-1][j] + deletion,
                    row[j - 1] + insertion,
                    table[-1][j - 1] + (match if word == right else substitution),
                )
            )
        table.append(row)  # type: ignore[arg-type]
    return torch.tensor(table)


def _common(hypothesis: Sequence[str], reference: Sequence[str]) -> Tensor:
    table = torch.zeros(len(hypothesis) + 1, len(reference) + 1, dtype=torch.long)
    for i, word in enumerate(hypothesis, start=1):
        for j, right in enumerate(reference, start=1):
            table[i, j] = table[i - 1, j - 1] + 1 if word == right else max(table[i - 1, j], table[i, j - 1])
    return table


def _stopped_early(hypothesis: Sequence[str], reference: Sequence[str]) -> Tensor:
    table = _table(hypothesis, reference)
    if hypothesis and reference:
        table[-1, 1:] = table[1:, -1] = 0
    return table


def _place_by_place(hypothesis: Sequence[str], reference: Sequence[str]) -> Tensor:
    """At [i, j] the words that differ at the same place, and the difference in length."""
    return torch.tensor(
        [
            [sum(map(str.__ne__, hypothesis[:i], reference[:j])) + abs(i - j) for j in range(len(reference) + 1)]
            for i in range(len(hypothesis) + 1)
        ]
    )


EDIT_TABLE = Exercise(
    id="evaluation.edit_table",
    lesson=LESSON,
    name="edit_table",
    title="The table of edits",
    statement=(
        "edit_table(hypothesis, reference) -> int64 [len(hypothesis) + 1, len(reference) + 1]: at [i, j] the fewest "
        "words to substitute, delete or insert that turn the first i words of the one into the first j of the other."
    ),
    points=4,
    minutes=25,
    section="The table of edits",
    source="S1, word error rate; Levenshtein (1966); Wagner and Fischer (1974)",
    reference=scoring.edit_table,
    cases=_edit_cases,
    correct=correct.EDIT_TABLE,
    misconceptions=(
        Misconception(
            "substitution_costs_two",
            "Your table lets a substitution cost 2, as if it were a deletion and an insertion. It is one edit: the "
            "diagonal step costs 1 where the words differ.",
            lambda hypothesis, reference: _table(hypothesis, reference, substitution=2),
        ),
        Misconception(
            "match_costs_one",
            "Your table charges 1 for the diagonal step even where the words are the same. Equal words cost nothing.",
            lambda hypothesis, reference: _table(hypothesis, reference, match=1),
        ),
        Misconception(
            "substitution_is_free",
            "Your table lets one word become another for nothing. The diagonal step costs 1 where the words differ.",
            lambda hypothesis, reference: _table(hypothesis, reference, substitution=0),
        ),
        Misconception(
            "match_and_mismatch_exchanged",
            "Your table charges the diagonal step where the words are the same, and not where they differ. It is the "
            "other way round: compare with !=.",
            lambda hypothesis, reference: _table(hypothesis, reference, match=1, substitution=0),
        ),
        Misconception(
            "no_deletion",
            "Your table never deletes: a word of the hypothesis too many can go for 1, from the row above.",
            lambda hypothesis, reference: _table(hypothesis, reference, deletion=1000),
        ),
        Misconception(
            "no_insertion",
            "Your table never inserts: a word of the reference that is missing can be put in for 1, from the column "
            "to the left.",
            lambda hypothesis, reference: _table(hypothesis, reference, insertion=1000),
        ),
        Misconception(
            "first_row_of_zeros",
            "Your first row is 0. Without any word of the hypothesis the j words of the reference must all be "
            "inserted: D[0, j] = j.",
            lambda hypothesis, reference: _table(hypothesis, reference, border=(1, 0)),
        ),
        Misconception(
            "first_column_of_zeros",
            "Your first column is 0. Without any word of the reference the i words of the hypothesis must all be "
            "deleted: D[i, 0] = i.",
            lambda hypothesis, reference: _table(hypothesis, reference, border=(0, 1)),
        ),
        Misconception(
            "borders_of_zeros",
            "Your first row and column are 0. Against no words at all, all of them must go in or out: D[i, 0] = i, "
            "D[0, j] = j.",
            lambda hypothesis, reference: _table(hypothesis, reference, border=(0, 0)),
        ),
        Misconception(
            "most_edits",
            "Your table takes the dearest of the three steps. It is the fewest edits that count: min.",
            lambda hypothesis, reference: _table(hypothesis, reference, better="max"),
        ),
        Misconception(
            "place_by_place",
            "Your table compares the words place by place, and adds the difference in length: one missing word makes "
            "all that follow wrong. Take the smallest of the three steps in each cell.",
            _place_by_place,
        ),
        Misconception(
            "transposed",
            "Your table has a row for each word of the reference. Rows belong to the hypothesis, columns to the "
            "reference.",
            lambda hypothesis, reference: _table(hypothesis, reference).T,
        ),
        Misconception(
            "borders_missing",
            "Your table lacks its first row and column, those of no words at all. It has one more of each than there "
            "are words.",
            lambda hypothesis, reference: _table(hypothesis, reference)[1:, 1:],
        ),
        Misconception(
            "distance_only",
            "Your answer is the distance, the last cell. Return the whole table as a tensor.",
            lambda hypothesis, reference: int(_table(hypothesis, reference)[-1, -1]),
        ),
        Misconception(
            "lists",
            "The numbers are right, but they stand in lists. Make a tensor of them: torch.tensor(table).",
            lambda hypothesis, reference: _table(hypothesis, reference).tolist(),
        ),
        Misconception(
            "floats",
            "The numbers are right, but they are floats. Edits are counted: make the table with dtype=torch.long.",
            lambda hypothesis, reference: _table(hypothesis, reference).float(),
        ),
        Misconception(
            "longest_common_subsequence",
            "Your answer is the table of the longest common subsequence: how many words the two share in the same "
            "order. Count edits: the fewest of three ways, each of which costs 1.",
            _common,
        ),
        Misconception(
            "last_row_and_column_left_0",
            "Your answer fills the table up to its last row and column, which stay 0. With the empty beginning there "
            "are len + 1 of them: range(1, len(hypothesis) + 1).",
            _stopped_early,
        ),
    ),
    withheld=WITHHELD,
    forbidden=EDITS,
)


# evaluation.word_error_rate --------------------------------------------------------------------------------

_DISTANCE = Callback("distance", scoring.edit_distance)


def _rate_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        hypotheses = [_words("the cat did dance"), _words("meow")]
        references = [_words("a cat did not dance"), _words("purr")]
        yield Case("worked example: two sentences", (hypotheses, references, _DISTANCE))
    for count in sizes(generator, 2):
        lengths = [(integer(generator, 2, 9), integer(generator, 3, 12)) for _ in range(count)]
        said, right = zip(*((_sentence(generator, a), _sentence(generator, b)) for a, b in lengths), strict=True)
        right = (*right[:-1], list(said[-1]))  # one sentence is perfect
        yield Case(f"{count} sentences", (list(said), list(right), _DISTANCE))
    babbling = [_sentence(generator, 9), _sentence(generator, 5)]
    yield Case("far too many words", (babbling, [["meow"], _sentence(generator, 2)], _DISTANCE))


def _edits(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> list[int]:
    return [scoring.edit_distance(*pair) for pair in zip(hypotheses, references, strict=True)]


def _length(sentences: Sequence[Sequence[str]]) -> int:
    return sum(map(len, sentences))


WORD_ERROR_RATE = Exercise(
    id="evaluation.word_error_rate",
    lesson=LESSON,
    name="word_error_rate",
    title="Word error rate",
    statement=(
        "word_error_rate(hypotheses, references, distance) -> float: the edits of the whole corpus over the words of "
        "all references; distance(hypothesis, reference) counts the edits of one pair."
    ),
    points=2,
    minutes=8,
    section="The word error rate",
    source="S1, word error rate",
    reference=scoring.word_error_rate,
    cases=_rate_cases,
    correct=correct.WORD_ERROR_RATE,
    misconceptions=(
        Misconception(
            "mean_of_rates",
            "Your answer is the mean of the sentences' own rates, the macro average. For a corpus add up all edits "
            "and all reference words, and divide once.",
            lambda hypotheses, references, distance: (
                sum(
                    edits / len(reference)
                    for edits, reference in zip(_edits(hypotheses, references), references, strict=True)
                )
                / len(references)
            ),
        ),
        Misconception(
            "over_hypothesis_words",
            "Your answer divides by the words of the hypotheses. Divide by those of the references: the longer one "
            "babbles the smaller the rate would be.",
            lambda hypotheses, references, distance: sum(_edits(hypotheses, references)) / _length(hypotheses),
        ),
        Misconception(
            "over_the_longer",
            "Your answer divides by the longer of the two sentences. Divide by the words of the references, even if "
            "the rate is then above 1.",
            lambda hypotheses, references, distance: (
                sum(_edits(hypotheses, references))
                / sum(max(map(len, pair)) for pair in zip(hypotheses, references, strict=True))
            ),
        ),
        Misconception(
            "over_sentences",
            "Your answer is the number of edits for each sentence. Divide by the words of all references.",
            lambda hypotheses, references, distance: sum(_edits(hypotheses, references)) / len(references),
        ),
        Misconception(
            "capped_at_one",
            "Your answer never exceeds 1. It may: who says far too much makes more mistakes than there are words.",
            lambda hypotheses, references, distance: min(
                1.0, sum(_edits(hypotheses, references)) / _length(references)
            ),
        ),
        Misconception(
            "accuracy",
            "Your answer is one minus the word error rate. It is an error rate: lower is better.",
            lambda hypotheses, references, distance: 1 - sum(_edits(hypotheses, references)) / _length(references),
        ),
        Misconception(
            "wrong_sentences",
            "Your answer is the share of sentences with a mistake. Count the edits, and divide by the words of the "
            "references.",
            lambda hypotheses, references, distance: (
                sum(edits > 0 for edits in _edits(hypotheses, references)) / len(references)
            ),
        ),
        Misconception(
            "in_percent",
            "Your answer is in percent, as libraries print it. Return a share.",
            lambda hypotheses, references, distance: 100 * sum(_edits(hypotheses, references)) / _length(references),
        ),
        Misconception(
            "not_divided",
            "Your answer is the number of edits. Divide by the words of all references.",
            lambda hypotheses, references, distance: float(sum(_edits(hypotheses, references))),
        ),
    ),
    withheld=WITHHELD,
    forbidden=EDITS,
)


EXERCISES = (
    PRECISION_RECALL_F1,
    SEQUENCE_ACCURACY,
    CLIPPED_NGRAMS,
    BREVITY_PENALTY,
    BLEU,
    CORPUS_OR_SENTENCE,
    EDIT_TABLE,
    WORD_ERROR_RATE,
)
"""In the order of the lesson."""
