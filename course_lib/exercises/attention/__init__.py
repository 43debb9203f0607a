"""The exercises of lesson 01: one attention, step by step.

An exercise is data: read one, `scale.py`, and you can write another. It says what the student must define, which
reference it is compared with, on which cases, and which mistakes it knows by name. `katze certify` then proves that the
cases tell all of these apart: every answer in `correct` passes, and every misconception fails and is named. Cases come
in every kind that an answer must handle (`kinds`); the hidden ones are of the same kinds, with other sizes and other
numbers. What several exercises use is in `shared.py`.

Most mistakes are small edits of one right answer (`slips` and `edits_of`): two of them in different places make a pair,
which is named as well. A `mistake` that shows in several results has an id for each.

Messages are for the student: what the answer does, then what to do instead.
"""

from course_lib.exercises.attention import (
    contextual_embedding,
    dot_product_variance,
    gradients,
    scale,
    scaled_dot_product,
    scores,
    softmax_jacobian,
    weights,
)
from course_lib.exercises.common import collect

EXERCISES = collect(
    contextual_embedding,
    scores,
    scale,
    weights,
    scaled_dot_product,
    dot_product_variance,
    softmax_jacobian,
    gradients,
    withheld=("course_lib.attention",),
)
"""In the order of the lesson."""

MOVED = {"attention.output": "attention.scaled_dot_product"}
"""Exercises of earlier versions, each with the one that took its place, or "" where none did."""
