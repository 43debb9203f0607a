"""The bundled class, graded in sandboxes: everything comes out as it should, whoever sits beside whom."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograder.box.confinement.levels import Level
from autograder.course.course import Course
from autograder.course.release import release
from autograder.demo.run import make_course
from autograder.demo.student import ANSWERS, Group, read_answers
from autograder.demo.students import CLASS, EXPECTED, STUDENTS, expected, make_class, students, surprises
from autograder.gradebook.results import ClassResult
from autograder.grading.batch import grade_assignment
from autograder.limits import Limits
from course_lib import exercises
from course_lib.judging.observation import Outcome
from tests.autograder.answered_lesson import LESSON, RELEASED

REPOSITORY = Path(__file__).parents[3]

pytestmark = pytest.mark.sampled(1)


@dataclass(frozen=True)
class Graded:
    course: Course
    result: ClassResult

    def records(self, *names: str) -> list[dict[str, object]]:
        """As `katze grade --json` writes them."""
        written = json.loads(json.dumps(self.result.records()))
        return [record for record in written if not names or record["student"] in names]


@pytest.fixture(scope="module", params=list(STUDENTS))
def graded(processes: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The whole class, two at a time; what never ends computes for less long than in a course."""
    lesson = request.param
    course = make_course(tmp_path_factory.mktemp("class"), Course.find(REPOSITORY))
    release(course, [lesson])
    make_class(course.release_notebook(lesson), lesson, course.submitted)
    course = replace(course, limits=Limits(cell_seconds=3, call_seconds=3))
    return Graded(course, grade_assignment(course, lesson, workers=2, level=Level.L2))


def names(lesson: str, *groups: Group) -> list[str]:
    return [student.name for student in students(lesson) if student.group in groups]


def test_every_submission_comes_out_as_expected(graded: Graded) -> None:
    assert surprises(graded.result) == {}
    assert not graded.result.left_ungraded


def test_cheating_earns_nothing(graded: Graded) -> None:
    """Said once more without the expectations beside the answers: what was not answered has no points."""
    cheats = set(names(graded.result.lesson, Group.HOSTILE))
    assert len(cheats) == 8
    for record in graded.records(*cheats - {"xenia_one_call"}):
        assert record["points"] == 0
    forbidden = [record for record in graded.records("xenia_one_call") if record["outcome"] == "rule_broken"]
    assert len(forbidden) == 3
    assert all(record["points"] == 0 for record in forbidden)


def test_right_answers_earn_everything(graded: Graded) -> None:
    lesson = graded.result.lesson
    [reference] = [student for student in students(lesson) if student.name == "ada_reference"]
    full = sum(exercise.points for exercise in exercises.of_lesson(lesson) if reference.answers_to(exercise))
    mangled = {"yuri_check_deleted", "zoe_copied_cell", "zoe_stripped_metadata", "zora_byte_order_mark"}
    right = {*names(lesson, Group.RIGHT), *mangled, "ola_helper_in_demo_cell", "sam_prints_a_lot"}
    points = {submission.student: submission.points for submission in graded.result.submissions}
    assert {points[name] for name in right} == {full}


@pytest.mark.parametrize("lesson", STUDENTS)
def test_the_class_shows_every_kind_of_submission(lesson: str) -> None:
    class_ = students(lesson)
    assert len(class_) >= 16
    assert len({student.name for student in class_}) == len(class_)
    assert {student.group for student in class_} == set(Group)
    assert len({student.answers for student in class_ if student.group is Group.RIGHT}) >= 5
    results = [entry for wanted in expected(lesson).values() for entry in wanted.values()]
    assert {entry.outcome for entry in results} == set(Outcome) - {Outcome.UNGRADED}
    assert len({entry.misconception for entry in results if entry.misconception}) >= 6
    known = {m.id for exercise in exercises.of_lesson(lesson) for m in exercise.misconceptions}
    assert {entry.misconception for entry in results} - {None} <= known


def test_weak_boxes_leave_out_whoever_would_get_at_something(tmp_path: Path) -> None:
    left_out = set(expected(LESSON)) - set(expected(LESSON, Level.L1))
    assert left_out >= {"wim_reference_hunter", "xaver_break_out"}
    make_class(RELEASED, LESSON, tmp_path, Level.L1)
    assert not left_out & {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("lesson", STUDENTS)
def test_every_answer_file_is_used_and_every_name_is_known(lesson: str) -> None:
    known = {exercise.id for exercise in exercises.of_lesson(lesson)}
    known |= {"attention.why_scale", "masking.why_decoder", "own", "demo"}
    assert EXPECTED[lesson].keys() <= {student.name for student in CLASS}
    assert all(student.expected.keys() <= known for student in STUDENTS[lesson])
    files = {path.stem: read_answers(path) for path in (ANSWERS / lesson).glob("*.py")}
    assert files.keys() == {name for student in STUDENTS[lesson] for name in student.answers}
    assert {heading.removeprefix("draft ") for cells in files.values() for heading in cells} <= known
