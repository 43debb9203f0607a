"""Katze's harness: what instructors run to release, grade, certify and give feedback; `README.md` maps it.

`katze.py` knows it by its first words from other packages of this name.
"""

from course_lib.ground.moved import forward

# Configurations of courses name these.
forward(
    {
        "autograder.filters": "autograder.course.filters",
        "autograder.timestamps": "autograder.intake.timestamps",
    }
)
