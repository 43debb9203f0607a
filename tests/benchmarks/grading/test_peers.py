"""The same assignment in Otter's format: its test files tell right from wrong, and its checks stand where ours do."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.grading.courses import ROOT, read
from benchmarks.grading.peers import _TEST_FILE, _fields, _in_otters_format, _question
from course_lib import exercises
from course_lib.checking import Exercise

WANTED = exercises.of_lesson("01_attention")


@pytest.fixture
def otter(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much of Otter as a test file needs: a decorator that leaves functions as they are."""

    def test_case(**_: object) -> Callable[[Any], Any]:
        return lambda function: function

    module = types.ModuleType("otter.test_files")
    module.test_case = test_case  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "otter", types.ModuleType("otter"))
    monkeypatch.setitem(sys.modules, "otter.test_files", module)


@pytest.mark.usefixtures("otter")
@pytest.mark.parametrize("exercise", WANTED, ids=lambda exercise: exercise.id)
def test_a_test_file_accepts_right_answers_and_rejects_mistakes(exercise: Exercise) -> None:
    file: dict[str, Any] = {}
    exec(compile(_TEST_FILE.format(**_fields(exercise)), "test.py", "exec"), file)
    assert file["name"] == _question(exercise)

    def check(answer: Callable[..., Any]) -> None:
        file["test_visible"](answer)
        file["test_hidden"](answer)

    for answer in exercise.correct:
        check(answer)
    for misconception in exercise.misconceptions:
        with pytest.raises(AssertionError):
            check(misconception.answer)


def test_checks_are_replaced_and_nothing_else() -> None:
    notebook = read(ROOT / "notebooks" / "01_attention" / "01_attention.ipynb")
    made = _in_otters_format(notebook, WANTED)["cells"]
    assert made[0]["source"] == "import otter\ngrader = otter.Notebook()"
    changed = [
        after["source"]
        for before, after in zip(notebook["cells"], made[1:], strict=True)
        if before["source"] != after["source"]
    ]
    assert changed == [f'grader.check("{_question(exercise)}")' for exercise in WANTED]
