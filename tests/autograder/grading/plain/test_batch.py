"""A class of a plain course: nbgrader's own points, one verdict a test cell, and no zero for a mishap.

Tests `plan.py`, `preview.py`, `publish.py`, `rows.py`, `running.py` and `submission.py` as well.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from autograder.cli import main
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook.grades import read_grades
from autograder.gradebook.record import Record
from autograder.gradebook.results import ClassResult
from autograder.grading.batch import grade_assignment
from autograder.grading.workers import TRIED_AGAIN
from course_lib.judging.observation import Outcome
from tests.autograder.gradebook.toy_lesson import give
from tests.autograder.grading.plain.plain_course import (
    COMMENTS,
    GRADES,
    NAME,
    RIGHT,
    hand_in,
    make_course,
    nbgrader_here,
    submitted,
    write,
)
from tests.autograder.small_class import by_student, rows

pytestmark = pytest.mark.usefixtures("processes")


WRONG = {
    "first": {"mean": "import sys\n\ndef mean(values):\n    return values[0]\n"},
    "second": {"double": "def double(x):\n    return x + 2\n"},
}
ENDLESS = "def mean(values):\n    while values != [1, 3]: pass\n    return 2\n"
STUCK = "def mean(values):\n    return sum(values) / len(values)\n\nwhile True: pass"
EXITS = "import os\n\ndef double(x):\n    os._exit(3)\n"


def ended(record: Record) -> dict[str, tuple[Outcome, float | None]]:
    return {one.exercise: (one.outcome, one.points) for one in record.exercises}


def notes(record: Record) -> dict[str, str]:
    return {one.exercise: one.note for one in record.exercises}


@pytest.fixture(scope="module")
def graded(processes: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, ClassResult]:
    """A class in which everybody is different, graded once."""
    course = make_course(tmp_path_factory.mktemp("plain") / "course")
    hand_in(course, "right")
    hand_in(course, "wrong", WRONG)
    hand_in(course, "nothing", {})
    folder = hand_in(course, "changed")
    made = submitted(course, "first", {**WRONG["first"], "same": "pass", "share": "1.5", "setup": "helper = None"})
    write(folder, "first", made)
    made = submitted(course, "second", RIGHT["second"])
    made["cells"] = [one for one in made["cells"] if one["metadata"].get("nbgrader", {}).get("grade_id") != "same"]
    write(folder, "second", made)
    folder = hand_in(course, "stripped")
    made = submitted(course, "first", RIGHT["first"])
    for one in made["cells"]:
        one["metadata"] = {}
    write(folder, "first", made)
    (hand_in(course, "missing") / "second.ipynb").unlink()
    (hand_in(course, "broken") / "first.ipynb").write_text('{"cells": [')
    hand_in(course, "endless", {**RIGHT, "first": {"mean": ENDLESS}})
    hand_in(course, "stuck", {**RIGHT, "first": {"mean": STUCK}})
    nosy = f"def mean(values):\n    return open({str(course.gradebook)!r}, 'rb') and 2\n"
    hand_in(course, "nosy", {**RIGHT, "first": {"mean": nosy, "why": "<script>steal()</script>"}})
    hand_in(course, "exits", {**RIGHT, "second": {"double": EXITS}})
    folder = hand_in(course, "renamed")
    (folder / "second.ipynb").rename(folder / "second (1).ipynb")
    (folder / "helper.py").write_text("def numbers():\n    return [0] * 3\n")
    (folder / "data.txt").symlink_to("/etc/passwd")
    hand_in(course, "bad+name")
    return course, grade_assignment(course, NAME, workers=2)


@pytest.fixture(scope="module")
def course(graded: tuple[Course, ClassResult]) -> Course:
    return graded[0]


@pytest.fixture(scope="module")
def records(graded: tuple[Course, ClassResult]) -> dict[str, Record]:
    return by_student(graded[1])


TESTS = {"first.same": 1, "first.share": 1.5, "second.same": 1, "second.texts": 0.5}
"""Every test cell, with its points."""

ENDED = {
    "right": "passed passed passed passed",
    "wrong": "wrong passed passed raised",
    "nothing": "not_attempted not_attempted not_attempted not_attempted",
    "changed": "wrong passed passed passed",
    "stripped": "passed passed passed passed",
    "missing": "passed passed unreadable unreadable",
    "broken": "unreadable unreadable passed passed",
    "endless": "timed_out timed_out passed passed",
    "stuck": "passed passed passed passed",
    "nosy": "ungraded ungraded passed passed",
    "exits": "passed passed died died",
    "renamed": "passed passed passed passed",
}
"""How they end, by student: a mishap costs no other test its points."""


@pytest.mark.parametrize("student", ENDED)
def test_each_test_cell_gets_a_verdict_of_its_own(records: dict[str, Record], student: str) -> None:
    outcomes = map(Outcome, ENDED[student].split())
    lost = {Outcome.UNREADABLE: None, Outcome.UNGRADED: None}
    assert ended(records[student]) == {
        name: (outcome, most if outcome is Outcome.PASSED else lost.get(outcome, 0))
        for (name, most), outcome in zip(TESTS.items(), outcomes, strict=True)
    }


@pytest.mark.parametrize(
    ("student", "test", "note"),
    [
        ("wrong", "first.same", "the mean of 1 and 3 is 2"),
        ("wrong", "second.texts", "TypeError: .*"),
        ("endless", "first.share", "It was stopped: it used more than 1 s of processor time."),
        ("exits", "second.same", r"It was stopped: Python itself exited \(by os._exit, or in a crash\)."),
        ("nosy", "first.same", ".* the sandbox refused access to {gradebook}."),
    ],
)
def test_a_verdict_says_why(course: Course, records: dict[str, Record], student: str, test: str, note: str) -> None:
    pattern = note.replace("{gradebook}", re.escape(str(course.gradebook)))
    assert re.fullmatch(pattern, notes(records[student])[test])


def test_right_answers_have_nothing_repaired_and_all_points_count(
    graded: tuple[Course, ClassResult], records: dict[str, Record]
) -> None:
    record = records["right"]
    assert (record.repairs, record.problem, record.remarks) == ((), "", ())
    assert (record.points, record.max_points) == (4, 4)
    assert {one.student: one.total for one in read_grades(graded[0], [NAME])[NAME]}["wrong"] == 2.5
    assert [one.problem for one in graded[1].refused] == ["the student id 'bad+name' holds +; rename its folder"]


def test_what_was_not_written_waits_for_nobody(course: Course) -> None:
    comments = [row[2:] for row in rows(course, COMMENTS) if row[0] == "nothing"]
    assert ("why", "SolutionCell", "No response.") in comments


def test_what_was_put_back_is_told(course: Course, records: dict[str, Record]) -> None:
    assert records["changed"].repairs == (
        "first.ipynb: Cells of the assignment that had been changed were restored: same, setup, share.",
        "second.ipynb: Missing tests were put back: same.",
    )
    assert records["stripped"].repairs == (
        "first.ipynb: Some cells had lost their grading information (some editors remove it); it was put back: same, "
        "setup, share, why.",
    )
    scores = {(row[1], row[2]): (row[4], row[6]) for row in rows(course, GRADES) if row[0] == "stripped"}
    assert scores["first", "why"] == (None, 1)


def test_a_notebook_that_is_missing_or_broken_is_no_zero(course: Course, records: dict[str, Record]) -> None:
    told = "There is no notebook second.ipynb"
    assert records["missing"].problem.startswith(f"second.ipynb: {told} in the submission (first.ipynb)")
    assert "breaks off at line 1" in records["broken"].problem
    scores = [row[1:] for row in rows(course, GRADES) if row[0] == "missing" and row[1] == "second"]
    assert {(score, review) for *_, score, _, review in scores} == {(None, 1)}
    page = (course.feedback / "missing" / NAME / "second.html").read_text()
    assert "This is not a zero" in page
    assert told in page
    assert not (course.autograded / "missing" / NAME / "second.ipynb").exists()


def test_the_instructor_reads_which_setting_stopped_a_test(records: dict[str, Record]) -> None:
    told = [re.sub(r"\d+", "N", line) for line in records["endless"].remarks if line != TRIED_AGAIN]
    assert told == ["first: cell N ended its sandbox: it used more than N s of processor time (cell_seconds)"] * 2


def test_a_page_runs_no_script(course: Course) -> None:
    for page in (course.feedback / "nosy" / NAME).glob("*.html"):
        assert "<script" not in page.read_text()
    assert "<script" not in (course.autograded / "nosy" / NAME / "first.ipynb").read_text()


def test_a_renamed_notebook_is_found_and_the_course_s_files_replace_the_student_s(
    course: Course, records: dict[str, Record]
) -> None:
    told = "second.ipynb: The notebook was named second (1).ipynb; it was read as second.ipynb."
    assert told in records["renamed"].repairs
    folder = course.autograded / "renamed" / NAME
    assert sorted(path.name for path in folder.iterdir()) == ["data.txt", "first.ipynb", "helper.py", "second.ipynb"]
    assert (folder / "data.txt").read_text() == "forty-two"


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own, of itself
def test_points_and_comments_are_nbgrader_s_own(course: Course, tmp_path: Path) -> None:
    """On whoever meets no mishap: nbgrader would give those who do a zero, or their tests their own points."""
    other = make_course(tmp_path / "other")
    honest = ("nothing", "right", "wrong")
    for student in honest:
        shutil.copytree(course.submitted / student, other.submitted / student)
    own = nbgrader_here(other.root)
    assert all(own.autograde(NAME, student)["success"] for student in honest)
    for query in (GRADES, COMMENTS):
        assert rows(other, query) == [row for row in rows(course, query) if row[0] in honest]


def test_a_feedback_page_has_verdicts_and_no_hidden_test(course: Course) -> None:
    page = (course.feedback / "wrong" / NAME / "first.html").read_text()
    assert "the mean of 1 and 3 is 2" in page
    assert "first.same" in page
    assert "[-7, 7, 30]" not in page
    assert "<script" not in page
    written = json.loads((course.autograded / "wrong" / NAME / "first.ipynb").read_text())
    [test] = [one for one in written["cells"] if one["metadata"].get("nbgrader", {}).get("grade_id") == "same"]
    assert "[-7, 7, 30]" in test["source"]
    assert test["outputs"][0]["ename"] == "AssertionError"


def test_points_by_hand_and_changed_files_reach_grades_and_pages(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course")
    ada = hand_in(course, "ada")
    hand_in(course, "ben", WRONG)
    grade_assignment(course, NAME, workers=2)
    give(course.gradebook, "ada", "why", "Well said.", NAME, "first", manual_score=1.5)
    run = grade_assignment(course, NAME)
    assert (run.gradings, run.pages) == ({}, ("ada",))
    assert by_student(run)["ada"].total == 5.5
    assert "Well said." in (course.feedback / "ada" / NAME / "first.html").read_text()
    assert "Well said." not in (course.feedback / "ada" / NAME / "second.html").read_text()
    (course.source / NAME / "data.txt").write_text("forty-three")
    run = grade_assignment(course, NAME, students=["ada"])
    assert run.gradings["ada"].why == ("the files beside the notebooks have changed",)
    assert ended(by_student(run)["ada"])["second.texts"] == (Outcome.WRONG, 0)
    assert by_student(run)["ada"].total == 5
    give(course.gradebook, "ada", "share", "", NAME, "first", manual_score=1)
    other_mean = RIGHT["first"]["mean"].replace("sum", "0 + sum")
    for answers, changed in (({"why": "So."}, {"why"}), ({"mean": other_mean}, {"share"}), ({}, set())):
        write(ada, "first", submitted(course, "first", {**RIGHT["first"], **answers}))
        run = grade_assignment(course, NAME, students=["ada"])
        assert {one.cell for one in by_student(run)["ada"].changed} == changed
        told = (course.feedback / "ada" / NAME / "first.html").read_text()
        assert told.count("Changed since it was read") == len(changed)


def test_late_penalties_are_nbgrader_s_own(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course", 'c.LateSubmissionPlugin.penalty_method = "zero"\n')
    (hand_in(course, "late") / "timestamp.txt").write_text("2026-11-20 10:00:00 UTC")
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course.gradebook}") as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-11-19 10:00:00 UTC")
    [record] = grade_assignment(course, NAME).submissions
    assert (record.points, record.total) == (4, 0)
    penalties = (
        "SELECT n.name, sn.late_submission_penalty FROM submitted_notebook sn JOIN notebook n ON n.id = sn.notebook_id"
    )
    assert sorted(rows(course, penalties)) == [("first", 2.5), ("second", 1.5)]


def test_nothing_is_written_where_there_is_nothing_to_grade(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course")
    with pytest.raises(BadInput, match="no submissions to hw in"):
        grade_assignment(course, NAME)
    hand_in(course, "ada")
    with pytest.raises(BadInput, match="no assignment 'ps9' in .*; there are: hw"):
        grade_assignment(course, "ps9")
    assert not course.autograded.exists()


@pytest.mark.parametrize(
    "command",
    [
        ["certify"],
        ["exercises"],
        ["preflight", "submitted/ada/hw/first.ipynb"],
        ["report", NAME, "page.html"],
        ["return", NAME, "--for", "folder"],
        ["collect", "handed_in", "--lesson", "01_attention"],
    ],
    ids=lambda command: command[0],
)
def test_no_command_acts_on_another_course_s_exercises(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course = make_course(tmp_path / "course")
    hand_in(course, "ada")
    monkeypatch.chdir(course.root)
    assert main(command) == 2
    said = " ".join("".join(capsys.readouterr()).split())
    assert "attention" not in said.replace("01_attention'", "")
    assert "plain nbgrader" in said or command[0] == "collect"


def test_a_lost_gradebook_is_made_again_by_what_is_said(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course")
    hand_in(course, "ada")
    grade_assignment(course, NAME)
    for lost in (True, False):
        if lost:
            course.gradebook.unlink()
        else:
            with create_engine(f"sqlite:///{course.gradebook}").begin() as connection:
                connection.execute(text("DELETE FROM assignment"))
        with pytest.raises(
            BadInput, match="there is no gradebook .*" * lost + "`nbgrader generate_assignment hw --force`"
        ):
            grade_assignment(course, NAME)
        assert nbgrader_here(course.root).generate_assignment(NAME, force=True)["success"]
        assert by_student(grade_assignment(course, NAME))["ada"].points == 4
