"""Grading one submission: its cells run in a box, its answers are checked from outside.

A cell that ends its box (a timeout, `os._exit`, too much memory) costs what it defines and no more: a fresh
box replays the others without it.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from autograder.box import BoxLost, CellResult
from autograder.submission import Cell, CellKind
from course_lib import exercises
from course_lib.checking import AnswerKey, Case, Exercise, Observation, Outcome, Verdict, judge
from course_lib.checking.observation import Raised
from course_lib.checking.rules import broken_rule

SLOTS = 32
"""Students share this many sets of hidden inputs: nothing to memorise, and expected results can be kept."""

MOST_BOXES = 8
"""A submission is replayed at most this often; one that ends every box is stopped here."""


class AnyBox(Protocol):
    """What grading needs of a box."""

    def run_cell(self, source: str) -> CellResult:
        """Run one cell."""

    def observe(self, name: str, case: Case) -> Observation:
        """Call a name of the student's."""


OpenBox = Callable[[float], AbstractContextManager[AnyBox]]
"""Opens a fresh box that may live for so many seconds."""

KeyFor = Callable[[Exercise], AnswerKey]
"""Gives the answer key of an exercise."""


class AnswerKeys:
    """The answer keys of a course, each made once and kept.

    Hidden inputs follow from the course's secret, the exercise and the student's slot, so that a regrade
    repeats exactly and nobody can know them beforehand.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._keys: dict[tuple[str, int], AnswerKey] = {}

    def key(self, exercise: Exercise, student: str) -> AnswerKey:
        """The key for one student's answer to an exercise."""
        slot = self._number(f"student {student}") % SLOTS
        if (exercise.id, slot) not in self._keys:
            seed = self._number(f"exercise {exercise.id} slot {slot}") >> 1  # torch's seeds have 63 bits
            self._keys[exercise.id, slot] = AnswerKey(exercise, seed)
        return self._keys[exercise.id, slot]

    def _number(self, text: str) -> int:
        return int.from_bytes(hmac.digest(self._secret, text.encode(), hashlib.sha256)[:8], "big")


@dataclass
class Graded:
    """What grading one submission's cells gives.

    Attributes:
        verdicts: one for each exercise that the lesson checks, in the notebook's order.
        outputs: for each cell that was run, by its place, the outputs (nbformat 4, not sanitised yet).
        notices: for each cell that was stopped, by its place, a sentence that says why.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    notices: dict[int, str] = field(default_factory=dict)


def grade_cells(
    cells: Sequence[Cell], open_box: OpenBox, key_for: KeyFor, seconds: float, skip_demos: bool = True
) -> Graded:
    """Run the cells of a repaired submission and judge every answer it checks.

    Args:
        cells: in notebook order.
        open_box: opens a fresh box.
        key_for: gives the answer key of an exercise.
        seconds: wall-clock time for the whole submission, replays included.
        skip_demos: leave out cells tagged `demo`, unless a later cell turns out to need one.
    """
    return _Run(cells, open_box, key_for, time.monotonic() + seconds, skip_demos).finish()


class _Run:
    """The state of grading one submission, over as many boxes as it takes."""

    def __init__(
        self, cells: Sequence[Cell], open_box: OpenBox, key_for: KeyFor, deadline: float, skip_demos: bool
    ) -> None:
        self.cells = cells
        self.open_box = open_box
        self.key_for = key_for
        self.deadline = deadline
        self.skip_demos = skip_demos
        self.graded = Graded()
        self.lost: dict[int, BoxLost] = {}
        self.raised: dict[int, Raised] = {}
        self.sources = [cell.source for cell in cells if cell.kind in (CellKind.CODE, CellKind.ANSWER)]

    def finish(self) -> Graded:
        for _ in range(MOST_BOXES):
            remaining = self.deadline - time.monotonic()
            if remaining <= 0 or self._in_one_box(remaining):
                break
        for exercise in self._checked():
            if exercise.id not in self.graded.verdicts:
                note = "The time for the whole submission was used up before this exercise was reached."
                self.graded.verdicts[exercise.id] = Verdict(exercise, Outcome.TIMED_OUT, 0.0, note=note)
        in_order = [exercise.id for exercise in self._checked()]
        self.graded.verdicts = {name: self.graded.verdicts[name] for name in in_order}
        return self.graded

    def _checked(self) -> list[Exercise]:
        return [exercises.find(cell.exercise) for cell in self.cells if cell.kind is CellKind.CHECK and cell.exercise]

    def _in_one_box(self, seconds: float) -> bool:
        """Run and check what can be run in one box; whether the end of the notebook was reached."""
        with self.open_box(seconds) as box:
            skipped = False
            for place, cell in enumerate(self.cells):
                if cell.kind is CellKind.CHECK and cell.exercise:
                    if cell.exercise not in self.graded.verdicts and not self._check(box, exercises.find(cell.exercise)):
                        return False
                elif cell.kind in (CellKind.CODE, CellKind.ANSWER) and place not in self.lost:
                    if cell.is_demo and self.skip_demos:
                        skipped = True
                    elif not self._run(box, place, cell, skipped):
                        return False
        return True

    def _run(self, box: AnyBox, place: int, cell: Cell, skipped: bool) -> bool:
        """Run one cell; False where the box is lost, or must be left because a skipped cell was needed."""
        try:
            result = box.run_cell(cell.source)
        except BoxLost as lost:
            self.lost[place] = lost
            self.graded.notices[place] = f"{lost.reason} The other exercises keep their points."
            return False
        self.graded.outputs[place] = result.outputs
        self.raised.pop(place, None)
        if result.raised is not None:
            self.raised[place] = result.raised
            if skipped and result.raised.type_name == "NameError":
                self.skip_demos = False
                return False
        return True

    def _check(self, box: AnyBox, exercise: Exercise) -> bool:
        """Record the verdict on one exercise; False where the box was lost over it."""
        answered = _AnswerInBox(box, exercise.name)
        self.graded.verdicts[exercise.id] = self._verdict(exercise, answered)
        return not answered.lost

    def _verdict(self, exercise: Exercise, answer: _AnswerInBox) -> Verdict:
        rule = broken_rule(exercise.name, self.sources, exercise.forbidden)
        if rule is not None:
            return Verdict(exercise, Outcome.RULE_BROKEN, 0.0, note=rule.message)
        verdict = judge(self.key_for(exercise), answer)
        if verdict.outcome is not Outcome.NEVER_DEFINED:
            return verdict
        for place, cell in enumerate(self.cells):
            if cell.exercise == exercise.id:
                if place in self.lost:
                    return Verdict(exercise, self.lost[place].outcome, 0.0, note=self.lost[place].reason)
                if place in self.raised:
                    return _never_ran(exercise, self.raised[place])
        note = f"The notebook never defines {exercise.name}."
        return Verdict(exercise, Outcome.NEVER_DEFINED, 0.0, note=note)


def _never_ran(exercise: Exercise, raised: Raised) -> Verdict:
    place = f" in line {raised.line}" if raised.line else ""
    note = f"The cell that should define {exercise.name} stops with {raised.type_name}{place}: {raised.message}"
    return Verdict(exercise, Outcome.RAISED, 0.0, note=note)


class _AnswerInBox:
    """A student's answer, called in its box. A box that is lost becomes an observation of its own."""

    def __init__(self, box: AnyBox, name: str) -> None:
        self._box = box
        self._name = name
        self.lost = False

    def __call__(self, case: Case) -> Observation:
        try:
            return self._box.observe(self._name, case)
        except BoxLost as lost:
            self.lost = True
            return Observation(returned=False, failure=lost.outcome)
