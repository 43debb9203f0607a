"""Writes into a notebook how long the lesson takes, where to stop for tonight, and how hard and important each exercise
is, while a release is built.

The notebook's text states the minutes for its exercises. Reading time is counted here: words of prose, formulas,
unfolded lines of code, pictures. The machine's time is measured per course (`Catalogue.seconds`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nbformat import NotebookNode

from autograder.course.folding import DEMO, FOLDED
from course_lib.judging.exercise import Exercise

WORDS_A_MINUTE = 180
"""Reading speed for prose that explains something. An inline formula counts as a word."""

FORMULA, CODE_LINE, PICTURE = 20 / 60, 4 / 60, 30 / 60
"""Minutes for a displayed formula, a visible line of code, and the picture of a demo."""

ONE_EVENING = 90
"""A lesson is not divided up to this many minutes."""

_TABLE = re.compile(r"^\| \| you will write \|.*(?:\n\|.*)+", re.M)
_TASK = re.compile(r"^### Exercise .*\n`[\w.]+` · .* · about (\d+) minutes\b.*$", re.M)
_RATED = re.compile(r"^`([\w.]+)` · .* · about \d+ minutes$", re.M)
_HEADING = re.compile(r"^(##|###) ((?!Exercise )\d.*)$", re.M)
_BLOCK, _INLINE = re.compile(r"\$\$.*?\$\$", re.S), re.compile(r"\$[^$\n]+\$")
_HOW_LONG, _STOP = "**How long.**", "> **A good place to stop for tonight**"
_TOTAL = re.compile(rf"{re.escape(_HOW_LONG)} About ((?:(\d+) hours?)? ?(?:(\d+) minutes)?):")
_WITH_PRIMER = (
    "You need to know Python, but no machine learning: the primer, lesson 000, teaches the tensors, gradients and "
    "training loops that all others take for granted."
)
_WITHOUT = "You need to know Python, and the basics of PyTorch: tensors, gradients and a training loop."


def tell_times(seconds: int, cells: Sequence[NotebookNode]) -> None:
    """Write into a lesson's cells how long it takes, below the table of exercises, and where to stop for tonight.

    Args:
        seconds: the running time of all cells together; 0 if it was not measured.
        cells: the cells that students get; a lesson without such a table stays as it is.
    """
    head = next((cell for cell in cells if _TABLE.search(cell.source)), None)
    if head is None:
        return
    taken = list(map(minutes_of, cells))
    reading, writing = (sum(minutes) for minutes in zip(*taken, strict=True))
    machine = f", {max(round(seconds / 60), 1)} for the machine" if seconds else ""
    total = reading + writing + seconds / 60
    parts = f"{_about(reading)} minutes to read, {writing:.0f} for the exercises{machine}"
    sentence = f"{_HOW_LONG} About {_long(total)}: {parts}."
    middle = _middle(cells, taken)
    if total > ONE_EVENING and middle is not None:
        cell, heading, after = middle
        section = heading.lstrip("# ").partition(" ")[0].rstrip(".")
        sentence += f" For two evenings, stop before section {section}."
        stop = (
            f"{_STOP}, after about {_long(after)}. What has passed is kept; tomorrow run the cells above this one "
            "again, and go on here."
        )
        cell.source = cell.source.replace(heading, f"{stop}\n\n{heading}", 1)
    head.source = _TABLE.sub(lambda table: f"{table[0]}\n\n{sentence}", head.source)


def tell_rating(cell: NotebookNode, exercises: Mapping[str, Exercise]) -> None:
    """Write into the cell of a task how hard and how important its exercise is, if it is one of these, by id."""
    ratings = {name: f" · {one.rating}" for name, one in exercises.items() if one.rating}
    if cell.cell_type == "markdown":
        cell.source = _RATED.sub(lambda task: task[0] + ratings.get(task[1], ""), cell.source)


def what_it_takes(lessons: Iterable[Path]) -> str:
    """Return what learners must know before they begin, and how many hours the lessons take, as they state."""
    known = [path for path in lessons if path.is_file()]
    times = [found for path in known if (found := told_times(path.read_text(encoding="utf-8")))]
    minutes = sum(found[1] for found in times)
    about = 5 * round(minutes / 300) if minutes > 1200 else round(minutes / 60)
    hours = f" All {len(times)} lessons together take about {about} hours." if len(times) > 1 else ""
    return (_WITH_PRIMER if any("primer" in path.stem for path in known) else _WITHOUT) + hours


def told_times(source: str) -> tuple[str, int] | None:
    """Return how long the lesson takes, in words and in minutes, from a cell in which `tell_times` has written it; else
    None.
    """
    found = _TOTAL.search(source)
    return (found[1], 60 * int(found[2] or 0) + int(found[3] or 0)) if found else None


def minutes_of(cell: NotebookNode) -> tuple[float, float]:
    """Return the minutes for reading and looking at a cell, and the minutes for writing what it asks for."""
    if cell.cell_type == "markdown":
        return _prose(cell.source), float(sum(map(int, _TASK.findall(cell.source))))
    picture = PICTURE if DEMO in cell.metadata.get("tags", ()) else 0.0
    hidden = "nbgrader" in cell.metadata or FOLDED.items() <= cell.metadata.items()
    lines = 0 if hidden else sum(bool(line.strip()) for line in cell.source.splitlines())
    return picture + lines * CODE_LINE, 0.0


def _middle(
    cells: Sequence[NotebookNode], taken: Sequence[tuple[float, float]]
) -> tuple[NotebookNode, str, float] | None:
    """Return the numbered heading nearest to the middle of a lesson, its cell, and the minutes until there. A
    subsection's heading is taken only if it is much nearer.
    """
    behind, half, found = 0.0, sum(map(sum, taken)) / 2, []
    for cell, minutes in zip(cells, taken, strict=True):
        for heading in _HEADING.finditer(cell.source) if cell.cell_type == "markdown" else ():
            before = NotebookNode(cell_type="markdown", source=cell.source[: heading.start()])
            after = behind + sum(minutes_of(before))
            away = abs(after - half) * (2 if heading[1] == "###" else 1)
            found.append((away, (cell, heading[0], after)))
        behind += sum(minutes)
    return min(found, key=lambda one: one[0])[1] if found else None


def _prose(text: str) -> float:
    formulas = len(_BLOCK.findall(text))
    words = re.findall(r"\w[\w'’-]*", _INLINE.sub(" formula ", _BLOCK.sub("", text)))
    return len(words) / WORDS_A_MINUTE + formulas * FORMULA


def _about(minutes: float) -> int:
    return 5 * round(minutes / 5)


def _long(minutes: float) -> str:
    hours, rest = divmod(_about(minutes), 60)
    parts = [f"{hours} hour{'s' if hours > 1 else ''}"] if hours else []
    return " ".join([*parts, *([f"{rest} minutes"] if rest else [])])
