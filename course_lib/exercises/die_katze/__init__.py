"""The exercises of lesson 11: a translator at full size, from the plan of its training to its worst sentences."""

from course_lib.exercises.die_katze import (
    accumulated_loss,
    batches_by_tokens,
    bootstrap_interval,
    choose_checkpoint,
    plan_run,
    sort_error,
    trapezoid_schedule,
)

EXERCISES = (
    plan_run.EXERCISE,
    batches_by_tokens.EXERCISE,
    trapezoid_schedule.EXERCISE,
    accumulated_loss.EXERCISE,
    choose_checkpoint.EXERCISE,
    bootstrap_interval.EXERCISE,
    sort_error.EXERCISE,
)
"""In the order of the lesson."""
