"""Whole classes of dishonest students, graded as a course grades them, with honest neighbors among them.

Nobody earns a point that is not theirs, nobody honest loses one, every outcome has its name, and the grader is
alive at the end.
"""

import json
import os
import pickle
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import self_test
from autograder.course.course import Course
from autograder.demo.student import Expected, Student
from autograder.demo.students import STUDENTS
from autograder.errors import BadInput
from autograder.gradebook.record import Record
from autograder.gradebook.results import ClassResult
from autograder.grading.batch import grade_assignment
from autograder.limits import Limits
from benchmarks.fuzz.pages import harm
from course_lib import exercises
from course_lib.judging.observation import Outcome
from tests.autograder import small_class
from tests.autograder.small_class import hand_in
from tests.dishonest.attempt import LESSON, Attempt
from tests.dishonest.kinds import KINDS
from tests.dishonest.kinds.folders import MARK
from tests.once import made_once

HONEST = ("ada_reference", "carl_loops", "fay_half_done", "jana_nearly_right", "ola_helper_in_demo_cell")
NEIGHBOURS = [student for student in STUDENTS[LESSON] if student.name in HONEST]
LIMITS = Limits(
    memory_bytes=384 << 20,
    processor_seconds=12,
    folder_bytes=64 << 20,
    files=2_000,
    cell_seconds=4.0,
    call_seconds=4.0,
    submission_seconds=30.0,
    wall_seconds=40.0,
)
ATTEMPTS = [attempt for attempts in KINDS.values() for attempt in attempts]
ODD_NAMES = ("o'brien", "a&b", "[bold]c", "=SUM(A1)", "{{7-7}}", "%s", "ünï", "null", "__proto__", "$(reboot)", "a b;c")
"""Unusual, and allowed."""


@dataclass(frozen=True)
class Graded:
    """A graded class, and the course that it belongs to."""

    course: Course
    result: ClassResult

    @property
    def submissions(self) -> Mapping[str, Record]:
        return {submission.student: submission for submission in self.result.submissions}


def make_course(folder: Path) -> Course:
    (folder / ".katze").mkdir(mode=0o700)
    (folder / ".katze" / "secret").write_bytes(bytes(range(32)))  # the same hidden inputs in every course of this file
    return small_class.make_course(folder)


def grade(folder: Path, students: list[Student], **options: Any) -> Graded:
    course = replace(make_course(folder), limits=LIMITS)
    for student in students:
        hand_in(course, student.name, student)
    return Graded(course, grade_assignment(course, LESSON, workers=2, level=Level.L2, **options))


def graded_once(factory: pytest.TempPathFactory, name: str, students: list[Student]) -> Graded:
    """A class that test processes grade once between them."""

    def make(folder: Path) -> None:
        (folder / "class").mkdir()
        (folder / "result").write_bytes(pickle.dumps(grade(folder / "class", students).result))

    place = made_once(factory, name, make)
    return Graded(Course.find(place / "class"), pickle.loads((place / "result").read_bytes()))


@pytest.fixture(scope="module")
def alone(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The honest neighbors, graded by themselves."""
    problems = self_test()
    if problems:
        pytest.skip(f"no sandboxes at level L2 here: {problems}")
    return graded_once(tmp_path_factory, "alone", NEIGHBOURS)


@pytest.fixture(scope="session")
def attempts(request: pytest.FixtureRequest) -> Sequence[Attempt]:
    """One in five of each kind on every change, and all before a release."""
    step = 1 if request.config.getoption("thorough") else 5
    return [attempt for of_a_kind in KINDS.values() for attempt in of_a_kind[::step]]


@pytest.fixture(scope="module")
def together(
    processes: None, alone: Graded, attempts: Sequence[Attempt], tmp_path_factory: pytest.TempPathFactory
) -> Graded:
    """Everybody."""
    odd = [Attempt(name, "Has an unusual name.") for name in ODD_NAMES]
    return graded_once(tmp_path_factory, "together", [*NEIGHBOURS, *(one.student() for one in (*attempts, *odd))])


def test_there_are_many_and_each_is_different() -> None:
    names = [attempt.name for attempt in ATTEMPTS]
    assert len(names) == len(set(names)) >= 200
    assert len(KINDS) >= 10
    assert all(len(attempts) >= 5 for attempts in KINDS.values())
    assert not set(names) & set(HONEST)
    assert all(attempt.tries.endswith(".") for attempt in ATTEMPTS)


def test_each_earns_nothing_and_comes_out_under_its_name(together: Graded, attempts: Sequence[Attempt]) -> None:
    surprises = {}
    for attempt in attempts:
        student, record = attempt.student(), together.submissions[attempt.name]
        wanted = {exercise.id: student.expects(exercise) for exercise in exercises.of_lesson(LESSON)}
        found = {
            result.exercise: Expected(result.outcome, result.points, wanted[result.exercise].misconception)
            for result in record.exercises
        }
        if found != wanted:
            surprises[attempt.name] = (record.problem, found, wanted)
    assert surprises == {}


@pytest.mark.parametrize("name", HONEST)
def test_neighbours_have_what_they_have_alone(alone: Graded, together: Graded, name: str) -> None:
    assert together.submissions[name].in_json() == alone.submissions[name].in_json()
    assert together.submissions[name].points


def test_the_grader_is_alive(together: Graded, attempts: Sequence[Attempt]) -> None:
    assert not together.result.left_ungraded, [s.problem for s in together.result.submissions if s.problem]
    assert len(together.result.submissions) == len(attempts) + len(NEIGHBOURS) + len(ODD_NAMES)


def test_the_gradebook_holds_the_points_and_no_others(together: Graded) -> None:
    with sqlite3.connect(together.course.gradebook) as book:
        rows = book.execute(
            "SELECT student.id, SUM(COALESCE(grade.auto_score, 0)), SUM(COALESCE(grade.manual_score, 0)) FROM grade "
            "JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id "
            "JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id "
            "JOIN student ON student.id = submitted_assignment.student_id GROUP BY student.id"
        ).fetchall()
    assert {student for student, _, _ in rows} == set(together.submissions)
    for student, automatic, manual in rows:
        assert (automatic, manual) == (together.submissions[student].points or 0, 0), student


def test_no_page_and_no_notebook_does_anything(together: Graded, attempts: Sequence[Attempt]) -> None:
    allowed = {"text/plain", "text/html", "image/png", "image/jpeg"}
    for name in (*(attempt.name for attempt in attempts), *ODD_NAMES, *HONEST):
        page = (together.course.feedback / name / LESSON / f"{LESSON}.html").read_text()
        assert harm(page.partition("<body>")[2]) == [], name
        assert "the secret" not in page, name
        notebook = together.course.autograded / name / LESSON / f"{LESSON}.ipynb"
        if notebook.exists():
            shown = [o for cell in json.loads(notebook.read_text())["cells"] for o in cell.get("outputs", ())]
            assert {kind for output in shown for kind in output.get("data", ())} <= allowed, name


def test_nothing_was_left_or_changed_outside(together: Graded) -> None:
    assert (together.course.root / ".katze" / "secret").read_bytes() == bytes(range(32))
    assert not Path(f"/tmp/{MARK}-{os.getuid()}").exists()
    assert not [
        path for path in Path("/tmp").glob("katze-*") if path.name.startswith(("katze-answers", "katze-poison"))
    ]
    assert not list(Path("/dev/shm").glob("*katze*"))
    inside = {path.name for path in together.course.root.iterdir()} - {"somebody-elses-file"}
    of_the_course = {"nbgrader_config.py", "notebooks", "submitted", "autograded", "feedback", "gradebook.db", "build"}
    assert {name for name in inside if not name.startswith(".")} == of_the_course


REFUSED_NAMES = ("<script>alert(1)", "a\nb", "a+b", "a..b", "-rf", "\u202eadmin", "a\x1b[2J", "x" * 129)


def test_students_may_have_odd_names(together: Graded) -> None:
    assert {name: together.submissions[name].points for name in ODD_NAMES} == dict.fromkeys(ODD_NAMES, 1)


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", REFUSED_NAMES, ids=ascii)
def test_a_name_that_means_something_else_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    course = make_course(tmp_path)
    hand_in(course, name)
    with pytest.raises(BadInput, match="rename its folder") as caught:
        grade_assignment(course, LESSON, level=Level.L2)
    assert "\n" not in str(caught.value)
    assert str(caught.value).isprintable()
    assert not course.autograded.exists()
    assert not course.gradebook.exists()


def test_these_tests_could_fail(alone: Graded) -> None:
    """A right answer is paid, so it is not for want of points that nobody here has any."""
    ada = alone.submissions["ada_reference"]
    answered = [result for result in ada.exercises if result.outcome is not Outcome.NOT_ATTEMPTED]
    assert {result.outcome for result in answered} == {Outcome.PASSED}
    assert ada.points == sum(result.max_points for result in answered) == 17
