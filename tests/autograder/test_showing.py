"""Every exercise, failed at every single hidden case, is shown in every form; and a verdict stands that cannot be."""

import json
from dataclasses import replace
from typing import Any

import pytest
from torch import Tensor

from autograder.grading.exercise_strategy import show_verdicts
from autograder.pages.feedback import render_feedback
from course_lib import exercises
from course_lib.judging import render
from course_lib.judging.answer_key import PUBLIC_SEED, AnswerKey
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.judge import decide
from course_lib.judging.observation import Observation, Outcome, Raised
from course_lib.judging.verdict import Verdict
from tests.autograder.records import record

RAISED = Observation(returned=False, failure=Outcome.RAISED, raised=Raised("ValueError", "told", 3, "raise"))


def otherwise(expected: Observation) -> Observation:
    """What is wrong where this was expected: another number, one item less, or None."""
    value = expected.value
    if isinstance(value, Tensor) and value.numel() and value.is_floating_point():
        return replace(expected, value=value + 1)
    if isinstance(value, (list, tuple)) and value:
        return replace(expected, value=value[1:])
    return replace(expected, value=None)


def telling(case: Case) -> Observation:
    """An answer that raises an exception whose text, and line, are the inputs."""
    inputs = repr((case.args, case.kwargs))
    return replace(RAISED, raised=Raised("ValueError", inputs, 3, f"raise ValueError({inputs})"))


def failing_once(exercise: Exercise, key: AnswerKey) -> list[Verdict]:
    """Verdicts for each hidden case: on answers that are right everywhere else."""
    verdicts = []
    for number in range(len(key.visible), len(key.cases)):
        for wrong in (otherwise(key.expected[number]), telling(key.cases[number])):
            observations = [*key.expected[:number], wrong, *key.expected[number + 1 :]]
            if not key.cases[number].refused:
                verdicts.append(decide(key, observations))
    return verdicts


def page(exercise: Exercise, verdict: Verdict) -> str:
    cell = {"cell_type": "code", "id": "x", "source": "check()", "outputs": [], "execution_count": None}
    cell["metadata"] = {"katze": {"kind": "check", "origin": "release", "exercise": exercise.id}}
    notebook: dict[str, Any] = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    shown = {exercise.id: verdict.html()}
    return render_feedback(notebook, record("ada", exercise.lesson), shown)


@pytest.mark.parametrize("exercise", exercises.all(), ids=lambda exercise: exercise.id)
def test_a_failure_at_any_single_hidden_case_can_be_shown(exercise: Exercise) -> None:
    key = AnswerKey(exercise, PUBLIC_SEED)
    verdicts = failing_once(exercise, key)
    assert verdicts
    for verdict in verdicts:
        assert not verdict.passed
        assert not verdict.drawing_failed
        assert exercise.id in verdict.text()
        assert json.dumps(verdict.record())
        assert show_verdicts({exercise.id: verdict})
    assert 'class="katze-verdict' in page(exercise, verdicts[-1])
    others = failing_once(exercise, key.with_hidden(PUBLIC_SEED + 1))
    shown = [page(exercise, verdict) + verdict.text() for verdict in verdicts]
    assert shown == [page(exercise, verdict) + verdict.text() for verdict in others], "it depends on the hidden inputs"


def test_a_verdict_that_cannot_be_drawn_is_shown_plain_and_keeps_its_points(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(verdict: Verdict, result: object) -> str:
        raise RuntimeError("The size of <tensor a> must match")

    exercise = exercises.find("attention.scaled_dot_product")
    verdict = failing_once(exercise, AnswerKey(exercise, PUBLIC_SEED))[0]
    monkeypatch.setattr(render, "_remark", broken)
    assert f"{exercise.id}: Not yet right, 0 of {exercise.points} points" in verdict.text()
    assert "your points do not depend on it" in verdict.text()
    assert "&lt;tensor" not in verdict.html()
    assert verdict.html().startswith("<pre>")
    assert "RuntimeError: The size of <tensor a> must match" in verdict.drawing_failed
    assert "Not yet right" in page(exercise, verdict)
