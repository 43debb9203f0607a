"""The link to Colab, and the cell that gets a notebook the course's library."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from IPython.core.error import UsageError

import course_lib
from autograder.course.colab import LACKING, opening_cells
from autograder.course.course import Course
from autograder.errors import BadInput
from course_lib.exercises import COURSE

ROOT = Path(__file__).parents[3]
LESSON = "10_evaluation"


def install_cell(code: str = "") -> str:
    _badge, install = opening_cells(Course.find(ROOT), LESSON, code)
    return str(install.source)


def needed(source: str) -> list[str]:
    found: list[str] = ast.literal_eval(re.search(r"needed = (\[.*?\])", source, re.S)[1])  # type: ignore[index]
    return found


def test_all_that_is_installed_is_pinned_as_the_project_pins_it() -> None:
    pins = {line.lower().replace("_", "-") for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert {*LACKING, *(package for packages in COURSE.lacking.values() for package in packages)} <= pins
    assert needed(install_cell()) == [
        f"katze @ git+https://github.com/katze-course/katze@v{course_lib.__version__}",
        *LACKING,
    ]


def test_a_lesson_that_measures_texts_gets_the_libraries_for_it() -> None:
    assert "sacrebleu==2.6.0" in needed(install_cell("import math\nfrom course_lib.evaluation.metrics import bleu\n"))
    assert "sacrebleu==2.6.0" not in needed(install_cell("# from course_lib.evaluation.metrics import bleu\n"))


def test_a_missing_repository_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    with pytest.raises(BadInput, match="c.Katze.repository"):
        list(opening_cells(Course.find(tmp_path), LESSON, ""))


def run(source: str, monkeypatch: pytest.MonkeyPatch, *, there: set[str], pip: SimpleNamespace) -> list[list[str]]:
    """Run an install cell where only some packages are, with pip's answer; gives how pip was called."""
    calls: list[list[str]] = []

    def answer(command: list[str], **_options: object) -> SimpleNamespace:
        calls.append(command)
        return pip

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in there else None)
    monkeypatch.setattr(subprocess, "run", answer)
    exec(source, {})
    return calls


WORKED = SimpleNamespace(returncode=0, stderr="")


def test_nothing_is_installed_where_the_library_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(install_cell(), monkeypatch, there={"course_lib", "torch"}, pip=WORKED) == []


@pytest.mark.parametrize(("there", "kept"), [({"torch"}, True), (set(), False)])
def test_a_torch_that_is_there_stays(
    there: set[str], kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pip,) = run(install_cell(), monkeypatch, there=there, pip=WORKED)
    assert ("--no-deps" in pip) is kept
    assert not [package for package in pip if package.startswith(("torch", "numpy"))]
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_without_a_network_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SimpleNamespace(
        returncode=1, stderr="  error: subprocess-exited\n  fatal: unable to access 'https://x/'\n  more\n"
    )
    with pytest.raises(UsageError, match=r"^The course's library could not be downloaded \(fatal: unable.*network\?"):
        run(install_cell(), monkeypatch, there={"torch"}, pip=failed)


def test_an_older_library_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = install_cell()
    monkeypatch.setattr(course_lib, "__version__", "0.0.9")
    with pytest.raises(course_lib.TooOld, match=r"needs katze [\d.]+, and 0\.0\.9 is installed here\. Update it"):
        exec(cell, {})
