"""A class that several test files look at, graded once for all of them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.commands.shared import MISUSED
from autograder.course.course import Course
from autograder.grading import assignment, exercise_strategy
from autograder.grading.batch import grade_assignment
from tests.autograder.small_class import BY_NAME, LESSON, NEARLY_SCALED, answer, hand_in, make_course
from tests.once import made_once

Katze = Callable[..., str]


@pytest.fixture
def katze(capsys: pytest.CaptureFixture[str]) -> Katze:
    """Runs a command that ends with this status; returns what it prints, or the one line with which it refuses."""

    def run(*arguments: object, status: int = 0) -> str:
        capsys.readouterr()
        assert main(list(map(str, arguments))) == status
        printed = capsys.readouterr()
        if status != MISUSED:
            return printed.out
        assert printed.err.startswith("katze: ")
        assert printed.err.endswith((".\n", "?\n"))
        assert printed.err.count("\n") == 1
        return printed.err

    return run


@pytest.fixture
def steady_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is graded again because the code of this checkout has changed, as it does while somebody works on it."""
    monkeypatch.setattr(assignment, "_versions", lambda _assignment: {"Katze": "1"})


@pytest.fixture
def no_sandboxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can be graded."""
    monkeypatch.setattr(exercise_strategy, "ForkServer", None)


@pytest.fixture(scope="session")
def graded_class(tmp_path_factory: pytest.TempPathFactory, processes: None) -> Course:
    """The class of `small_class.py`: to be copied, not changed."""
    return Course.find(made_once(tmp_path_factory, "graded_class", _grade_class))


@pytest.fixture
def course(graded_class: Course, tmp_path: Path) -> Course:
    """A copy of it, which may be changed; ben's answer to attention.scale is off by a little."""
    return Course.find(shutil.copytree(graded_class.root, tmp_path / "course"))


def _grade_class(folder: Path) -> None:
    course = make_course(folder)
    for name in ("ada_reference", "hana_slides_numbers", "zora_not_a_notebook"):
        hand_in(course, name, BY_NAME[name])
    written = {"attention-scale-answer": NEARLY_SCALED, "attention-why_scale-written": "So that it learns."}
    answer(course, "ben", written)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "_versions", lambda _assignment: {"Katze": "1"})
        grade_assignment(course, LESSON, workers=2)
