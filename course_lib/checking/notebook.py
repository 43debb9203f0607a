"""`check`: what a student calls after writing an answer, and what an nbgrader check cell contains."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec

from course_lib.checking.answer_key import AnswerKey
from course_lib.checking.exercise import Exercise, Value
from course_lib.checking.judge import judge, rule_broken
from course_lib.checking.last_run import log_of_notebook, running_shell
from course_lib.checking.observation import Outcome, Raised, observe, raised_by, with_article
from course_lib.checking.rules import Code
from course_lib.checking.verdict import Verdict

PUBLIC_SEED = 20170612
"""Seed of the hidden cases outside the grader (the day "Attention Is All You Need" appeared).

The grader derives its own from the course's secret."""

IMPORTED_CHECK = f"from {__package__} import check"
"""How a check cell begins, so that it says what is missing where the kernel has been restarted."""


def check(exercise_id: str, answer: Callable[..., Value] | None = None, *, hidden: bool = False) -> Verdict | None:
    """Check an answer and say what is right, what is wrong, and which mistake it is.

    Args:
        exercise_id: such as "attention.scaled_dot_product".
        answer: the function or class; by default, what the notebook defines under the exercise's name.
        hidden: run the hidden cases as well, with a public seed.

    Returns:
        The verdict, which shows itself when it is the last value of a cell. None inside the grader's box,
        where the grader checks from outside.

    Raises:
        LookupError: there is no such exercise.
        KeyboardInterrupt: somebody has stopped it; the message says where the answer was.
    """
    if find_spec("course_lib.exercises") is None:
        print("This check is left to the grader, which runs it outside the notebook.")
        return None
    from course_lib import exercises

    exercise = exercises.find(exercise_id)
    namespace, cells = _notebook()
    written: Value = namespace.get(exercise.name) if answer is None else answer
    log = log_of_notebook()
    failed = log.failed_to_define(exercise.name) if log is not None and answer is None else None
    if failed is not None:
        return did_not_run(exercise, failed)
    if written is None:
        return never_defined(exercise)
    if not callable(written):
        return given_away(exercise, written)
    rule = Code(cells).broken_rule(exercise.name, exercise.forbidden_names)
    if rule is not None:
        return rule_broken(exercise, rule.name, rule.place)
    key = AnswerKey(exercise, PUBLIC_SEED if hidden else None)
    with _quiet() as printed:
        try:
            verdict = judge(key, lambda case: observe(written, case, exercise.forbidden_names))
        except KeyboardInterrupt as interrupt:
            raise _stopped(exercise, interrupt) from None  # without the lines of the check itself
    return replace(verdict, prints=bool(printed.getvalue()))


def never_defined(exercise: Exercise) -> Verdict:
    """The verdict where the name does not exist (yet)."""
    note = f"There is no {exercise.name} yet. Run the cell that defines it, and look for a typo in its name."
    return Verdict(exercise, Outcome.NEVER_DEFINED, 0.0, note=note)


def did_not_run(exercise: Exercise, raised: Raised) -> Verdict:
    """The verdict where the cell that writes the answer was stopped by an exception before it had defined it."""
    line = f" in line {raised.line}" if raised.line else ""
    said = f": {raised.message}" if raised.message else ""
    note = (
        f"The cell that defines {exercise.name} did not run: it stopped with {raised.type_name}{line}{said}. Nothing "
        "was checked. Mend that cell, run it, then check again."
    )
    return Verdict(exercise, Outcome.NEVER_DEFINED, 0.0, note=note)


def given_away(exercise: Exercise, value: Value) -> Verdict:
    """The verdict where the name stands for something that cannot be called, such as a result."""
    kind = "class" if exercise.is_class else "function"
    note = (
        f"{exercise.name} is not a {kind} but {with_article(type(value).__name__)}: a cell has given its name to "
        f"something else. Use another name there, then run the cell that defines {exercise.name} again."
    )
    return Verdict(exercise, Outcome.NEVER_DEFINED, 0.0, note=note)


def _stopped(exercise: Exercise, interrupt: KeyboardInterrupt) -> KeyboardInterrupt:
    """The interrupt that ended a check, with a sentence on where the answer was."""
    reached = raised_by(interrupt)
    place = f" (line {reached.line}: {reached.code})" if reached.code else ""
    return KeyboardInterrupt(f"You stopped {exercise.name}{place}. Is there a loop that never ends?")


def _notebook() -> tuple[dict[str, Value], list[str]]:
    """The names defined in the notebook, and the code of the cells that were run; of `__main__` in a script."""
    shell = running_shell()
    if shell is None:
        return vars(sys.modules["__main__"]), []
    return shell.user_ns, list(shell.user_ns.get("In", []))


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    """Keep back what an answer prints: nbgrader scores any stderr in a check cell as zero."""
    nowhere = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stderr(nowhere), contextlib.redirect_stdout(nowhere):
        warnings.simplefilter("ignore")
        yield nowhere


log_of_notebook()  # the first cell has imported this: the runs of all others are known
