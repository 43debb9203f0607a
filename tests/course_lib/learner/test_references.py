"""The table of references, and what a sandbox makes of it."""

import sys

import pytest

from course_lib import exercises
from course_lib.learner.references import REFERENCES, reference


def test_the_table_is_what_the_exercises_say() -> None:
    assert {exercise.id: exercise.reference for exercise in exercises.all()} == {
        exercise_id: reference(exercise_id) for exercise_id in REFERENCES
    }


def test_what_a_lesson_withholds_is_not_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "course_lib.attention", None)
    with pytest.raises(LookupError, match="asks you to write"):
        reference("attention.scores")
