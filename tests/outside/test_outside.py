"""Answers that were written from the notebooks alone, as students would: each gets the verdict that stands beside it.

One file an exercise, `tests/outside/answers/<exercise>.py`, in blocks; above each what it is:

    # %% right | with einsum
    # %% wrong | softmax over the queries | softmax_over_queries
    # %% wrong | right for square tables only

The third field is the name that the mistake must get, with visible cases alone and whatever is hidden; where it is
missing, none. The blocks are no modules: each runs beside what its notebook imports and gives. Kept is what an earlier
set of cases took for right, named wrongly or did not name, and right answers that are unlike the certified ones.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from autograder.given import needed_of_notebook
from course_lib import exercises
from course_lib.checking import PUBLIC_SEED, AnswerKey, Exercise, judge, observe

ANSWERS_IN = Path(__file__).parent / "answers"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
_HEADER = re.compile(r"^# %% (right|wrong) \| ([^|\n]+?)(?: \| (\S+))?$", re.MULTILINE)
SEEDS = (PUBLIC_SEED, 11)


class Block(NamedTuple):
    """One answer: whether it is right, what it does, the name its mistake must get, and its code."""

    right: bool
    told: str
    name: str
    code: str


def blocks(exercise: str) -> Iterator[Block]:
    text = (ANSWERS_IN / f"{exercise}.py").read_text(encoding="utf-8")
    headers = list(_HEADER.finditer(text))
    assert len(headers) == text.count("# %%"), "a header is not of the form above"
    for header, after in zip(headers, [*headers[1:], None], strict=True):
        code = text[header.end() : after.start() if after else None]
        yield Block(header[1] == "right", header[2], header[3] or "", code)


FILES = sorted(path.stem for path in ANSWERS_IN.glob("*.py"))
ANSWERS = [pytest.param(name, block, id=f"{name}: {block.told}") for name in FILES for block in blocks(name)]


@cache
def keys(exercise: str) -> list[AnswerKey]:
    key = AnswerKey(exercises.find(exercise))
    return [key, *(key.with_hidden(seed) for seed in SEEDS)]


def answer(exercise: Exercise, code: str) -> Callable[..., Any]:
    needed = needed_of_notebook(NOTEBOOKS / exercise.lesson / f"{exercise.lesson}.ipynb", code)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile("\n".join([*map(ast.unparse, needed), code]), "<answer>", "exec"), namespace)
    found: Callable[..., Any] = namespace[exercise.name]
    return found


@pytest.mark.parametrize(("exercise_id", "block"), ANSWERS)
def test_an_answer_from_outside_gets_its_verdict(exercise_id: str, block: Block) -> None:
    exercise = exercises.find(exercise_id)
    written = answer(exercise, block.code)
    shown, *graded = [judge(key, lambda case: observe(written, case, exercise.forbidden)) for key in keys(exercise_id)]
    if block.right:
        assert [verdict.passed for verdict in (shown, *graded)] == [True] * 3, graded[0].text()
        return
    assert not any(verdict.passed for verdict in graded)
    names = {verdict.misconception.id if verdict.misconception else "" for verdict in (shown, *graded)}
    assert names == {block.name}, shown.text()
