"""Describes a submission of the bundled class: its contents, its form, and its expected results.

Answers are in `answers/<lesson>/<name>.py`, in cells as in a notebook:

    # %% attention.scores          goes into this exercise's answer cell (or its written answer)
    # %% own                       a cell of the student's own, before the first answer
    # %% demo                      goes after the text of the first cell tagged only `demo`
    # %% draft attention.scores    a copy of the answer cell, before it
"""

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

from autograder.box.confinement.levels import Level
from course_lib.judging.exercise import Exercise
from course_lib.judging.observation import Outcome

ANSWERS = Path(__file__).with_name("answers")

Notebook = dict[str, Any]
Cell = dict[str, Any]


class Group(StrEnum):
    """The purpose of a submission."""

    RIGHT = "right"
    UNFINISHED = "unfinished"
    MISTAKEN = "mistaken"
    BROKEN = "broken"
    HOSTILE = "hostile"
    MANGLED = "mangled"


class Expected(NamedTuple):
    """The expected result of an exercise; a misconception only if it is a known one."""

    outcome: Outcome
    points: float | None
    misconception: str | None = None


def wrong(misconception: str | None = None, points: float = 0.0) -> Expected:
    """Return the result of a wrong answer, which may be a known mistake or partly right."""
    return Expected(Outcome.WRONG, points, misconception)


def no_points(outcome: Outcome) -> Expected:
    """Return the result of an answer that earned nothing."""
    return Expected(outcome, 0.0)


def write_plainly(path: Path, notebook: Notebook) -> None:
    """Write the notebook as Jupyter does, without fixing anything."""
    path.write_text(nbformat.v4.writes(nbformat.from_dict(notebook)) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Student:
    """A student's submission to a lesson.

    Attributes:
        name: the student's id: a first name, and what the submission shows.
        group: its kind.
        answers: names of answer files; if several contain the same cell, the last one counts. Without any, the notebook
            stays as it was released.
        edit: a further change to the notebook.
        write: writes it to a file.
        expected: the results of exercises that differ from `otherwise`.
        otherwise: the outcome of all other exercises: full points if passed, no score if unreadable, else none.
        unanswered: their outcome if no answer file names them, such as new exercises.
        level: the weakest sandboxes in which it may run; in weaker ones it would succeed in its attack.
    """

    name: str
    group: Group
    answers: tuple[str, ...] = ("reference",)
    edit: Callable[[Notebook], None] = lambda _notebook: None
    write: Callable[[Path, Notebook], None] = write_plainly
    expected: Mapping[str, Expected] = field(default_factory=dict)
    otherwise: Outcome = Outcome.PASSED
    unanswered: Outcome = Outcome.NOT_ATTEMPTED
    level: Level = Level.L1

    def expects(self, exercise: Exercise) -> Expected:
        """Return the expected result of an exercise."""
        if exercise.id in self.expected:
            return self.expected[exercise.id]
        if self.otherwise.has_score and not self.answers_to(exercise):
            return no_points(self.unanswered)
        points = float(exercise.points) if self.otherwise is Outcome.PASSED else 0.0
        return Expected(self.otherwise, points if self.otherwise.has_score else None)

    def answers_to(self, exercise: Exercise) -> bool:
        """Return whether an answer file names this exercise."""
        return exercise.id in self._cells(exercise.lesson)

    def hand_in(self, release: Notebook, lesson: str, path: Path) -> None:
        """Write this submission.

        Args:
            release: the released lesson, not modified.
            lesson: its folder name.
            path: the notebook file to write; its folder must exist.
        """
        notebook = copy.deepcopy(release)
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])  # it may be a list of lines, as on disk
        for heading, text in self._cells(lesson).items():
            _fill(notebook, heading, text)
        self.edit(notebook)
        self.write(path, notebook)

    def _cells(self, lesson: str) -> dict[str, str]:
        cells: dict[str, str] = {}
        for name in self.answers:
            cells |= read_answers(ANSWERS / lesson / f"{name}.py")
        return cells


def read_answers(path: Path) -> dict[str, str]:
    """Read the cells of an answer file, by heading."""
    _, *parts = re.split(r"^# %% (.+)\n", path.read_text(encoding="utf-8"), flags=re.M)
    return {heading: text.strip("\n") for heading, text in zip(parts[::2], parts[1::2], strict=True)}


def graded_cell(notebook: Notebook, exercise: str, role: str) -> int:
    """Return the place of an exercise's "answer", "check" or "written" cell.

    Raises:
        LookupError: the notebook has no such cell.
    """
    grade_id = f"{exercise.replace('.', '-')}-{role}"
    for place, cell in enumerate(notebook["cells"]):
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id:
            return place
    raise LookupError(f"no cell {grade_id} in the release")


def _fill(notebook: Notebook, heading: str, text: str) -> None:
    cells: list[Cell] = notebook["cells"]
    if heading == "own":
        first = next(n for n, cell in enumerate(cells) if cell["metadata"].get("nbgrader", {}).get("solution"))
        cells.insert(first, nbformat.v4.new_code_cell(text, id="a-cell-of-my-own"))
    elif heading == "demo":
        demo = next(cell for cell in cells if cell["metadata"].get("tags") == ["demo"])
        demo["source"] = f"{demo['source']}\n\n{text}"
    elif heading.startswith("draft "):
        place = graded_cell(notebook, heading.removeprefix("draft "), "answer")
        draft = copy.deepcopy(cells[place])
        draft["source"] = f"{_marker(draft)}\n{text}"
        cells.insert(place, draft)
    else:
        _answer(notebook, heading, text)


def _answer(notebook: Notebook, exercise: str, text: str) -> None:
    try:
        cell = notebook["cells"][graded_cell(notebook, exercise, "answer")]
        cell["source"] = f"{_marker(cell)}\n{text}"
    except LookupError:
        cell = notebook["cells"][graded_cell(notebook, exercise, "written")]
        prose = "\n".join(line.removeprefix("# ") for line in text.splitlines())
        cell["source"] = f"{_marker(cell)}\n\n{prose}"


def _marker(cell: Cell) -> str:
    marker: str = cell["source"].partition("\n")[0]
    return marker


# Further changes to a notebook ---------------------------------------------------------------------------------


def delete_check(notebook: Notebook) -> None:
    """Delete the first check."""
    del notebook["cells"][_first_check(notebook)]


def strip_metadata(notebook: Notebook) -> None:
    """Remove all metadata and ids of cells, as some editors do."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        del cell["id"]
    notebook["metadata"], notebook["nbformat_minor"] = {}, 4


def forge_points(notebook: Notebook) -> None:
    """Make every check worth 100 points, and replace the first one by a number; everything stays unanswered."""
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["metadata"]["nbgrader"]["points"] = 100
    check = notebook["cells"][_first_check(notebook)]
    check["source"] = f"{_marker(check)}\n100"
    check["metadata"]["nbgrader"]["locked"] = False


def _first_check(notebook: Notebook) -> int:
    flags = (cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"])
    return next(place for place, one in enumerate(flags) if one.get("grade_id", "").endswith("-check"))


def write_with_byte_order_mark(path: Path, notebook: Notebook) -> None:
    """Write the notebook with a byte-order mark at the beginning, as some Windows programs do."""
    write_plainly(path, notebook)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def write_link_to(neighbour: str) -> Callable[[Path, Notebook], None]:
    """Return a function that writes the notebook as a symbolic link to a neighbor's."""

    def write(path: Path, notebook: Notebook) -> None:
        path.symlink_to(Path("..", "..", neighbour, path.parent.name, path.name))

    return write


def write_garbage(path: Path, notebook: Notebook) -> None:
    """Write a picture under the notebook's name."""
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 40)
