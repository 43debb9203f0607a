"""Your answers from earlier lessons: for use in later ones, joined together, and a page with what you have built.

from course_lib.mine import answer, ending, mine

encode = answer("subwords.encode")
mine()
ending()
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from course_lib.learner.kept_answers import NotAtHand, load_answer
from course_lib.learner.references import reference

if TYPE_CHECKING:
    from course_lib.judging.exercise import Exercise
    from course_lib.learner.ending import Ending
    from course_lib.mine.whole import MyTransformer


def answer(exercise_id: str, *more: str) -> Any:
    """Return your newest answer that passed its check, or else the course's own; print which it is.

    When grading, it is always the course's own, so that no lesson costs points in another. In a class edition that
    withholds the course's own, you get a stand-in that says, when a demo calls it, what is missing.

    Args:
        exercise_id: such as "subwords.encode".
        *more: further ids, to get a tuple of answers.

    Raises:
        LookupError: there is no such exercise.
    """
    found = {one: _whose(one) for one in (exercise_id, *more)}
    for told in dict.fromkeys(told for _, told in found.values()):
        print(f"{', '.join(one for one, (_, said) in found.items() if said == told)}: {told}.")
    answers = tuple(own for own, _ in found.values())
    return answers if more else answers[0]


def _whose(exercise_id: str) -> tuple[Callable[..., Any], str]:
    """Return an answer, and a phrase that says whose it is."""
    if find_spec("course_lib.exercises") is None:
        return reference(exercise_id), "the course's own"
    from course_lib import exercises

    exercise = exercises.find(exercise_id)
    try:
        courses_own = reference(exercise_id)
    except LookupError:
        courses_own = None
    why = "until yours has passed its check"
    try:
        kept = load_answer(exercise_id, exercise.name, courses_own)
        if kept is not None:
            return kept, "your own"
    except NotAtHand as problem:
        why = f"because yours was not found: {problem}"
    if courses_own is None:
        return _missing(exercise), f"missing {why} in {exercise.lesson}, since this class edition does not hand it out"
    return courses_own, f"the course's own, {why}"


def _missing(exercise: Exercise) -> Callable[..., Any]:
    """Return a stand-in for an answer that is not public yet; when called, it says what to do."""

    def missing(*_: object, **__: object) -> Any:
        raise LookupError(
            f"this demo needs {exercise.name}: pass the check of {exercise.id} in {exercise.lesson}, then run the "
            f'cell with answer("{exercise.id}") again'
        )

    return missing


def mine() -> MyTransformer | None:
    """Show your transformer so far: your answers to lessons 01 to 06 that passed, in reading order.

    Returns:
        A value that shows itself at the end of a cell; None when grading (a printed sentence says so).
    """
    if find_spec("course_lib.exercises") is None:
        print("There is no transformer to show here.")
        return None
    from course_lib.mine.whole import my_transformer

    return my_transformer()


def keep_figure(lesson: str, what: str, value: str) -> None:
    """Keep a result that a lesson measured with the learner's own answers, for `ending`; the newest counts.

    A picture drawn with a borrowed answer keeps none.

    Args:
        lesson: the lesson's folder, such as "07_gpt".
        what: what was measured, in a few words.
        value: the value as shown, with its unit.
    """
    if find_spec("course_lib.exercises") is not None:
        from course_lib.learner.borrowed import is_borrowing
        from course_lib.learner.progress_file import progress_file

        if not is_borrowing():
            progress_file().note_figure(lesson, what, value)


def ending() -> Ending | None:
    """Show what a learner has built, their own results, what to read and build next, and how to present it.

    Returns:
        A value that shows itself at the end of a cell; None when grading (a printed sentence says so).
    """
    if find_spec("course_lib.exercises") is None:
        print("There is no page to show here.")
        return None
    from course_lib.learner.ending import ending_page

    return ending_page()
