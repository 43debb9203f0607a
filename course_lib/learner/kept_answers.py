"""Keeps answers that passed, as small scripts, so that what was written in one lesson can be used in the next."""

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
"""Their place in the learner's folder."""


class NotAtHand(Exception):
    """A kept answer cannot be loaded; the message says why."""


def kept_at(exercise_id: str) -> Path:
    """Return the file in which an answer to this exercise is kept."""
    return learner_folder() / FOLDER / f"{exercise_id}.py"


def keep_answer(exercise_id: str, name: str, cells: Sequence[str]) -> None:
    """Keep an answer that passed, unless it is not in the cells or cannot be written.

    Args:
        exercise_id: the exercise that it answers.
        name: the answer's name.
        cells: the code that was run, in order.
    """
    script = script_of(name, cells)
    if not script:
        return
    path = kept_at(exercise_id)
    with suppress(OSError):  # the progress file reports it if nothing can be written
        path.parent.mkdir(parents=True, exist_ok=True)
        with put_in_place(path) as unfinished:
            unfinished.write_text(script, encoding="utf-8")


def load_answer(exercise_id: str, name: str, like: Callable[..., Any] | None = None) -> Any:
    """Load a kept answer, running its script in a fresh namespace.

    Args:
        exercise_id: the exercise that it answers.
        name: the answer's name.
        like: the reference, which is constructed and called in the same way; None if it is unknown.

    Returns:
        The function or class; None if none is kept.

    Raises:
        NotAtHand: the script fails, or was written for an exercise that has changed since.
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
    except Exception as error:  # a student's code may raise anything
        raise NotAtHand(f"{path} raises {type(error).__name__}: {error}") from error
    found = namespace.get(name)
    if found is None or (like is not None and not _called_alike(found, like)):
        raise NotAtHand(f"{path} was written for an earlier version of the exercise: write {name} again")
    return found


def _called_alike(answer: Any, like: Callable[..., Any]) -> bool:
    """Return whether both are classes or both functions, and an answer takes the arguments that `like` needs.

    A class is constructed with named arguments, a function is called with positional ones.
    """
    if isinstance(answer, type) != isinstance(like, type):
        return False
    taken = [one for one in signature(like).parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    try:
        if isinstance(like, type):
            signature(answer).bind(**{one.name: None for one in taken})
        else:
            signature(answer).bind(*[None for one in taken if one.default is one.empty])
    except (TypeError, ValueError):
        return False
    return True


def script_of(name: str, cells: Sequence[str]) -> str:
    """Return just the code that defines a name, with all that it uses; empty if nothing defines it.

    For each name, the last top-level statement that gives it a value counts.

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
            # A function looks up names when it is called; `x += 1` reads the value from before.
            end = len(statements) if written_names(statements[number].text) else number
            wanted += [(read, end) for read in sorted(statements[number].mentions)]
    return "\n\n".join(statements[number].commented for number in sorted(found)) + "\n" if found else ""
