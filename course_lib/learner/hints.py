"""Hints that climb: each call of `hint` opens one more, from the idea over the shapes to the outline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course_lib.learner.panel import HelpPanel, Section
from course_lib.learner.progress_file import History, progress_file
from course_lib.learner.solutions import solution_of

if TYPE_CHECKING:
    from course_lib.checking.exercise import Exercise, Hint

_TITLES = {"idea": "The idea", "shapes": "What goes in, what comes out", "outline": "Step by step"}


def next_hint(exercise: Exercise) -> HelpPanel | None:
    """The hints of an exercise that have been opened, with one more of them opened now.

    Returns:
        None where it has no hints, which a printed sentence says.
    """
    kept = progress_file()
    if not exercise.hints:
        print(f"There are no hints for {exercise.id}.")
        return None
    following = unopened(exercise, kept.of(exercise.id))
    if following is not None:
        kept.note_hint(exercise.id, following.depth)
    by_depth = {hint.depth: hint for hint in exercise.hints}
    opened = [by_depth[depth] for depth in dict.fromkeys(kept.of(exercise.id).hints) if depth in by_depth]
    closing = [_what_follows(exercise, kept.of(exercise.id)), *kept.news()]
    return HelpPanel(
        heading="Hint" if len(opened) == 1 else "Hints",
        detail=f"{len(opened)} of {len(exercise.hints)}",
        exercise_id=exercise.id,
        sections=tuple(map(_section, opened)),
        closing=tuple(closing),
    )


def unopened(exercise: Exercise, history: History) -> Hint | None:
    """The hint that comes next: one that answers the mistake last named, else the shallowest; None after the last."""
    left = [hint for hint in exercise.hints if hint.depth not in history.hints]
    named = set(history.mistake.split("+"))  # of two mistakes at once, both
    return next((hint for hint in left if named & set(hint.answers)), left[0] if left else None)


def _section(hint: Hint) -> Section:
    title = _TITLES[hint.depth]
    return Section(title, steps=tuple(hint.steps)) if len(hint.steps) > 1 else Section(title, paragraphs=(hint.text,))


def _what_follows(exercise: Exercise, history: History) -> str:
    if unopened(exercise, history) is not None:
        return f'For the next hint run `hint("{exercise.id}")` again.'
    if solution_of(exercise.id) is None:
        return "That was the last hint."
    return f'That was the last hint. `solution("{exercise.id}")` shows how it is done, and why.'
