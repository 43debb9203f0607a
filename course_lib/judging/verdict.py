"""The verdict on an answer: what happened in each case, what it earned, and which mistake it is."""

import builtins
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torch import Tensor

from course_lib.judging import render
from course_lib.judging.answer_key import is_refusal
from course_lib.judging.compare import OF_DTYPE, Difference, Kind, Tolerance, difference
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception, Value
from course_lib.judging.last_run import running_shell
from course_lib.judging.observation import Observation, Outcome, Unfit, argument_name, with_article
from course_lib.judging.wording.relation import relation
from course_lib.judging.wording.telling import most_telling
from course_lib.judging.wording.torch_words import explained, speaks_of_shapes

AGAIN = "This is the first call again, with the same inputs. "
"""The beginning of the message of a case that is called a second time."""

USED_BEFORE = "This is the first call again, after calls with other inputs. "
"""The beginning of that message for a module."""


@dataclass(frozen=True, eq=False)
class CaseResult:
    """One case, called and compared.

    Attributes:
        case: the case that was called.
        hidden: whether its inputs stay with the grader.
        expected: the reference's observation.
        actual: the answer's observation.
        difference: the first difference; None if the answer agrees or did not return.
        outcome: passed, wrong, or why the call did not return.
        parameters: the names of the answer's parameters, for messages.
    """

    case: Case
    hidden: bool
    expected: Observation
    actual: Observation
    difference: Difference | None
    outcome: Outcome
    parameters: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        """True if the answer agreed with the reference."""
        return self.outcome is Outcome.PASSED

    @property
    def message(self) -> str:
        """One or two sentences for the student; empty if the case passed."""
        message = self._message()
        if message and self.case.again and not self.hidden:
            return f"{USED_BEFORE if self.case.construct else AGAIN}{message}"
        return message

    def _message(self) -> str:
        if self.passed:
            return ""
        if self.outcome is Outcome.OUT_OF_MEMORY:  # torch's own message is about its allocator, not the answer
            return FAILURE_SENTENCES[self.outcome]
        raised = self.actual.raised
        if self.hidden:
            return self._message_without_inputs()
        if self.difference is not None:
            return _without_the_value(self.difference) if self.case.secret else self.difference.message
        if raised is None:
            return FAILURE_SENTENCES[self.outcome]
        if self.outcome is Outcome.UNGRADED:
            return f"Checked only in the full course: {raised.message}"
        if _is_unfit(self.actual):
            return raised.message
        place = f" (line {raised.line}: {raised.code})" if raised.code else ""
        asked = f"This call should raise a plain {self.case.refused}. " if self.case.refused else ""
        details = f": {raised.message}" if raised.message else ""
        missing = self.outcome is Outcome.NOT_ATTEMPTED
        why = ": this part of it, or a function that it calls, is not written yet" if missing else ""
        sentence = f"{asked}Your answer raised {raised.type_name}{details}{place}{why}"
        meant = explained(raised.message, raised.code)
        return f"{sentence}. {meant}{self._shapes()}" if meant else sentence

    @cached_property
    def relation(self) -> str:
        """How the result relates to the right one, in a sentence; empty if there is no obvious relation."""
        if self.difference is None or self.hidden or self.case.refused:
            return ""
        return relation(self.case, self.difference, self.expected.value, self.actual.value, self.parameters)

    def _shapes(self) -> str:
        """Return the shapes of the case's tensors, if torch's message was about shapes that do not fit."""
        if self.actual.raised is None or not speaks_of_shapes(self.actual.raised.message):
            return ""
        shapes = [
            f"{argument_name(place, self.parameters)} is {list(value.shape)}"
            for place, value in enumerate(self.case.args)
            if isinstance(value, Tensor)
        ]
        return f" In this case {', '.join(shapes)}." if shapes else ""

    def _message_without_inputs(self) -> str:
        """Return a message about a hidden case without any text of the answer's, which could carry the inputs out."""
        if self.difference is not None:
            return f"{self._public_name()}: {self._differs(self.difference.kind)}. The inputs are not shown."
        if _is_unfit(self.actual):
            return f"{self._public_name()}: it is not built as the task says. The inputs are not shown."
        if self.actual.raised is not None:
            name = self.actual.raised.type_name
            kind = name if isinstance(getattr(builtins, name, None), type) else "an exception"
            return f"{self._public_name()}: your answer raised {kind}. The inputs are not shown."
        return FAILURE_SENTENCES[self.outcome]

    def _public_name(self) -> str:
        """Return a hidden case's name without its numbers: drawn numbers can be the whole input, as in "length 54"."""
        return re.sub(r"\d+(?:\.\d+)*", "…", self.case.name)

    def _differs(self, kind: Kind) -> str:
        if kind is Kind.MODIFIED:
            return "the answer changes an argument in place; work on a copy"
        if kind is Kind.ENDING:
            return f"the call should raise {with_article(self.case.refused)}, but the answer returned"
        return f"the answer differs in its {kind}"


def compared(
    case: Case,
    hidden: bool,
    expected: Observation,
    actual: Observation,
    parameters: Sequence[str] = (),
    tolerance: Tolerance = OF_DTYPE,
) -> CaseResult:
    """Compare an answer's result on a case with the reference's.

    Args:
        case: the case that was called.
        hidden: whether its inputs stay with the grader.
        expected: the reference's observation.
        actual: the answer's observation.
        parameters: the names of the answer's parameters, for messages.
        tolerance: how close the answer must be, instead of the dtype's own tolerance.
    """
    found = difference(case, expected, actual, parameters, tolerance) if actual.returned else None
    if actual.returned:
        outcome = Outcome.PASSED if found is None else Outcome.WRONG
    elif case.refused and is_refusal(case, actual):
        outcome = Outcome.PASSED
    else:
        outcome = Outcome.WRONG if _is_unfit(actual) else actual.failure or Outcome.DIED
    return CaseResult(case, hidden, expected, actual, found, outcome, parameters)


def _is_unfit(actual: Observation) -> bool:
    """Return whether the check raised the exception, since the answer built something other than the task says."""
    return actual.raised is not None and actual.raised.type_name == Unfit.__name__


def _without_the_value(found: Difference) -> str:
    """Return what may be said of a secret case: the right type or size of the value, never which value is right."""
    if found.kind is Kind.VALUE:
        return "This is not the value that was expected. The check does not tell which one is."
    if found.kind is Kind.TYPE:
        what = f"item {found.path[0]} of the result" if found.path else "the result"
        return f"This is not what was expected: {what} should be {found.expected}, but it is {found.actual}."
    return found.message


@dataclass(frozen=True, eq=False)
class Verdict:
    """The verdict that `check` returns. In a notebook it shows itself; `print` gives plain text.

    Attributes:
        exercise: the exercise that was checked.
        outcome: the outcome, under its public name.
        points: the points earned; None if the answer could not be graded.
        cases: the cases that were run, in order. A call that does not return ends the run.
        misconception: the known mistake that gives exactly this answer on every case, if there is one.
        note: a sentence on the whole answer, if no case tells the story (a broken rule, a missing name).
        steps: the reference's intermediate values in the case that is shown, by name.
        hint: a hint to show folded.
        prints: whether the answer printed something, which a check does not show.
        closing: further sentences for the reader, at the end.
    """

    exercise: Exercise
    outcome: Outcome
    points: float | None
    cases: tuple[CaseResult, ...] = ()
    misconception: Misconception | None = None
    note: str = ""
    steps: Mapping[str, Value] = field(default_factory=dict)
    hint: Hint | None = None
    prints: bool = False
    closing: tuple[str, ...] = ()

    @property
    def max_points(self) -> int:
        """The most points that the exercise gives."""
        return self.exercise.points

    @property
    def passed(self) -> bool:
        """True if everything was right."""
        return self.outcome is Outcome.PASSED

    @property
    def shown(self) -> CaseResult | None:
        """The failure to show in detail; None if there is none."""
        return self._telling[0]

    @property
    def relation(self) -> str:
        """How that result relates to the right one, in a sentence; empty if there is no obvious relation."""
        return self._telling[1]

    @cached_property
    def _telling(self) -> tuple[CaseResult | None, str]:
        return most_telling(self.cases)

    def text(self) -> str:
        """Return the verdict for a terminal; in plain form if it cannot be drawn."""
        return self._text[0]

    def html(self) -> str:
        """Return the verdict as self-contained HTML for light and dark pages; in plain form if it cannot be drawn."""
        return self._html[0]

    @property
    def drawing_failed(self) -> str:
        """The error in drawing the verdict, for the instructor; empty if there was none."""
        return self._text[1] or self._html[1]

    @cached_property
    def _text(self) -> tuple[str, str]:
        return render.drawn(render.verdict_text, self)

    @cached_property
    def _html(self) -> tuple[str, str]:
        return render.drawn(render.verdict_html, self)

    def record(self) -> dict[str, Any]:
        """Return the verdict as plain JSON data, without the tensors."""
        return {
            "exercise": self.exercise.id,
            "passed": self.passed,
            "points": self.points,
            "max_points": self.max_points,
            "outcome": str(self.outcome),
            "misconception": self.misconception.id if self.misconception else None,
            "cases": [
                {
                    "name": result.case.name,
                    "part": result.case.part,
                    "hidden": result.hidden,
                    "outcome": str(result.outcome),
                    "message": render.case_message(self, result),
                }
                for result in self.cases
            ],
        }

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return HTML for notebooks; the plain text is only the points, which nbgrader reads as the score."""
        return {"text/html": self.html(), "text/plain": self.text() if _in_a_terminal() else str(self.points)}


def _in_a_terminal() -> bool:
    """Return whether this is an IPython without a kernel, which shows only the plain text."""
    shell = running_shell()
    return shell is not None and getattr(shell, "kernel", None) is None


FAILURE_SENTENCES: Mapping[Outcome, str] = {
    Outcome.TIMED_OUT: "Your answer did not finish in time. Is there a loop that never ends?",
    Outcome.OUT_OF_MEMORY: "Your answer asked for more memory than it may use.",
    Outcome.DIED: "Python itself exited while your answer ran (by os._exit, or in a crash).",
    Outcome.RAISED: "Your answer raised an exception.",
    Outcome.NOT_ATTEMPTED: "This is still the empty stub: it raises NotImplementedError.",
    Outcome.NEVER_DEFINED: "The name was never defined.",
}


def earned(exercise: Exercise, cases: Sequence[Case], results: Sequence[CaseResult]) -> float:
    """Return the points for these results: of each part whose cases all passed, provided that the core part's did.

    Args:
        exercise: has the points of each part.
        cases: all the cases that should have run; one without a result did not pass.
        results: the cases that were run, the first ones of `cases`.
    """
    failed = {result.case.part for result in results if not result.passed}
    failed |= {case.part for case in cases[len(results) :]}
    if CORE in failed:
        return 0.0
    return float(sum(points for part, points in exercise.parts.items() if part not in failed))
