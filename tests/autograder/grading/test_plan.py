"""What a run has to do: everything that a grade follows from is noticed, and nothing else is."""

import dataclasses
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import torch

from autograder.box.confinement.levels import Level
from autograder.course.course import Course
from autograder.gradebook.file import GradebookFile
from autograder.grading import assignment as assignment_module
from autograder.grading.batch import grade_assignment
from autograder.grading.kinds import strategy_for
from autograder.grading.plan import FORCED, LEFT_UNDONE, OVERWRITTEN, SUBMITTED_AGAIN, Recorded, make_plan
from autograder.grading.task import Task
from autograder.intake.submission import list_submissions
from course_lib.judging.exercise import Exercise
from tests.autograder.gradebook.earlier import change
from tests.autograder.small_class import LESSON, by_student, replace_exercise, rows, why

Pinned = dict[str, str]
STUDENTS = ["ada_reference", "ben", "hana_slides_numbers", "zora_not_a_notebook"]


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch) -> Pinned:
    """The versions, as a test may change them."""
    pinned = {"Katze": "1"}
    monkeypatch.setattr(assignment_module, "_versions", lambda _assignment: dict(pinned))
    return pinned


def planned(
    course: Course,
    skip_demos: bool = True,
    feedback: bool = True,
    weakest: Level = Level.L2,
    force: bool = False,
) -> tuple[Task, ...]:
    strategy = strategy_for(course, LESSON, skip_demos=skip_demos, feedback=feedback)
    recorded = Recorded.read(GradebookFile(course.gradebook), strategy)
    return make_plan(strategy, list_submissions(course.submitted, LESSON), recorded, weakest, force)


def reasons(plan: Iterable[Task]) -> set[tuple[str, ...]]:
    return {task.why for task in plan}


def of_ada(course: Course) -> Path:
    return course.submitted / "ada_reference" / LESSON / f"{LESSON}.ipynb"


@pytest.mark.parametrize(
    "change",
    [
        lambda course: of_ada(course).write_bytes(of_ada(course).read_bytes()),
        lambda course: (course.feedback / "ada_reference" / LESSON / f"{LESSON}.html").write_text("of nbgrader"),
        lambda course: change(course.gradebook, "UPDATE grade SET manual_score = 1, needs_manual_grade = 0"),
    ],
    ids=["the same bytes", "another program's page", "points by hand"],
)
def test_what_changes_no_grade_is_no_reason(
    course: Course, versions: Pinned, change: Callable[[Course], object]
) -> None:
    change(course)
    versions["Katze"] = "2"  # for people to read
    assert planned(course) == ()


def test_everything_is_graded_again_by_force_and_by_another_secret(course: Course) -> None:
    assert reasons(planned(course, force=True)) == {(FORCED,)}
    (course.root / ".katze" / "secret").unlink()
    assert reasons(planned(course)) == {("the course's secret has changed",)}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("torch", "torch none -> 2.14"),
        ("checks", "Katze's grading code has changed"),
        ("library", "what the lesson's cells reach of the library has changed"),
    ],
)
def test_versions_count(course: Course, versions: Pinned, name: str, reason: str) -> None:
    versions[name] = "2.14"
    plan = planned(course)
    assert reasons(plan) == {(reason,)}
    assert len(plan) == len(STUDENTS)


def test_limits_and_demo_cells_count(course: Course) -> None:
    other = dataclasses.replace(course, limits=dataclasses.replace(course.limits, cell_seconds=11.0))
    assert reasons(planned(other)) == {("cell_seconds: 10.0 -> 11.0",)}
    assert reasons(planned(course, skip_demos=False)) == {("cells tagged demo: left out -> run",)}


def test_a_release_with_other_code_counts_and_one_with_other_prose_does_not(course: Course) -> None:
    path = course.release_notebook(LESSON)
    release = json.loads(path.read_text())
    prose = next(cell for cell in release["cells"] if cell["cell_type"] == "markdown" and not cell["metadata"])
    prose["source"] = "Another introduction."
    path.write_text(json.dumps(release))
    assert planned(course) == ()
    install, code, *_ = (c for c in release["cells"] if c["cell_type"] == "code" and "nbgrader" not in c["metadata"])
    install["source"] = 'course_lib.require_version("99")'
    path.write_text(json.dumps(release))
    assert planned(course) == ()
    code["source"] = "import math"
    path.write_text(json.dumps(release))
    assert reasons(planned(course)) == {("the released notebook has changed",)}


def test_a_grade_from_weaker_boxes_is_not_good_enough(course: Course) -> None:
    level = rows(course, "SELECT max(level) FROM katze_exercise")[0][0]
    assert planned(course, weakest=Level[level]) == ()
    plan = planned(course, weakest=Level.L4)
    assert [task.student for task in plan] == STUDENTS[:3]
    assert reasons(plan) == {(f"graded in sandboxes of level {level}, weaker than L4",)}


@pytest.mark.parametrize("folder", ["autograded", "feedback"])
@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["removed", "emptied"])
def test_a_file_that_is_missing_is_made_again(course: Course, folder: str, harm: Callable[[Path], object]) -> None:
    [path] = (course.root / folder / "ada_reference").rglob(f"{LESSON}.*")
    harm(path)
    [task] = planned(course)
    assert task.student == "ada_reference"
    [reason] = task.why
    assert reason.startswith(f"{path.name} in {folder}/ is missing")
    if folder == "feedback":
        assert planned(course, feedback=False) == ()


def test_scores_that_another_program_has_written_are_put_right(course: Course) -> None:
    of_hana = (
        "SELECT page.id FROM submitted_notebook page JOIN submitted_assignment s ON s.id = page.assignment_id "
        "WHERE s.student_id = 'hana_slides_numbers'"
    )
    change(course.gradebook, f"UPDATE grade SET auto_score = 2 WHERE auto_score = 0 AND notebook_id IN ({of_hana})")
    of_ada(course).write_bytes(of_ada(course).read_bytes() + b"\n")
    assert {task.student: task.why for task in planned(course)} == {
        "ada_reference": (SUBMITTED_AGAIN,),
        "hana_slides_numbers": (OVERWRITTEN,),
    }


def test_an_exercise_that_is_defined_anew_is_judged_alone(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    read = "exercise != 'attention.scale' AND submission IN (SELECT id FROM katze_submission WHERE notebook != '')"
    others = [f"SELECT * FROM {table} WHERE {read} ORDER BY 1, 2, 3" for table in ("katze_exercise", "katze_case")]
    before = [rows(course, query) for query in others]

    def unscaled(scores: torch.Tensor, d_head: int) -> torch.Tensor:
        return scores.clone()

    replace_exercise(
        monkeypatch, "attention.scale", lambda one: dataclasses.replace(one, reference=unscaled, misconceptions=())
    )
    again = grade_assignment(course, LESSON)
    assert why(again) == dict.fromkeys(STUDENTS, ("attention.scale: its definition",))
    [change] = again.gradings["ada_reference"].changes
    assert change.exercise == "attention.scale"
    assert (change.before.points, change.after.points) == (1, 0)  # type: ignore[union-attr]
    assert [one.points for one in again.submissions] == [16, 0, 11, None]
    assert [rows(course, query) for query in others] == before  # with their timings, and the run that judged them
    assert planned(course) == ()

    page = (course.feedback / "ada_reference" / LESSON / f"{LESSON}.html").read_text()
    assert "16" in page
    notebook = (course.autograded / "ada_reference" / LESSON / f"{LESSON}.ipynb").read_text()
    assert notebook.count("Right,") >= 7
    graded = rows(course, "SELECT auto_score FROM grade WHERE auto_score IS NOT NULL")
    assert sum(score for (score,) in graded) == 16 + 0 + 11


def test_a_limit_a_text_and_a_new_release_of_an_exercise_are_told_as_such(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(course.root / "nbgrader_config.py", "a") as config:
        config.write('c.Katze.exercise_limits = {"attention.scale": {"call_seconds": 2}}\n')
    assert reasons(planned(Course.find(course.root))) == {
        ("attention.scale: its limit call_seconds the course's -> 2",)
    }

    def reworded(one: Exercise) -> Exercise:
        first, *others = one.misconceptions
        return dataclasses.replace(one, misconceptions=(dataclasses.replace(first, message="Otherwise."), *others))

    with monkeypatch.context() as patch:
        replace_exercise(patch, "attention.scale", reworded)
        assert reasons(planned(course)) == {("attention.scale: its texts",)}
    path = course.release_notebook(LESSON)
    path.write_text(path.read_text().replace("# katze: attention.scale answer", "# katze: attention.scale answer #"))
    assert reasons(planned(course)) == {("attention.scale: its cells in the release",)}
    change(
        course.gradebook,
        "UPDATE katze_exercise SET fingerprint = 'of an earlier Katze' WHERE exercise = 'attention.scale'",
    )
    assert reasons(planned(course)) == {("attention.scale: redefined",)}


def test_what_was_set_aside_by_force_is_not_also_missing(course: Course) -> None:
    change(course.gradebook, "UPDATE katze_submission SET void = 'set aside by --force'")
    for path in (course.autograded / "ada_reference").rglob("*.ipynb"):
        path.unlink()
    assert {task.student: task.why for task in planned(course)}["ada_reference"] == (LEFT_UNDONE,)


def test_where_the_notebook_was_edited_nothing_is_kept(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    path = course.autograded / "ada_reference" / LESSON / f"{LESSON}.ipynb"
    forged = path.read_text().replace("Right,", "Rigth,")
    path.write_text(forged)  # of the same size
    replace_exercise(monkeypatch, "attention.scale", lambda one: dataclasses.replace(one, misconceptions=()))
    assert by_student(grade_assignment(course, LESSON))["ada_reference"].points == 17
    assert "Rigth," not in path.read_text()
    runs = rows(
        course, "SELECT DISTINCT e.run FROM katze_exercise e JOIN katze_submission s ON s.id = submission "
        "WHERE student = 'ada_reference'"
    )  # fmt: skip
    assert runs == [(2,)]
