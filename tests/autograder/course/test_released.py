"""Where released notebooks are looked for; without any, see `tests/autograder/test_preflight.py`."""

from __future__ import annotations

from pathlib import Path

from autograder.course.released import REPOSITORY, released_notebooks
from course_lib import exercises


def test_a_course_s_own_come_first(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text(
        'c.CourseDirectory.release_directory = "given"\nc.Katze.repository = "a/b"\n'
    )
    (tmp_path / "given" / "01_x").mkdir(parents=True)
    (tmp_path / "given" / "01_x" / "01_x.ipynb").touch()
    assert released_notebooks(tmp_path) == {"01_x": tmp_path / "given" / "01_x" / "01_x.ipynb"}


def test_else_the_repository_s(tmp_path: Path) -> None:
    found = released_notebooks(tmp_path)
    assert list(found) == list(exercises.LESSONS)
    assert all(path.is_relative_to(REPOSITORY) for path in found.values())
