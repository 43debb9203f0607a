"""The exercises of lesson 03: what a shuffle does, and five ways to tell tokens where they stand.

Built like `course_lib/exercises/attention/scale.py`; read that file first.

The sizes of a case are all different, and an order is never its own inverse unless its case says so. That way, an
answer that turns a matrix or an order round can be told from a right one.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.positions import (
    alibi_weights,
    appended_index,
    binary_counting,
    learned_positions,
    order_matters,
    same_under_causal_mask,
    shift_matrix,
    sinusoidal_encoding,
)

EXERCISES = collect(
    order_matters,
    same_under_causal_mask,
    appended_index,
    binary_counting,
    sinusoidal_encoding,
    shift_matrix,
    learned_positions,
    alibi_weights,
    withheld=("course_lib.positions",),
)
"""In the order of the lesson."""

MOVED = {"positions.shuffled_outputs": "positions.order_matters"}
"""What is no longer an exercise, and where its task went."""
