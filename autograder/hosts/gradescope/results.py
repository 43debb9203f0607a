"""Writes Gradescope's `results.json` for a submission.

Gradescope defines the format: https://gradescope-autograders.readthedocs.io/en/latest/specs/. All text is plain, so
that nothing that a student wrote is rendered as HTML.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from autograder.gradebook.record import ExerciseRecord, Record
from autograder.grading.assignment import Assignment
from autograder.words import count

Json = dict[str, Any]


def results_of(assignment: Assignment, record: Record, notebook: Mapping[str, Any]) -> Json:
    """Return the results of a graded submission, with one test for each exercise.

    Args:
        assignment: the lesson.
        record: the submission's record, with adjustments applied.
        notebook: the graded notebook, whose checks contain only what a student may read, and no hidden cases.

    Raises:
        ValueError: no exercise has a score. Gradescope would count that as a zero.
    """
    if record.points is None:
        raise ValueError(f"no score for {record.student}")
    verdicts = _verdicts(notebook)
    titles = {exercise.id: exercise.title for exercise in assignment.exercises}
    return {
        "score": record.points,
        "execution_time": round(record.seconds),
        "output": "\n".join(_summary(record, points_by_hand(assignment))),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            _test(number, result, titles[result.exercise], verdicts.get(result.exercise, ""))
            for number, result in enumerate(record.exercises, start=1)
        ],
    }


def points_by_hand(assignment: Assignment) -> float:
    """Return the points that a person gives for the lesson's written answers; no results include them."""
    decided = assignment.adjustments
    written = [slot for slot in assignment.release.slots if slot.role in ("written", "task")]
    counted = [slot for slot in written if slot.exercise not in decided or decided[slot.exercise].counts_in_all]
    return sum(float(str(slot.cell.nbgrader.get("points", 0))) for slot in counted)


def _test(number: int, result: ExerciseRecord, title: str, verdict: str) -> Json:
    """Return an exercise's test; without a score, it has no points and no status, and Gradescope does not count it."""
    texts = [result.adjustment, verdict] if result.adjustment else [verdict]
    test = {
        "number": str(number),
        "name": f"{title} ({result.exercise})",
        "output": "\n\n".join(filter(None, texts)),
        "visibility": "visible",
    }
    if result.points is None:
        return test
    status = "passed" if result.points >= result.max_points else "failed"
    return {**test, "score": result.points, "max_score": result.max_points, "status": status}


def _summary(record: Record, by_hand: float) -> Iterator[str]:
    """Yield the lines above the tests."""
    most = record.max_points - sum(result.max_points for result in record.ungraded)
    yield f"{record.lesson}: {record.points:g} of {count(most, 'point')}"
    for result in record.ungraded:
        yield f"{count(result.max_points, 'more point')} for {result.exercise}, which could not be graded: not a zero"
    if by_hand:
        yield f"{count(by_hand, 'more point')} for written answers, which a person reads"
    if record.repairs:
        yield "Before it was graded, this was repaired:"
        yield from (f"  {sentence}" for sentence in record.repairs)


def _verdicts(notebook: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of each check in a graded notebook, by exercise."""
    found: dict[str, str] = {}
    for cell in notebook["cells"]:
        katze = cell["metadata"].get("katze", {})
        if katze.get("kind") == "check" and cell["outputs"]:
            found[katze["exercise"]] = str(cell["outputs"][0]["data"]["text/plain"])
    return found
