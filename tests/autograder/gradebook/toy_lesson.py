"""A lesson of two checks and a question in words, as a release, for the tests of what becomes of points."""

from __future__ import annotations

from typing import Any

LESSON = "01_toy"
CHECK, ZERO, WRITTEN = "toy-double-check", "toy-zero-check", "toy-why-written"
SCORES = {CHECK: 3.0, ZERO: 0.0}


def _meta(grade_id: str, **flags: object) -> dict[str, Any]:
    default = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {**default, "grade_id": grade_id, **flags}}


def _code(source: str, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def release() -> dict[str, Any]:
    """The lesson as students get it."""
    cells = [
        _code("def double(x):\n    raise NotImplementedError()", _meta("toy-double-answer", solution=True)),
        _code("assert double(2) == 4", _meta(CHECK, grade=True, locked=True, points=3)),
        _code("assert double(0) == 0", _meta(ZERO, grade=True, locked=True, points=1)),
        {
            "cell_type": "markdown",
            "metadata": _meta(WRITTEN, grade=True, solution=True, points=2),
            "source": "Your answer.",
        },
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def answered() -> dict[str, Any]:
    """The same, filled in."""
    notebook = release()
    notebook["cells"][0]["source"] = "def double(x):\n    return x + x"
    notebook["cells"][3]["source"] = "Because twice is more."
    return notebook


def points_of(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    """nbgrader's metadata of a cell, to be changed."""
    found: dict[str, Any] = next(
        cell["metadata"]["nbgrader"]
        for cell in notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )
    return found
