"""Grading one submission: its cells run in a box, its answers are checked from outside.

A cell that ends its box (a timeout, `os._exit`, too much memory) costs what it defines and no more: a fresh
box replays the others without it. The time that counts is what the boxes compute, not what a busy machine makes of it.

`replay.py` runs the cells, `one_answer.py` brings each answer to its verdict; here is what is tried beyond that.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.grading.disturbance import find_changing_cells
from autograder.grading.replay import Budget, Demos, KeyFor, OpenBox, Replay, Script
from autograder.limits import Allowance, Limits
from autograder.repair import Cell
from course_lib.checking import AnswerKey, Exercise, Outcome, Verdict
from course_lib.checking.compare import OF_DTYPE, Tolerance
from course_lib.checking.hiding import HiddenCall, hidden_calls
from course_lib.exercises.catalogue import Catalogue

SLOTS = 32
"""Students share this many sets of hidden inputs: nothing to memorise, and expected results can be kept."""

NO_ALLOWANCES: Mapping[str, Allowance] = {}
"""What a course allows single exercises where it says nothing."""

NO_TOLERANCES: Mapping[str, Tolerance] = {}
"""How near answers must be where a course says nothing else."""

_MAY_BE_DISTURBED = (Outcome.WRONG, Outcome.RAISED, Outcome.DIED, Outcome.TIMED_OUT)
"""How an exercise may end because an earlier cell has changed Python or torch itself."""


class AnswerKeys:
    """The answer keys of a course; the hidden part of one slot is kept, until another slot's is asked for.

    Hidden inputs follow from the course's secret, the exercise and the student's slot, so that a regrade
    repeats exactly and nobody can know them beforehand. Grading slot by slot makes each key once, and holds those
    of one slot at a time: with what the references and the known mistakes return, the keys of all slots are some
    hundred megabytes.
    """

    def __init__(self, secret: bytes, tolerances: Mapping[str, Tolerance] = NO_TOLERANCES) -> None:
        """No key is made yet.

        Args:
            secret: the course's.
            tolerances: how near to the reference answers must be, where the course says otherwise, by exercise.
        """
        self._secret = secret
        self._tolerances = tolerances
        self._public: dict[str, AnswerKey] = {}
        self._kept_slot = -1
        self._kept: dict[str, AnswerKey] = {}

    def key(self, exercise: Exercise, student: str) -> AnswerKey:
        """The key for one student's answer to an exercise."""
        slot = self.slot(student)
        if slot != self._kept_slot:
            self._kept_slot, self._kept = slot, {}
        if exercise.id not in self._public:
            tolerance = self._tolerances.get(exercise.id, OF_DTYPE)
            self._public[exercise.id] = AnswerKey(exercise, tolerance=tolerance)
        if exercise.id not in self._kept:
            self._kept[exercise.id] = self._public[exercise.id].with_hidden(self.seed(exercise.id, slot))
        return self._kept[exercise.id]

    def slot(self, student: str) -> int:
        """Which of the class's sets of hidden inputs a student gets."""
        return self._number(f"student {student}") % SLOTS

    def seed(self, exercise: str, slot: int) -> int:
        """The seed of an exercise's hidden inputs in one of the sets, of 256 bits."""
        return int.from_bytes(self._digest(f"exercise {exercise} slot {slot}"), "big")

    def box_seed(self, student: str) -> int:
        """The seed of the random numbers that a student's boxes draw: another for each, the same in every run."""
        return self._number(f"box of {student}") >> 1  # torch's seeds have 63 bits

    def _number(self, text: str) -> int:
        return int.from_bytes(self._digest(text)[:8], "big")

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self._secret, text.encode(), hashlib.sha256)


@dataclass
class Graded:
    """What grading one submission's cells gives.

    Attributes:
        verdicts: one for each exercise that the lesson checks, in the notebook's order.
        outputs: for each cell that was run, by its place, the outputs (nbformat 4, not sanitised yet).
        notices: for each cell that hit a limit or ended its box, by its place, a sentence that says so.
        remarks: the same for the instructor, with the names of the limits; and which limits stopped an answer.
        worth_a_look: by exercise, where an answer that earns points could hide a call of what its rule forbids, a
            sentence each: for the instructor alone.
        starved: whether a box was stopped for taking too long while the machine was busy: alone it might do better.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    notices: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    worth_a_look: dict[str, list[str]] = field(default_factory=dict)
    starved: bool = False


def grade_cells(
    cells: Sequence[Cell],
    catalogue: Catalogue,
    open_box: OpenBox,
    key_for: KeyFor,
    limits: Limits,
    skip_demos: bool = True,
    allowances: Mapping[str, Allowance] = NO_ALLOWANCES,
) -> Graded:
    """Run the cells of a repaired submission and judge every answer it checks.

    Visible cases run where the check stands. Hidden ones run after the last cell, so that no cell can show their
    inputs; where a later cell changes what the answer uses, a fresh box runs them where the check stands.

    Args:
        cells: in notebook order.
        catalogue: where the exercises are found that they name.
        open_box: opens a fresh box of a kind.
        key_for: gives the answer key of an exercise.
        limits: of the boxes; `submission_seconds` holds for all boxes together.
        skip_demos: leave out cells tagged `demo`, except those that may define a name that is missing later. Where they
            run and a limit is hit, answers are judged without them as well, and keep the better verdict.
        allowances: what single exercises may use instead, by their ids.
    """
    script = Script(cells, limits, allowances, catalogue)
    graded, stopped = _grade(script, open_box, key_for, skip_demos)
    if stopped and not skip_demos:  # a demo may have used up what an answer needed: no point is lost for that
        without, _ = _grade(script, open_box, key_for, skip_demos=True)
        for name, verdict in without.verdicts.items():
            if (verdict.points or 0.0) > (graded.verdicts[name].points or 0.0):
                graded.verdicts[name] = verdict
    return graded


def _grade(script: Script, open_box: OpenBox, key_for: KeyFor, skip_demos: bool) -> tuple[Graded, bool]:
    """What grading gives, and whether a limit stopped anything."""
    budget = Budget(open_box, script.limits.submission_seconds)
    replay = Replay(script, budget, key_for, Demos(script.cells, skip_demos))
    replay.run_all()
    disturbing = _retry_without_disturbing(replay) if replay.disturbed else {}
    stopped = any(answer.stopped for answer in replay.answers.values())
    return _graded(replay, disturbing), stopped or bool(replay.log.lost) or budget.seconds_left <= 0


def _retry_without_disturbing(replay: Replay) -> dict[int, str]:
    """Grade what failed on its visible cases once more, without cells that change Python or torch itself.

    That verdict replaces the first. Whoever passes the visible cases was not disturbed.

    An exercise's own cells stay: what they change is its own doing.

    Returns:
        The cells for which an exercise had failed, each with what it changes, in words.
    """
    failed = [name for name, one in replay.answers.items() if one.verdict and _may_be_disturbed(one.verdict)]
    if not failed or replay.budget.seconds_left <= 0:
        return {}
    suspects = find_changing_cells(replay.runnable(), replay.budget.open_box)
    together: dict[frozenset[int], list[str]] = {}
    for name in failed:
        others = frozenset(place for place in suspects if replay.script.cells[place].exercise != name)
        if others:
            together.setdefault(others, []).append(name)
    disturbing: dict[int, str] = {}
    for places, names in together.items():
        changed = "; ".join(f"cell {replay.script.number(place)} changes {suspects[place]}" for place in sorted(places))
        note = f"This was graded without a cell that belongs elsewhere: {changed}."
        for name, verdict in replay.retry(names, places).items():
            before = replay.answers[name].verdict
            if before is not None and (verdict.points or 0.0) > (before.points or 0.0):
                replay.answers[name].verdict = replace(verdict, note=note)
                disturbing |= {place: suspects[place] for place in places}
    return disturbing


def _may_be_disturbed(verdict: Verdict) -> bool:
    shown_failed = any(not case.passed for case in verdict.cases if not case.hidden)
    return verdict.outcome in _MAY_BE_DISTURBED and (shown_failed or not verdict.cases)


def _graded(replay: Replay, disturbing: Mapping[int, str]) -> Graded:
    """What is known in the end, with what student and instructor read about limits and disturbing cells."""
    verdicts = replay.verdicts()
    notices, remarks = replay.log.notices(), [*replay.log.remarks()]
    for place, change in sorted(disturbing.items()):
        number = replay.script.number(place)
        notices[place] = (
            f"Cell {number} changes {change}, for everything that runs after it. The exercises that "
            "failed because of it were graded without this cell."
        )
        remarks.append(f"cell {number} changes {change}; what failed because of it was graded without it")
    remarks += [f"{name}: {answer.stopped}" for name, answer in replay.answers.items() if answer.stopped]
    looks = _worth_a_look(replay.script, verdicts)
    return Graded(verdicts, replay.log.outputs, notices, remarks, looks, replay.budget.starved)


def _worth_a_look(script: Script, verdicts: Mapping[str, Verdict]) -> dict[str, list[str]]:
    """Where answers that have earned points could hide what their rules forbid, by exercise."""
    adjusted = {name: one.exercise.name for name, one in verdicts.items() if one.exercise.forbidden and one.points}
    if not adjusted:
        return {}
    cells = [cell.source if cell.runs else "" for cell in script.cells]
    own = {place for place, cell in enumerate(script.cells) if cell.origin == "student" and cell.runs}
    found = hidden_calls(cells, own, adjusted.values())
    return {
        name: [_place_in_words(script, call) for call in found[answer]]
        for name, answer in adjusted.items()
        if found[answer]
    }


def _place_in_words(script: Script, call: HiddenCall) -> str:
    line = f", line {call.line}" if call.line else ""
    code = f": {call.code}" if call.code else ""
    return f"cell {script.number(call.cell)}{line}{code} [{call.reason}]"
