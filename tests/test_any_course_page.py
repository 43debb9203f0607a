"""Followed word for word, `docs/any_course.md` leads to a certified exercise; what it says is said is said."""

import json
import re
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.starter.new_course import write_course

PAGE = (Path(__file__).parents[1] / "docs" / "any_course.md").read_text(encoding="utf-8")
SETTING, EXERCISE, CELLS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The course after a stranger has added the exercise."""
    folder = tmp_path / "course"
    write_course(folder)
    monkeypatch.chdir(folder)
    module = folder / "ols_exercises.py"
    before, found, _ = module.read_text(encoding="utf-8").rpartition("EXERCISES = ")
    assert found
    module.write_text(before + EXERCISE, encoding="utf-8")
    lesson = folder / "solutions" / "01_ols" / "01_ols.py"
    place = "# %% [markdown]\n# ## Glossary"
    assert lesson.read_text(encoding="utf-8").count(place) == 1
    lesson.write_text(lesson.read_text(encoding="utf-8").replace(place, CELLS + place), encoding="utf-8")
    return folder


def test_the_exercise_is_released_and_certified(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SETTING.strip() in (course / "nbgrader_config.py").read_text(encoding="utf-8")
    assert main(["release"]) == 0
    capsys.readouterr()
    assert main(["certify", "ols.residuals", "--json"]) == 0
    [certificate] = json.loads(capsys.readouterr().out)
    assert (certificate["correct"], certificate["misconceptions"]) == ([4, 4], [4, 4, 4])


def test_it_says_what_is_said(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = course / "ols_exercises.py"
    written = module.read_text(encoding="utf-8")
    module.write_text(written.replace("return y - fitted", "return {1.0}"), encoding="utf-8")
    assert main(["certify", "ols.residuals"]) == 1
    said = "on 'the worked example' the reference returns a set, which cannot be compared"
    assert said in PAGE
    assert said in " ".join(capsys.readouterr().out.split())
