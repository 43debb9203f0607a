"""Checking one answer from a plain Python file, in a box, without a notebook or a course."""

from __future__ import annotations

from pathlib import Path

from autograder.box import Level, Zygote, choose_level
from autograder.errors import BadInput
from autograder.grading import grade_cells
from autograder.limits import Limits
from autograder.repair import Cell, CellKind
from course_lib import exercises
from course_lib.checking import PUBLIC_SEED, AnswerKey, Exercise, Verdict


def check_file(exercise_id: str, target: str, visible_only: bool, min_level: Level | None) -> tuple[Verdict, Level]:
    """The verdict on an answer in a file, and the level of the box it ran in.

    Args:
        exercise_id: the exercise.
        target: "FILE.py", or "FILE.py:NAME" where the answer has another name than the exercise's.
        visible_only: leave out the hidden cases (which use the public seed here).
        min_level: refuse to run in a weaker box than this.

    Raises:
        BadInput: no such exercise or file, not Python text, or no box of the level wanted.
    """
    exercise = find_exercise(exercise_id)
    source = _source(target, exercise)
    level = choose_level(min_level)
    limits = Limits()
    cells = [Cell(CellKind.ANSWER, source, exercise=exercise.id), Cell(CellKind.CHECK, "", exercise=exercise.id)]
    with Zygote(withheld=exercise.withheld, level=level, limits=limits, channels=1) as zygote:
        graded = grade_cells(
            cells,
            open_box=lambda seconds: zygote.open_box(seconds=seconds),
            key_for=lambda wanted: AnswerKey(wanted, None if visible_only else PUBLIC_SEED),
            limits=limits,
        )
    return graded.verdicts[exercise.id], level


def find_exercise(exercise_id: str) -> Exercise:
    """The exercise of this id.

    Raises:
        BadInput: there is none; the message names near ones.
    """
    try:
        return exercises.find(exercise_id)
    except LookupError as error:
        raise BadInput(str(error)) from error


def _source(target: str, exercise: Exercise) -> str:
    """The file's text; where NAME is given, with a last line that gives it the exercise's name."""
    file, name = target, ""
    if not target.endswith(".py") and ":" in target:
        file, _, name = target.rpartition(":")
    if name and not name.isidentifier():
        raise BadInput(f"{name!r} in {target} is not a name; write FILE.py:NAME")
    try:
        source = Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text; save it as UTF-8") from error
    return f"{source}\n{exercise.name} = {name}\n" if name and name != exercise.name else source
