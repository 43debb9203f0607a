"""What fits many exercises, in every lesson: nobody earns a point, and the same answers written honestly earn all."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import self_test
from autograder.demo.student import graded_cell
from autograder.grading.batch import grade_assignment
from course_lib import exercises
from course_lib.judging.observation import Outcome
from tests.dishonest.attempt import code_cell
from tests.dishonest.crossed import Crossing, crossings
from tests.dishonest.kinds import KINDS
from tests.dishonest.test_dishonest import LIMITS, make_course
from tests.solutions.filling import filled

HONEST = "honest"


@pytest.mark.usefixtures("processes")
def test_nobody_earns_a_point(tmp_path: Path, sampled_lesson: str, request: pytest.FixtureRequest) -> None:
    lesson = sampled_lesson
    if self_test():
        pytest.skip("no sandboxes at level L2 here")
    course = replace(make_course(tmp_path), limits=LIMITS)
    released = course.release_notebook(lesson).read_text()
    attempts = crossings(lesson)[:: 1 if request.config.getoption("thorough") else 5]
    assert len({attempt.name for attempt in attempts}) == len(attempts)
    for name, notebook in [(one.name, _hand_in(json.loads(released), one)) for one in attempts]:
        _write(course.submitted / name / lesson / f"{lesson}.ipynb", notebook)
    _write(course.submitted / HONEST / lesson / f"{lesson}.ipynb", filled(lesson))
    result = grade_assignment(course, lesson, workers=2, level=Level.L2)
    found = {record.student: record for record in result.submissions}
    earned = {name: record.points for name, record in found.items() if name != HONEST and record.points}
    assert earned == {}
    tried = {attempt.name: attempt.exercise.id for attempt in attempts}
    outcomes = {
        name: one.outcome
        for name, record in found.items()
        for one in record.exercises
        if one.exercise == tried.get(name)
    }
    assert {name for name, outcome in outcomes.items() if outcome in (Outcome.PASSED, Outcome.NOT_ATTEMPTED)} == set()
    assert found[HONEST].points == sum(exercise.points for exercise in exercises.of_lesson(lesson))


@pytest.mark.usefixtures("thorough")
def test_there_are_more_than_a_thousand() -> None:
    """As `docs/sandbox.md` says."""
    counts = [*(len(crossings(lesson)) for lesson in exercises.LESSONS), *map(len, KINDS.values())]
    assert sum(counts) > 1000
    assert min(counts) >= 5


def _hand_in(notebook: dict[str, object], attempt: Crossing) -> dict[str, object]:
    cells: list[dict[str, object]] = notebook["cells"]  # type: ignore[assignment]
    place = graded_cell(notebook, attempt.exercise.id, "answer")
    cells[place]["source"] = f"# katze: {attempt.exercise.id} answer\n{attempt.answer}"
    if attempt.own:
        cells.insert(place, code_cell(attempt.own.strip("\n"), "own-cell"))
    return notebook


def _write(path: Path, notebook: dict[str, object]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook))
