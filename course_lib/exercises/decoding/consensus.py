"""Lesson 06, decoding.consensus: The translation that agrees with the others."""

from collections import Counter
from collections.abc import Callable, Iterator

import torch
from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer
from course_lib.judging.exercise import Case, Exercise, Misconception
from course_lib.references import decoding

Samples = list[list[int]]

EXAMPLE: Samples = [[4, 5, 8, 2], [3, 5, 8, 2], [3, 5, 7, 10, 2], [3, 5, 8, 12, 2], [2], [2], [3, 6, 8, 2]]
"""*eine Katze tanzte*, *die Katze tanzte*, *die Katze hat getanzt*, ..., and two that stop at once."""


def _consensus_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: seven translations, two of them empty", (EXAMPLE,))
        yield Case("a single sample", ([[7, 3, 7]],))
    for number in range(10):
        yield Case(f"drawn samples, number {number + 1}", (_worth_comparing(generator, number),))


def _worth_comparing(generator: Generator, number: int) -> Samples:
    """Samples of which one agrees best by far, and with which these mistakes choose another."""
    apart = [mistake for place, mistake in enumerate(_CHOOSING) if place % 5 == number % 5]
    while True:
        samples = [
            torch.randint(3, 8, (integer(generator, 1, 6),), generator=generator).tolist()
            for _ in range(integer(generator, 5, 8))
        ]
        samples += samples[:1] * integer(generator, 0, 2)
        first, second = sorted(_agreement(samples), reverse=True)[:2]
        others = [mistake(samples) for mistake in apart]
        right = decoding.consensus(samples)
        if first - second > 1e-3 and right not in others and len({*map(tuple, others)}) == len(others):
            return samples


def _agreement(samples: Samples) -> list[float]:
    """Of the different samples."""
    return [sum(decoding.overlap(one, other) for other in samples) for one in map(list, {*map(tuple, samples)})]


def _one_by_one(samples: Samples) -> list[int]:
    best, most = samples[0], -1.0
    for one in samples:
        total = 0.0
        for other in samples:
            shared = sum((Counter(one) & Counter(other)).values())
            total += 2 * shared / (len(one) + len(other))
        if total > most:
            best, most = one, total
    return best


def _by_removing(samples: Samples) -> list[int]:
    def alike(one: list[int], other: list[int]) -> float:
        left = list(other)
        for token in one:
            if token in left:
                left.remove(token)
        return 2 * (len(other) - len(left)) / (len(one) + len(other))

    return max(samples, key=lambda one: sum(alike(one, other) for other in samples))


def _in_a_table(samples: Samples) -> list[int]:
    vocab_size = 1 + max(max(sample) for sample in samples)
    counts = torch.stack([torch.tensor(sample).bincount(minlength=vocab_size) for sample in samples])
    shared = torch.minimum(counts.unsqueeze(0), counts.unsqueeze(1)).sum(dim=-1)
    lengths = counts.sum(dim=-1)
    agreement = (2 * shared / (lengths.unsqueeze(0) + lengths.unsqueeze(1))).sum(dim=1)
    return samples[int(agreement.argmax())]


_slip = edits_of(_one_by_one)
_SHARED = "sum((Counter(one) & Counter(other)).values())"
_SCORE = "2 * shared / (len(one) + len(other))"
_OTHERS = "for other in samples"

_SLIPS: dict[str, Callable[..., list[int]]] = {
    "most_frequent": lambda samples: max(samples, key=samples.count),
    "least_alike": _slip(("most = samples[0], -1.0", "most = samples[0], 1e9"), ("total > most", "total < most")),
    "shared_alone": _slip((_SCORE, "shared")),
    "precision_alone": _slip((_SCORE, "shared / len(one)")),
    "recall_alone": _slip((_SCORE, "shared / len(other)")),
    "each_token_once": _slip((_SHARED, "len(set(one) & set(other))")),
    "counted_by_the_first": _slip((_SHARED, "sum(token in other for token in one)")),
    "position_by_position": _slip((_SHARED, "sum(a == b for a, b in zip(one, other))")),
    "repeated_samples_once": _slip((_OTHERS, "for other in map(list, set(map(tuple, samples)))")),
    "first_alone": _slip((_OTHERS, "for other in samples[:1]")),
}
_CHOOSING = tuple(_SLIPS.values())


def _told(name: str, message: str) -> Misconception:
    return Misconception(name, message, _SLIPS[name])


EXERCISE = Exercise(
    id="decoding.consensus",
    title="The translation that agrees with the others",
    statement=(
        "consensus(samples, a list of lists of token ids) -> one of them: the sample with the largest sum of F1 "
        "scores over all samples. F1 = 2 · shared / (sum of both lengths), where `shared` adds up the smaller of each "
        "token's two counts."
    ),
    points=4,
    minutes=15,
    difficulty=3,
    importance=3,
    section="Short sentences win",
    source="Kumar and Byrne (2004); Eikema and Aziz (2020)",
    reference=decoding.consensus,
    cases=_consensus_cases,
    correct=(_one_by_one, _by_removing, _in_a_table),
    hints=hints(
        idea=(
            "Each sample votes for the samples like it. Compare every sample with every other, add up the F1 scores, "
            "and take the sample with the largest sum. You may compare a sample with itself: that adds 1 to every sum.",
            ("most_frequent", "least_alike", "first_alone", "repeated_samples_once"),
        ),
        shapes=(
            "`Counter(tokens)` counts the tokens of a list, and `&` of two counters keeps the smaller count of each "
            "token. The sum of these counts is the number of shared tokens.",
            ("each_token_once", "counted_by_the_first", "position_by_position"),
        ),
    ),
    misconceptions=(
        _told(
            "most_frequent",
            "Your answer returns the sample that was drawn most often. All samples may be different: return the one "
            "that is most like the others.",
        ),
        _told("least_alike", "Your answer returns the sample that agrees least with the others. Take the largest sum."),
        _told(
            "shared_alone",
            "Your answer adds up the shared tokens without dividing by the lengths, so long samples win. Divide by "
            "both lengths: 2 · shared / (len(one) + len(other)).",
        ),
        _told(
            "precision_alone",
            "Your answer divides by the candidate's own length (precision), so short samples win. Use F1: 2 · shared "
            "/ (len(one) + len(other)).",
        ),
        _told(
            "recall_alone",
            "Your answer divides by the other sample's length (recall), so long samples win. Use F1: 2 · shared / "
            "(len(one) + len(other)).",
        ),
        _told(
            "each_token_once",
            "Your answer counts each shared token once, as in a set. A token that occurs twice in both samples counts "
            "twice: Counter(one) & Counter(other).",
        ),
        _told(
            "counted_by_the_first",
            "Your answer counts every token of one sample that occurs anywhere in the other. A token that occurs "
            "twice in one and once in the other is shared once: Counter(one) & Counter(other).",
        ),
        _told(
            "position_by_position",
            "Your answer compares position by position, so one extra word spoils every later match. Count a shared "
            "token wherever it is.",
        ),
        _told(
            "repeated_samples_once",
            "Your answer counts identical samples once. A sample drawn twice is more probable and gets two votes: sum "
            "over all samples.",
        ),
        _told(
            "first_alone",
            "Your answer compares every sample only with the first one. Compare it with all samples, and add up the "
            "scores.",
        ),
    ),
)
