"""Judging an answer as `check` does, and the answers that are known to be wrong."""

from collections.abc import Callable
from functools import cache

from torch import Tensor

from course_lib import exercises
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.judge import judge
from course_lib.judging.observation import Outcome, observe
from course_lib.judging.verdict import Verdict


def verdict(exercise_id: str, answer: Callable[..., object], seed: int | None = 5) -> Verdict:
    key = _shown(exercise_id)
    return judge(key if seed is None else key.with_hidden(seed), lambda case: observe(answer, case))


def named(exercise_id: str, answer: Callable[..., object], seed: int | None = 5) -> str | None:
    """The id of the mistake, or pair of mistakes, that a wrong answer is told by name; None if it is told none."""
    found = verdict(exercise_id, answer, seed)
    assert found.outcome in (Outcome.WRONG, Outcome.RAISED)
    return None if found.misconception is None else found.misconception.id


@cache
def _shown(exercise_id: str) -> AnswerKey:
    """With what its mistakes do, worked out once for all answers to an exercise."""
    return AnswerKey(exercises.find(exercise_id))


def mistake(exercise_id: str, misconception_id: str) -> Callable[..., Tensor]:
    known = {misconception.id: misconception for misconception in exercises.find(exercise_id).misconceptions}
    return known[misconception_id].answer
