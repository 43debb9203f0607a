"""The page that says how to add an exercise holds what it promises: its own example is certified."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from course_lib.exercises.correct import attention as correct

from autograder.certify import certify
from autograder.course.release import Role
from course_lib import attention
from course_lib.checking import Exercise, check
from course_lib.exercises import attention as lesson

PAGE = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
REFERENCE, CORRECT, EXERCISE, TASK, CELLS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def exercise() -> Exercise:
    """The page's exercise, made from the page's code with nothing but what the three modules import."""
    library = dict(vars(attention))
    exec(REFERENCE, library)
    answers = dict(vars(correct))
    exec(CORRECT, answers)
    names = {**vars(lesson), "attention": SimpleNamespace(**library), "correct": SimpleNamespace(**answers)}
    exec(EXERCISE, names)
    found = names["ENTROPY"]
    assert isinstance(found, Exercise)
    return found


def test_the_example_is_certified(exercise: Exercise) -> None:
    stub = re.sub(r"### BEGIN SOLUTION.*### END SOLUTION", "raise NotImplementedError()", CELLS, flags=re.DOTALL)
    answer_cell = stub.split("# %%")[1].partition("\n")[2]
    [certificate] = certify([exercise], {exercise.id: answer_cell})
    assert certificate.failures == ()
    assert certificate.correct == (4, 4)
    assert certificate.misconceptions == (6, 6, 6)


def test_the_solution_in_its_cell_passes(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    names = dict(vars(attention))
    exec(CELLS.split("# %%")[1].partition("\n")[2], names)
    monkeypatch.setattr("course_lib.exercises.find", lambda exercise_id: exercise)
    verdict = check(exercise.id, names["attention_entropy"], hidden=True)
    assert verdict is not None
    assert verdict.passed


def test_its_cells_and_its_task_are_those_of_the_exercise(exercise: Exercise) -> None:
    for kind in ("answer", "check"):
        assert f'"grade_id": "{Role(exercise.id, kind).grade_id}"' in CELLS
    assert f'"points": {exercise.points},' in CELLS
    assert f"· {exercise.title}\n" in TASK
    assert f"`{exercise.id}` · {exercise.points} point · about {exercise.minutes} minutes" in TASK
