"""The minutes of a lesson are all counted, and its middle is a heading near the middle.

Tests `reading_time.py`.
"""

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.course.folding import FOLDED
from autograder.course.reading_time import (
    CODE_LINE,
    FORMULA,
    PICTURE,
    minutes_of,
    tell_times,
    told_times,
    what_it_takes,
)
from course_lib.exercises import LESSONS, SECONDS
from tests.solutions.reading import ROOT, without_times

HEAD = """# Lesson 77 · Naps

| | you will write | points | minutes |
|---|---|---|---|
| 1 | a nap | 1 | {first} |
| 2 | a longer one | 2 | {second} |

Stuck? Sleep on it."""

KNOW = "You need to know Python, "

TASK = "### Exercise {n} · A nap\n`naps.one` · 1 point · about {minutes} minutes\n\nSleep."


def text(source: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(source)


def code(source: str, **metadata: object) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, metadata=metadata)


def lesson(first: int, second: int) -> list[NotebookNode]:
    return [
        text(HEAD.format(first=first, second=second)),
        text("## 1. Short"),
        text(TASK.format(n=1, minutes=first)),
        text("A bridge.\n\n### 1.2 A detail\n\nOf it.\n\n## 2. Long\n\nGo on."),
        text(TASK.format(n=2, minutes=second)),
    ]


@pytest.mark.parametrize(
    ("cell", "minutes"),
    [
        (text("word " * 90), 0.5),
        (text("one $a + b$ two\n\n$$x\n= y$$"), 3 / 180 + FORMULA),
        (code("a = 1\n\nb = 2"), 2 * CODE_LINE),
        (code("a = 1", tags=["demo"]), CODE_LINE + PICTURE),
        (code("a = 1", tags=["demo"], **FOLDED), PICTURE),
        (code("a = 1", nbgrader={"solution": True}), 0),
    ],
)
def test_what_is_read_is_counted(cell: NotebookNode, minutes: float) -> None:
    assert minutes_of(cell) == (pytest.approx(minutes), 0)


def test_a_long_lesson_is_divided_at_the_heading_next_to_its_middle() -> None:
    cells = lesson(60, 65)
    assert [told_times(cell.source) for cell in cells] == [None] * len(cells)
    tell_times(0, cells)
    assert told_times(cells[0].source) == ("2 hours 5 minutes", 125)
    assert (
        "| 2 | a longer one | 2 | 65 |\n\n**How long.** About 2 hours 5 minutes: 0 minutes to read, 125 for the "
        "exercises. For two evenings, stop before section 2.\n\nStuck?"
    ) in cells[0].source
    assert "Of it.\n\n> **A good place to stop for tonight**, after about 1 hour. What" in cells[3].source
    assert "go on here.\n\n## 2. Long" in cells[3].source
    assert [without_times(cell.source) for cell in cells] == [cell.source for cell in lesson(60, 65)]


@pytest.mark.parametrize(
    ("lessons", "begins", "ends"),
    [
        ({"000_primer": (30, 30), "01_x": (45, 50)}, f"{KNOW}but no machine", "2 lessons together take about 3 hours."),
        ({"01_x": (60, 60), "02_y": (70, 75)}, f"{KNOW}and the basics", "2 lessons together take about 4 hours."),
        ({"01_x": (600, 600), "02_y": (700, 380)}, f"{KNOW}and the basics", "2 lessons together take about 40 hours."),
        ({"01_x": (2, 3), "02_y": None}, f"{KNOW}and the basics", "and a training loop."),
        ({}, f"{KNOW}and the basics", "and a training loop."),
    ],
)
def test_what_a_course_takes_is_the_sum_of_what_its_lessons_say(
    tmp_path: Path, lessons: dict[str, tuple[int, int] | None], begins: str, ends: str
) -> None:
    paths = [tmp_path / f"{name}.ipynb" for name in [*lessons, "not_there"]]
    for path, minutes in zip(paths, lessons.values(), strict=False):
        cells = lesson(*minutes) if minutes else []
        tell_times(0, cells)
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    said = what_it_takes(paths)
    assert (said.startswith(begins), said.endswith(ends)) == (True, True), said


def test_a_short_one_is_not() -> None:
    cells = lesson(10, 20)
    tell_times(0, cells)
    assert told_times(cells[0].source) == ("30 minutes", 30)
    assert "About 30 minutes: 0 minutes to read, 30 for the exercises.\n" in cells[0].source
    assert "tonight" not in cells[3].source


@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_tells_its_whole_time_and_where_to_stop(name: str) -> None:
    cells = nbformat.read(ROOT / "notebooks" / name / f"{name}.ipynb", as_version=4).cells
    sources = [cell.source for cell in cells]
    (head,) = [source for source in sources if "**How long.** About " in source]
    assert "for the exercises" in head
    assert ("for the machine" in head) == (name in SECONDS)
    assert sum("> **A good place to stop for tonight**, after about " in source for source in sources) == 1
