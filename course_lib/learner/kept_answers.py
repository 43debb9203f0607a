"""Answers that have passed, kept as small scripts, so that what was written in one lesson is at hand in the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

from course_lib.ground.files import put_in_place
from course_lib.judging.finding import written_names
from course_lib.judging.rules import statements_of
from course_lib.learner.folder import learner_folder

FOLDER = "answers"
"""Where in the learner's folder they are."""


class NotAtHand(Exception):
    """There is a kept answer, but it cannot be loaded; the message says why."""


def kept_at(exercise_id: str) -> Path:
    """The file that an answer to this exercise is kept in."""
    return learner_folder() / FOLDER / f"{exercise_id}.py"


def keep_answer(exercise_id: str, name: str, cells: Sequence[str]) -> None:
    """Keep an answer that has passed, unless it is not in the cells or nothing can be written.

    Args:
        exercise_id: what it answers.
        name: what it is called.
        cells: the code that was run, in order.
    """
    script = script_of(name, cells)
    if not script:
        return
    path = kept_at(exercise_id)
    with suppress(OSError):  # the progress file says where nothing can be written
        path.parent.mkdir(parents=True, exist_ok=True)
        with put_in_place(path) as unfinished:
            unfinished.write_text(script, encoding="utf-8")


def load_answer(exercise_id: str, name: str, like: Callable[..., Any] | None = None) -> Any:
    """A kept answer: its script is run in a namespace of its own.

    Args:
        exercise_id: what it answers.
        name: what it is called.
        like: the reference, which is made and called in the same way; None where it is not known.

    Returns:
        The function or class; None where none is kept.

    Raises:
        NotAtHand: its script fails, or was written for an exercise that has changed since.
    """
    path = kept_at(exercise_id)
    try:
        script = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotAtHand(f"{path} cannot be read ({error})") from error
    namespace: dict[str, Any] = {"__name__": f"answers.{exercise_id}"}
    try:
        exec(compile(script, str(path), "exec"), namespace)
    except Exception as error:  # it is a student's: it may raise anything
        raise NotAtHand(f"{path} raises {type(error).__name__}: {error}") from error
    found = namespace.get(name)
    if found is None or (like is not None and not _called_alike(found, like)):
        raise NotAtHand(f"{path} was written for an earlier version of the exercise: write {name} again")
    return found


def _called_alike(own: Any, like: Callable[..., Any]) -> bool:
    """Whether both are classes or both functions, and the one takes what the other needs.

    A class is made with named arguments, a function called with positional ones.
    """
    if isinstance(own, type) != isinstance(like, type):
        return False
    taken = [one for one in signature(like).parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    try:
        if isinstance(like, type):
            signature(own).bind(**{one.name: None for one in taken})
        else:
            signature(own).bind(*[None for one in taken if one.default is one.empty])
    except (TypeError, ValueError):
        return False
    return True


def script_of(name: str, cells: Sequence[str]) -> str:
    """The code that defines a name, with all that it uses, and nothing else; empty where nothing defines it.

    For each name, the last statement at the top level of a cell that gives it a value counts.

    Args:
        name: a function or a class.
        cells: code in the order in which it was run. Code that is not plain Python is skipped.
    """
    statements = [statement for cell in cells for statement in statements_of(cell)]
    wanted, found = [(name, len(statements))], set[int]()
    while wanted:
        bound, end = wanted.pop()
        number = next((n for n in reversed(range(end)) if bound in statements[n].defines), None)
        if number is not None and number not in found:
            found.add(number)
            # What a function reads is looked up when it is called; `x += 1` reads what was there before.
            end = len(statements) if written_names(statements[number].text) else number
            wanted += [(read, end) for read in sorted(statements[number].mentions)]
    return "\n\n".join(statements[number].commented for number in sorted(found)) + "\n" if found else ""
