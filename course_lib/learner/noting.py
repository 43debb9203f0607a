"""Records a check: a line in the progress file, a passed answer, a sentence on what comes next."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from course_lib.judging.exercise import Exercise
from course_lib.judging.last_run import running_shell
from course_lib.judging.observation import Outcome
from course_lib.judging.verdict import Verdict
from course_lib.learner.current_catalogue import current_catalogue
from course_lib.learner.kept_answers import keep_answer
from course_lib.learner.progress_file import History, ProgressFile, progress_file
from course_lib.learner.progress_map import lesson_progress
from course_lib.learner.solutions import solution_of

_NO_ATTEMPT = frozenset({Outcome.NOT_ATTEMPTED, Outcome.NEVER_DEFINED})
"""Outcomes for answers that are not written yet, which are not failures: a blank notebook may be run to its end."""


def noted(verdict: Verdict, cells: Sequence[str]) -> Verdict:
    """Record a verdict, and return it with sentences about what comes next.

    Args:
        verdict: the verdict on an answer in a notebook or a script.
        cells: the code that was run, from which a right answer is kept; empty if it does not contain the answer.
    """
    exercise, kept = verdict.exercise, progress_file()
    if verdict.outcome not in _NO_ATTEMPT and verdict.outcome.has_score:
        mistake = verdict.misconception.id if verdict.misconception is not None else ""
        kept.note_check(exercise.id, verdict.points or 0.0, verdict.passed, mistake)
    if verdict.passed:
        keep_answer(exercise.id, exercise.name, cells)
    history = kept.of(exercise.id)
    if verdict.outcome not in _NO_ATTEMPT and history.failures >= _STUCK:
        verdict = replace(verdict, hint=verdict.hint or exercise.next_hint(history.mistake))
        if verdict.hint is not None and verdict.hint.depth not in history.hints:
            kept.note_hint(exercise.id, verdict.hint.depth)
    return replace(verdict, closing=tuple(_closing(verdict, kept)))


_STUCK = 2
"""The number of failed checks in a row after which help is offered."""


def _closing(verdict: Verdict, kept: ProgressFile) -> Iterator[str]:
    histories = kept.read()
    history = histories.get(verdict.exercise.id, History())
    if history.passed and not verdict.passed:
        yield "You had this right before, and that still counts."
    attempted, shown = verdict.outcome not in _NO_ATTEMPT, verdict.shown
    if attempted and verdict.misconception is None and shown is not None and not (shown.hidden or shown.case.secret):
        yield f"{_to_run('case', verdict.exercise)}: it gives you these inputs and the expected result."
    if attempted and history.failures >= _STUCK:
        yield from _offered(verdict.exercise, history)
    if verdict.exercise.lesson in current_catalogue().modules:
        yield lesson_progress(verdict.exercise.lesson, histories, kept.path.parent).sentence()
    yield from kept.news()


def _offered(exercise: Exercise, history: History) -> Iterator[str]:
    """Yield an offer of the next help: a hint, after the last one the solution; nothing if the course has neither."""
    following = exercise.next_hint(history.mistake, history.hints)
    if following is not None:
        yield f"Stuck? {_to_run('hint', exercise)}: it {_HAS[following.depth]}."
    elif solution_of(exercise.id) is not None:
        yield f"Still stuck? {_to_run('solution', exercise)}: it shows how it is done, and why."


_HAS = {"idea": "has an idea", "shapes": "says what goes in and comes out", "outline": "has the steps"}


def _to_run(call: str, exercise: Exercise) -> str:
    """Return how to call a function for help in this environment."""
    marimo = sys.modules.get("marimo")
    if running_shell() is None and not (marimo is not None and marimo.running_in_notebook()):
        return f'Add `print({call}("{exercise.id}"))` at the end and run this again'
    return f'Run `{call}("{exercise.id}")` in a new cell'
