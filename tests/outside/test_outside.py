"""Answers that were written from the notebooks alone, as students would: each gets the verdict that stands beside it.

The files are of the form that `benchmarks.answers` reads. The third field of a header is the name that the mistake
must get, with visible cases alone and whatever is hidden; where it is missing, none. Kept is what an earlier set of
cases took for right, named wrongly or did not name, and right answers that are unlike the certified ones.
"""

from functools import cache

import pytest

from benchmarks.answers import ANSWERS, Block, answer, blocks
from course_lib import exercises
from course_lib.judging.answer_key import PUBLIC_SEED, AnswerKey
from course_lib.judging.judge import judge
from course_lib.judging.observation import observe

SEEDS = (11, PUBLIC_SEED)
FILES = sorted(ANSWERS.glob("*.py"))
ALL = [pytest.param(file.stem, block, id=f"{file.stem}: {block.told}") for file in FILES for block in blocks(file)]


@cache
def keys(exercise: str) -> list[AnswerKey]:
    key = AnswerKey(exercises.find(exercise))
    return [key, *(key.with_hidden(seed) for seed in SEEDS)]


@pytest.mark.parametrize(("exercise_id", "block"), ALL)
def test_an_answer_from_outside_gets_its_verdict(exercise_id: str, block: Block) -> None:
    exercise = exercises.find(exercise_id)
    written = answer(exercise, block.code)
    alone, hidden, *more = keys(exercise_id)
    # What passes with hidden cases passes without; and a name stands for what fails without them.
    with_keys = [hidden, *more] if block.right else [hidden] if block.name else [alone, hidden]
    verdicts = [judge(key, lambda case: observe(written, case, exercise.forbidden_names)) for key in with_keys]
    if block.right:
        assert all(verdict.passed for verdict in verdicts), verdicts[0].text()
        return
    assert not any(verdict.passed for verdict in verdicts)
    names = {verdict.misconception.id if verdict.misconception else "" for verdict in verdicts}
    assert names == {block.name}, verdicts[0].text()
