"""What goes along where a course's folder does not: what its exercises have imported from it, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course.own_exercises import files_of_own
from course_lib.exercises import COURSE
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.errors import UnusableExercises

MODULE = """
import numbers
from helpers.texts import TEXTS
from course_lib.exercises.attention import EXERCISES as ATTENTION
from dataclasses import replace

EXERCISES = [replace(ATTENTION[0], lesson="01_own", title=TEXTS.read_text())]
"""


def test_modules_whole_packages_and_nothing_else(tmp_path: Path) -> None:
    written = {
        "own_lesson.py": MODULE,
        "helpers/texts.py": "from pathlib import Path\n\nTEXTS = Path(__file__).with_name('title.txt')\n",
        "helpers/title.txt": "a title",
        "grades.csv": "ada,3",
        "other.py": "raise SystemExit",
    }
    for name, content in written.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    found = dict(files_of_own(Catalogue({"01_own": "own_lesson"}, tmp_path), "01_own"))
    assert found == {
        name: written[name].encode() for name in ("own_lesson.py", "helpers/texts.py", "helpers/title.txt")
    }


def test_nothing_of_exercises_that_are_installed() -> None:
    assert list(files_of_own(COURSE, "01_attention")) == []


def test_a_module_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken_lesson.py").write_text("EXERCISES = 1 / 0\n")
    with pytest.raises(UnusableExercises, match=r"broken_lesson cannot be imported: ZeroDivisionError.*line 1"):
        list(files_of_own(Catalogue({"01_own": "broken_lesson"}, tmp_path), "01_own"))
