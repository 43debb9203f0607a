"""What `check` finds in a notebook, and how its cells ran.

Tests `notebook.py`, `last_run.py`.
"""

from collections.abc import Iterator
from functools import partial

import pytest
from IPython.core.interactiveshell import InteractiveShell

from course_lib.checking import check, progress
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.last_run import log_of_notebook
from course_lib.judging.observation import Outcome
from course_lib.judging.verdict import Verdict
from course_lib.learner import watch
from course_lib.learner.kept_answers import kept_at
from course_lib.learner.progress_file import progress_file
from course_lib.learner.watch import Watch
from tests.course_lib.judging.samples import DOUBLE


@pytest.fixture
def lesson() -> Iterator[InteractiveShell]:
    """A notebook of a lesson of the course, whose kernel has just started."""
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(lesson: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> InteractiveShell:
    """A notebook whose one exercise is the sample."""
    monkeypatch.setattr(Catalogue, "find", lambda catalogue, exercise_id: DOUBLE)
    log_of_notebook()  # as the import in a first cell does
    return lesson


def verdict_after(shell: InteractiveShell, *cells: str) -> Verdict:
    for cell in cells:
        shell.run_cell(cell, store_history=True)
    verdict = check("sample.double")
    assert verdict is not None
    return verdict


def test_after_a_restart_the_cells_above_are_asked_for(lesson: InteractiveShell) -> None:
    lesson.run_cell("mine = 1", store_history=True)
    verdict = check("attention.scores")
    assert verdict.outcome is Outcome.NEVER_DEFINED
    assert "Has the kernel been restarted? Run > Run All Above Selected Cell" in verdict.note


@pytest.mark.parametrize("cell", ["import torch", "def scale_scores(scores, d_head):\n    return scores"])
def test_where_something_of_the_lesson_is_there_no_restart_is_suspected(lesson: InteractiveShell, cell: str) -> None:
    lesson.run_cell(cell, store_history=True)
    verdict = check("attention.scores")
    assert verdict.note.startswith("There is no dot_product_scores yet. Run the cell that defines it")


@pytest.mark.parametrize(
    ("cell", "name", "line"),
    [
        ("class double(nn.Module):\n    pass", "nn", "from torch import nn"),
        ("def double(x: Tensor):\n    return x + x", "Tensor", "from torch import Tensor"),
        ("double = np.vectorize(abs)", "np", "import numpy as np"),
        ("def double(x, seen=Counter()):\n    return x + x", "Counter", "from collections import Counter"),
    ],
)
def test_a_cell_without_its_imports_says_which(shell: InteractiveShell, cell: str, name: str, line: str) -> None:
    verdict = verdict_after(shell, cell)
    assert f"name '{name}' is not defined. Import {name} first:" in verdict.note
    assert f"add `{line}`" in verdict.note


RIGHT = "def double(x):\n    return x + x"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("def double(x):\n    return x +", "SyntaxError in line 2: invalid syntax"),
        ("def double(x):\nreturn x + x", "IndentationError in line 2"),
        ("import torhc\ndef double(x):\n    return x + x", "ModuleNotFoundError in line 1: No module named 'torhc'"),
    ],
)
def test_an_answer_whose_cell_did_not_run_is_not_judged(shell: InteractiveShell, cell: str, said: str) -> None:
    verdict = verdict_after(shell, RIGHT, cell)
    assert verdict.outcome is Outcome.NEVER_DEFINED
    assert verdict.note.startswith(f"The cell that defines double did not run: it stopped with {said}")
    assert verdict_after(shell, RIGHT).passed


@pytest.mark.parametrize("later", ["assert double(1) == 3", "double = "])
def test_an_answer_is_judged_that_was_defined_before_something_else_failed(shell: InteractiveShell, later: str) -> None:
    cells = [f"{RIGHT}\n{later}"] if later.startswith("assert") else [RIGHT, later]
    assert verdict_after(shell, *cells).passed


MARKED = "# katze: sample.double answer\n"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([MARKED + RIGHT, MARKED + "def doubled(x):\n    return x"], "Your answer cell defines `doubled`; the check"),
        ([MARKED + "class Doubled:\n    def double_it(x): pass"], "Your answer cell defines `Doubled`; the check"),
        ([MARKED + RIGHT, MARKED + "# double"], "The cell that defined double no longer does."),
        ([MARKED + RIGHT, MARKED + "1 / 0"], "The cell that defined double no longer does."),
        ([MARKED + "double = abs", MARKED + "twice = double"], "The cell that defined double no longer does."),
        ([MARKED + "def double(x) return x", MARKED + "def doubled(x): return x"], "Your answer cell defines `doubl"),
    ],
)
def test_what_a_cell_defined_before_never_passes_for_it(shell: InteractiveShell, cells: list[str], said: str) -> None:
    verdict = verdict_after(shell, *cells)
    assert verdict.outcome is Outcome.NEVER_DEFINED
    assert verdict.note.startswith(said)


@pytest.mark.parametrize(
    "cells",
    [
        [MARKED + "def doubled(x):\n    return x", RIGHT],  # in a cell of its own
        [MARKED + RIGHT, MARKED + "# below", RIGHT],
        [MARKED + "def double(x): return", MARKED + "def double(x) return x", MARKED + RIGHT],
        [MARKED + "import operator\ndouble = lambda x: x + x", "# another"],
        ["def helper(x):\n    return x + x", MARKED + "double = helper", MARKED + "double = helper"],
    ],
)
def test_the_newest_run_of_each_cell_counts(shell: InteractiveShell, cells: list[str]) -> None:
    assert verdict_after(shell, *cells).passed


def test_the_front_end_s_id_tells_cells_apart(shell: InteractiveShell) -> None:
    shell.run_cell(RIGHT, store_history=True, cell_id="first")
    assert verdict_after(shell).passed
    shell.run_cell("double_it = 2", store_history=True, cell_id="first")
    assert verdict_after(shell).note.startswith("The cell that defined double no longer does.")
    shell.run_cell(RIGHT, store_history=True, cell_id="second")
    assert verdict_after(shell).passed


def test_a_broken_rule_is_told_with_its_line_and_forgotten_once_mended(shell: InteractiveShell) -> None:
    broken = verdict_after(shell, "def double(x):\n    return x.clone().add_(x)")
    assert broken.outcome is Outcome.RULE_BROKEN
    assert broken.points == 0
    assert "uses add_, which this exercise asks you to write yourself (line 2:" in broken.note
    assert verdict_after(shell, "def double(x):\n    return x + x").passed


def test_an_answer_that_warns_and_prints_leaves_no_trace(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "    warnings.warn('hm')\n    print('a', file=sys.stderr)\n    return x + x"
    cell = f"import sys, warnings\ndef double(x):\n{body}"
    verdict = verdict_after(shell, cell)
    assert verdict.passed
    assert verdict.prints
    assert capsys.readouterr() == ("", "")


def test_a_name_that_was_given_to_a_result_says_what_it_is_now(shell: InteractiveShell) -> None:
    verdict = verdict_after(shell, "def double(x):\n    return x + x", "double = [double(2)]")
    assert verdict.outcome is Outcome.NEVER_DEFINED
    assert verdict.points == 0
    assert verdict.note.startswith("double is not a function but a list: its name has been given to something else.")


def test_a_terminal_shows_the_verdict_in_words_and_a_kernel_leaves_the_points(shell: InteractiveShell) -> None:
    verdict = verdict_after(shell, "def double(x):\n    return x + x")
    assert verdict._repr_mimebundle_()["text/plain"] == verdict.text()
    shell.kernel = object()
    assert verdict._repr_mimebundle_()["text/plain"] == "3.0"


def test_an_answer_may_be_passed_in() -> None:
    verdict = check("attention.scores", lambda q, k: q @ k.transpose(-2, -1), hidden=True)
    assert verdict.passed
    assert any(result.hidden for result in verdict.cases)


def test_an_endless_loop_is_stopped_and_told(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "Watch", partial(Watch, seconds=0.2))
    verdict = verdict_after(shell, "def double(x):\n    while True:\n        x = x + 0")
    assert verdict.outcome is Outcome.TIMED_OUT
    assert verdict.note.startswith("The check has stopped double (line ")
    assert "loop that never ends" in str(verdict)


def test_every_check_is_noted_and_what_has_passed_is_kept(shell: InteractiveShell) -> None:
    before = progress_file().of("sample.double")
    verdict_after(shell, "def double(x):\n    return x")
    assert progress_file().of("sample.double").failures == before.failures + 1
    verdict_after(shell, "TWICE = 2\ndef double(x):\n    return TWICE * x")
    assert progress_file().of("sample.double").passed
    assert kept_at("sample.double").read_text() == "TWICE = 2\n\ndef double(x):\n    return TWICE * x\n"


def test_an_interrupt_says_where_the_answer_was(shell: InteractiveShell) -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        verdict_after(shell, "def double(x):\n    while True:\n        raise KeyboardInterrupt")
    assert str(caught.value).startswith("You stopped double (line 3: raise KeyboardInterrupt). ")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_progress_shows_the_map(capsys: pytest.CaptureFixture[str]) -> None:
    shown = progress("01_attention")
    assert shown.detailed.lesson == "01_attention"
    assert progress("1_attention") is None
    assert "did you mean 01_attention" in capsys.readouterr().out
