"""What a notebook calls, and what a course's exercises are made of. The judging itself is in `course_lib.judging`.

from course_lib.checking import check
check("attention.scaled_dot_product")
"""

from course_lib.checking.notebook import case, check, hint, progress, solution
from course_lib.judging.exercise import CORE, Callback, Case, Exercise, Hint, Misconception, Pair

__all__ = [
    "CORE",
    "Callback",
    "Case",
    "Exercise",
    "Hint",
    "Misconception",
    "Pair",
    "case",
    "check",
    "hint",
    "progress",
    "solution",
]
