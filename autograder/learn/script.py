"""Writes lessons as plain Python files, whose checks run in a terminal."""

import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import jupytext
import nbformat

from autograder.course.colab import BADGE, INSTALL
from autograder.course.looking_back import RECALL, without_reasons
from autograder.intake.scripts import HEAD
from autograder.learn.folder import make_folder

_CHECK = re.compile(r"^(check\(.*\))$", re.MULTILINE)


def write_scripts(released: Mapping[str, Path], folder: Path) -> Iterator[str]:
    """Write all lessons as scripts into a working folder; yield what was done and what comes next.

    Args:
        released: the released notebooks, by lesson.
        folder: the working folder; made if necessary.

    Raises:
        BadInput: the folder is a file.
    """
    make_folder(folder)
    targets = [folder / f"{lesson}.py" for lesson in released]
    for notebook, target in zip(released.values(), targets, strict=True):
        yield f"{target}{'' if write_script(notebook, target) else ' exists already, and was left as it is'}"
    if any((folder / lesson / f"{lesson}.ipynb").is_file() for lesson in released):
        yield (
            f"{folder} has the lessons as notebooks, too. Progress counts both; but what you write in one form of a "
            "lesson is not in the other."
        )
    yield f"Next: open {targets[0]}, write an answer, and run it: {shlex.join([sys.executable, str(targets[0])])}"


def write_script(notebook: Path, target: Path) -> bool:
    """Write a released notebook as a script, unless the file exists; return whether it was written.

    Args:
        notebook: a released notebook.
        target: the file to write.
    """
    if target.exists():
        return False
    lesson = nbformat.read(notebook, as_version=4)
    lesson.cells = [cell for cell in lesson.cells if not {BADGE, INSTALL} & set(cell.metadata.get("tags", []))]
    for cell in lesson.cells:
        if cell.cell_type == "code":
            cell.source = _CHECK.sub(r"print(\1)", cell.source)  # a script shows no last values
        elif RECALL in cell.metadata.get("tags", []):
            cell.source = without_reasons(cell.source)
        cell.metadata = {}
    lesson.metadata = {}
    text = jupytext.writes(lesson, fmt="py:percent")
    body = re.sub(r"\A# ---\n(?:#.*\n)*?# ---\n\n?", "", text)
    title = next(cell.source for cell in lesson.cells if cell.cell_type == "markdown").splitlines()[0].lstrip("# ")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"# {title}\n#\n{HEAD}\n{body}", encoding="utf-8")
    return True
