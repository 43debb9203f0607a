"""Compares a class edition's verdicts with the full course's, answer by answer.

It compares all answers with known verdicts: the reference, the right answers, every known mistake, pairs of mistakes,
and the empty stub. It uses the visible cases, because an edition has no others.
"""

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
    """The result of comparing the verdicts on an exercise.

    Attributes:
        exercise: its id.
        answers: how many answers were judged by both.
        left_open: the names of answers for which the edition leaves some case to the full course.
        other: a sentence for each other difference.
    """

    exercise: str
    answers: int
    left_open: tuple[str, ...]
    other: tuple[str, ...]


def recorded_exercises(folder: Path, catalogue: Catalogue, lesson: str) -> list[RecordedExercise]:
    """Read the exercises of a lesson from an edition's folder."""
    return read_exercises(folder.joinpath(*catalogue.modules[lesson].split(".")))


def known_answers(exercise: Exercise, stub: str | None = None) -> Iterator[tuple[str, Answer]]:
    """Yield all answers to an exercise with known verdicts, by name.

    Args:
        exercise: the full course's exercise.
        stub: the code of the released answer cell, with the definitions that it needs.
    """
    yield "the reference", exercise.reference
    yield from ((f"right answer {number}", answer) for number, answer in enumerate(exercise.correct, 1))
    yield from ((mistake.id, mistake.answer) for mistake in (*exercise.misconceptions, *exercise.pairs))
    if stub is not None:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(stub, f"<stub of {exercise.id}>", "exec"), namespace)  # our own released cell
        yield "the stub", namespace[exercise.name]


def compare_lesson(folder: Path, catalogue: Catalogue, lesson: str, stubs: Mapping[str, str]) -> Iterator[Compared]:
    """Judge a lesson's exercises with the full course and with the edition in a folder, and compare.

    Args:
        folder: the edition's folder.
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
    """Judge answers to an exercise with the full course and with the recording, and compare.

    Args:
        exercise: the full course's exercise.
        recorded: the edition's recording of it.
        answers: the answers to judge, by name.
    """
    keys = AnswerKey(exercise), AnswerKey(recorded)
    left_open, other = [], []
    for name, answer in answers:
        full, here = (judge(key, partial(observe, answer)) for key in keys)
        if any(result.outcome is Outcome.UNGRADED for result in here.cases):
            left_open.append(name)
        elif difference := next(_differences(full, here), None):
            other.append(f"{name}: {difference}")
    return Compared(exercise.id, len(answers), tuple(left_open), tuple(other))


def _differences(full: Verdict, here: Verdict) -> Iterator[str]:
    """Yield the differences between two verdicts, most important first."""
    in_full, in_edition = full.record(), here.record()
    for name in in_full:
        if in_full[name] != in_edition[name]:
            yield f"{name} is {in_edition[name]!r} here and {in_full[name]!r} in the full course"
    if full.text() != here.text():
        yield f"the verdict reads {here.text()!r} here and {full.text()!r} in the full course"


def summary(compared: Iterable[Compared]) -> list[str]:
    """Return a summary of the comparisons, in lines."""
    found = list(compared)
    answers, left = sum(one.answers for one in found), sum(len(one.left_open) for one in found)
    lines = [f"{one.exercise}: {difference}" for one in found for difference in one.other]
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
