"""The exercises of lesson 10: tags, clipped n-grams and what BLEU makes of them, edits, and two ways to average.

Built like those of `course_lib/exercises/attention.py`; read that file first. Answers are plain numbers here. What is
divided by nothing (a label that is never predicted, a sentence without n-grams) has cases, and points, of its own.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception
from course_lib.exercises.common import integer, sizes
from course_lib.exercises.correct import evaluation as correct
from course_lib.from_scratch import scoring

LESSON = "10_evaluation"
WITHHELD = ("course_lib.from_scratch.scoring",)

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
    guessed, there, words = predicted.clone(), expected.clone(), mask.clone()
    guessed[0, :4], there[0, 3:8], words[0, :8] = 8, 8, True
    yield Case("a label that is rarely found", (guessed, there, words, 8))
    for name, answer in (
        ("a label that is never predicted", (predicted % 3, expected, mask, 3)),
        ("a label that never occurs", (predicted, expected % 3, mask, 3)),
        ("a label that is neither predicted nor occurs", (predicted, expected, mask, 5)),
        ("a label that is never found where it is", (predicted, (predicted + 1) % 4, mask, 2)),
    ):
        yield Case(name, answer, part="0 / 0")


_Counts = tuple[int, int, int, int]
"""How often a label is right, predicted and expected, and how many words there are."""


def _counted(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> _Counts:
    return (*_found(predicted, expected, mask, label), int(mask.sum()))


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


_MEANS: Mapping[str, Callable[[float, float], float]] = {
    "arithmetic": lambda precision, recall: (precision + recall) / 2,
    "geometric": lambda precision, recall: math.sqrt(precision * recall),
    "no factor": lambda precision, recall: precision * recall / (precision + recall),
    "not divided": lambda precision, recall: 2 * precision * recall,
    "smaller": min,
    "union": lambda precision, recall: 1 / (1 / precision + 1 / recall - 1) if precision and recall else 0.0,
}


def _scored(
    predicted: Tensor,
    expected: Tensor,
    mask: Tensor,
    label: int,
    *,
    count: Callable[[Tensor, Tensor, Tensor, int], _Counts] = _counted,
    real: Callable[[Tensor], Tensor] = torch.clone,
    below: Callable[[_Counts], tuple[float, float]] = lambda counts: (counts[1], counts[2]),
    mean: Callable[[float, float], float] = _harmonic,
    nothing: tuple[float, float] = (0.0, 0.0),
    returned: Callable[[float, float, float], Any] = lambda precision, recall, f1: (precision, recall, f1),
) -> Any:
    """`label_scores` with one thing, or several, done differently; `nothing`: a ratio, and F1, where it is 0 / 0."""
    counts = count(predicted, expected, real(mask), label)
    precision, recall = (counts[0] / of if of else nothing[0] for of in below(counts))
    f1 = mean(precision, recall) if precision + recall != 0 else nothing[1]
    return returned(precision, recall, f1)


def _accuracy_three_times(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
    share = (predicted == expected)[mask].double().mean().item()
    return share, share, share


def _agreed(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> _Counts:
    _right, said, true, words = _counted(predicted, expected, mask, label)
    return int((((predicted == label) == (expected == label)) & mask).sum()), said, true, words


def _of_any_label(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> _Counts:
    return int(((predicted == expected) & mask).sum()), *_counted(predicted, expected, mask, label)[1:]


def _made_zero(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> _Counts:
    return _counted(predicted * mask, expected * mask, torch.ones_like(mask), label)


def _hits_masked(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> _Counts:
    everywhere = _counted(predicted, expected, torch.ones_like(mask), label)
    return _counted(predicted, expected, mask, label)[0], *everywhere[1:]


def _hits_not_masked(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> _Counts:
    everywhere = _counted(predicted, expected, torch.ones_like(mask), label)
    return everywhere[0], *_counted(predicted, expected, mask, label)[1:]


def _expected_masked(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> _Counts:
    right, _said, true, words = _counted(predicted, expected, mask, label)
    return right, int((predicted == label).sum()), true, words


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
            partial(_scored, nothing=(math.nan, math.nan)),
            alone=True,
        ),
        Misconception(
            "one_for_nothing",
            "Your answer is right as long as the label is predicted, occurs, and is found. Where a division is 0 / 0 "
            "it gives 1, a prize for nothing: make it 0.",
            partial(_scored, nothing=(1.0, 1.0)),
            alone=True,
        ),
        Misconception(
            "ratios_of_one_for_nothing",
            "Your answer is right as long as the label is predicted and occurs. A precision or recall of 0 / 0 it "
            "makes 1, a prize for nothing: make it 0.",
            partial(_scored, nothing=(1.0, 0.0)),
            alone=True,
        ),
        Misconception(
            "swapped",
            "Your answer has precision and recall swapped. Precision divides by how often the label was predicted, "
            "recall by how often it is there.",
            partial(_scored, returned=lambda precision, recall, f1: (recall, precision, f1)),
        ),
        Misconception(
            "mask_ignored",
            "Your answer counts padding. Only where the mask is True is there a word: index predicted and expected "
            "with it first.",
            partial(_scored, real=torch.ones_like),
        ),
        Misconception(
            "mask_inverted",
            "Your answer scores the padding and leaves out the words: the mask is True at the words.",
            partial(_scored, real=torch.logical_not),
        ),
        Misconception(
            "padding_is_zero",
            "Your answer makes padding label 0 (a product with the mask does), and counts it when label 0 is scored. "
            "Leave padding out: predicted[mask].",
            partial(_scored, count=_made_zero),
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
            partial(_scored, count=_agreed),
        ),
        Misconception(
            "over_all_words",
            "Your answer divides by the number of all words. Divide by how often the label was predicted "
            "(precision), and by how often it is there (recall).",
            partial(_scored, below=lambda counts: (counts[3], counts[3])),
        ),
        Misconception(
            "arithmetic_mean",
            "Your F1 is the ordinary mean of precision and recall. It is the harmonic mean, "
            "2 · precision · recall / (precision + recall).",
            partial(_scored, mean=_MEANS["arithmetic"]),
        ),
        Misconception(
            "geometric_mean",
            "Your F1 is the root of the product of precision and recall. It is the harmonic mean, "
            "2 · precision · recall / (precision + recall).",
            partial(_scored, mean=_MEANS["geometric"]),
        ),
        Misconception(
            "factor_two_forgotten",
            "Your F1 lacks the factor 2: 2 · precision · recall / (precision + recall).",
            partial(_scored, mean=_MEANS["no factor"]),
        ),
        Misconception(
            "in_percent",
            "Your answer is in percent. Return shares from 0 to 1.",
            partial(_scored, returned=lambda *shares: tuple(100 * share for share in shares)),
        ),
        Misconception(
            "hits_of_all_labels",
            "Your answer counts as found every word that is labelled rightly, whatever its label. Count those where "
            "both are `label`.",
            lambda *case: _scored(*case, count=_of_any_label),
        ),
        Misconception(
            "mask_for_the_hits_alone",
            "Your answer uses the mask for what was found, but not for how often the label was predicted and "
            "expected. Use it for all three.",
            partial(_scored, count=_hits_masked),
        ),
        Misconception(
            "mask_not_for_the_hits",
            "Your answer counts hits in the padding, too. Use the mask for all three counts: what is found, predicted "
            "and expected.",
            partial(_scored, count=_hits_not_masked),
        ),
        Misconception(
            "mask_for_what_is_expected_alone",
            "Your answer counts what is predicted in the padding, which spoils the precision. Use the mask for what is "
            "predicted as well.",
            partial(_scored, count=_expected_masked),
        ),
        Misconception(
            "smaller_of_the_two",
            "Your F1 is the smaller one of precision and recall. It is their harmonic mean, "
            "2 · precision · recall / (precision + recall).",
            partial(_scored, mean=_MEANS["smaller"]),
        ),
        Misconception(
            "over_the_union",
            "Your F1 divides what is found by what is predicted or expected (Jaccard's index). F1 is the harmonic "
            "mean, 2 · precision · recall / (precision + recall).",
            partial(_scored, mean=_MEANS["union"]),
        ),
        Misconception(
            "one_added_below",
            "Your answer adds 1 to what it divides by. Add nothing; only where a division is 0 / 0 return 0.",
            partial(_scored, below=lambda counts: (counts[1] + 1, counts[2] + 1)),
        ),
        Misconception(
            "f1_first",
            "Your answer has F1 first. The order is precision, recall, F1.",
            partial(_scored, returned=lambda precision, recall, f1: (f1, precision, recall)),
        ),
        Misconception(
            "not_divided_by_the_sum",
            "Your F1 is 2 · precision · recall alone. Divide it by their sum.",
            partial(_scored, mean=_MEANS["not divided"]),
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
        long = torch.arange(40).expand(3, 40) % 5
        slip = long.clone()
        slip[1, 17] = 7  # one word of forty
        yield Case("one word wrong in a long sentence", (slip, long, torch.ones_like(long, dtype=torch.bool)))
        tags = torch.tensor([[1, 0, 2, 2], [1, 2, 0, 0], [0, 0, 1, 2], [2, 1, 0, 1]])
        said = torch.tensor([[1, 2, 2, 0], [2, 1, 0, 0], [1, 0, 1, 2], [2, 1, 3, 1]])
        mask = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 0, 1]], dtype=torch.bool)
        yield Case("words exchanged, a 0 missed, padding in front and in between", (said, tags, mask))
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
        predicted[wrong + 2, 1:] = (expected[wrong + 2, 1:] + 1) % 4  # all but the first,
        predicted[wrong + 1] = torch.where(mask[wrong + 1], expected[wrong + 1], 9)  # and padding that differs
        if transposed:
            predicted, expected, mask = (tensor.t().contiguous().t() for tensor in (predicted, expected, mask))
        yield Case(name, (predicted, expected, mask))


def _right(predicted: Tensor, expected: Tensor, mask: Tensor) -> Tensor:
    return (predicted == expected) & mask


def _share_of_sentences(
    predicted: Tensor,
    expected: Tensor,
    mask: Tensor,
    *,
    right: Callable[[Tensor, Tensor], Tensor] = lambda same, mask: same | ~mask,
    sentence: Callable[[Tensor, Tensor], Tensor] = lambda right, mask: right.all(dim=1),
    looked_at: slice = slice(None),
    of: Callable[[Tensor], int] = len,
    wrong: bool = False,
    times: float = 1.0,
) -> float:
    """`sequence_accuracy` with one thing, or several, done differently."""
    whole = sentence(right(predicted == expected, mask)[:, looked_at], mask[:, looked_at])
    return times * int((~whole if wrong else whole).sum()) / of(whole)


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
            partial(_share_of_sentences, right=lambda same, mask: same),
        ),
        Misconception(
            "padding_is_wrong",
            "Your answer takes padding for a mistake, so that no sentence that is shorter than the longest can be "
            "right. Where the mask is False any label will do: combine with | ~mask.",
            partial(_share_of_sentences, right=lambda same, mask: same & mask),
        ),
        Misconception(
            "one_right_word_is_enough",
            "Your answer takes a sentence for right that has one right word. All its words must be: .all(), "
            "not .any().",
            lambda predicted, expected, mask: _right(predicted, expected, mask).any(dim=1).double().mean().item(),
        ),
        Misconception(
            "one_right_place_is_enough",
            "Your answer takes a sentence for right that has one right word, or padding. All its words must be right: "
            ".all(), not .any().",
            lambda *case: _share_of_sentences(*case, sentence=lambda right, mask: right.any(dim=1)),
        ),
        Misconception(
            "most_words_are_enough",
            "Your answer takes a sentence for right if more than half of its words are. All of them must be: .all().",
            partial(_share_of_sentences, sentence=lambda right, mask: 2 * (right & mask).sum(dim=1) > mask.sum(dim=1)),
        ),
        Misconception(
            "one_mistake_forgiven",
            "Your answer forgives a sentence one mistake. All words must be right: .all().",
            partial(_share_of_sentences, sentence=lambda right, mask: (~right).sum(dim=1) <= 1),
        ),
        Misconception(
            "mask_inverted",
            "Your answer asks only the padding to be right. Where the mask is True there is a word: combine with "
            "| ~mask.",
            partial(_share_of_sentences, right=lambda same, mask: same | mask),
        ),
        Misconception(
            "all_or_nothing",
            "Your answer asks for the whole batch at once. Ask for each sentence by itself, .all(dim=1), and take the "
            "share of those that are right.",
            partial(_share_of_sentences, sentence=lambda right, mask: right.all().reshape(1)),
        ),
        Misconception(
            "last_word_left_out",
            "Your answer does not look at the last place of a sentence. It counts like the others.",
            partial(_share_of_sentences, looked_at=slice(None, -1)),
        ),
        Misconception(
            "first_word_left_out",
            "Your answer does not look at the first word of a sentence. It counts like the others.",
            partial(_share_of_sentences, looked_at=slice(1, None)),
        ),
        Misconception(
            "first_word_alone",
            "Your answer looks at the first word of each sentence only. Look at all of them: does a loop return too "
            "early?",
            partial(_share_of_sentences, looked_at=slice(1)),
        ),
        Misconception(
            "over_words",
            "Your answer divides the number of right sentences by the number of words. Divide by the number of "
            "sentences.",
            lambda predicted, expected, mask: int(((predicted == expected) | ~mask).all(dim=1).sum()) / int(mask.sum()),
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
            partial(_share_of_sentences, sentence=lambda right, mask: right.all(dim=0)),
        ),
        Misconception(
            "count",
            "Your answer is the number of right sentences. Divide by the number of all.",
            partial(_share_of_sentences, of=lambda whole: 1),
        ),
        Misconception(
            "error_rate",
            "Your answer is the share of sentences that are wrong. The accuracy is the share of those that are right.",
            partial(_share_of_sentences, wrong=True),
        ),
    ),
    withheld=WITHHELD,
)


# evaluation.clipped_ngrams ---------------------------------------------------------------------------------


def _ngram_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the the the", (["the"] * 7, [_words("the cat is on the chair")], 1))
        yield Case("parts of words", (_words("the cat"), [_words("other cats there")], 1))
        yield Case("capitals", (_words("The cat sat on the Cat"), [_words("the cat sat on the cat")], 1))
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
    said = _sentence(generator, 6)
    yield Case(
        "a reference of fewer words than n", (said, [said[:2], said[1:], said[:1]], 3), part="several references"
    )
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


def _cut_short(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + n]) for start in range(len(words) - n)]


_Gram = tuple[str, ...]
_Grams = Callable[[Sequence[str], int], list[_Gram]]


def _matched_differently(
    hypothesis: Sequence[str],
    references: Sequence[Sequence[str]],
    n: int,
    *,
    grams: _Grams = _grams,
    allowed: Callable[[list[Counter[_Gram]]], Counter[_Gram]] = lambda counts: functools.reduce(Counter.__or__, counts),
    match: Callable[[list[_Gram], Counter[_Gram]], int] = _clipped,
    total: Callable[[Sequence[str], list[_Gram], int], int] = lambda words, found, n: len(found),
    returned: Callable[[int, int], Any] = lambda matched, total: (matched, total),
) -> Any:
    """`clipped_ngrams` with one thing, or several, done differently."""
    found = grams(hypothesis, n)
    matched = match(found, allowed([Counter(grams(words, n)) for words in references]))
    return returned(matched, total(hypothesis, found, n))


def _sorted_grams(words: Sequence[str], n: int) -> list[_Gram]:
    return [tuple(sorted(gram)) for gram in _grams(words, n)]


def _sets_of_words(words: Sequence[str], n: int) -> list[_Gram]:
    return [tuple(sorted(set(gram))) for gram in _grams(words, n)]


def _and_shorter_at_the_end(words: Sequence[str], n: int) -> list[_Gram]:
    return [tuple(words[start : start + n]) for start in range(len(words))]


def _side_by_side(words: Sequence[str], n: int) -> list[_Gram]:
    return _grams(words, n)[::n]


def _all_or_nothing(found: list[_Gram], allowed: Counter[_Gram]) -> int:
    return sum(times for gram, times in Counter(found).items() if times <= allowed[gram])


def _last_count(counts: list[Counter[_Gram]]) -> Counter[_Gram]:
    """The count in the last reference that has the n-gram."""
    last: Counter[_Gram] = Counter()
    for each in counts:
        last = Counter({**last, **each})
    return last


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
            partial(_matched_differently, allowed=lambda counts: counts[0]),
            alone=True,
        ),
        Misconception(
            "references_added",
            "Your answer is right for one reference, and adds the counts of several up. Clip at the reference that "
            "has the n-gram most often: the largest count, not the sum.",
            partial(_matched_differently, allowed=lambda counts: sum(counts, Counter())),
            alone=True,
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
            partial(_matched_differently, allowed=partial(functools.reduce, Counter.__and__)),
            alone=True,
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
            partial(_matched_differently, match=lambda found, allowed: sum(gram in allowed for gram in found)),
        ),
        Misconception(
            "different_ngrams",
            "Your answer counts different n-grams, each once, as a set does. Repetitions count, up to the "
            "reference's number of them: use Counter.",
            partial(
                _matched_differently,
                match=lambda found, allowed: len({*found} & {*allowed}),
                total=lambda words, found, n: len({*found}),
            ),
        ),
        Misconception(
            "each_matched_once",
            "Your answer matches each n-gram once only. What the reference says twice may be matched twice.",
            partial(_matched_differently, match=lambda found, allowed: len({*found} & {*allowed})),
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
            partial(_matched_differently, grams=_cut_short),
        ),
        Misconception(
            "single_words",
            "Your answer counts single words, whatever n is. An n-gram is a run of n words.",
            partial(_matched_differently, grams=lambda words, n: _grams(words, 1)),
        ),
        Misconception(
            "total_of_words",
            "Your total is the number of words. A sentence has len(words) - n + 1 n-grams, and none if it is shorter.",
            partial(_matched_differently, total=lambda words, found, n: len(words)),
        ),
        Misconception(
            "order_ignored",
            "Your answer takes `cat the` for `the cat`. The words of an n-gram stand in order: compare tuples as they "
            "are, not sorted and not as sets.",
            partial(_matched_differently, grams=_sorted_grams),
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
            partial(_matched_differently, returned=lambda matched, total: (total, matched)),
        ),
        Misconception(
            "negative_total",
            "Your total is negative where a sentence is much shorter than n. It has no n-gram then: max(..., 0).",
            partial(_matched_differently, total=lambda words, found, n: len(words) - n + 1),
        ),
        Misconception(
            "divided",
            "Your answer is the precision. Return the two counts that it is made of, (matched, total): a corpus adds "
            "them up before it divides.",
            partial(_matched_differently, returned=lambda matched, total: matched / max(total, 1)),
        ),
        Misconception(
            "total_of_different_ngrams",
            "Your total counts each n-gram of the hypothesis once. It is how many there are: len(hypothesis) - n + 1, "
            "and at least 0.",
            lambda *case: _matched_differently(*case, total=lambda words, found, n: len({*found})),
        ),
        Misconception(
            "last_reference_only",
            "With one reference your answer is right. With several it looks at the last alone. An n-gram matches "
            "where any of them has it.",
            partial(_matched_differently, allowed=lambda counts: counts[-1]),
            alone=True,
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
            partial(
                _matched_differently,
                grams=lambda words, n: [gram for k in range(1, n + 1) for gram in _grams(words, k)],
            ),
        ),
        Misconception(
            "last_count",
            "With one reference your answer is right. With several it takes an n-gram's count in the last one that has "
            "it, even if another has it more often. Take the largest count.",
            partial(_matched_differently, allowed=_last_count),
            alone=True,
        ),
        Misconception(
            "reference_words_counted",
            "Your answer counts an n-gram that was said as often as the reference has it, even if it was said less "
            "often. It counts min(both).",
            partial(_matched_differently, match=lambda found, allowed: sum(map(allowed.__getitem__, set(found)))),
        ),
        Misconception(
            "all_or_nothing",
            "Your answer does not count an n-gram at all that is said more often than the reference has it. Count it "
            "as often as the reference does.",
            partial(
                _matched_differently,
                match=_all_or_nothing,
            ),
        ),
        Misconception(
            "shorter_at_the_end",
            "Your answer counts the ends of a sentence, which are shorter than n words. The last n-gram begins at "
            "len(words) - n: range(len(words) - n + 1).",
            partial(_matched_differently, grams=_and_shorter_at_the_end),
        ),
        Misconception(
            "one_word_too_many",
            "Your n-grams have n + 1 words. words[start : start + n] has n.",
            partial(_matched_differently, grams=lambda words, n: _grams(words, n + 1)),
        ),
        Misconception(
            "side_by_side",
            "Your n-grams do not overlap. One begins at every word: range(len(words) - n + 1), in steps of 1.",
            partial(_matched_differently, grams=_side_by_side),
        ),
        Misconception(
            "sets_of_words",
            "Your answer compares n-grams as sets, which know neither order nor repetition. Compare tuples.",
            partial(_matched_differently, grams=_sets_of_words),
        ),
        Misconception(
            "total_at_least_1",
            "Your total is 1 where a sentence is shorter than n. It has no n-gram then: 0.",
            partial(_matched_differently, total=lambda words, found, n: max(1, len(found))),
        ),
        Misconception(
            "lower_case",
            "Your answer takes `The` for `the`. Words are compared as they are.",
            partial(_matched_differently, grams=lambda words, n: _grams([word.lower() for word in words], n)),
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
    yield Case("a still longer reference", (shorter, longer + 3))
    yield Case("as long as the reference", (longer, longer))
    yield Case("longer than the reference", (longer, shorter))
    yield Case("a single word too few", (longer - 1, longer))
    yield Case("a whole corpus, a little short", (100 * longer - shorter, 100 * longer))
    yield Case("one word for many", (1, longer))
    yield Case("not a single word", (0, longer), part="no word")


def _exp(exponent: float) -> float:
    return math.exp(min(exponent, 700.0))


def _penalty(
    hypothesis_length: int,
    reference_length: int,
    *,
    exponent: Callable[[int, int], float] = lambda c, r: 1 - r / c,
    below: Callable[[float], float] = _exp,
    short: Callable[[int, int], bool] = lambda c, r: c < r,
    nothing: float = 0.0,
) -> float:
    """`brevity_penalty` with one thing, or several, done differently."""
    if not hypothesis_length:
        return nothing
    if not short(hypothesis_length, reference_length):
        return 1.0
    return below(exponent(hypothesis_length, reference_length))


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
            partial(_penalty, nothing=1.0),
            alone=True,
        ),
        Misconception(
            "nan_for_nothing",
            "Your answer is right as long as there is a word. Without any it is NaN: exp(1 - r/c) goes to 0 as c "
            "does, so return 0.",
            partial(_penalty, nothing=math.nan),
            alone=True,
        ),
        Misconception(
            "one_word_at_least",
            "Your answer is right as long as there is a word. A hypothesis without any is treated as if it had one: "
            "return 0.",
            lambda c, r: _penalty(max(c, 1), r),
            alone=True,
        ),
        Misconception(
            "rewards_length",
            "Your answer is above 1 for a long hypothesis, and so rewards it. From the reference's length on the "
            "penalty is 1: what is too long has already lost precision.",
            partial(_penalty, short=lambda c, r: True),
        ),
        Misconception(
            "punishes_length",
            "Your answer punishes long hypotheses and lets short ones pass. It is brevity that pays: below the "
            "reference's length exp(1 - r/c), from there on 1.",
            lambda c, r: _penalty(r, c),
        ),
        Misconception(
            "cases_swapped",
            "Your answer gives 1 to what is shorter than the reference, and the formula to what is longer. It is the "
            "other way round: exp(1 - r/c) below the reference's length (so it is min, not max, with 1), and 1 from "
            "there on.",
            lambda c, r: _penalty(c, r, short=lambda c, r: c > r),
        ),
        Misconception(
            "lengths_swapped",
            "Your exponent has the two lengths swapped, 1 - c/r. It is 1 - reference_length / hypothesis_length, which "
            "is negative for a short hypothesis.",
            partial(_penalty, exponent=lambda c, r: 1 - c / r),
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
            partial(_penalty, exponent=lambda c, r: -r / c),
        ),
        Misconception(
            "difference_of_lengths",
            "Your exponent is the difference of the lengths. It is one minus their ratio, so that one word missing "
            "out of six costs more than one out of sixty.",
            lambda hypothesis_length, reference_length: _exp(min(0, hypothesis_length - reference_length)),
        ),
        Misconception(
            "not_exponential",
            "Your answer lacks exp: it is the exponent itself, which is 0 or negative where the hypothesis is shorter. "
            "Take exp of it.",
            partial(_penalty, below=float),
        ),
        Misconception(
            "nothing_for_brevity",
            "Your answer is 0 for every hypothesis that is shorter than the reference. Being short costs gradually: "
            "exp(1 - r/c).",
            partial(_penalty, below=lambda exponent: 0.0),
        ),
        Misconception(
            "sign_of_the_exponent",
            "Your exponent has the wrong sign, so that a short hypothesis gets more than 1. It is 1 - r/c, which is "
            "negative there.",
            partial(_penalty, exponent=lambda c, r: r / c - 1),
        ),
        Misconception(
            "whole_numbers",
            "Your answer divides with //, which cuts off what is behind the point. Use /.",
            partial(_penalty, exponent=lambda c, r: 1 - r // c),
        ),
        Misconception(
            "brackets",
            "Your exponent is (1 - r) / c. Only r is divided by c: 1 - r / c, without brackets.",
            partial(_penalty, exponent=lambda c, r: (1 - r) / c),
        ),
        Misconception(
            "over_the_reference",
            "Your exponent divides the missing words by the words of the reference, (c - r) / r. Divide by those of "
            "the hypothesis: 1 - r/c is (c - r) / c.",
            partial(_penalty, exponent=lambda c, r: (c - r) / r),
        ),
        Misconception(
            "too_long_punished",
            "Your answer punishes what is too long as well. From the reference's length on the penalty is 1: what is "
            "too long has already lost precision.",
            lambda c, r: math.exp(1 - max(r / c, c / r)) if c else 0.0,
        ),
        Misconception(
            "power_of_2",
            "Your answer is a power of 2. Take one of e: math.exp.",
            partial(_penalty, below=lambda exponent: 2.0**exponent),
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
    once = precisions(1)
    yield Case("two equal ones, and one that is small", ([0.9, *once, *once, 0.004], penalty()))
    yield Case("a penalty of 0", (precisions(4), 0.0))
    for count in sizes(generator, 2):
        yield Case(f"{count} precisions", (precisions(count), penalty()))
    yield Case("a single precision", (precisions(1), penalty()))
    for place in sorted(sizes(generator, 4))[:2]:
        some = precisions(4)
        some[place % 4] = 0.0
        yield Case(f"precision {place % 4} is 0", (some, penalty()), part="a precision of 0")
    yield Case("nothing matches", ([0.0] * 4, penalty()), part="a precision of 0")


def _bleu_differently(
    precisions: Sequence[float],
    penalty: float,
    *,
    mean: Callable[[Sequence[float]], float] = lambda some: math.prod(some) ** (1 / len(some)),
    zeros: Callable[[Sequence[float]], Sequence[float]] = list,
    nothing: float | None = 0.0,
    weighed: Callable[[float, float], float] = lambda mean, penalty: mean * penalty,
    times: float = 1.0,
) -> float:
    """`bleu` with one thing, or several, done differently; `nothing`: what it is where a precision is 0."""
    some = zeros(precisions)
    if not some or (not all(some) and nothing is not None):
        return nothing or 0.0
    return times * weighed(mean(some), penalty)


def _log_mean(precisions: Sequence[float]) -> float:
    """The mean of the logarithms; -inf where one of them is of 0."""
    return sum(math.log(one) if one else -math.inf for one in precisions) / len(precisions)


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
            partial(_bleu_differently, zeros=lambda precisions: [one for one in precisions if one]),
            alone=True,
        ),
        Misconception(
            "zeros_made_small",
            "Your answer is right as long as no precision is 0; for 0 it takes a very small number instead. Without "
            "smoothing BLEU is 0 then.",
            partial(_bleu_differently, zeros=lambda precisions: [max(one, 1e-9) for one in precisions]),
            alone=True,
        ),
        Misconception(
            "nan_for_zero",
            "Your answer is right as long as no precision is 0, and NaN where one is. BLEU is 0 then: test for it "
            "before you take logarithms.",
            partial(_bleu_differently, nothing=math.nan),
            alone=True,
        ),
        Misconception(
            "arithmetic_mean",
            "Your answer takes the ordinary mean of the precisions. The geometric mean is the n-th root of their "
            "product, with n precisions.",
            partial(_bleu_differently, mean=lambda some: sum(some) / len(some), nothing=None),
        ),
        Misconception(
            "harmonic_mean",
            "Your answer takes the harmonic mean, as F1 does. The geometric mean is the n-th root of the product.",
            partial(_bleu_differently, mean=lambda some: len(some) / sum(1 / one for one in some)),
        ),
        Misconception(
            "root_forgotten",
            "Your answer multiplies the precisions and takes no root: it shrinks with each of them. Take the n-th "
            "root for n precisions, or exp of the mean logarithm.",
            partial(_bleu_differently, mean=math.prod),
        ),
        Misconception(
            "always_the_fourth_root",
            "Your answer takes the fourth root, or a weight of 1/4, however many precisions there are. Use "
            "len(precisions).",
            partial(_bleu_differently, mean=lambda some: math.prod(some) ** 0.25),
        ),
        Misconception(
            "divided_after_the_power",
            "Your answer divides by the number of precisions in place of taking a root: Python reads ** 1 / N as "
            "(** 1) / N. Put brackets: ** (1 / N).",
            partial(_bleu_differently, mean=lambda some: math.prod(some) / len(some)),
        ),
        Misconception(
            "square_root",
            "Your answer takes the square root of the product. For n precisions it is the n-th root, ** (1 / n).",
            partial(_bleu_differently, mean=lambda some: math.prod(some) ** 0.5),
        ),
        Misconception(
            "penalty_forgotten",
            "Your answer leaves the penalty out. Multiply the mean of the precisions by it.",
            partial(_bleu_differently, weighed=lambda mean, penalty: mean),
        ),
        Misconception(
            "penalty_under_the_root",
            "Your answer has the penalty under the root, where most of it is lost. Take the geometric mean first, "
            "then multiply.",
            lambda precisions, penalty: (penalty * math.prod(precisions)) ** (1 / len(precisions)),
        ),
        Misconception(
            "not_exponentiated",
            "Your answer uses the mean logarithm itself. Take exp of it before you multiply.",
            partial(_bleu_differently, mean=_log_mean),
        ),
        Misconception(
            "last_precision_only",
            "Your answer uses the last precision only. BLEU is the geometric mean of all of them.",
            partial(_bleu_differently, mean=lambda some: some[-1]),
        ),
        Misconception(
            "in_percent",
            "Your answer is in percent, as libraries print it. Return a share from 0 to 1.",
            partial(_bleu_differently, times=100),
        ),
        Misconception(
            "penalty_added",
            "Your answer adds the penalty. It is a factor: multiply by it.",
            partial(_bleu_differently, weighed=lambda mean, penalty: mean + penalty),
        ),
        Misconception(
            "divided_by_the_penalty",
            "Your answer divides by the penalty, which makes short translations better. Multiply by it.",
            partial(_bleu_differently, weighed=lambda mean, penalty: mean / penalty if penalty else 0.0),
        ),
        Misconception(
            "logarithm_to_base_10",
            "Your answer takes logarithms to base 10, but exp goes back from natural ones. Take math.log.",
            partial(_bleu_differently, mean=lambda some: math.exp(_log_mean(some) / math.log(10))),
        ),
        Misconception(
            "logarithm_to_base_2",
            "Your answer takes logarithms to base 2, but exp goes back from natural ones. Take math.log.",
            partial(_bleu_differently, mean=lambda some: math.exp(_log_mean(some) / math.log(2))),
        ),
        Misconception(
            "zeros_made_one",
            "Your answer is right as long as no precision is 0; 0 it takes for 1, which adds nothing to the logarithms."
            " BLEU is 0 then.",
            partial(_bleu_differently, zeros=lambda precisions: [one or 1.0 for one in precisions]),
            alone=True,
        ),
        Misconception(
            "last_precision_left_out",
            "Your answer leaves the last precision out. BLEU is the geometric mean of all of them.",
            partial(_bleu_differently, mean=lambda some: math.prod(some[:-1]) ** (1 / max(1, len(some) - 1))),
        ),
        Misconception(
            "penalty_in_every_precision",
            "Your answer multiplies each precision by the penalty, and takes no root of the product. Take the "
            "geometric mean first, and multiply it by the penalty once.",
            lambda precisions, penalty: math.prod(penalty * one for one in precisions),
        ),
        Misconception(
            "power_for_root",
            "Your answer raises the product to the power of n. It is the n-th root: ** (1 / n).",
            partial(_bleu_differently, mean=lambda some: math.prod(some) ** len(some)),
        ),
        Misconception(
            "no_logarithm",
            "Your answer takes exp of the mean of the precisions. It is exp of the mean of their logarithms.",
            partial(_bleu_differently, mean=lambda some: math.exp(sum(some) / len(some))),
        ),
        Misconception(
            "smallest_precision",
            "Your answer uses the smallest precision only. BLEU is the geometric mean of all of them.",
            partial(_bleu_differently, mean=min),
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


_Shares = list[tuple[int, int]]


def _micro(counts: _Shares) -> float:
    return sum(one for one, _of in counts) / sum(of for _one, of in counts)


def _averaged(
    matched: Sequence[int],
    total: Sequence[int],
    *,
    nothing: float | None = 0.0,
    micro: Callable[[_Shares], float] = _micro,
    macro: Callable[[list[float], _Shares], float] = lambda shares, counts: sum(shares) / len(shares),
    kept: Callable[[_Shares], _Shares] = list,
    below: int = 0,
    returned: Callable[[float, float], Any] = lambda micro, macro: (micro, macro),
) -> Any:
    """`micro_and_macro` with one thing, or several, done differently; `nothing`: what 0 / 0 is, None: passed over."""
    counts = [(one, of + below) for one, of in kept(list(zip(matched, total, strict=True)))]
    shares = [one / of if of else nothing for one, of in counts]
    some = [share for share in shares if share is not None]
    if not sum(total):
        return returned(nothing or 0.0, nothing or 0.0)
    return returned(micro(counts), macro(some, counts))


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
            partial(_averaged, nothing=None),
            alone=True,
        ),
        Misconception(
            "one_for_nothing",
            "Your answer is right as long as each sentence has an n-gram, and gives one that has none a precision of "
            "1. It gets 0.",
            partial(_averaged, nothing=1.0),
            alone=True,
        ),
        Misconception(
            "nan_for_nothing",
            "Your answer is right as long as each sentence has an n-gram. One that has none makes it NaN: its "
            "precision is 0.",
            partial(_averaged, nothing=math.nan),
            alone=True,
        ),
        Misconception(
            "swapped",
            "Your answer has the two swapped. Micro adds the counts up first, for the whole corpus; macro is the mean "
            "over the sentences.",
            partial(_averaged, returned=lambda micro, macro: (macro, micro)),
        ),
        Misconception(
            "micro_twice",
            "Your second number is the micro average, too: a mean that is weighted by length comes out as that. "
            "Macro is the plain mean of the sentences' precisions.",
            partial(_averaged, macro=lambda shares, counts: _micro(counts)),
        ),
        Misconception(
            "macro_twice",
            "Your first number is the macro average, too. Micro divides once: the sum of all matched by the sum of "
            "all totals.",
            partial(_averaged, returned=lambda micro, macro: (macro, macro)),
        ),
        Misconception(
            "macro_not_divided",
            "Your macro is the sum of the sentences' precisions. Divide by the number of sentences.",
            partial(_averaged, macro=lambda shares, counts: sum(shares)),
        ),
        Misconception(
            "micro_over_sentences",
            "Your micro average divides the matched n-grams by the number of sentences. Divide by the number of "
            "n-grams, the sum of all totals.",
            partial(_averaged, micro=lambda counts: sum(one for one, _of in counts) / len(counts)),
        ),
        Misconception(
            "in_percent",
            "Your answer is in percent. Return shares from 0 to 1.",
            partial(_averaged, returned=lambda micro, macro: (100 * micro, 100 * macro)),
        ),
        Misconception(
            "macro_over_ngrams",
            "Your macro divides the sum of the sentences' precisions by the number of n-grams. Divide by the number of "
            "sentences.",
            partial(_averaged, macro=lambda shares, counts: sum(shares) / sum(of for _one, of in counts)),
        ),
        Misconception(
            "wrong_sentences_left_out",
            "Your macro leaves out sentences in which nothing is right. They count, with a precision of 0.",
            partial(_averaged, macro=lambda shares, counts: sum(shares) / max(1, sum(share > 0 for share in shares))),
        ),
        Misconception(
            "last_sentence_left_out",
            "Your answer leaves out the last sentence. It counts like the others.",
            partial(_averaged, kept=lambda counts: counts[:-1]),
        ),
        Misconception(
            "first_sentence_alone",
            "Your macro is the precision of the first sentence: does the loop return too early? Take the mean of all.",
            partial(_averaged, macro=lambda shares, counts: shares[0]),
        ),
        Misconception(
            "one_added_below",
            "Your answer adds 1 to what it divides by. Add nothing; only where there are no n-grams return 0.",
            partial(_averaged, below=1),
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
    alike = (_words("The cats sat on a doormat"), _words("the cat sat on another mat"))
    yield Case("words that are nearly the same", alike)
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
    row: int = 1,
    column: int = 1,
    corner: int = 0,
    choose: Callable[..., float] = min,
    same: Callable[[str, str], bool] = str.__eq__,
    made: Callable[[Tensor], Any] = torch.clone,
) -> Any:
    """The table of edits at other prices, with other first rows and columns, or with the worst instead of the best."""
    table: list[list[float]] = [[corner + row * j for j in range(len(reference) + 1)]]
    for i, word in enumerate(hypothesis, start=1):
        line: list[float] = [corner + column * i]
        for j, right in enumerate(reference, start=1):
            line.append(
                choose(
                    table[-1][j] + deletion,
                    line[j - 1] + insertion,
                    table[-1][j - 1] + (match if same(word, right) else substitution),
                )
            )
        table.append(line)
    return made(torch.tensor(table))


def _common(hypothesis: Sequence[str], reference: Sequence[str]) -> Tensor:
    table = torch.zeros(len(hypothesis) + 1, len(reference) + 1, dtype=torch.long)
    for i, word in enumerate(hypothesis, start=1):
        for j, right in enumerate(reference, start=1):
            table[i, j] = table[i - 1, j - 1] + 1 if word == right else max(table[i - 1, j], table[i, j - 1])
    return table


def _stopped_early(hypothesis: Sequence[str], reference: Sequence[str]) -> Tensor:
    table: Tensor = _table(hypothesis, reference)
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
            partial(_table, substitution=2),
        ),
        Misconception(
            "match_costs_one",
            "Your table charges 1 for the diagonal step even where the words are the same. Equal words cost nothing.",
            partial(_table, match=1, substitution=1),
        ),
        Misconception(
            "substitution_is_free",
            "Your table lets one word become another for nothing. The diagonal step costs 1 where the words differ.",
            partial(_table, substitution=0),
        ),
        Misconception(
            "match_and_mismatch_exchanged",
            "Your table charges the diagonal step where the words are the same, and not where they differ. It is the "
            "other way round: compare with !=.",
            partial(_table, match=1, substitution=0),
        ),
        Misconception(
            "no_deletion",
            "Your table never deletes: a word of the hypothesis too many can go for 1, from the row above.",
            partial(_table, deletion=1000),
        ),
        Misconception(
            "no_insertion",
            "Your table never inserts: a word of the reference that is missing can be put in for 1, from the column "
            "to the left.",
            partial(_table, insertion=1000),
        ),
        Misconception(
            "first_row_of_zeros",
            "Your first row is 0. Without any word of the hypothesis the j words of the reference must all be "
            "inserted: D[0, j] = j.",
            partial(_table, row=0, column=1),
        ),
        Misconception(
            "first_column_of_zeros",
            "Your first column is 0. Without any word of the reference the i words of the hypothesis must all be "
            "deleted: D[i, 0] = i.",
            partial(_table, column=0),
        ),
        Misconception(
            "borders_of_zeros",
            "Your first row and column are 0. Against no words at all, all of them must go in or out: D[i, 0] = i, "
            "D[0, j] = j.",
            partial(_table, row=0, column=0),
        ),
        Misconception(
            "most_edits",
            "Your table takes the dearest of the three steps. It is the fewest edits that count: min.",
            partial(_table, choose=max),
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
            partial(_table, made=lambda table: table.T),
        ),
        Misconception(
            "borders_missing",
            "Your table lacks its first row and column, those of no words at all. It has one more of each than there "
            "are words.",
            partial(_table, made=lambda table: table[1:, 1:]),
        ),
        Misconception(
            "distance_only",
            "Your answer is one number, the last cell. Return the whole table as a tensor.",
            partial(_table, made=lambda table: int(table[-1, -1])),
        ),
        Misconception(
            "lists",
            "Your numbers stand in lists. Make a tensor of them: torch.tensor(table).",
            partial(_table, made=lambda table: table.tolist()),
        ),
        Misconception(
            "floats",
            "Your numbers are floats. Edits are counted: make the table with dtype=torch.long.",
            partial(_table, made=lambda table: table.float()),
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
        Misconception(
            "corner_of_1",
            "Your table begins with 1 in the corner. No words turn into no words without an edit: D[0, 0] = 0.",
            partial(_table, corner=1),
        ),
        Misconception(
            "deletion_is_free",
            "Your table deletes for nothing. A word of the hypothesis that goes costs 1, from the row above.",
            partial(_table, deletion=0),
        ),
        Misconception(
            "insertion_is_free",
            "Your table inserts for nothing. A word of the reference that is put in costs 1, from the column to the "
            "left.",
            partial(_table, insertion=0),
        ),
        Misconception(
            "deletion_costs_two",
            "Your table lets a deletion cost 2, in the first column as well. Each edit costs 1.",
            partial(_table, deletion=2, column=2),
        ),
        Misconception(
            "capitals_ignored",
            "Your table takes `The` for `the`. Words are compared as they are.",
            partial(_table, same=lambda word, right: word.lower() == right.lower()),
        ),
        Misconception(
            "words_within_words",
            "Your table takes words for equal of which one is a part of the other. Compare with ==, not with in.",
            partial(_table, same=lambda word, right: word in right or right in word),
        ),
        Misconception(
            "int32",
            "Your table is of int32. Make it with dtype=torch.long, which is int64.",
            partial(_table, made=lambda table: table.int()),
        ),
        Misconception(
            "words_behind",
            "Your table compares words one place too early: row 1, column 1 compares the last words, [-1]. Row i "
            "belongs to hypothesis[i - 1], column j to reference[j - 1].",
            lambda hypothesis, reference: _table(
                [*hypothesis[-1:], *hypothesis[:-1]], [*reference[-1:], *reference[:-1]]
            ),
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
    short, long = _sentence(generator, 4), ["meow", *_sentence(generator, 5)]
    yield Case("the same pair twice", ([short, ["purr"], short], [long, ["meow"], long], _DISTANCE))
    rest = _sentence(generator, 3), _sentence(generator, 6)
    yield Case("of two sentences nothing is said", ([[], rest[0], []], [short, rest[1], long], _DISTANCE))


def _edits(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> list[int]:
    return [scoring.edit_distance(*pair) for pair in zip(hypotheses, references, strict=True)]


def _length(sentences: Sequence[Sequence[str]]) -> int:
    return sum(map(len, sentences))


_Sentences = Sequence[Sequence[str]]


def _rate(
    hypotheses: _Sentences,
    references: _Sentences,
    distance: Callable[..., int],
    *,
    edits: Callable[[_Sentences, _Sentences], float] = lambda said, right: sum(_edits(said, right)),
    words: Callable[[_Sentences, _Sentences], float] = lambda said, right: _length(right),
    kept: Callable[[Sequence[str], Sequence[str]], bool] = lambda said, right: True,
    cap: float = math.inf,
    returned: Callable[[float], float] = float,
) -> float:
    """`word_error_rate` with one thing, or several, done differently."""
    pairs = [pair for pair in zip(hypotheses, references, strict=True) if kept(*pair)]
    said, right = [one for one, _ in pairs], [one for _, one in pairs]
    return returned(min(cap, edits(said, right) / words(said, right)))


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
            partial(
                _rate,
                edits=lambda said, right: sum(
                    edits / len(one) for edits, one in zip(_edits(said, right), right, strict=True)
                ),
                words=lambda said, right: len(right),
            ),
        ),
        Misconception(
            "over_hypothesis_words",
            "Your answer divides by the words of the hypotheses. Divide by those of the references: the longer one "
            "babbles the smaller the rate would be.",
            partial(_rate, words=lambda said, right: _length(said)),
        ),
        Misconception(
            "over_the_longer",
            "Your answer divides by the longer of the two sentences. Divide by the words of the references, even if "
            "the rate is then above 1.",
            partial(
                _rate, words=lambda said, right: sum(max(map(len, pair)) for pair in zip(said, right, strict=True))
            ),
        ),
        Misconception(
            "over_sentences",
            "Your answer is the number of edits for each sentence. Divide by the words of all references.",
            partial(_rate, words=lambda said, right: len(right)),
        ),
        Misconception(
            "capped_at_one",
            "Your answer never exceeds 1. It may: who says far too much makes more mistakes than there are words.",
            partial(_rate, cap=1.0),
            alone=True,
        ),
        Misconception(
            "accuracy",
            "Your answer is one minus the word error rate. It is an error rate: lower is better.",
            partial(_rate, returned=lambda rate: 1 - rate),
        ),
        Misconception(
            "wrong_sentences",
            "Your answer is the share of sentences with a mistake. Count the edits, and divide by the words of the "
            "references.",
            partial(
                _rate,
                edits=lambda said, right: sum(edits > 0 for edits in _edits(said, right)),
                words=lambda said, right: len(right),
            ),
        ),
        Misconception(
            "in_percent",
            "Your answer is in percent, as libraries print it. Return a share.",
            partial(_rate, returned=lambda rate: 100 * rate),
        ),
        Misconception(
            "not_divided",
            "Your answer is the number of edits. Divide by the words of all references.",
            partial(_rate, words=lambda said, right: 1),
        ),
        Misconception(
            "empty_hypotheses_left_out",
            "Your answer is right as long as something is said, and leaves out sentences of which nothing was. All "
            "their words are missing: count them.",
            partial(_rate, kept=lambda said, right: bool(said)),
            alone=True,
        ),
        Misconception(
            "empty_hypotheses_cost_nothing",
            "Your answer is right as long as something is said; a sentence of which nothing was costs it nothing. All "
            "its words are missing: distance counts them.",
            partial(
                _rate,
                edits=lambda said, right: sum(
                    edits for edits, one in zip(_edits(said, right), said, strict=True) if one
                ),
            ),
            alone=True,
        ),
        Misconception(
            "over_words_of_both",
            "Your answer divides by the words of hypotheses and references. Divide by those of the references alone.",
            partial(_rate, words=lambda said, right: _length(said) + _length(right)),
        ),
        Misconception(
            "upside_down",
            "Your answer is upside down: words over edits. Divide the edits by the words.",
            partial(_rate, returned=lambda rate: 1 / rate),
        ),
        Misconception(
            "first_sentence_alone",
            "Your answer is the rate of the first sentence. Add up the edits and the words of all, and divide once.",
            partial(
                _rate,
                edits=lambda said, right: _edits(said, right)[0],
                words=lambda said, right: len(right[0]),
            ),
        ),
        Misconception(
            "edits_of_the_last_sentence",
            "Your answer has the edits of the last sentence only. Add to the sum in every round: +=.",
            partial(_rate, edits=lambda said, right: _edits(said, right)[-1]),
        ),
        Misconception(
            "edits_of_the_first_sentence",
            "Your answer divides the edits of the first sentence by the words of all: does the loop return too early?",
            partial(_rate, edits=lambda said, right: _edits(said, right)[0]),
        ),
        Misconception(
            "words_of_the_last_reference",
            "Your answer divides by the words of the last reference only. Add to the sum in every round: +=.",
            partial(_rate, words=lambda said, right: len(right[-1])),
        ),
        Misconception(
            "one_long_sentence",
            "Your answer joins all sentences to one and counts its edits, so that words match across sentences. Call "
            "distance for each sentence, and add up.",
            partial(
                _rate,
                edits=lambda said, right: scoring.edit_distance(sum(map(list, said), []), sum(map(list, right), [])),
            ),
        ),
        Misconception(
            "sentences_as_words",
            "Your answer gives distance the lists of all sentences, so that a whole sentence is one edit. Call it for "
            "each sentence.",
            lambda *case: _rate(*case, edits=lambda said, right: scoring.edit_distance(said, right)),  # type: ignore[arg-type]
        ),
        Misconception(
            "last_sentence_left_out",
            "Your answer leaves out the last sentence. It counts like the others.",
            partial(
                _rate,
                edits=lambda said, right: sum(_edits(said, right)[:-1]),
                words=lambda said, right: _length(right[:-1]) or 1,
            ),
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
