"""Compares the verdicts of a class edition with those of the full course, answer by answer.

Compared are all answers whose verdicts are known: the reference, the right answers, every known mistake, two of them at
once, and the empty stub; on the visible cases, which are all that an edition has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Exercise
from course_lib.judging.judge import judge
from course_lib.judging.observation import Outcome, observe
from course_lib.judging.recorded.reading import RecordedExercise, read_exercises
from course_lib.judging.verdict import Verdict

Answer = Callable[..., Any]


@dataclass(frozen=True)
class Compared:
    """What came of comparing the verdicts on one exercise.

    Attributes:
        exercise: its id.
        answers: how many answers were judged twice.
        left_open: the names of those that the edition leaves to the full course in some case.
        other: a sentence for each verdict that differs otherwise.
    """

    exercise: str
    answers: int
    left_open: tuple[str, ...]
    other: tuple[str, ...]


def recorded_exercises(folder: Path, catalogue: Catalogue, lesson: str) -> list[RecordedExercise]:
    """The exercises of a lesson as the edition in a folder has them."""
    return read_exercises(folder.joinpath(*catalogue.modules[lesson].split(".")))


def known_answers(exercise: Exercise, stub: str | None = None) -> Iterator[tuple[str, Answer]]:
    """All answers to an exercise whose verdicts are known, by name.

    Args:
        exercise: of the full course.
        stub: the code of the released answer cell, with what it needs.
    """
    yield "the reference", exercise.reference
    yield from ((f"right answer {number}", answer) for number, answer in enumerate(exercise.correct, 1))
    yield from ((mistake.id, mistake.answer) for mistake in (*exercise.misconceptions, *exercise.pairs))
    if stub is not None:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(stub, f"<stub of {exercise.id}>", "exec"), namespace)  # our own released cell
        yield "the stub", namespace[exercise.name]


def compare_lesson(folder: Path, catalogue: Catalogue, lesson: str, stubs: Mapping[str, str]) -> Iterator[Compared]:
    """The exercises of a lesson, each judged by the full course and by the edition in a folder.

    Args:
        folder: the edition's.
        catalogue: the full course's exercises.
        lesson: such as "01_ols".
        stubs: the code of each released answer cell, by exercise id.
    """
    full = {exercise.id: exercise for exercise in catalogue.of_lesson(lesson)}
    for recorded in recorded_exercises(folder, catalogue, lesson):
        exercise = full.pop(recorded.id, None)
        if exercise is None:
            yield Compared(recorded.id, 0, (), ("the full course has no such exercise: publish the edition again",))
            continue
        yield compare(exercise, recorded, list(known_answers(exercise, stubs.get(exercise.id))))
    for missing in full:
        yield Compared(missing, 0, (), ("the edition lacks it: publish it again",))


def compare(exercise: Exercise, recorded: Exercise, answers: Sequence[tuple[str, Answer]]) -> Compared:
    """One exercise, judged by the full course and as it was recorded.

    Args:
        exercise: of the full course.
        recorded: the same, of the edition.
        answers: to judge, by name.
    """
    keys = AnswerKey(exercise), AnswerKey(recorded)
    left_open, other = [], []
    for name, answer in answers:
        full, here = (judge(key, partial(observe, answer)) for key in keys)
        if any(result.outcome is Outcome.UNGRADED for result in here.cases):
            left_open.append(name)
        elif told := next(_differences(full, here), None):
            other.append(f"{name}: {told}")
    return Compared(exercise.id, len(answers), tuple(left_open), tuple(other))


def _differences(full: Verdict, here: Verdict) -> Iterator[str]:
    """What two verdicts say differently, most important first."""
    ours, theirs = full.record(), here.record()
    for name in ours:
        if ours[name] != theirs[name]:
            yield f"{name} is {theirs[name]!r} here and {ours[name]!r} in the full course"
    if full.text() != here.text():
        yield f"the verdict reads {here.text()!r} here and {full.text()!r} in the full course"


def summary(compared: Iterable[Compared]) -> list[str]:
    """What came of it, in lines."""
    found = list(compared)
    answers, left = sum(one.answers for one in found), sum(len(one.left_open) for one in found)
    lines = [f"{one.exercise}: {told}" for one in found for told in one.other]
    for one in found:
        if one.left_open:
            left_open = (
                f"{len(one.left_open)} of {one.answers} answers are left to the full course in at least one case"
            )
            lines.append(f"{one.exercise}: {left_open}: {', '.join(one.left_open)}")
    wrong = sum(len(one.other) for one in found)
    lines.append(
        f"{len(found)} exercises, {answers} answers: {answers - left - wrong} verdicts are the same, {left} are left "
        f"to the full course, {wrong} differ"
    )
    return lines
