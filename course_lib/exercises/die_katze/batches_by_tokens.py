"""Lesson 11, die_katze.batches_by_tokens: Batches by tokens."""

from collections.abc import Iterator, Sequence

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.judging.exercise import CORE, Case, Exercise
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


def _one_after_another(lengths: Lengths, max_tokens: int) -> list[list[int]]:
    batches: list[list[int]] = []
    now: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        pairs = [lengths[j] for j in (*now, i)]
        tokens = len(pairs) * (max(source for source, _ in pairs) + max(target for _, target in pairs))
        if now and tokens > max_tokens:
            batches.append(now)
            now = []
        now.append(i)
    if now:
        batches.append(now)
    return batches


_slip = edits_of(_one_after_another)
_KEY, _PAIRS, _RETURN = "lambda i: lengths[i]", "pairs = ", "return batches"
_SOURCE, _TARGET = "max(source for source, _ in pairs)", "max(target for _, target in pairs)"
_LONGEST = f"({_SOURCE} + {_TARGET})"


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


EXERCISE = Exercise(
    id="die_katze.batches_by_tokens",
    title="Batches by tokens",
    statement=(
        "batches_by_tokens(lengths list of (source, target), max_tokens int) -> list of lists of indices: the pairs "
        "sorted by source, target and index, split into batches of at most max_tokens, padding included."
    ),
    minutes=20,
    difficulty=4,
    importance=4,
    section="Batches of about the same size",
    source="Vaswani et al. (2017), section 5.1",
    reference=die_katze.batches_by_tokens,
    cases=_batch_cases,
    parts={CORE: 3, _LONG: 1},
    correct=(_one_after_another, _in_numbered_pairs, _keeping_the_longest_target),
    hints=hints(
        idea=(
            "Each side of a batch is a rectangle: a row for each pair, and as many columns as the longest sentence "
            "has tokens. You waste the least if the sentences have similar lengths. So sort first, then fill one "
            "batch after another.",
            ("not_sorted", "padding_free"),
        ),
        shapes=(
            "You get a list of pairs of lengths and return lists of their indices, using each index once. Sort the "
            "indices with the lengths as the key: Python compares pairs from the left and keeps the order of "
            "equal ones.",
            ("lengths_returned", "by_the_sum", "by_the_target"),
        ),
        outline=(
            "Sort the indices by their pairs of lengths.\n"
            "For each pair, find the longest source and the longest target that the last batch would have with it.\n"
            "Multiply their sum by the number of pairs in that larger batch.\n"
            "If the product is at most `max_tokens`, add the pair to the batch.\n"
            "If not, or if it is the very first pair, start a new batch with it.",
            ("one_too_many", "full_is_too_full", "last_batch_lost", "longest_pair", "too_long_dropped"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer doesn't reset the longest source and target when a new batch starts, so later batches are "
            "split as if they held the longest sentences of earlier ones. Use only the batch's own pairs.",
            longest_of_all_so_far=_slip(
                (
                    "tokens = len(pairs)",
                    "count, pairs = len(pairs), pairs + [lengths[j] for j in sum(batches, [])]\n        tokens = count",
                )
            ),
        ),
        *mistake(
            "Your answer drops any pair that is longer than `max_tokens`. Give such a pair its own batch.",
            too_long_dropped=_slip(
                (_PAIRS, f"if sum(lengths[i]) > max_tokens:\n            continue\n        {_PAIRS}")
            ),
            alone=True,
        ),
        *mistake(
            "Your answer keeps the original order, so short sentences are padded to the length of long ones. Sort the "
            "pairs first.",
            not_sorted=_slip((f"sorted(range(len(lengths)), key={_KEY})", "range(len(lengths))")),
        ),
        *mistake(
            "Your answer sorts the pairs in the wrong order. Sort by source length, shortest first; if "
            "sources are equally long, sort by target length.",
            longest_first=_slip((_KEY, f"{_KEY}, reverse=True")),
            by_the_sum=_slip((_KEY, "lambda i: sum(lengths[i])")),
            by_the_source_alone=_slip((_KEY, "lambda i: lengths[i][0]")),
            by_the_target=_slip((_KEY, "lambda i: lengths[i][::-1]")),
        ),
        *mistake(
            "Your answer counts the wrong number of tokens. With padding, that is the number of pairs times (longest "
            "source + longest target).",
            padding_free=_slip((f"len(pairs) * {_LONGEST}", "sum(map(sum, pairs))")),
            one_length_for_both=_slip((_LONGEST, "2 * max(map(max, pairs))")),
            sentences_counted=_slip((f" * {_LONGEST}", "")),
        ),
        *mistake(
            "Your answer counts only one side. Both are in memory: add the longest source and the longest target.",
            source_alone=_slip((_LONGEST, _SOURCE)),
            target_alone=_slip((_LONGEST, _TARGET)),
        ),
        *mistake(
            "Your answer uses the lengths of a single pair. Each side is padded separately: take the longest source "
            "and the longest target, even if they are in different pairs.",
            longest_pair=_slip((_LONGEST, "max(map(sum, pairs))")),
            last_pair=_slip((_LONGEST, "sum(pairs[-1])")),
        ),
        *mistake(
            "Your answer doesn't check the limit correctly. Add a pair to the batch if the batch then has at most "
            "`max_tokens` tokens, and check before you add it.",
            full_is_too_full=_slip(("tokens >", "tokens >=")),
            one_too_many=_slip(("(*now, i)", "now or [i]")),
        ),
        *mistake(
            "Your answer loses the last batch. Append it after the loop, too.",
            last_batch_lost=_slip(("if now:", "if False:")),
        ),
        *mistake(
            "Your answer is not a list of batches. Return one list for each batch, with the indices of its pairs.",
            lengths_returned=_slip(
                (_RETURN, f"{_RETURN} and [[list(lengths[i]) for i in batch] for batch in batches]")
            ),
            flat=_slip((_RETURN, "return sum(batches, [])")),
        ),
    ),
)
