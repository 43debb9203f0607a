"""On Colab every command runs, or says in one line which package it lacks and what to do.

The packages are those of these tests whose names are in Colab's list or in the first cell's, and no others.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path, PurePath
from typing import Any

import pytest
import torch

from autograder.commands.registry import make_parser
from autograder.course.colab import LACKING
from tests.autograder.answered_lesson import ROOT, filled

RUNTIME = Path(__file__).with_name("runtime-2026.01.txt")

RUN = """
import contextlib, io, json, sys, traceback
import katze
said = {}
for arguments in json.loads(sys.argv[1]):
    sys.argv, shown = ["katze", *arguments], io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        try:
            status = katze.main()
        except SystemExit as ended:
            status = ended.code
        except BaseException:
            status = traceback.format_exc()
    said[arguments[0]] = status, shown.getvalue()
print(json.dumps(said))
"""

ARGUMENTS: dict[str, list[str]] = {
    "check": ["attention.scale", "answer.py", "--visible-only", "--min-level", "L0"],
    "collect": ["."],
    "completion": ["bash"],
    "copy-gradebook": ["sqlite:///x.db"],
    "grade": ["01_attention"],
    "autograde": ["01_attention"],
    "gradescope": ["01_attention"],
    "init": ["new"],
    "learn": ["work", "--no-lab"],
    "log": ["ada", "01_attention"],
    "preflight": ["01_attention.ipynb"],
    "publish": ["edition"],
    "report": ["01_attention", "report.html"],
    "return": ["01_attention", "--for", "moodle"],
    "freeze": ["01_attention"],
    "thaw": ["01_attention"],
    "site": ["site"],
    "demo": ["demo"],
}
RUNS = {"check", "doctor", "exercises", "init", "mine", "preflight"}


def _name(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


@pytest.fixture(scope="module")
def said(processes: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By command: how it ended, and what it said."""
    folder = tmp_path_factory.mktemp("colab")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "python"], check=True)
    (packages,) = folder.glob("python/lib/python*/site-packages")
    listed = [line.partition("==")[0] for line in [*RUNTIME.read_text().splitlines(), *LACKING] if "==" in line]
    there = {_name(package) for package in [*listed, "torch"]}
    for distribution in distributions(path=[str(Path(torch.__file__).parents[1])]):
        if _name(distribution.metadata["Name"]) in there:
            for name in {PurePath(file).parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
                (packages / name).symlink_to(Path(str(distribution.locate_file(name))))
    (packages / "katze.pth").write_text(str(ROOT))
    (folder / "answer.py").write_text("def scale_scores(scores, d_head):\n    return scores / d_head**0.5\n")
    (folder / "01_attention.ipynb").write_text(json.dumps(filled()))
    calls = [[command, *ARGUMENTS.get(command, [])] for command in make_parser()[1]]
    python = folder / "python" / "bin" / "python"
    done = subprocess.run(
        [python, "-c", RUN, json.dumps(calls)], cwd=folder, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_what_a_learner_uses_runs(said: dict[str, Any]) -> None:
    assert {command: said[command] for command in RUNS if said[command][0] not in (0, 1)} == {}
    assert "attention.scale: Right, 1 of 1 point" in said["check"][1]
    assert "Ready to submit." in said["preflight"][1]


def test_everything_else_says_in_one_line_why_not(said: dict[str, Any]) -> None:
    for command in said.keys() - RUNS:
        status, text = said[command]
        assert status == 2, (command, status, text)
        (line,) = text.splitlines()
        assert line.startswith("katze: ")
    assert "jupyter" in said["learn"][1] or "nbformat" in said["learn"][1]
