"""The exercises of lesson 02: masks, a test that finds a wrong one, and two attentions that need them.

Built like `course_lib/exercises/attention/scale.py`; read that file first.

Masks are drawn so that every row and every column allows something, and single rows that allow nothing have a case (and
points) of their own, so that how an answer fills what is forbidden shows only there. The same goes for scores far from
0, and for masks that broadcast.

Most mistakes are settings of one function that computes the answer step by step, so that two of them combine.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.masking import (
    attention_pooling,
    causal_mask,
    leak_test,
    masked_self_attention,
    masked_weights,
    packed_mask,
    padding_mask,
)

EXERCISES = collect(
    causal_mask,
    masked_weights,
    masked_self_attention,
    leak_test,
    padding_mask,
    packed_mask,
    attention_pooling,
    withheld=("course_lib.attention", "course_lib.masking"),
)
"""In the order of the lesson."""

MOVED = {"masking.multiplicative_weights": "", "masking.combined_mask": "masking.packed_mask"}
"""What is no longer an exercise, and where its task went."""
