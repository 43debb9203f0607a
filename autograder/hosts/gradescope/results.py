"""What Gradescope is told about a submission: its `results.json`.

The format is Gradescope's: https://gradescope-autograders.readthedocs.io/en/latest/specs/. Everything is plain text:
what a student has written cannot become a part of a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from autograder.gradebook.record import ExerciseRecord, Record
from autograder.grading.assignment import Assignment
from autograder.words import count

Json = dict[str, Any]


def results_of(assignment: Assignment, record: Record, notebook: Mapping[str, Any]) -> Json:
    """The results of a graded submission, with one test for each exercise.

    Args:
        assignment: the lesson.
        record: how the submission came out, as it counts.
        notebook: the graded notebook, whose checks say what a student may read: nothing of a hidden case.

    Raises:
        ValueError: an exercise has no score. Gradescope adds up what it is given, so that it would count as a zero.
    """
    missing = unscored(record)
    if missing:
        raise ValueError(f"no score for {', '.join(missing)}")
    said = _verdicts(notebook)
    titles = {one.id: one.title for one in assignment.exercises}
    return {
        "score": record.points,
        "execution_time": round(record.seconds),
        "output": "\n".join(_told(record, points_by_hand(assignment))),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            _test(number, one, titles[one.exercise], said.get(one.exercise, ""))
            for number, one in enumerate(record.exercises, start=1)
        ],
    }


def unscored(record: Record) -> list[str]:
    """The exercises that could not be graded, or all of them where the submission could not."""
    return [one.exercise for one in record.exercises if one.points is None]


def points_by_hand(assignment: Assignment) -> float:
    """What a person gives for the lesson's written answers: nothing of it is in any results."""
    decided = assignment.rulings
    written = [slot for slot in assignment.release.slots if slot.role in ("written", "task")]
    counted = [slot for slot in written if slot.exercise not in decided or decided[slot.exercise].counts_in_all]
    return sum(float(str(slot.nbgrader.get("points", 0))) for slot in counted)


def _test(number: int, one: ExerciseRecord, title: str, said: str) -> Json:
    points = one.points or 0.0
    told = [one.ruling, said] if one.ruling else [said]
    return {
        "number": str(number),
        "name": f"{title} ({one.exercise})",
        "score": points,
        "max_score": one.max_points,
        "status": "passed" if points >= one.max_points else "failed",
        "output": "\n\n".join(filter(None, told)),
        "visibility": "visible",
    }


def _told(record: Record, by_hand: float) -> Iterator[str]:
    """What stands above the tests, a line each."""
    yield f"{record.lesson}: {record.points:g} of {count(record.max_points, 'point')}"
    if by_hand:
        yield f"{count(by_hand, 'more point')} for written answers, which a person reads"
    if record.repairs:
        yield "Before it was graded, this was mended:"
        yield from (f"  {sentence}" for sentence in record.repairs)


def _verdicts(notebook: Mapping[str, Any]) -> dict[str, str]:
    """What each check of a graded notebook says, as text, by exercise."""
    found: dict[str, str] = {}
    for cell in notebook["cells"]:
        katze = cell["metadata"].get("katze", {})
        if katze.get("kind") == "check" and cell["outputs"]:
            found[katze["exercise"]] = str(cell["outputs"][0]["data"]["text/plain"])
    return found
