"""Lesson 11, die_katze.batches_by_tokens: Batches by tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from torch import Generator

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import integer
from course_lib.exercises.die_katze.shared import LESSON, WITHHELD
from course_lib.references import die_katze

Lengths = Sequence[tuple[int, int]]

_LONG = "a pair that is too long"


def _batch_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: six captions", ([(9, 4), (3, 3), (3, 5), (8, 8), (3, 3), (1, 2)], 24))
        yield Case("exactly as many as fit", ([(2, 2), (2, 2), (2, 2), (2, 2)], 8))
        yield Case("a long target among short ones", ([(3, 9), (3, 3), (4, 2), (5, 2)], 27))
        yield Case("everything in one batch", ([(5, 1), (1, 5)], 100))
        yield Case("nothing at all", ([], 10))
    for name, count in (("a few captions", 12), ("more of them", 25), ("many", 60 if hidden else 40)):
        lengths = [(integer(generator, 2, 15), integer(generator, 2, 15)) for _ in range(count)]
        yield Case(name, (lengths, integer(generator, 60, 120)))
    lengths = [(integer(generator, 2, 9), integer(generator, 2, 9)) for _ in range(9)]
    long = (integer(generator, 40, 60), integer(generator, 40, 60))
    yield Case("one is longer than a batch", ([*lengths[:4], long, *lengths[4:]], 36), part=_LONG)
    yield Case("a short one after it", ([(2, 50), (3, 2), *lengths], 30), part=_LONG)


def _by_length(lengths: Lengths) -> list[int]:
    return sorted(range(len(lengths)), key=lambda i: lengths[i])


def _padded(pairs: Lengths) -> int:
    return len(pairs) * (max(source for source, _ in pairs) + max(target for _, target in pairs))


def _cut(
    lengths: Lengths,
    max_tokens: int,
    *,
    order: Callable[[Lengths], list[int]] = _by_length,
    size: Callable[[Lengths], int] = _padded,
    fits: Callable[[int, int], bool] = lambda tokens, most: tokens <= most,
    keeps: Callable[[int, int], bool] = lambda tokens, most: True,
    late: bool = False,
    last: bool = True,
    returned: Callable[[list[list[int]], Lengths], Any] = lambda batches, lengths: batches,
) -> Any:
    """`batches_by_tokens` with one thing, or several, done differently."""
    batches: list[list[int]] = []
    now: list[int] = []
    for i in order(lengths):
        if not keeps(sum(lengths[i]), max_tokens):
            continue
        tried = now if late else [*now, i]
        if now and not fits(size([lengths[j] for j in tried]), max_tokens):
            batches.append(now)
            now = []
        now = [*now, i]
    if now and last:
        batches.append(now)
    return returned(batches, lengths)


def _longest_of_all_so_far(lengths: Lengths, max_tokens: int) -> list[list[int]]:
    batches: list[list[int]] = []
    source = target = 0
    for i in _by_length(lengths):
        source, target = max(source, lengths[i][0]), max(target, lengths[i][1])
        if batches and (len(batches[-1]) + 1) * (source + target) <= max_tokens:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches


def _in_numbered_pairs(lengths: Lengths, max_tokens: int) -> list[list[int]]:
    ordered = sorted((source, target, i) for i, (source, target) in enumerate(lengths))
    batches: list[list[int]] = []
    while ordered:
        count = 1
        while count < len(ordered):
            tried = ordered[: count + 1]
            if len(tried) * (tried[-1][0] + max(target for _, target, _ in tried)) > max_tokens:
                break
            count += 1
        batches.append([i for _, _, i in ordered[:count]])
        ordered = ordered[count:]
    return batches


def _keeping_the_longest_target(lengths: Lengths, max_tokens: int) -> list[list[int]]:
    batches: list[list[int]] = []
    longest = 0
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i][0], lengths[i][1], i)):
        source, target = lengths[i]
        longest = max(longest, target)
        if not batches or (len(batches[-1]) + 1) * (source + longest) > max_tokens:
            batches += [[]]
            longest = target
        batches[-1] += [i]
    return batches


def _by_recursion(lengths: Lengths, max_tokens: int) -> list[list[int]]:
    def cut(order: list[int]) -> list[list[int]]:
        if not order:
            return []
        fitting = 1
        for end in range(2, len(order) + 1):
            if _padded([lengths[i] for i in order[:end]]) > max_tokens:
                break
            fitting = end
        return [order[:fitting], *cut(order[fitting:])]

    return cut(_by_length(lengths))


CORRECT = (_in_numbered_pairs, _keeping_the_longest_target, _by_recursion)


EXERCISE = Exercise(
    id="die_katze.batches_by_tokens",
    lesson=LESSON,
    name="batches_by_tokens",
    title="Batches by tokens",
    statement=(
        "batches_by_tokens(lengths list of (source, target), max_tokens int) -> list of lists of numbers: the pairs "
        "sorted by source, target and number, cut into batches of at most max_tokens, padding included."
    ),
    points=4,
    minutes=20,
    section="Batches of about the same size",
    source="Vaswani et al. (2017), section 5.1",
    reference=die_katze.batches_by_tokens,
    cases=_batch_cases,
    parts={CORE: 3, _LONG: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "A batch is a rectangle on each side: as many rows as it has pairs, as many columns as its longest "
            "sentence. Neighbours in length waste the least, so sort first and then fill one batch after another.",
            answers=("not_sorted", "padding_free"),
        ),
        Hint(
            "shapes",
            "In comes a list of pairs of lengths; out come lists of their numbers, from 0, each number once. Sort the "
            "numbers, with the lengths as the key: Python compares pairs from the left, and keeps equal ones in order.",
            answers=("lengths_returned", "by_the_sum", "by_the_target"),
        ),
        Hint(
            "outline",
            "Sort the numbers by their pairs of lengths.\n"
            "For each of them, find the longest source and the longest target of the last batch with this pair in it.\n"
            "Multiply their sum by the number of pairs that it would have.\n"
            "If that is at most `max_tokens`, the pair joins the batch.\n"
            "Otherwise, and for the very first pair, it begins a new one.",
            answers=("one_too_many", "full_is_too_full", "last_batch_lost", "longest_pair", "too_long_dropped"),
        ),
    ),
    misconceptions=(
        Misconception(
            "longest_of_all_so_far",
            "Your answer does not begin anew with the longest source and the longest target in a new batch, so that "
            "later batches are cut as if they held the longest of earlier ones. Only the batch's own pairs count.",
            _longest_of_all_so_far,
        ),
        Misconception(
            "too_long_dropped",
            "Your answer is right but for a pair that is longer than a batch: it leaves it out. Let it be a batch of "
            "its own.",
            partial(_cut, keeps=lambda tokens, most: tokens <= most),
            alone=True,
        ),
        Misconception(
            "not_sorted",
            "Your answer takes the pairs in the order in which they come, so short sentences are padded to the length "
            "of long ones. Sort them first.",
            partial(_cut, order=lambda lengths: list(range(len(lengths)))),
        ),
        Misconception(
            "longest_first",
            "Your answer begins with the longest pairs. Begin with the shortest.",
            partial(_cut, order=lambda lengths: sorted(range(len(lengths)), key=lambda i: lengths[i], reverse=True)),
        ),
        Misconception(
            "by_the_sum",
            "Your answer sorts by the sum of the two lengths. Sort by the source, and by the target only where the "
            "sources are equally long.",
            partial(_cut, order=lambda lengths: sorted(range(len(lengths)), key=lambda i: sum(lengths[i]))),
        ),
        Misconception(
            "by_the_source_alone",
            "Your answer sorts by the source alone. Where sources are equally long, the shorter target comes first.",
            partial(_cut, order=lambda lengths: sorted(range(len(lengths)), key=lambda i: lengths[i][0])),
        ),
        Misconception(
            "by_the_target",
            "Your answer sorts by the target first. Sort by the source, then by the target.",
            partial(_cut, order=lambda lengths: sorted(range(len(lengths)), key=lambda i: lengths[i][::-1])),
        ),
        Misconception(
            "padding_free",
            "Your answer counts the tokens without the padding. On the GPU every row is as long as the longest: "
            "multiply the number of pairs by the longest lengths.",
            partial(_cut, size=lambda pairs: sum(map(sum, pairs))),
        ),
        Misconception(
            "source_alone",
            "Your answer counts the source side alone. Both sides are in memory: add the longest target.",
            partial(_cut, size=lambda pairs: len(pairs) * max(source for source, _ in pairs)),
        ),
        Misconception(
            "target_alone",
            "Your answer counts the target side alone. Both sides are in memory: add the longest source.",
            partial(_cut, size=lambda pairs: len(pairs) * max(target for _, target in pairs)),
        ),
        Misconception(
            "longest_pair",
            "Your answer looks for the longest pair, source and target together. Each side is padded by itself: take "
            "the longest source and the longest target, which may be of different pairs.",
            partial(_cut, size=lambda pairs: len(pairs) * max(map(sum, pairs))),
        ),
        Misconception(
            "last_pair",
            "Your answer takes the lengths of the pair that comes last. Its source is the longest, but an earlier "
            "target may be longer than its own.",
            partial(_cut, size=lambda pairs: len(pairs) * sum(pairs[-1])),
        ),
        Misconception(
            "one_length_for_both",
            "Your answer pads both sides to the same length. They are two tensors: each is padded to its own longest.",
            partial(_cut, size=lambda pairs: 2 * len(pairs) * max(map(max, pairs))),
        ),
        Misconception(
            "sentences_counted",
            "Your answer counts pairs instead of tokens. Multiply their number by the longest lengths.",
            partial(_cut, size=len),
        ),
        Misconception(
            "full_is_too_full",
            "Your answer begins a new batch where the old one would be exactly full. `max_tokens` are allowed.",
            partial(_cut, fits=lambda tokens, most: tokens < most),
        ),
        Misconception(
            "one_too_many",
            "Your answer notices that a batch is full only after it has too many tokens. Ask before a pair is added.",
            partial(_cut, late=True),
        ),
        Misconception(
            "last_batch_lost",
            "Your answer loses the last batch. What is left at the end is a batch as well.",
            partial(_cut, last=False),
        ),
        Misconception(
            "lengths_returned",
            "Your batches hold the pairs' lengths. Return their numbers, by which the pairs can be found again.",
            partial(_cut, returned=lambda batches, lengths: [[list(lengths[i]) for i in batch] for batch in batches]),
        ),
        Misconception(
            "flat",
            "Your answer is one list of numbers. Return a list for each batch.",
            partial(_cut, returned=lambda batches, lengths: [i for batch in batches for i in batch]),
        ),
    ),
    withheld=WITHHELD,
)
