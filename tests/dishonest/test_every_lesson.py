"""What fits many exercises, in every lesson: nobody earns a point, and the same answers written honestly earn all."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from autograder.box import Level, self_test
from autograder.demo.student import graded_cell
from autograder.grading.batch import grade_lesson
from course_lib import exercises
from course_lib.checking import AnswerKey, Outcome, judge, observe
from tests.dishonest.attempt import code_cell
from tests.dishonest.crossed import Crossing, crossings
from tests.dishonest.kinds import KINDS
from tests.dishonest.test_dishonest import LIMITS, make_course
from tests.solutions.filling import filled

README = Path(__file__).with_name("README.md")
HONEST = "honest"
DETOURS = ("_thread", "_executor", "_unwatched")
LESSON_OF_KINDS = "01_attention"


@pytest.mark.usefixtures("processes")
def test_nobody_earns_a_point(tmp_path: Path, sampled_lesson: str) -> None:
    lesson = sampled_lesson
    if self_test():
        pytest.skip("no boxes at level L2 here")
    course = make_course(tmp_path)
    released = course.release_notebook(lesson).read_text()
    attempts = crossings(lesson)
    assert len({attempt.name for attempt in attempts}) == len(attempts)
    for name, notebook in [(one.name, _hand_in(json.loads(released), one)) for one in attempts]:
        _write(course.submitted / name / lesson / f"{lesson}.ipynb", notebook)
    _write(course.submitted / HONEST / lesson / f"{lesson}.ipynb", filled(lesson))
    result = grade_lesson(course, lesson, workers=2, level=Level.L2, limits=LIMITS)
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


def test_what_is_ready_made_would_pass_if_it_could_be_had() -> None:
    """Else it would not be for want of it that nobody has a point."""
    ways = [
        one
        for lesson in exercises.LESSONS
        for one in crossings(lesson)
        if one.kind.startswith("ready-") and not one.kind.endswith(DETOURS)
    ]
    passed = Counter(one.exercise.id for one in ways if _would_pass(one))
    assert passed.total() >= 40, passed
    assert len(passed) >= 12


def test_there_are_enough_of_them() -> None:
    counts = _counts()
    assert sum(counts.values()) >= 400
    by_lesson = {
        lesson: sum(count for (one, _), count in counts.items() if one == lesson) for lesson in exercises.LESSONS
    }
    assert min(by_lesson.values()) >= 25, by_lesson


def test_the_table_holds() -> None:
    counts = _counts()
    kinds = sorted({kind for _, kind in counts})
    rows = [
        f"| {kind} | {' | '.join(str(counts[lesson, kind] or '') for lesson in exercises.LESSONS)} |" for kind in kinds
    ]
    sums = [str(sum(counts[lesson, kind] for kind in kinds)) for lesson in exercises.LESSONS]
    head = f"| kind | {' | '.join(lesson[:2] for lesson in exercises.LESSONS)} |"
    table = "\n".join([head, "|---" * (1 + len(exercises.LESSONS)) + "|", *rows, f"| all | {' | '.join(sums)} |"])
    assert table in README.read_text(), f"the table should be:\n{table}"


def _would_pass(attempt: Crossing) -> bool:
    names: dict[str, Any] = {}
    exec(attempt.own, names)
    exec(attempt.answer, names)
    return judge(AnswerKey(attempt.exercise), lambda case: observe(names[attempt.exercise.name], case)).passed


def _counts() -> Counter[tuple[str, str]]:
    counts = Counter((lesson, one.kind.partition("-")[0]) for lesson in exercises.LESSONS for one in crossings(lesson))
    counts.update({(LESSON_OF_KINDS, kind): len(attempts) for kind, attempts in KINDS.items()})
    return counts


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
