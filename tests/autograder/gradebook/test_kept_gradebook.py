"""A gradebook that was written before the modules of the grader were sorted into wings still opens, and goes on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.course.course import Course
from autograder.gradebook.standings import standings
from autograder.grading.batch import grade_lesson
from tests.autograder.small_class import BY_NAME, LESSON, by_student, hand_in, make_course

KEPT = Path(__file__).with_name("gradebook_0_1_0.sql")
POINTS = {"ada": 17.0, "hana": 11.0, "zora": None}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = make_course(tmp_path)
    connection = sqlite3.connect(course.gradebook)
    connection.executescript(KEPT.read_text(encoding="utf-8"))
    connection.close()
    return course


def test_its_points_are_read(course: Course) -> None:
    [results] = standings(course, []).values()
    assert {one.student: one.total for one in results} == POINTS


def test_nbgrader_reads_them_too(course: Course) -> None:
    with Gradebook(f"sqlite:///{course.gradebook}") as book:
        found = {one.student.id: one.score for one in book.assignment_submissions(LESSON)}
    assert found == {"ada": 17, "hana": 11, "zora": 0}


@pytest.mark.usefixtures("processes")
def test_it_is_graded_into(course: Course) -> None:
    hand_in(course, "ada")
    hand_in(course, "hana", BY_NAME["hana_slides_numbers"])
    hand_in(course, "zora").write_text("no notebook")
    graded = grade_lesson(course, LESSON, workers=1)
    assert {student: one.points for student, one in by_student(graded).items()} == POINTS
