"""What the exercises of lesson 11 share."""

LESSON = "11_die_katze"

WITHHELD = ("course_lib.from_scratch.full_run", "course_lib.training.schedules", "course_lib.text.batches")
