"""The exercises of the primer: what every later lesson takes for granted.

Built like `course_lib/exercises/attention/scale.py`; read that file first.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.primer import (
    bags_of_words,
    critic,
    distance_danced,
    last_words,
    loss_gradient,
    split,
    train,
    walk_downhill,
)

EXERCISES = collect(
    last_words,
    distance_danced,
    bags_of_words,
    loss_gradient,
    walk_downhill,
    critic,
    split,
    train,
    withheld=("course_lib.references.primer",),
)
"""In the order of the lesson."""
