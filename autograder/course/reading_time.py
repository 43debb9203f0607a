"""How long a lesson takes and where to stop for tonight, told in the notebook while a release is built.

The minutes of its exercises are in its text. What is read is counted here: words of prose, formulas, lines of code that
are not folded, pictures. What the machine needs a course has measured (`Catalogue.seconds`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.course.folding import DEMO, FOLDED

WORDS_A_MINUTE = 180
"""Of prose that explains something. A formula within a line counts as a word."""

FORMULA, CODE_LINE, PICTURE = 20 / 60, 4 / 60, 30 / 60
"""Minutes for a formula of its own, for a line of code that is there to be read, and for what a demo shows."""

ONE_EVENING = 90
"""Minutes up to which a lesson is not divided."""

_TABLE = re.compile(r"^\| \| you will write \|.*(?:\n\|.*)+", re.M)
_TASK = re.compile(r"^### Exercise .*\n`[\w.]+` · .* · about (\d+) minutes$", re.M)
_HEADING = re.compile(r"^(##|###) ((?!Exercise )\d.*)$", re.M)
_BLOCK, _INLINE = re.compile(r"\$\$.*?\$\$", re.S), re.compile(r"\$[^$\n]+\$")
_HOW_LONG, _STOP = "**How long.**", "> **A good place to stop for tonight**"
_TOLD = re.compile(rf"\n\n{re.escape(_HOW_LONG)}.*|^{re.escape(_STOP)}.*\n\n", re.M)


@dataclass(frozen=True)
class Minutes:
    """What a part of a lesson takes, in minutes.

    Attributes:
        reading: all that is to be read and looked at.
        exercises: writing the answers.
    """

    reading: float
    exercises: float

    @property
    def both(self) -> float:
        """Together."""
        return self.reading + self.exercises


@dataclass(frozen=True)
class Break:
    """A heading, and the minutes that are behind whoever has come to it."""

    cell: int
    line: str
    after: float


def tell_times(seconds: int, cells: Sequence[NotebookNode]) -> None:
    """Write into a lesson's cells how long it takes, below the table of its exercises, and where to stop for tonight.

    Args:
        seconds: how long all of them run, together; 0 where nobody has measured it.
        cells: as students get them; a lesson without such a table stays as it is.
    """
    head = next((cell for cell in cells if _TABLE.search(cell.source)), None)
    if head is None:
        return
    parts = list(map(minutes_of, cells))
    machine = seconds / 60
    total = sum(part.both for part in parts) + machine
    told = f"{_HOW_LONG} About {_long(total)}: {_parts(parts, machine)}."
    middle = halfway(cells, parts)
    if total > ONE_EVENING and middle is not None:
        section = middle.line.lstrip("# ")
        told += f" For two evenings, stop before section {section.partition(' ')[0].rstrip('.')}."
        cell = cells[middle.cell]
        stop = (
            f"{_STOP}, after about {_long(middle.after)}. What has passed is kept; tomorrow run the cells above this "
            "one again, and go on here."
        )
        cell.source = cell.source.replace(middle.line, f"{stop}\n\n{middle.line}", 1)
    head.source = _TABLE.sub(lambda table: f"{table[0]}\n\n{told}", head.source)


def without_times(source: str) -> str:
    """A cell's text without what `tell_times` has written into it."""
    return _TOLD.sub("", source)


def minutes_of(cell: NotebookNode) -> Minutes:
    """What a cell takes."""
    if cell.cell_type == "markdown":
        return Minutes(_prose(cell.source), float(sum(map(int, _TASK.findall(cell.source)))))
    picture = PICTURE if DEMO in cell.metadata.get("tags", ()) else 0.0
    hidden = "nbgrader" in cell.metadata or FOLDED.items() <= cell.metadata.items()
    lines = 0 if hidden else sum(bool(line.strip()) for line in cell.source.splitlines())
    return Minutes(picture + lines * CODE_LINE, 0.0)


def halfway(cells: Sequence[NotebookNode], parts: Sequence[Minutes]) -> Break | None:
    """The numbered heading nearest to the middle of a lesson; one of a subsection only where it is much nearer."""
    half = sum(part.both for part in parts) / 2

    def away(found: Break) -> float:
        return abs(found.after - half) * (2 if found.line.startswith("###") else 1)

    return min(_breaks(cells, parts), key=away, default=None)


def _breaks(cells: Sequence[NotebookNode], parts: Sequence[Minutes]) -> Iterator[Break]:
    behind = 0.0
    for number, (cell, part) in enumerate(zip(cells, parts, strict=True)):
        for heading in _HEADING.finditer(cell.source) if cell.cell_type == "markdown" else ():
            before = minutes_of(NotebookNode(cell_type="markdown", source=cell.source[: heading.start()]))
            yield Break(number, heading[0], behind + before.both)
        behind += part.both


def _prose(text: str) -> float:
    formulas = len(_BLOCK.findall(text))
    words = re.findall(r"\w[\w'’-]*", _INLINE.sub(" formula ", _BLOCK.sub("", text)))
    return len(words) / WORDS_A_MINUTE + formulas * FORMULA


def _parts(parts: Sequence[Minutes], machine: float) -> str:
    reading, writing = sum(part.reading for part in parts), sum(part.exercises for part in parts)
    told = [f"{_about(reading)} minutes to read, {writing:.0f} for the exercises"]
    if machine:
        told.append(f"{max(round(machine), 1)} for the machine")
    return ", ".join(told)


def _about(minutes: float) -> int:
    return 5 * round(minutes / 5)


def _long(minutes: float) -> str:
    hours, rest = divmod(_about(minutes), 60)
    said = [f"{hours} hour{'s' if hours > 1 else ''}"] if hours else []
    return " ".join([*said, *([f"{rest} minutes"] if rest else [])])
