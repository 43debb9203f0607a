"""Where an answer is judged: a box that lacks what the answer has to compute by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.checking import Exercise


@dataclass(frozen=True)
class Bench:
    """A kind of box.

    Attributes:
        families: what nothing computes in it, by the ids of `course_lib.checking.ready_made`.
        bare: whether it lacks the packages, too, that the lesson shows in its own cells.
    """

    families: tuple[str, ...] = ()
    bare: bool = False


CELLS = Bench()
"""Where a notebook's cells are run for what they show."""


def own_bench(exercise: Exercise, shows_packages: bool) -> Bench:
    """A bench for one exercise alone.

    Args:
        exercise: the exercise.
        shows_packages: whether its lesson's own cells may use packages that no answer may.
    """
    return Bench(tuple(sorted(family.id for family in exercise.forbidden)), shows_packages)


def assign_benches(exercises: Sequence[Exercise], shows_packages: bool) -> dict[str, Bench]:
    """As few benches as possible: exercises share one unless one needs what another forbids.

    Args:
        exercises: of a lesson.
        shows_packages: whether the lesson's own cells may use packages that no answer may.

    Returns:
        The bench of each exercise, by its id; an exercise that forbids nothing is judged where its cells are run, or on
        any bench without the lesson's packages.
    """
    groups: list[list[Exercise]] = []
    for exercise in exercises:
        if exercise.forbidden or shows_packages:
            group = next((group for group in groups if all(_agree(exercise, other) for other in group)), None)
            if group is None:
                groups.append(group := [])
            group.append(exercise)
    assigned = dict.fromkeys((exercise.id for exercise in exercises), CELLS)
    for group in groups:
        families = {family.id for exercise in group for family in exercise.forbidden}
        assigned |= dict.fromkeys((exercise.id for exercise in group), Bench(tuple(sorted(families)), shows_packages))
    return assigned


def _agree(one: Exercise, other: Exercise) -> bool:
    return not (set(one.needs) & set(other.forbidden) or set(other.needs) & set(one.forbidden))
