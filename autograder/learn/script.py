"""A lesson as a plain Python file, whose checks run in a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import nbformat

from autograder.course.colab import BADGE, INSTALL

_CHECK = re.compile(r"^(check\(.*\))$", re.MULTILINE)

_HEAD = """\
# {title}
#
# Write your answers here, then run this file: python {name}
# Each check prints its verdict where it stands; help does so too: print(hint("...")), print(solution("...")).

"""


def write_script(notebook: Path, target: Path) -> bool:
    """Write a released notebook as a script, unless there is such a file; returns whether it was written.

    Args:
        notebook: a released notebook.
        target: where to.
    """
    if target.exists():
        return False
    lesson = nbformat.read(notebook, as_version=4)
    lesson.cells = [cell for cell in lesson.cells if not {BADGE, INSTALL} & set(cell.metadata.get("tags", []))]
    for cell in lesson.cells:
        if cell.cell_type == "code":
            cell.source = _CHECK.sub(r"print(\1)", cell.source)  # what ends a cell is shown there, and not in a script
        cell.metadata = {}
    lesson.metadata = {}
    text = jupytext.writes(lesson, fmt="py:percent")
    body = re.sub(r"\A# ---\n(?:#.*\n)*?# ---\n\n?", "", text)
    title = next(cell.source for cell in lesson.cells if cell.cell_type == "markdown").splitlines()[0].lstrip("# ")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_HEAD.format(title=title, name=target.name) + body, encoding="utf-8")
    return True
