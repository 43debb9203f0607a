"""The functions that a notebook calls, and the classes of a course's exercises. `course_lib.judging` judges.

from course_lib.checking import check
check("attention.scaled_dot_product")
"""

import course_lib

try:
    from course_lib.checking.notebook import case, check, hint, progress, recall, solution
    from course_lib.judging.exercise import CORE, Callback, Case, Exercise, Hint, Misconception, Pair
except ModuleNotFoundError:
    course_lib.require_torch()
    raise

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
    "recall",
    "solution",
]
