"""Whose exercises a notebook, a script or a terminal asks for."""

from pathlib import Path

import pytest

from course_lib.checking import check
from course_lib.exercises import COURSE, NOTHING
from course_lib.learner.current_catalogue import current_catalogue
from tests.course_lib.exercises.test_catalogue import course


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "01_ols"
    folder.mkdir(parents=True)
    return folder


def test_the_nearest_course_is_meant(deep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(deep)
    assert current_catalogue() is COURSE
    found = course(tmp_path, 'EXERCISES = (exercise("ols.slope"),)')
    assert current_catalogue() == found == current_catalogue(Path("/"), deep)
    (deep / "nbgrader_config.py").write_text("c = get_config()")  # a course of its own, which names none
    assert current_catalogue() is NOTHING


def test_a_notebook_s_check_is_the_course_s(deep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course(tmp_path, 'EXERCISES = (exercise("ols.slope"),)')
    monkeypatch.chdir(deep)
    verdict = check("ols.slope", lambda x, y: 2.0)
    assert verdict.passed
    assert "01 Ols is complete: 1 of 1 exercises" in verdict.text()


def test_a_notebook_that_has_left_its_course_is_told_to_go_back(
    deep: Path, monkeypatch: pytest.MonkeyPatch, said
) -> None:
    monkeypatch.chdir(deep)
    assert check("ols.slope") is None
    assert said() == (
        "Nothing was checked: no exercise 'ols.slope' is known here. Is it from another course? Then keep the notebook "
        "in the folder that it came in, which holds what its checks need"
    )


def test_exercises_that_cannot_be_used_are_nobody_s_fault_but_their_author_s(
    deep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said
) -> None:
    course(tmp_path, "1 / 0")
    monkeypatch.chdir(deep)
    assert check("ols.slope") is None
    assert said() == (
        "Nothing was checked, which is not your fault: ols_exercises cannot be imported: ZeroDivisionError: division "
        "by zero (ols_exercises.py, line 15)."
    )
