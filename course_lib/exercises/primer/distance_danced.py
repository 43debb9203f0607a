"""Primer, primer.distance_danced: How far each cat has danced."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, edits_of, hints, mistake, slips, unbatched_kinds
from course_lib.exercises.primer.shared import POSITIONS
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import primer


def _danced_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: two cats, four beats", (POSITIONS,))
    for kind in unbatched_kinds(generator):
        cats, beats = kind.sizes(2)
        yield Case(kind.name, (kind.normal(cats, beats + 1, 2),))
    square = torch.randn(2, 2, 2, generator=generator)
    yield Case("as many cats as beats", (square,))


def _step_by_step(positions: Tensor) -> Tensor:
    later, earlier = positions[:, 1:], positions[:, :-1]
    steps = later - earlier
    lengths = steps.square().sum(dim=-1).sqrt()
    total = lengths.sum(dim=1)
    return total


_slip = edits_of(_step_by_step)
_BEATS, _LENGTHS, _TOTAL = "later - earlier", "steps.square().sum(dim=-1).sqrt()", "lengths.sum(dim=1)"


def _by_loops(positions: Tensor) -> Tensor:
    danced = torch.zeros(len(positions), dtype=positions.dtype)
    for cat, path in enumerate(positions):
        for beat in range(1, len(path)):
            across, up = path[beat] - path[beat - 1]
            danced[cat] += torch.hypot(across, up)
    return danced


EXERCISE = Exercise(
    id="primer.distance_danced",
    title="How far each cat has danced",
    statement=(
        "distance_danced(positions [cats, beats, 2]) -> [cats]: for each cat, the total length of its steps from beat "
        "to beat."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=4,
    section="Sums and means take a dimension away",
    source="PyTorch's documentation, Reduction operations",
    reference=primer.distance_danced,
    cases=and_turned_around(_danced_cases),
    correct=(_step_by_step, _by_loops, lambda positions: positions.diff(dim=1).norm(dim=-1).sum(dim=-1)),
    steps=("steps", "lengths"),
    hints=hints(
        idea=(
            "A step is a cat's position now minus its position one beat earlier. Two slices give you both: every beat "
            "but the first, and every beat but the last."
        ),
        shapes=(
            "The steps have shape `[cats, beats - 1, 2]`. Their lengths have shape `[cats, beats - 1]`, because the "
            "last dimension is gone. Summing over the beats leaves `[cats]`.",
            ("all_cats_together", "beats_not_summed", "cats_summed", "root_at_the_end"),
        ),
        outline=(
            "Take all positions but the first, and subtract all positions but the last.\n"
            "Square the steps, sum over the two coordinates, and take the square root: one length for each step.\n"
            "Sum the lengths over the beats.",
            ("end_minus_start", "no_root", "coordinates_added"),
        ),
    ),
    misconceptions=(
        *slips(
            _step_by_step,
            end_minus_start=(
                "Your answer is the distance from each cat's first position to its last. A cat that dances back to "
                "where it started would get 0. Add up the lengths of its steps.",
                (_TOTAL, "steps.sum(dim=1).norm(dim=-1)"),
            ),
            no_root=(
                "Your answer adds up squared lengths. Take the square root of each step's sum of squares first.",
                (_LENGTHS, "steps.square().sum(dim=-1)"),
            ),
            coordinates_added=(
                "Your answer adds the horizontal and vertical distances of each step. Compute the length of the step "
                "instead: √(across² + up²).",
                (_LENGTHS, "steps.abs().sum(dim=-1)"),
            ),
            all_cats_together=(
                "Your answer is a single number for all cats. Sum over the beats only: dim=1.",
                (_TOTAL, "lengths.sum()"),
            ),
            cats_summed=(
                "Your answer sums over the cats (dim=0), so it has one number per beat. Sum over the beats: dim=1.",
                (_TOTAL, "lengths.sum(dim=0)"),
            ),
            beats_not_summed=(
                "Your answer still has one length per step. Sum over the beats to get one number per cat.",
                (_TOTAL, "lengths"),
            ),
            mean_of_the_steps=(
                "Your answer is the mean length of a step. Sum the lengths instead.",
                (_TOTAL, "lengths.mean(dim=1)"),
            ),
            from_the_origin=(
                "Your answer measures how far each position is from (0, 0). A step is the difference between two "
                "successive positions of the same cat.",
                (_BEATS, "positions"),
            ),
            way_back_counted=(
                "Your answer also counts a step from the last beat back to the first, as roll does. The number of "
                "steps is one less than the number of beats.",
                (_BEATS, "positions - positions.roll(1, dims=1)"),
            ),
            first_position_counted=(
                "Your answer counts the first position as a step from (0, 0). The first step goes from the first beat "
                "to the second.",
                (_BEATS, "torch.cat([positions[:, :1], later - earlier], dim=1)"),
            ),
            between_the_cats=(
                "Your answer takes the differences between cats (dim=0). Take the differences between beats: dim=1.",
                lambda positions: positions.diff(dim=0).norm(dim=-1).sum(dim=0),
            ),
        ),
        *mistake(
            "Your answer adds up all the squares and then takes one square root. Take the square root for each step, "
            "then add up the lengths.",
            root_at_the_end=_slip(
                (_LENGTHS, "steps.square().sum(dim=-1)"), (_TOTAL, "lengths.sum(dim=1).sqrt()"), paired=False
            ),
        ),
    ),
)
