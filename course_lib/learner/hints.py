"""Hints in steps: each call of `hint` opens one more, from the idea to the shapes to the outline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course_lib.learner.panel import HelpPanel, Section
from course_lib.learner.progress_file import History, progress_file
from course_lib.learner.solutions import solution_of

if TYPE_CHECKING:
    from course_lib.judging.exercise import Exercise, Hint


def next_hint(exercise: Exercise) -> HelpPanel | None:
    """Open one more hint of an exercise, and return all that are open.

    Returns:
        The hints; None if there are none (a printed sentence says so).
    """
    kept = progress_file()
    if not exercise.hints:
        print(f"There are no hints for {exercise.id}.")
        return None
    before = kept.of(exercise.id)
    if (following := exercise.next_hint(before.mistake, before.hints)) is not None:
        kept.note_hint(exercise.id, following.depth)
    history, by_depth = kept.of(exercise.id), {hint.depth: hint for hint in exercise.hints}
    opened = [by_depth[depth] for depth in dict.fromkeys(history.hints) if depth in by_depth]
    closing = [_what_follows(exercise, history), *kept.news()]
    return HelpPanel(
        heading="Hint" if len(opened) == 1 else "Hints",
        detail=f"{len(opened)} of {len(exercise.hints)}",
        exercise_id=exercise.id,
        sections=tuple(map(_section, opened)),
        closing=tuple(closing),
    )


def _section(hint: Hint) -> Section:
    if len(hint.steps) > 1:
        return Section(hint.title, steps=tuple(hint.steps))
    return Section(hint.title, paragraphs=(hint.text,))


def _what_follows(exercise: Exercise, history: History) -> str:
    if exercise.next_hint(history.mistake, history.hints) is not None:
        return f'For the next hint run `hint("{exercise.id}")` again.'
    if solution_of(exercise.id) is None:
        return "That was the last hint."
    return f'That was the last hint. `solution("{exercise.id}")` shows how it is done, and why.'
