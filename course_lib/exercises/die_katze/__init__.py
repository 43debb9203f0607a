"""The exercises of lesson 11: a translator at full size, from the plan of its training to its worst sentences."""

from course_lib.exercises.common import collect
from course_lib.exercises.die_katze import (
    accumulated_loss,
    batches_by_tokens,
    bootstrap_interval,
    choose_checkpoint,
    plan_run,
    sort_error,
    trapezoid_schedule,
)

EXERCISES = collect(
    plan_run,
    batches_by_tokens,
    trapezoid_schedule,
    accumulated_loss,
    choose_checkpoint,
    bootstrap_interval,
    sort_error,
    withheld=("course_lib.references.die_katze",),
)
"""In the order of the lesson."""
