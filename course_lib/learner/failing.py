"""Hands out a failing case, with its inputs and the right result, to call the answer by hand and print its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from course_lib.judging.observation import Outcome, fresh
from course_lib.judging.render import case_message, lead
from course_lib.learner.panel import HelpPanel, Section

if TYPE_CHECKING:
    from course_lib.judging.exercise import Case, Exercise, Value
    from course_lib.judging.verdict import Verdict


@dataclass(frozen=True, eq=False)
class FailingCase:
    """A failing case, as `case` returns it. In a notebook it shows what to do next; `print` gives plain text.

    Attributes:
        name: the name of the case.
        args: positional arguments, copies each time that `case` is called.
        kwargs: keyword arguments.
        construct: keyword arguments for the constructor; only for classes.
        weights: state dict to load after construction; only for classes.
        expected: the right result; None if the call should be refused.
        panel: the panel to show.
    """

    name: str
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    construct: Mapping[str, Value]
    weights: Mapping[str, Tensor]
    expected: Value
    panel: HelpPanel

    def __repr__(self) -> str:
        return self.panel.text()

    def _repr_html_(self) -> str:
        return self.panel.html()


def failing_case(verdict: Verdict) -> FailingCase | str:
    """Return the case that a verdict shows, or a sentence if there is none to hand out."""
    exercise, shown = verdict.exercise, verdict.shown
    if shown is None or verdict.outcome is Outcome.NOT_ATTEMPTED:
        right = f"No case fails: {exercise.name} is right in all that are shown."
        return right if verdict.passed else lead(verdict)
    case = shown.case
    if case.secret:
        return f"No case is handed out: {exercise.id} is a prediction, and no check gives away the result."
    return FailingCase(
        name=case.name,
        args=fresh(case.args),
        kwargs=fresh(dict(case.kwargs)),
        construct=fresh(dict(case.construct)),
        weights=fresh(dict(case.weights)),
        expected=None if case.refused else fresh(shown.expected.value),
        panel=HelpPanel(
            heading="A case that fails",
            detail=case.name,
            exercise_id=exercise.id,
            sections=(
                Section(paragraphs=(case_message(verdict, shown),), code="\n".join(_how_to_call(exercise, case))),
            ),
        ),
    )


def _how_to_call(exercise: Exercise, case: Case) -> Iterator[str]:
    """Yield the lines of a cell that makes the call."""
    yield f'failing = case("{exercise.id}")'
    called = exercise.name
    if case.construct or case.weights:
        called = "module"
        yield f"module = {exercise.name}(**failing.construct)"
        if any(weight.dtype == torch.float64 for weight in case.weights.values()):
            yield "module.double()"
        yield "module.load_state_dict(failing.weights, strict=False)"
        yield f"module.{'train' if case.training else 'eval'}()"
    yield f"print({called}(*failing.args{', **failing.kwargs' if case.kwargs else ''}))"
    yield "print(failing.expected)"
