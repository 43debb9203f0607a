"""Where an answer is, in cells, scripts and notebooks of marimo's. `tests/autograder/test_same_answer.py` has more."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from course_lib.checking import check
from course_lib.judging.finding import Found, cells_above, find_answer
from course_lib.judging.observation import Outcome
from course_lib.learner.kept_answers import kept_at

MARIMO = """\
import marimo

app = marimo.App()

with app.setup:
    import torch


@app.cell
def _():
    from course_lib.checking import check

    return (check,)


@app.cell(hide_code=True)
def _(
    torch,
):
    # katze: attention.scale answer
    def scale_scores(scores, d_head):
        return scores / root(d_head)

    return (scale_scores,)


@app.cell
def _():
    # katze: attention.scores answer
    def dot_products(q, k):
        return q @ k
    return


@app.function
def root(x):
    return torch.tensor(x).sqrt()


if __name__ == "__main__":
    app.run()
"""


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["def f(): pass", "def f(): return 1"], Found(1, "def f(): return 1")),
        (["def f(): pass", "class A:\\n    def f(self): pass"], Found(0, "def f(): pass")),
        (["def f(): pass", "def f() return"], Found(1)),
        (["for f in [abs]:\\n    pass", "%%writefile f.py\\ndef f(): pass"], Found(0, "for f in [abs]:\\n    pass")),
        (["def helper(): pass\\ndef fs(): pass"], Found(other="fs")),
        (["try:\\n    class Fs: pass\\nfinally:\\n    pass"], Found(other="Fs")),
        (["def fs() return"], Found(other="fs")),
        (["f(1)", "x = 2"], Found()),
    ],
)
def test_the_last_definition_counts(cells: list[str], found: Found) -> None:
    assert find_answer("f", [cell.replace("\\n", "\n") for cell in cells], own=[0]) == Found(
        found.cell, found.text.replace("\\n", "\n"), found.other
    )


def test_of_a_script_counts_what_stands_above_the_check() -> None:
    script = "# %%\ndef f():\n    return 1\n# %%\nif True:\n    check()\n# %%\ndef f():\n    return 2\n"
    assert find_answer("f", cells_above(script, 6)).text == "def f():\n    return 1"
    assert find_answer("f", cells_above(script)).text == "def f():\n    return 2"


def test_a_check_in_marimo_finds_keeps_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """marimo is imitated: its cells run among the names of `__main__`, whose file is the notebook as it was saved."""
    notebook, main = tmp_path / "lesson.py", ModuleType("__main__")
    notebook.write_text(MARIMO)
    main.__file__ = str(notebook)
    for cell in cells_above(MARIMO)[2:]:
        if "app.run" not in cell:
            exec(cell.partition("\nreturn")[0].replace("@app.function\n", ""), vars(main))
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))
    scale, scores = check("attention.scale"), check("attention.scores")
    assert scale.passed
    kept: dict[str, object] = {}
    exec(kept_at("attention.scale").read_text(), kept)
    assert {"torch", "root", "scale_scores"} <= kept.keys()
    assert scores.outcome is Outcome.NEVER_DEFINED
    assert scores.note.startswith("Your answer cell defines `dot_products`; the check looks for `dot_product_scores`.")
