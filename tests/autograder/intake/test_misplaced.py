"""Submissions that lie where no lesson looks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.intake.misplaced import misplaced
from tests.autograder.small_class import LESSON, hand_in, make_course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path)


def lay(course: Course, path: str) -> None:
    place = course.submitted / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("{}")


def test_a_class_that_lies_where_it_belongs_has_none(course: Course) -> None:
    assert misplaced(course, LESSON) == []  # not even a folder
    for path in (
        f"ada/{LESSON}/{LESSON}.ipynb",
        "ada/02_masking/02_masking.ipynb",
        "ada/essay/essay.ipynb",
        "ada/notes.txt",
        "roster.csv",
        ".ipynb_checkpoints/x.ipynb",
        "ada/.hidden.ipynb",
    ):
        lay(course, path)
    assert misplaced(course, LESSON) == []


def test_loose_files_and_folders_nearly_of_the_lesson_s_name_are_told(course: Course) -> None:
    places = ["01_attention.ipynb", "all.zip", "ada/01_attention.ipynb", "ben/01-Attention/01_attention.ipynb"]
    for path in [*places, "eve/01 attention/x.ipynb", "eve/02-masking/x.ipynb"]:
        lay(course, path)
    told = ["01_attention.ipynb", "ada/01_attention.ipynb", "all.zip", "ben/01-Attention", "eve/01 attention"]
    assert misplaced(course, LESSON) == told


def test_links_are_not_followed_and_nothing_reaches_the_terminal_that_does_not_print(course: Course) -> None:
    lay(course, "ada/\x1b[31mred.ipynb")
    (course.submitted / "zora").symlink_to(course.root)
    assert misplaced(course, LESSON) == ["ada/?[31mred.ipynb"]


def test_grade_tells_of_them(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(course, "ada")
    for number in range(12):
        lay(course, f"s{number:02}/01-attention/{LESSON}.ipynb")
    assert main(["grade", LESSON, "--course", str(course.root)]) == 0
    said = capsys.readouterr().err
    assert "not looked at: s00/01-attention, " in said
    assert "s09/01-attention and 2 more; submissions belong in" in said
    assert f"{course.submitted}/STUDENT/{LESSON}/.\n" in said
