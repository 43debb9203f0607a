"""Checking an answer: cases in, observations out, a verdict with the name of the mistake.

    from course_lib.checking import check
    check("attention.scaled_dot_product")

Read `exercise.py` (what makes up a task), `observation.py` (one call, as plain data; numpy's arrays: `arrays.py`),
`compare.py` (the first difference), `answer_key.py` (what is expected), `diagnosis.py` (the name of the mistake),
`judge.py` (the decision), `verdict.py` and `render.py` (what is shown), in that order.
"""

from course_lib.checking.answer_key import AnswerKey
from course_lib.checking.diagnosis import diagnose
from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Hint, Misconception, Pair
from course_lib.checking.judge import decide, judge
from course_lib.checking.notebook import PUBLIC_SEED, case, check, hint, progress, solution
from course_lib.checking.observation import Observation, Outcome, observe
from course_lib.checking.verdict import Verdict

__all__ = [
    "CORE",
    "PUBLIC_SEED",
    "AnswerKey",
    "Callback",
    "Case",
    "Exercise",
    "Hint",
    "Misconception",
    "Observation",
    "Outcome",
    "Pair",
    "Verdict",
    "case",
    "check",
    "decide",
    "diagnose",
    "hint",
    "judge",
    "observe",
    "progress",
    "solution",
]
