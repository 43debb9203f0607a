"""Grades one answer: runs its cases in a sandbox, and judges them from outside."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from autograder.box.box import Box
from autograder.box.endings import BoxLost, more_memory
from autograder.box.inside.missing import PackageMissing
from autograder.grading.kept_outputs import keep_observation
from autograder.limits import Allowance, Limits
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.diagnosis import UNKNOWN, Diagnosis, diagnose
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.judge import decide, rule_broken
from course_lib.judging.observation import ENDINGS, Observation, Outcome, Raised, nothing_written
from course_lib.judging.rules import Code
from course_lib.judging.verdict import Verdict

_NOT_DEFINED = re.compile(r"name '(\w+)' is not defined")
"""Matches the message of a NameError."""


@dataclass(frozen=True)
class Missing:
    """A name that does not exist.

    Attributes:
        name: the name; empty if the exception does not say it.
        when_run: whether running code missed it; otherwise the answer itself does not exist.
    """

    name: str
    when_run: bool

    @classmethod
    def of(cls, raised: Raised | None) -> Missing | None:
        """Return the name that a NameError is about; None for another exception, or none."""
        if raised is None or raised.type_name != "NameError":
            return None
        said = _NOT_DEFINED.search(raised.message)
        return cls(said[1] if said else "", when_run=True)


@dataclass
class AnswerGrader:
    """Finds the verdict on an answer to an exercise.

    Attributes:
        key: the exercise's answer key.
        limits: of the sandboxes.
        allowed: the exercise's own limits.
        explain: returns the verdict if the answer's name does not exist: what happened to its cells says why.
        verdict: the verdict, once there is one.
        stopped: the limit that stopped the answer; empty if none did.
    """

    key: AnswerKey
    limits: Limits
    allowed: Allowance
    explain: Callable[[Exercise], Verdict]
    verdict: Verdict | None = None
    stopped: str = ""
    _visible: list[Observation] | None = None
    _diagnosis: Diagnosis = UNKNOWN
    _is_changed_later: bool = False

    def read(self, code: Code, place: int) -> None:
        """Decide at once if the answer, as written before its check, uses a forbidden name."""
        exercise = self.key.exercise
        rule = code.broken_rule(exercise.name, exercise.forbidden_names, cells=place)
        if rule is not None:
            self.verdict = rule_broken(exercise, rule.name, rule.place)
        self._is_changed_later = code.is_rebound(exercise.name, place)

    def check_in_place(self, box: Box, *, sealed: bool) -> bool:
        """Run the visible cases at the check; return whether this sandbox can go on.

        Args:
            box: the sandbox in which the earlier cells have run.
            sealed: run the hidden cases as well. After that, the sandbox may reveal their inputs.
        """
        if self.verdict is not None or (self._visible is not None and not sealed):
            return True
        answer = _AnswerInBox(box, self.key.exercise, self.allowed)
        seen = answer.observe(self.key.visible)
        ended = seen[-1].failure in ENDINGS or nothing_written(seen)
        if sealed and not ended and answer.lost is None:
            seen += answer.observe(self.key.hidden, hidden=True)
        if answer.lost is None:  # a diagnosis may lose the sandbox, and does not change the verdict
            self._diagnosis = diagnose(self.key, seen, answer.observe)
        if sealed or ended or not self.key.hidden:
            verdict = self._decide(seen, answer.lost)
            is_missing = verdict.outcome is Outcome.NEVER_DEFINED
            self.verdict = self.explain(self.key.exercise) if is_missing else verdict
        self._visible = seen
        return answer.lost is None and (not sealed or ended)

    def check_hidden(self, box: Box) -> bool:
        """Run the hidden cases after the last cell, unless a later cell has changed the answer; return whether the
        sandbox is still alive.

        They run once: an answer that is right only sometimes gains nothing from another try.
        """
        if self.verdict is not None or self._visible is None or self._is_changed_later:
            return True
        answer = _AnswerInBox(box, self.key.exercise, self.allowed)
        seen = [*self._visible, *answer.observe(self.key.hidden, hidden=True)]
        self.verdict = self._decide(seen, answer.lost)
        return answer.lost is None

    def find_missing(self) -> Missing | None:
        """Return the missing name that made a visible case fail, if any."""
        seen = self._visible or []
        if any(observation.failure is Outcome.NEVER_DEFINED for observation in seen):
            return Missing(self.key.exercise.name, when_run=False)
        found = (Missing.of(observation.raised) for observation in seen)
        return next((missing for missing in found if missing is not None), None)

    def forget(self) -> None:
        """Forget the results so far, to check again from the start."""
        self.verdict, self._visible = None, None

    def leave_unreached(self, boxes: int = 0) -> Verdict:
        """Return the verdict on an answer that was never reached: time ran out, or cells ended this many sandboxes."""
        why = f"The time limit for the whole submission ({self.limits.submission_seconds:g} s) ran out"
        if boxes:
            why = f"More than {boxes} cells made Python exit"
        self.stopped = "" if boxes else "never reached (submission_seconds)"
        note = f"{why} before this exercise was reached."
        return Verdict(self.key.exercise, Outcome.TIMED_OUT, 0.0, note=note)

    def _decide(self, seen: Sequence[Observation], lost: BoxLost | None) -> Verdict:
        verdict = self._name_limit(decide(self.key, seen, self._diagnosis), lost)
        raised = next((case.actual.raised for case in verdict.cases if not case.passed), None)
        if raised is None or raised.type_name != PackageMissing.__name__:
            return verdict
        return without_package(self.key.exercise, raised.message.partition(" ")[0])

    def _name_limit(self, verdict: Verdict, lost: BoxLost | None) -> Verdict:
        """Return the verdict with a sentence about the limit that the answer hit, if any."""
        self.stopped = ""
        if lost is not None and lost.outcome is verdict.outcome:
            self.stopped = with_setting(lost.reason, lost.setting)
            return replace(verdict, note=f"Your answer was stopped: {lost.for_student}.")
        if verdict.outcome is Outcome.OUT_OF_MEMORY:
            reason = more_memory(self.allowed.applied(self.limits))
            self.stopped = with_setting(reason, "memory_bytes")
            return replace(verdict, note=f"Your answer was stopped: {reason}.")
        return verdict


def without_package(exercise: Exercise, said: str) -> Verdict:
    """Return the verdict on an answer that uses a package that is not installed: ungraded, which is not a zero.

    Args:
        exercise: the exercise.
        said: the package's name, as the sandbox reported it.
    """
    package = said if said.isidentifier() else "a package"
    note = (
        f"This could not be graded, because it uses {package}, which is not installed where answers are graded. An "
        "instructor can install it there and grade again, or give points by hand."
    )
    return Verdict(exercise, Outcome.UNGRADED, None, note=note)


def with_setting(reason: str, setting: str) -> str:
    """Return a reason for the instructor, with the limit's name in `nbgrader_config.py`."""
    return f"{reason} ({setting})" if setting else reason


@dataclass
class _AnswerInBox:
    """A student's answer, called in its sandbox. Losing the sandbox is an observation, too."""

    box: Box
    exercise: Exercise
    allowed: Allowance
    lost: BoxLost | None = None

    def observe(self, cases: Sequence[Case], hidden: bool = False) -> list[Observation]:
        """Return what it does on these cases, up to the first that ends the run or the sandbox."""
        wanted = self.exercise
        seen: list[Observation] = []
        try:
            for one in self.box.observe_cases(
                wanted.name, cases, hidden=hidden, allowed=self.allowed, forbidden=wanted.forbidden_names
            ):
                seen.append(keep_observation(one))  # those before a loss count
        except BoxLost as lost:
            self.lost = lost
            seen.append(Observation(returned=False, failure=lost.outcome))
        return seen
