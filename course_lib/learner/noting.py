"""What a check leaves behind: a line in the progress file, an answer that has passed, a sentence on what comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from course_lib import exercises
from course_lib.checking.observation import Outcome
from course_lib.checking.verdict import Verdict
from course_lib.learner.kept_answers import keep_answer
from course_lib.learner.progress_file import ProgressFile, progress_file
from course_lib.learner.progress_map import lesson_progress

_NO_ATTEMPT = frozenset({Outcome.NOT_ATTEMPTED, Outcome.NEVER_DEFINED})
"""Checks of what nobody has written yet: a blank notebook, run to its end, has failed nowhere."""


def noted(verdict: Verdict, cells: Sequence[str]) -> Verdict:
    """The verdict, written down, with what its reader should know next at its end.

    Args:
        verdict: on an answer in a notebook or a script.
        cells: the code that was run, from which a right answer is kept; empty where it is not in there.
    """
    exercise, kept = verdict.exercise, progress_file()
    if verdict.outcome not in _NO_ATTEMPT:
        mistake = verdict.misconception.id if verdict.misconception is not None else ""
        kept.note_check(exercise.id, verdict.points or 0.0, verdict.passed, mistake)
    if verdict.passed:
        keep_answer(exercise.id, exercise.name, cells)
    return replace(verdict, closing=tuple(_closing(verdict, kept)))


def _closing(verdict: Verdict, kept: ProgressFile) -> Iterator[str]:
    if verdict.exercise.lesson in exercises.LESSONS:  # a course may have others
        yield lesson_progress(verdict.exercise.lesson, kept.read(), kept.path.parent).sentence()
    if kept.problem:
        yield kept.problem
