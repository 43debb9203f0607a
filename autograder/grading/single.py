"""Checks one answer from a plain Python file in a sandbox, without a notebook or a course."""

import ast
import contextlib
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import choose_level
from autograder.box.fork_server.client import ForkServer
from autograder.course.course import Course
from autograder.course.notebook_definitions import needed_of_notebook
from autograder.errors import BadInput, Unreadable
from autograder.grading.digests.reach import held_by_lesson
from autograder.grading.notebook_runner import grade_notebook
from autograder.intake.submission import read_notebook
from autograder.limits import Limits
from autograder.repair import Cell, CellKind, Release, repair
from course_lib.exercises.catalogue import Catalogue, UnknownName
from course_lib.judging.answer_key import PUBLIC_SEED, AnswerKey
from course_lib.judging.exercise import Exercise
from course_lib.judging.finding import find_answer, written_names
from course_lib.judging.observation import Outcome
from course_lib.judging.verdict import Verdict


@dataclass(frozen=True)
class Checked:
    """The result of checking an answer in a file.

    Attributes:
        verdict: on the answer.
        level: of the sandbox it ran in.
        cells: the code that contains the answer.
    """

    verdict: Verdict
    level: Level
    cells: Sequence[str]


def check_file(
    catalogue: Catalogue, exercise_id: str, target: str, visible_only: bool, min_level: Level | None
) -> Checked:
    """Check an answer in a file.

    The answer can use everything that the lesson's notebook imports.

    Args:
        catalogue: all exercises.
        exercise_id: the exercise.
        target: "FILE.py", or "FILE.py:NAME" if the answer has another name than the exercise.
        visible_only: leave out the hidden cases (which use a public seed here).
        min_level: refuse to run in a weaker sandbox than this.

    Raises:
        BadInput: no such exercise or file, not Python text, a file that does not define the answer, or no sandbox of
            the level wanted.
    """
    exercise = _find(catalogue, exercise_id)
    file, name = _split(target, exercise)
    written = _read(file)
    releases = list(_releases(exercise.lesson))
    notebook = _cells_of_notebook(exercise, written, releases) if name == exercise.name else []
    if not notebook and not re.search(rf"\b{name}\b", written):
        raise BadInput(_explain_absence(file, name, written, exercise))
    level = choose_level(min_level)
    limits = Limits()
    source = f"{written}\n{exercise.name} = {name}\n" if name != exercise.name else written
    cells = notebook or [
        Cell(CellKind.CODE, _quote_lesson(exercise, source)),
        Cell(CellKind.ANSWER, source, exercise=exercise.id),
        Cell(CellKind.CHECK, "", exercise=exercise.id),
    ]
    trains = "optim" in source  # half of the answers wait a second less
    in_boxes = held_by_lesson(catalogue, exercise.lesson, releases[0].code) if releases else None
    with ForkServer(exercise.withheld, level, limits, trains=trains, held=in_boxes) as fork_server:
        graded = grade_notebook(
            cells,
            catalogue,
            open_box=lambda seconds: fork_server.open_box(seconds=seconds),
            key_for=lambda wanted: AnswerKey(wanted, None if visible_only else PUBLIC_SEED),
            limits=limits,
        )
    verdict = graded.verdicts[exercise.id]
    if not notebook:
        verdict = replace(verdict, note=_of_a_file(verdict.note, exercise, file, written))
        if verdict.outcome is Outcome.NEVER_DEFINED:
            raise BadInput(_explain_absence(file, name, written, exercise))
    until_check = takewhile(lambda cell: cell.kind is not CellKind.CHECK, cells)
    return Checked(verdict, level, [cell.source for cell in until_check if cell.runs])


def _courses() -> Iterator[Course]:
    """Yield the courses around the current folder and around this file."""
    for folder in (None, Path(__file__).parent):
        with contextlib.suppress(BadInput):
            yield Course.find(folder)


def _releases(lesson: str) -> Iterator[Release]:
    """Yield the released notebooks of a lesson that can be found."""
    for course in _courses():
        with contextlib.suppress(BadInput):
            yield Release.of(course, lesson)


def _cells_of_notebook(exercise: Exercise, written: str, releases: Sequence[Release]) -> list[Cell]:
    """Return the cells of a notebook saved as a script, to be graded with this exercise's check only.

    Empty unless it is a script of most of the lesson.
    """
    with contextlib.suppress(Unreadable):
        submission = read_notebook(written.encode())
        for release in releases:
            if release.share_of_text_in(submission) >= 0.5:
                found = repair(submission, release).cells
                return [cell for cell in found if cell.kind is not CellKind.CHECK or cell.exercise == exercise.id]
    return []


def _quote_lesson(exercise: Exercise, source: str) -> str:
    """Return the imports and definitions of the lesson's notebook that an answer pasted into a file mentions.

    Empty if no released notebook can be found, or the file is not Python.
    """
    for course in _courses():
        with contextlib.suppress(BadInput, SyntaxError):
            return "\n".join(map(ast.unparse, needed_of_notebook(course.release_notebook(exercise.lesson), source)))
    return ""


def _find(catalogue: Catalogue, exercise_id: str) -> Exercise:
    """Return the exercise with this id.

    Raises:
        BadInput: there is none; the message names similar ones.
    """
    try:
        return catalogue.find(exercise_id)
    except UnknownName as unknown:
        raise BadInput(f"{unknown}{'' if unknown.near else ' `katze exercises` lists them all.'}") from unknown


def _split(target: str, exercise: Exercise) -> tuple[str, str]:
    """Return the file and the answer's name in it."""
    file, name = target, exercise.name
    if not target.endswith((".py", ".ipynb")) and ":" in target:
        file, _, name = target.rpartition(":")
    if not name.isidentifier():
        raise BadInput(f"{name!r} in {target} is not a name; write FILE.py:NAME")
    if file.lower().endswith(".ipynb"):
        raise BadInput(f"{file} is a notebook; check all its answers with `katze preflight {shlex.quote(file)} --run`")
    return file, name


def _read(file: str) -> str:
    """Return the file's text."""
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text; save it as UTF-8") from error


def _of_a_file(note: str, exercise: Exercise, file: str, source: str) -> str:
    """Reword a verdict's sentence about a failed cell for a file, and quote the line."""
    cell = f"The cell that should define {exercise.name} "
    if not note.startswith(cell):
        return note
    in_file = f"{file} {note.removeprefix(cell)}"
    found = _IN_LINE.search(in_file)
    lines = source.splitlines()
    if found is None or not 0 < int(found[1]) <= len(lines):
        return in_file
    return f"{in_file}: `{lines[int(found[1]) - 1].strip()}`"


_IN_LINE = re.compile(r" in line (\d+)")


def _explain_absence(file: str, name: str, source: str, exercise: Exercise) -> str:
    """Say which functions a file without the answer has, and how to name one of them."""
    names = written_names(source)
    if not names:
        kind = "class" if exercise.is_class else "def"
        return f"{file} defines no function or class at its top level; write `{kind} {name}(...)` in it"
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    nearest = find_answer(name, [source], own=[0]).other
    command = shlex.join(["katze", "check", exercise.id, f"{file}:{nearest}"])
    return (
        f"{file} does not define {name}; it defines {', '.join(names[:5])}{more}. If one of them is the answer, "
        f"name it: `{command}`"
    )
