"""Every reference answers its exercise's cases, as `test_shapes.py` runs it: with the shapes of its signature checked.

That each is right, `tests/autograder/test_certify.py` tests, beside three other answers.
"""

import pytest

from course_lib import exercises
from course_lib.judging.exercise import Exercise
from course_lib.judging.observation import observe

BROADCAST = "one row of the mask for all queries"
"""The case of a mask that torch stretches to the shape which the signature says."""


@pytest.mark.parametrize("exercise", exercises.all(), ids=lambda exercise: exercise.id)
def test_a_reference_answers_its_cases(exercise: Exercise) -> None:
    for case in exercise.visible_cases():
        if not case.refused and case.name != BROADCAST:
            seen = observe(exercise.reference, case)
            assert seen.returned, (case.name, seen.raised)
