"""Lesson 10, evaluation.pairwise_accuracy: Does a metric choose as people do?"""

import itertools
from collections.abc import Iterator, Sequence

import torch
from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.exercises.evaluation.shared import in_percent
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import evaluation


def _pair_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def drawn(count: int) -> list[float]:
        return [round(score, 3) for score in (60 * torch.rand(count, generator=generator)).tolist()]

    def grades(count: int) -> list[int]:
        return (torch.randperm(5 * count, generator=generator)[:count] + 1).tolist()

    if not hidden:
        yield Case("worked example: four translations", ([71.0, 30.0, 19.0, 18.0], [1, 4, 5, 3], 0.0))
    for number in (5, 8):
        yield Case(f"{number} translations", (drawn(number), grades(number), 0.0))
    yield Case("scores below 0", ([score - 30 for score in drawn(6)], grades(6), 0.0))
    yield Case("two translations", (drawn(2), [3, 1] if hidden else [1, 3], 0.0))
    several = integer(generator, 6, 8)
    equal = [1 + n % 3 for n in range(several)]
    yield Case("equal grades", (drawn(several), equal, 0.0), part="ties")
    yield Case("equal scores", ([10.0, 20.0, 20.0, *drawn(3), 10.0], grades(7), 0.0), part="ties")
    yield Case("equal scores where grades are equal", ([10.0, 20.5, 20.5, 30.0], [1, 2, 2, 3], 0.0), part="ties")
    scores = [4.0 * n + integer(generator, 0, 1) for n in torch.randperm(8, generator=generator).tolist()]
    people = [1 + n % 4 for n in torch.randperm(8, generator=generator).tolist()]
    yield Case("a tolerance", (scores, people, 6.5), part="ties")
    yield Case("exactly the tolerance apart", ([1.0, 3.0, 5.5, 8.5], [2, 2, 4, 4], 2.0), part="ties")
    yield Case("grades closer than the tolerance", ([10.0, 50.0, 90.0, 30.0], [1, 2, 3, 3], 5.0), part="ties")


def _pairs_by_loop(metric: Sequence[float], people: Sequence[float], tolerance: float) -> float:
    agreed, pairs = 0, 0
    for i, j in itertools.combinations(range(len(people)), 2):
        difference = metric[i] - metric[j]
        judged = (difference > tolerance) - (difference < -tolerance)
        preferred = (people[i] > people[j]) - (people[i] < people[j])
        agreed += judged == preferred
        pairs += 1
    return agreed / pairs


_slip = edits_of(_pairs_by_loop)
_COMPARED = "itertools.combinations(range(len(people)), 2)"
_AGREED, _PAIRS, _RETURN = "agreed += judged == preferred", "pairs += 1", "agreed / pairs"


def _pairs_by_signs(metric: Sequence[float], people: Sequence[float], tolerance: float) -> float:
    def differences(values: Sequence[float]) -> torch.Tensor:
        row = torch.tensor(values, dtype=torch.float64)
        return (row.unsqueeze(1) - row)[torch.ones(len(row), len(row)).triu(1).bool()]

    ours, theirs = differences(metric), differences(people)
    ours[ours.abs() <= tolerance] = 0.0
    return (ours.sign() == theirs.sign()).double().mean().item()


def _pairs_both_ways(metric: Sequence[float], people: Sequence[float], tolerance: float) -> float:
    found = []
    for m, p in zip(metric, people, strict=True):
        for other_m, other_p in zip(metric, people, strict=True):
            tied = abs(m - other_m) <= tolerance
            found.append(tied if p == other_p else not tied and (m > other_m) == (p > other_p))
    return (sum(found) - len(people)) / (len(found) - len(people))  # without each beside itself


EXERCISE = Exercise(
    id="evaluation.pairwise_accuracy",
    title="Does it choose as people do?",
    statement=(
        "pairwise_accuracy(metric list of float, people list of numbers, tolerance float) -> float: the share of all "
        "pairs in which people and the metric prefer the same translation, or both prefer neither. The metric prefers "
        "neither if its two scores are at most `tolerance` apart."
    ),
    minutes=20,
    difficulty=3,
    importance=4,
    section="Who judges the judges?",
    source="Kocmi et al. (2021), section 4; Deutsch et al. (2023), sections 4 and 5",
    reference=evaluation.pairwise_accuracy,
    cases=_pair_cases,
    parts={CORE: 2, "ties": 2},
    correct=(_pairs_by_loop, _pairs_by_signs, _pairs_both_ways),
    steps=("agreed",),
    hints=hints(
        idea=(
            "For each pair, ask which translation people prefer, and which one the metric prefers. Each can prefer "
            "the first, the second, or neither. Count how often people and the metric agree."
        ),
        shapes=(
            "n translations make n (n - 1) / 2 pairs: each translation is paired once with every other, and never "
            "with itself. The tolerance applies to the absolute difference of the metric's scores; people's grades "
            "tie only if they are equal.",
            ("with_itself", "neighbours_only", "tolerance_on_one_side", "tolerance_for_people"),
        ),
        outline=(
            "Go through all pairs i, j with i before j.\n"
            "Work out people's choice: 1, -1, or 0 where the grades are equal.\n"
            "Work out the metric's choice: 0 where its scores differ by at most the tolerance, otherwise 1 or -1.\n"
            "Count the pairs with equal choices, and divide by the number of pairs.",
            ("ties_left_out", "tied_grades_left_out", "ties_are_wrong", "ties_are_half"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer leaves out pairs with a tie. Count these pairs: if people and the metric both prefer "
            "neither, they agree; if only one side does, they disagree.",
            ties_left_out=_slip(
                (_AGREED, "agreed += judged == preferred != 0"),
                (_PAIRS, "pairs += judged != 0 != preferred"),
                paired=False,
            ),
            tied_grades_left_out=_slip(
                (_AGREED, "agreed += judged == preferred != 0"), (_PAIRS, "pairs += preferred != 0"), paired=False
            ),
            tied_scores_left_out=_slip(
                (_AGREED, "agreed += judged == preferred != 0"), (_PAIRS, "pairs += judged != 0"), paired=False
            ),
        ),
        *mistake(
            "Your answer doesn't score ties correctly. If both prefer neither, they agree; if only one does, they "
            "disagree.",
            ties_are_wrong=_slip((_AGREED, "agreed += judged * preferred > 0"), paired=False),
            ties_agree_with_all=_slip((_AGREED, "agreed += judged * preferred >= 0"), paired=False),
            ties_are_half=_slip(
                (_AGREED, "agreed += 0.5 if 0 in (judged, preferred) else judged == preferred"), paired=False
            ),
        ),
        *mistake(
            "Your answer doesn't apply the tolerance correctly. The metric prefers neither if the absolute difference "
            "of its scores is at most `tolerance`.",
            tolerance_ignored=_slip(
                ("(difference > tolerance) - (difference < -tolerance)", "(difference > 0) - (difference < 0)"),
                paired=False,
            ),
            tolerance_on_one_side=_slip(
                ("(difference < -tolerance)", "(difference < 0 and difference <= tolerance)"), paired=False
            ),
            tolerance_excluded_even_at_0=_slip(
                (
                    "(difference > tolerance) - (difference < -tolerance)",
                    "0 if abs(difference) < tolerance else 1 if difference > 0 else -1",
                ),
                paired=False,
            ),
            tolerance_excluded=_slip(
                (
                    "(difference > tolerance) - (difference < -tolerance)",
                    "(difference > 0 and difference >= tolerance) - (difference < 0 and difference <= -tolerance)",
                ),
                paired=False,
            ),
        ),
        *mistake(
            "Your answer also applies the tolerance to people's grades. Two grades tie only if they are equal.",
            tolerance_for_people=_slip(
                (
                    "(people[i] > people[j]) - (people[i] < people[j])",
                    "(people[i] > people[j] + tolerance) - (people[i] < people[j] - tolerance)",
                )
            ),
            alone=True,
        ),
        *mistake(
            "Your answer leaves out pairs. Compare each translation with every other.",
            neighbours_only=_slip((_COMPARED, "itertools.pairwise(range(len(people)))")),
            first_with_the_others=_slip((_COMPARED, "[(0, n) for n in range(1, len(people))]")),
        ),
        *mistake(
            "Your answer also compares each translation with itself. On such a pair, people and the metric always "
            "agree. Use pairs of two different translations.",
            with_itself=_slip(("itertools.combinations(", "itertools.combinations_with_replacement(")),
            every_pair_and_itself=_slip((_COMPARED, "itertools.product(range(len(people)), repeat=2)")),
        ),
        *mistake(
            "Your answer counts disagreements. Return the share of pairs that agree, from 0 to 1.",
            kendalls_tau=_slip((_AGREED, "agreed += 2 * (judged == preferred) - 1")),
            disagreements=_slip((_AGREED, "agreed += judged != preferred")),
        ),
        *mistake(
            "Your answer does not divide by the number of pairs.",
            not_divided=_slip((_RETURN, "float(agreed)")),
            over_translations=_slip((_RETURN, "agreed / len(people)")),
        ),
        in_percent("a share from 0 to 1", _slip((_RETURN, "100 * agreed / pairs"))),
    ),
)
