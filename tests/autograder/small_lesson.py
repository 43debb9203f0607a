"""A small lesson, released and filled in, for the tests of reading and repairing submissions."""

import json
from typing import Any

import nbformat

from autograder.intake.submission import read_notebook
from autograder.repair import CellKind, Release, Repaired, answers_in, repair
from course_lib.exercises import COURSE

LESSON = "01_small"


def graded(grade_id: str, **flags: object) -> dict[str, Any]:
    meta = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {**meta, "grade_id": grade_id, **flags}}


def cell(kind: str, identity: str, source: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "id": identity, "metadata": metadata or {}, "source": source}
    if kind == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def answer(task: str) -> dict[str, Any]:
    source = (
        f'# katze: small.{task} answer\ndef {task}(x):\n    """Return {task} of x."""\n    raise NotImplementedError()'
    )
    return cell("code", f"{task}-a", source, graded(f"small-{task}-answer", solution=True))


def check(task: str) -> dict[str, Any]:
    meta = graded(f"small-{task}-check", grade=True, locked=True, points=2)
    return cell("code", f"{task}-c", f'# katze: small.{task} check\ncheck("small.{task}")', meta)


def released() -> dict[str, Any]:
    why = graded("small-why-written", grade=True, solution=True, points=3)
    cells = [
        cell("markdown", "intro", "# A small lesson\n<b>Welcome</b>"),
        cell("code", "imports", "import math"),
        answer("one"),
        check("one"),
        cell("code", "figure", "show.something()", {"tags": ["demo"]}),
        cell("markdown", "between", "## The second task"),
        answer("two"),
        check("two"),
        cell("markdown", "question", "### Why?"),
        cell("markdown", "why", "<!-- katze: small.why written -->\nYour answer here.", why),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


RELEASE = Release(released())
ANSWERS_IN = answers_in(RELEASE, LESSON, COURSE)
"""Says what a notebook of the lesson answers."""


def filled() -> dict[str, Any]:
    """The release with both answers and the question filled in."""
    notebook = released()
    for cell_id, old, new in [
        ("one-a", "raise NotImplementedError()", "return x + 1"),
        ("two-a", "raise NotImplementedError()", "return x + 2"),
        ("why", "Your answer here.", "Because $a<b$."),
    ]:
        found = by_id(notebook, cell_id)
        found["source"] = found["source"].replace(old, new)
    return notebook


def by_id(notebook: dict[str, Any], identity: str) -> dict[str, Any]:
    return next(cell for cell in notebook["cells"] if cell["id"] == identity)


def drop(notebook: dict[str, Any], *identities: str) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] not in identities]


def mended(notebook: dict[str, Any]) -> Repaired:
    """The repair of a notebook, whose result must always be a valid notebook with the release's checks."""
    repaired = repair(read_notebook(json.dumps(notebook).encode()), RELEASE)
    written = repaired.notebook()
    nbformat.validate(nbformat.from_dict(written))
    metas = [cell["metadata"]["nbgrader"] for cell in written["cells"] if "nbgrader" in cell["metadata"]]
    assert len({meta["grade_id"] for meta in metas}) == len(metas)
    checks = [cell for cell in repaired.cells if cell.kind is CellKind.CHECK]
    assert sorted(check.source for check in checks) == [check("one")["source"], check("two")["source"]]
    assert all(dict(check.nbgrader)["points"] == 2 for check in checks)
    return repaired


def assert_mended_once(repaired: Repaired, release: Release = RELEASE) -> None:
    """Whoever hands in a repaired notebook again is told nothing, and its cells stay as they are."""
    again = repair(read_notebook(json.dumps(repaired.notebook()).encode()), release)
    assert again.repairs == ()
    assert [(c.kind, c.source, c.nbgrader) for c in again.cells] == [
        (c.kind, c.source, c.nbgrader) for c in repaired.cells
    ]


check_cell = check


def order(repaired: Repaired) -> list[str]:
    """The cells in short: their kind, and the exercise of those that have one."""
    return [f"{cell.kind}:{cell.exercise}" if cell.exercise else str(cell.kind) for cell in repaired.cells]


IN_ORDER = [
    "markdown",
    "code",
    "answer:small.one",
    "check:small.one",
    "code",
    "markdown",
    "answer:small.two",
    "check:small.two",
    "markdown",
    "written:small.why",
]
