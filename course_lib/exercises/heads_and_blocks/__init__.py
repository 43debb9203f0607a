"""The exercises of lesson 04: projections, heads, the parts of a block, and the block itself.

Built like `course_lib/exercises/attention/scale.py`; read that file first.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.heads_and_blocks import (
    add_and_norm,
    count_parameters,
    dropout,
    encoder_block,
    feed_forward,
    gelu,
    layer_norm,
    multi_head_attention,
    project,
    split_heads,
)

EXERCISES = collect(
    project,
    split_heads,
    multi_head_attention,
    layer_norm,
    dropout,
    add_and_norm,
    gelu,
    feed_forward,
    encoder_block,
    count_parameters,
    withheld=("course_lib.multihead", "course_lib.blocks", "course_lib.references.heads_and_blocks"),
)
"""In the order of the lesson."""
