"""Lesson 01 as it is released, and with every answer written: what the tests of real notebooks begin with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autograder.demo.student import read_answers

ROOT = Path(__file__).parents[2]
LESSON = "01_attention"
RELEASED = ROOT / "notebooks" / LESSON / f"{LESSON}.ipynb"
ANSWERS = read_answers(ROOT / "autograder" / "demo" / "answers" / LESSON / "reference.py")

Notebook = dict[str, Any]
Cell = dict[str, Any]


def released() -> Notebook:
    """The release, with the text of each cell as one string."""
    notebook: Notebook = json.loads(RELEASED.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def graded(notebook: Notebook, exercise: str, role: str) -> Cell:
    """The "answer", "check" or "written" cell of an exercise."""
    name = f"{exercise.replace('.', '-')}-{role}"
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == name:
            found: Cell = cell
            return found
    raise LookupError(name)


def filled() -> Notebook:
    """The release with every answer written, the one in words as well."""
    notebook = released()
    for exercise, text in ANSWERS.items():
        role = "written" if exercise == "attention.why_scale" else "answer"
        cell = graded(notebook, exercise, role)
        cell["source"] = f"{cell['source'].partition(chr(10))[0]}\n{text}"
    return notebook
