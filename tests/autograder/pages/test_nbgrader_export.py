"""nbgrader's own export and ours agree to the point, but for the differences that docs/deadlines.md lists."""

import csv
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins.export import CsvExportPlugin

from autograder.cli import main
from autograder.course.course import Course
from autograder.gradebook.record import SET_ASIDE
from tests.autograder.gradebook.toy_lesson import CHECK
from tests.autograder.small_gradebook import (
    CHECKED,
    DUE,
    LATE,
    LESSON,
    LINEAR,
    NEXT,
    bring_up_to_date,
    give,
    grade,
    make_course,
    set_aside,
)

OTHER = "99_other"

DIFFERENCES: Mapping[str, tuple[str, str, str]] = {
    "no score": ("zoe", "0.0", ""),
    "not handed in": ("yan", "0.0", ""),
    "withdrawn": ("xia", f"{CHECKED:.1f}", ""),
    "set aside by `--force`, not graded again yet": ("wim", "0.0", ""),
    "terms or points changed since `katze grade`": ("vic", "2.0", "1"),
}
"""By row of the table the student who shows it here, and what nbgrader and we export; the other rows are about columns.
"""

Row = dict[str, str]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A class with late submissions, points by hand, extra credit, and everything that nbgrader cannot say."""
    terms = (
        f"drop_lowest = 1\n{LINEAR}grace = '15 minutes'\n[lessons.{LESSON}]\ndue = {DUE}\nweight = 2\n"
        f"[lessons.{LESSON}.extensions]\nfay = 2026-11-21T18:00:00+01:00\n"
    )
    course = make_course(tmp_path_factory.mktemp("course"), terms)
    grade(course, {"ada": 18, "cem": 7.35, "wim": 18, "xia": 18})
    grade(course, {"ben": 18, "dov": 18, "eve": 3, "fay": 18, "vic": 3, "zoe": None}, at=LATE)
    grade(course, {"gus": 17}, at="")
    grade(course, {"hal": 16.5}, at="2026-11-20 17:10:00 UTC")
    grade(course, {"ada": 12, "yan": 9}, lesson=NEXT, at=LATE)
    give(course, "cem", manual_score=1.5)
    give(course, "dov", CHECK, manual_score=15.25, extra_credit=6.0)
    give(course, "fay", extra_credit=1.0, manual_score=2.0)
    bring_up_to_date(course)
    with Gradebook(f"sqlite:///{course.gradebook}") as book:  # as nbgrader's autograde does
        book.find_submission_notebook(NEXT, NEXT, "ada").late_submission_penalty = 3
        book.add_assignment(OTHER)
        book.db.commit()
    shutil.rmtree(course.submitted / "xia" / LESSON)
    set_aside(course, "wim", SET_ASIDE)
    give(course, "vic", manual_score=2.0)
    return course


@pytest.fixture(scope="module")
def theirs(course: Course) -> dict[tuple[str, str], Row]:
    path = course.root / "theirs.csv"
    with Gradebook(f"sqlite:///{course.gradebook}") as book:
        CsvExportPlugin(to=str(path)).export(book)
    with path.open(newline="") as file:
        return {(row["assignment"], row["student_id"]): row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def ours(course: Course) -> dict[str, Row]:
    path = course.root / "ours.csv"
    assert main(["export", "--deadlines", "--total", "--to", str(path), "--course", str(course.root)]) == 0
    with path.open(newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def cell(ours: Mapping[str, Row], lesson: str, student: str, column: str = "") -> str:
    return ours.get(student, {}).get(f"{lesson} {column}".strip(), "")


def test_they_agree_but_for_what_the_page_lists(theirs: Mapping[tuple[str, str], Row], ours: Mapping[str, Row]) -> None:
    known = {(LESSON, student) for student, *_ in DIFFERENCES.values()}
    agreeing = []
    for (lesson, student), row in theirs.items():
        if lesson == OTHER or (lesson, student) in known:
            continue
        if lesson == NEXT and student not in ("ada", "yan"):  # not handed in
            assert (row["score"], cell(ours, lesson, student)) == ("0.0", "")
            continue
        agreeing.append((lesson, student))
        for column, name in (
            ("score", ""),
            ("raw_score", "before lateness"),
            ("late_submission_penalty", "late penalty"),
        ):
            assert float(row[column]) == float(cell(ours, lesson, student, name)), (lesson, student, column)
    students = {student for lesson, student in agreeing if lesson == LESSON}
    assert students == {"ada", "ben", "cem", "dov", "eve", "fay", "gus", "hal"}


def test_what_they_agree_on_is_what_it_should_be(ours: Mapping[str, Row]) -> None:
    assert {
        student: cell(ours, LESSON, student) for student in ("ada", "ben", "cem", "dov", "eve", "fay", "gus", "hal")
    } == {
        "ada": "18",
        "ben": "14",  # 2 days begun, of 20 points
        "cem": "8.85",
        "dov": "17.25",  # 21.25 by hand, with extra credit
        "eve": "0",  # no less
        "fay": "19",  # an hour after the extension: 1 day begun
        "gus": "17",  # at no known time
        "hal": "16.5",  # within the grace
    }
    assert (cell(ours, NEXT, "ada"), cell(ours, NEXT, "ada", "late penalty")) == ("9", "3")  # nbgrader's own


def test_times_are_the_same(theirs: Mapping[tuple[str, str], Row], ours: Mapping[str, Row]) -> None:
    row = theirs[LESSON, "ben"]
    for column, name in (("duedate", "due"), ("timestamp", "handed in")):
        told = datetime.fromisoformat(cell(ours, LESSON, "ben", name))
        assert datetime.fromisoformat(row[column]).replace(tzinfo=UTC) == told
    assert cell(ours, LESSON, "ben", "seconds late") == "90000"


@pytest.mark.parametrize(("student", "nbgrader_s", "our_s"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_each_difference_is_as_the_page_says(
    student: str, nbgrader_s: str, our_s: str, theirs: Mapping[tuple[str, str], Row], ours: Mapping[str, Row]
) -> None:
    assert (theirs[LESSON, student]["score"], cell(ours, LESSON, student)) == (nbgrader_s, our_s)


def test_the_others_are_about_columns(theirs: Mapping[tuple[str, str], Row], ours: Mapping[str, Row]) -> None:
    assert (OTHER, "ada") in theirs
    assert not any(heading.startswith(OTHER) for heading in ours["ada"])
    assert {"total", "total remarks"} <= ours["ada"].keys()
    assert not any("total" in heading or "weight" in heading for heading in theirs[LESSON, "ada"])
    assert ours["ada"]["total"] == "90.00"
    assert ours["ada"]["total remarks"].endswith(f"; {NEXT}: dropped")
