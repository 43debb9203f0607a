"""Grading one submission: its cells run in a box, its answers are checked from outside.

A cell that ends its box (a timeout, `os._exit`, too much memory) costs what it defines and no more: a fresh
box replays the others without it. The time that counts is what the boxes compute, not what a busy machine makes of it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from autograder.box import BoxLost, CellResult
from autograder.box.endings import more_memory
from autograder.box.inside.kernels import can_be_barred
from autograder.grading.disturbance import changing_cells
from autograder.grading.kept_outputs import OutputKeeper, kept_observation
from autograder.limits import NO_ALLOWANCE, Allowance, Limits
from autograder.repair import Cell, CellKind
from course_lib import exercises
from course_lib.checking import AnswerKey, Case, Exercise, Observation, Outcome, Verdict, decide, diagnose
from course_lib.checking.diagnosis import UNKNOWN, Diagnosis
from course_lib.checking.judge import rule_broken
from course_lib.checking.observation import ENDINGS, Raised, nothing_written
from course_lib.checking.reach import reaches_far
from course_lib.checking.rules import Code, defines
from course_lib.checking.verdict import earned

SLOTS = 32
"""Students share this many sets of hidden inputs: nothing to memorise, and expected results can be kept."""

MOST_BOXES = 40
"""A submission is replayed at most this often, if its time allows; one that ends every box is stopped here."""


NO_ALLOWANCES: Mapping[str, Allowance] = {}
"""What a course allows single exercises where it says nothing."""

AGAIN_SECONDS = 15.0
"""Processor time to try an answer without what it may not use, also where the submission has used up its own."""

_BAR = """from autograder.box.inside.kernels import bar_for_good
get_ipython()  # only a box has one: elsewhere this goes no further
bar_for_good({!r})
del bar_for_good"""


_NOT_DEFINED = re.compile(r"name '(\w+)' is not defined")
"""What a NameError says."""

_MAY_BE_DISTURBED = (Outcome.WRONG, Outcome.RAISED, Outcome.DIED, Outcome.TIMED_OUT)
"""How an exercise may end because an earlier cell has changed Python or torch itself."""


class AnyBox(Protocol):
    """What grading needs of a box."""

    @property
    def share(self) -> float:
        """How many seconds of the submission's time it has used up."""

    @property
    def starved(self) -> bool:
        """Whether it was stopped for its time while the machine was busy with something else."""

    def changes(self) -> list[str]:
        """What the cells have changed of Python and torch themselves."""

    def run_cell(self, source: str, allowed: Allowance) -> CellResult:
        """Run one cell."""

    def observe_cases(
        self, name: str, cases: Sequence[Case], *, hidden: bool, forbidden: Collection[str], allowed: Allowance
    ) -> Iterable[Observation]:
        """Call a name of the student's on one case after another, until one of `ENDINGS`."""


OpenBox = Callable[[float], AbstractContextManager[AnyBox]]
"""Opens a fresh box, for a submission that has so many seconds left."""

KeyFor = Callable[[Exercise], AnswerKey]
"""Gives the answer key of an exercise."""


class AnswerKeys:
    """The answer keys of a course; the hidden part of one slot is kept, until another slot's is asked for.

    Hidden inputs follow from the course's secret, the exercise and the student's slot, so that a regrade
    repeats exactly and nobody can know them beforehand. Who grades slot by slot makes each key once, and holds those
    of one slot at a time: with what the references and the known mistakes return, the keys of all slots are some
    hundred megabytes.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._public: dict[str, AnswerKey] = {}
        self._kept_slot = -1
        self._kept: dict[str, AnswerKey] = {}

    def key(self, exercise: Exercise, student: str) -> AnswerKey:
        """The key for one student's answer to an exercise."""
        slot = self.slot(student)
        if slot != self._kept_slot:
            self._kept_slot, self._kept = slot, {}
        if exercise.id not in self._public:
            self._public[exercise.id] = AnswerKey(exercise)
        if exercise.id not in self._kept:
            self._kept[exercise.id] = self._public[exercise.id].with_hidden(self.seed(exercise.id, slot))
        return self._kept[exercise.id]

    def slot(self, student: str) -> int:
        """Which of the class's sets of hidden inputs a student gets."""
        return self._number(f"student {student}") % SLOTS

    def seed(self, exercise: str, slot: int) -> int:
        """The seed of an exercise's hidden inputs in one of the sets."""
        return self._number(f"exercise {exercise} slot {slot}") >> 1  # torch's seeds have 63 bits

    def box_seed(self, student: str) -> int:
        """The seed of the random numbers that a student's boxes draw: another for each, the same in every run."""
        return self._number(f"box of {student}") >> 1

    def _number(self, text: str) -> int:
        return int.from_bytes(hmac.digest(self._secret, text.encode(), hashlib.sha256)[:8], "big")


@dataclass
class Graded:
    """What grading one submission's cells gives.

    Attributes:
        verdicts: one for each exercise that the lesson checks, in the notebook's order.
        outputs: for each cell that was run, by its place, the outputs (nbformat 4, not sanitised yet).
        notices: for each cell that hit a limit or ended its box, by its place, a sentence that says so.
        remarks: the same for the instructor, with the names of the limits; and which limits stopped an answer.
        starved: whether a box was stopped for its time while the machine was busy: alone it might do better.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    notices: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    starved: bool = False


def grade_cells(
    cells: Sequence[Cell],
    open_box: OpenBox,
    key_for: KeyFor,
    limits: Limits,
    skip_demos: bool = True,
    allowances: Mapping[str, Allowance] = NO_ALLOWANCES,
) -> Graded:
    """Run the cells of a repaired submission and judge every answer it checks.

    Visible cases run where the check stands. Hidden ones run behind the last cell, so that no cell can show
    their inputs; where they fail, a fresh box runs them where the check stands and shows nothing, for a later
    cell may have changed what the answer uses.

    Args:
        cells: in notebook order.
        open_box: opens a fresh box.
        key_for: gives the answer key of an exercise.
        limits: of the boxes; `submission_seconds` holds for all boxes together.
        skip_demos: leave out cells tagged `demo`, but for those that may define a name which is missing later.
        allowances: what single exercises may use instead, by their ids.
    """
    budget = _Budget(open_box, limits.submission_seconds)
    run = _Run(cells, budget, key_for, limits, skip_demos, allowances)
    run.in_boxes()
    if run.disturbed and run.failed():
        run.spare_the_undisturbed()
    run.try_without_the_forbidden()
    return run.graded()


class _Budget:
    """The time of a submission, which all its boxes share."""

    def __init__(self, open_box: OpenBox, seconds: float) -> None:
        self._open_box = open_box
        self.seconds_left = seconds
        self.starved = False

    @contextmanager
    def open_box(self) -> Iterator[AnyBox]:
        """A fresh box, which may use up what is left."""
        with self._open_box(self.seconds_left) as box:
            try:
                yield box
            finally:
                self.seconds_left -= box.share
                self.starved = self.starved or box.starved


class _Run:
    """The state of grading one submission, over as many boxes as it takes."""

    def __init__(
        self,
        cells: Sequence[Cell],
        budget: _Budget,
        key_for: KeyFor,
        limits: Limits,
        skip_demos: bool,
        allowances: Mapping[str, Allowance],
    ) -> None:
        self.cells = cells
        self.budget = budget
        self.limits = limits
        self.skip_demos = skip_demos
        self.needed_demos: set[int] = set()
        self.allowances = allowances
        self.reached_the_end = False
        self.outputs: dict[int, list[dict[str, Any]]] = {}
        self.keeper = OutputKeeper()
        self.lost: dict[int, BoxLost] = {}
        self.raised: dict[int, tuple[Outcome, Raised]] = {}
        self.gave_up = False
        self.disturbed = False
        self.disturbing: dict[int, str] = {}
        self.key_for = key_for
        self.checks = {
            cell.exercise: _Check(key_for(exercises.find(cell.exercise)), limits, self._allowed(cell))
            for cell in cells
            if cell.kind is CellKind.CHECK and cell.exercise
        }
        code = Code([cell.source if cell.runs else "" for cell in cells])
        for place, cell in enumerate(cells):
            if cell.kind is CellKind.CHECK and cell.exercise:
                self.checks[cell.exercise].apply_rules(code, place)

    def finished(self) -> bool:
        return self.reached_the_end and all(check.verdict is not None for check in self.checks.values())

    def graded(self) -> Graded:
        """What is known now; an exercise that was never reached has run out of time."""
        notices = {place: self._stopped(place, lost) for place, lost in self.lost.items()}
        for place, (failure, _) in self.raised.items():
            if failure is Outcome.OUT_OF_MEMORY:
                notices[place] = f"Cell {self._number(place)}: {more_memory(self._limits_of(place))}."
        for place, change in self.disturbing.items():
            notices[place] = (
                f"Cell {self._number(place)} changes {change}, for everything that runs after it. The exercises that "
                "failed for it were graded without this cell."
            )
        verdicts = {name: check.verdict or check.never_reached(self.gave_up) for name, check in self.checks.items()}
        return Graded(verdicts, self.outputs, notices, list(self._remarks()), self.budget.starved)

    def _remarks(self) -> Iterator[str]:
        """What the instructor reads of limits that were hit and of boxes that ended, which cost a student something."""
        for place, lost in sorted(self.lost.items()):
            yield f"cell {self._number(place)} ended its box: {_with_setting(lost.reason, lost.setting)}"
        for place, (failure, _) in sorted(self.raised.items()):
            if failure is Outcome.OUT_OF_MEMORY:
                reason = more_memory(self._limits_of(place))
                yield f"cell {self._number(place)}: {_with_setting(reason, 'memory_bytes')}"
        for place, change in sorted(self.disturbing.items()):
            yield f"cell {self._number(place)} changes {change}; what failed for it was graded without it"
        for name, check in self.checks.items():
            if check.stopped:
                yield f"{name}: {check.stopped}"

    def _limits_of(self, place: int) -> Limits:
        """What the cell at this place may use."""
        return self._allowed(self.cells[place]).applied(self.limits)

    def _stopped(self, place: int, lost: BoxLost) -> str:
        """What the student reads where a cell has ended its box."""
        number = self._number(place)
        if lost.out_of_time:  # nothing can run after this
            told = f"the {self.limits.submission_seconds:g} s for the whole submission were used up"
            return f"Stopped in cell {number}: {told}; the earlier exercises keep their points."
        return f"Stopped in cell {number}: {lost.told}; the other exercises keep their points."

    def _number(self, place: int) -> int:
        """The number that a notebook shows beside this cell when it is run from the top: cells of code are counted."""
        return sum(cell.is_code for cell in self.cells[: place + 1])

    def _allowed(self, cell: Cell) -> Allowance:
        """What a cell may use instead of the limits: an exercise's answer and its check have some of their own."""
        return self.allowances.get(cell.exercise or "", NO_ALLOWANCE)

    def in_boxes(self) -> None:
        """Run and check everything, in as many boxes as it takes."""
        for _ in range(MOST_BOXES):
            if self.finished() or self.budget.seconds_left <= 0:
                return
            self.in_one_box()
        self.gave_up = not self.finished() and self.budget.seconds_left > 0

    def in_one_box(self) -> None:
        """Run and check what can be run in one box. It ends at the last cell, or where the box is lost."""
        with self.budget.open_box() as box:
            skipped: list[int] = []
            for place, cell in enumerate(self.cells):
                if cell.kind is CellKind.CHECK and cell.exercise:
                    if not self._check(box, self.checks[cell.exercise], skipped):
                        return
                elif cell.runs and place not in self.lost:
                    if self._is_skipped(place):
                        skipped.append(place)
                    elif not self._run(box, place, cell, skipped):
                        return
            if not self.reached_the_end:
                self.reached_the_end = True
                if not self._is_asked_for_changes(box):
                    return
            for check in self.checks.values():
                if not check.hidden_at_the_end(box):
                    return

    def _is_skipped(self, place: int) -> bool:
        """Whether the cell at this place is a demo that nothing has been found to need."""
        return self.cells[place].is_demo and self.skip_demos and place not in self.needed_demos

    def _needs_demos(self, skipped: Sequence[int], missing: _Missing | None) -> bool:
        """Whether skipped cells may define what is missing. These run from now on, the others need not.

        Of the release's cells it is plain what they define: that a name is nowhere is no reason to train a model.
        A student's own may do it in more ways than can be read off them.
        """
        if missing is None:
            return False
        found = [
            place
            for place in skipped
            if defines(self.cells[place].source, missing.name)
            or (missing.when_run and self.cells[place].origin == "student")
        ]
        self.needed_demos.update(found)
        return bool(found)

    def _run(self, box: AnyBox, place: int, cell: Cell, skipped: Sequence[int]) -> bool:
        """Run one cell; False where the box is lost, or must be left because a skipped cell was needed."""
        try:
            result = box.run_cell(cell.source, self._allowed(cell))
        except BoxLost as lost:
            self.lost[place] = lost
            self.outputs.pop(place, None)
            return False
        if not self.reached_the_end:  # later boxes have seen hidden inputs: nothing of theirs is shown
            self.outputs[place] = self.keeper.kept(place, result.outputs)
        self.raised.pop(place, None)
        if result.raised is not None:
            self.raised[place] = (result.failure or Outcome.RAISED, result.raised)
            if self._needs_demos(skipped, _Missing.of(result.raised)):
                return False
        return True

    def _is_asked_for_changes(self, box: AnyBox) -> bool:
        """Find out whether the cells have changed what is not theirs; False where the box is lost over it."""
        try:
            self.disturbed = bool(box.changes())
        except BoxLost:
            self.disturbed = True
            return False
        return True

    def failed(self) -> list[str]:
        """The exercises that have not all their points, and could have failed through another exercise's fault."""
        return [
            name
            for name, check in self.checks.items()
            if check.verdict is not None and check.verdict.outcome in _MAY_BE_DISTURBED
        ]

    def spare_the_undisturbed(self) -> None:
        """Grade what failed once more, without cells that change Python or torch itself; the better verdict counts.

        An exercise's own cells stay: what they change is its own doing.
        """
        suspects = {}
        if self.budget.seconds_left > 0:
            suspects = changing_cells(self._runnable(), self.budget.open_box)
        together: dict[frozenset[int], list[str]] = {}
        for name in self.failed():
            others = frozenset(place for place in suspects if self.cells[place].exercise != name)
            if others:
                together.setdefault(others, []).append(name)
        for places, names in together.items():
            for name, verdict in self._without(places, names).items():
                before = self.checks[name].verdict
                if before is not None and (verdict.points or 0.0) > (before.points or 0.0):
                    self.checks[name].verdict = replace(verdict, note=self._spared(places, suspects))
                    self.disturbing |= {place: suspects[place] for place in places}

    def try_without_the_forbidden(self) -> None:
        """Grade once more what has earned points beside code that could take a trap apart, with nothing left to trap.

        In these boxes torch has lost the forbidden functions before the first cell runs. Only an answer that was
        written by hand still works.
        """
        if not any(reaches_far(cell.source) for cell in self.cells if cell.origin == "student" and cell.runs):
            return
        for name, check in self.checks.items():
            exercise, before = check.key.exercise, check.verdict
            if before is None or not before.points or not can_be_barred(exercise.forbidden):
                continue
            self.budget.seconds_left = max(self.budget.seconds_left, AGAIN_SECONDS)
            bar = Cell(CellKind.CODE, _BAR.format(list(exercise.forbidden)))
            after = self._without((), [name], bar).get(name)
            if after is None:
                check.verdict = check.never_reached()
            elif (after.points or 0.0) < before.points:
                used = next(forbidden for forbidden in exercise.forbidden if can_be_barred([forbidden]))
                check.verdict = rule_broken(exercise, used)

    def _runnable(self) -> dict[int, tuple[str, Allowance]]:
        """The source of each cell that runs, with what it may use, by its place."""
        return {
            place: (cell.source, self._allowed(cell))
            for place, cell in enumerate(self.cells)
            if cell.runs and place not in self.lost and not self._is_skipped(place)
        }

    def _without(self, places: Collection[int], names: Sequence[str], *first: Cell) -> dict[str, Verdict]:
        """The verdicts on these exercises, had these cells not been there, and perhaps others in front."""
        cells = [
            replace(cell, kind=CellKind.MARKDOWN)
            if place in places or place in self.lost or (cell.kind is CellKind.CHECK and cell.exercise not in names)
            else cell
            for place, cell in enumerate(self.cells)
        ]
        again = _Run([*first, *cells], self.budget, self.key_for, self.limits, self.skip_demos, self.allowances)
        again.needed_demos = {place + len(first) for place in self.needed_demos}
        again.in_boxes()
        return {name: check.verdict for name, check in again.checks.items() if check.verdict is not None}

    def _spared(self, places: Collection[int], suspects: Mapping[int, str]) -> str:
        changed = "; ".join(f"cell {self._number(place)} changes {suspects[place]}" for place in sorted(places))
        return f"This was graded without a cell that belongs elsewhere: {changed}."

    def _check(self, box: AnyBox, check: _Check, skipped: Sequence[int]) -> bool:
        """Check where the check stands; False where the box must be left: it was lost over it, it has seen hidden
        inputs, which nothing that runs after may show, or a skipped cell was needed.
        """
        go_on = check.where_it_stands(box)
        if self._needs_demos(skipped, check.missing()):
            check.forget()
            return False
        if check.verdict is not None and check.verdict.outcome is Outcome.NEVER_DEFINED:
            check.verdict = self._why_undefined(check.key.exercise)
        return go_on

    def _why_undefined(self, exercise: Exercise) -> Verdict:
        """The verdict on an answer whose name does not exist: its cell may have been stopped, or have raised."""
        for place, cell in enumerate(self.cells):
            if cell.exercise == exercise.id and place in self.lost:
                lost = self.lost[place]
                note = f"The cell that should define {exercise.name} was stopped: {lost.told}."
                return Verdict(exercise, lost.outcome, 0.0, note=note)
            if cell.exercise == exercise.id and place in self.raised:
                failure, raised = self.raised[place]
                if failure is Outcome.OUT_OF_MEMORY:
                    reason = more_memory(self._limits_of(place))
                    note = f"The cell that should define {exercise.name} was stopped: {reason}."
                    return Verdict(exercise, failure, 0.0, note=note)
                line = f" in line {raised.line}" if raised.line else ""
                said = f"{raised.type_name}{line}: {raised.message}"
                note = f"The cell that should define {exercise.name} stops with {said}"
                return Verdict(exercise, failure, 0.0, note=note)
        note = f"The notebook never defines {exercise.name}."
        return Verdict(exercise, Outcome.NEVER_DEFINED, 0.0, note=note)


@dataclass(frozen=True)
class _Missing:
    """A name that is not there.

    Attributes:
        name: empty where the exception does not say it.
        when_run: whether code that ran has missed it; else it is the answer itself that is not there.
    """

    name: str
    when_run: bool

    @classmethod
    def of(cls, raised: Raised | None) -> _Missing | None:
        """What a NameError misses; None where it is another exception, or none."""
        if raised is None or raised.type_name != "NameError":
            return None
        said = _NOT_DEFINED.search(raised.message)
        return cls(said[1] if said else "", when_run=True)


class _Check:
    """One exercise on its way to a verdict."""

    def __init__(self, key: AnswerKey, limits: Limits, allowed: Allowance) -> None:
        self.key = key
        self._limits = limits
        self._allowed = allowed
        self.verdict: Verdict | None = None
        self.stopped = ""
        self._visible: list[Observation] | None = None
        self._diagnosis = UNKNOWN
        self._hidden_failed = False

    def apply_rules(self, code: Code, place: int) -> None:
        """Decide at once where the answer, as it is before the check's place, uses a forbidden name."""
        exercise = self.key.exercise
        rule = code.broken_rule(exercise.name, exercise.forbidden, cells=place)
        if rule is not None:
            self.verdict = rule_broken(exercise, rule.name, rule.place)

    def where_it_stands(self, box: AnyBox) -> bool:
        """Run the visible cases, or all where the hidden ones have failed before; whether to go on in this box."""
        if self.verdict is not None or (self._visible is not None and not self._hidden_failed):
            return True
        answer = _AnswerInBox(box, self.key.exercise, self._allowed)
        seen = answer.observe(self.key.visible)
        ended = seen[-1].failure in ENDINGS or nothing_written(seen)
        if self._hidden_failed and not ended:
            seen += answer.observe(self.key.hidden, hidden=True)
        if answer.lost is None:
            self._diagnosis = self._recognised(seen, answer)
        if self._hidden_failed or ended:
            self.verdict = self._with_limit(decide(self.key, seen, self._diagnosis), answer.lost)
        self._visible = seen
        return answer.lost is None and not self._hidden_failed

    def _recognised(self, seen: Sequence[Observation], answer: _AnswerInBox) -> Diagnosis:
        """Which known mistake this is. The box may be lost over finding out; the verdict stands without it."""
        return diagnose(self.key, seen, answer.observe)

    def missing(self) -> _Missing | None:
        """The name for want of which a visible case failed, if there is one."""
        seen = self._visible or []
        if any(observation.failure is Outcome.NEVER_DEFINED for observation in seen):
            return _Missing(self.key.exercise.name, when_run=False)
        found = (_Missing.of(observation.raised) for observation in seen)
        return next((missing for missing in found if missing is not None), None)

    def forget(self) -> None:
        """Check again from the start."""
        self.verdict, self._visible = None, None

    def hidden_at_the_end(self, box: AnyBox) -> bool:
        """Run the hidden cases; whether the box lives on."""
        if self.verdict is not None or self._visible is None:
            return True
        answer = _AnswerInBox(box, self.key.exercise, self._allowed)
        observations = [*self._visible, *answer.observe(self.key.hidden, hidden=True)]
        verdict = decide(self.key, observations, self._diagnosis)
        verdict = self._with_limit(verdict, answer.lost)
        before = earned(self.key.exercise, self.key.visible, verdict.cases[: len(self.key.visible)])
        spoiled = verdict.points != before or verdict.outcome is Outcome.RULE_BROKEN
        self._hidden_failed = answer.lost is None and spoiled
        if not self._hidden_failed:
            self.verdict = verdict
        return answer.lost is None

    def _with_limit(self, verdict: Verdict, lost: BoxLost | None) -> Verdict:
        """The verdict with a sentence on the limit that the answer ran into, if it did."""
        self.stopped = ""
        if lost is not None and lost.outcome is verdict.outcome:
            self.stopped = _with_setting(lost.reason, lost.setting)
            return replace(verdict, note=f"Your answer was stopped: {lost.told}.")
        if verdict.outcome is Outcome.OUT_OF_MEMORY:
            reason = more_memory(self._allowed.applied(self._limits))
            self.stopped = _with_setting(reason, "memory_bytes")
            return replace(verdict, note=f"Your answer was stopped: {reason}.")
        return verdict

    def never_reached(self, gave_up: bool = False) -> Verdict:
        """The verdict where the submission's time was used up, or where too many of its cells have ended their box."""
        note = f"The {self._limits.submission_seconds:g} s for the whole submission were used up"
        if gave_up:
            note = f"More than {MOST_BOXES} cells ended Python itself"
        self.stopped = "" if gave_up else "never reached (submission_seconds)"
        note += " before this exercise was reached."
        return Verdict(self.key.exercise, Outcome.TIMED_OUT, 0.0, note=note)


def _with_setting(reason: str, setting: str) -> str:
    """A reason for the instructor: with the name that the limit has in `nbgrader_config.py`."""
    return f"{reason} ({setting})" if setting else reason


class _AnswerInBox:
    """A student's answer, called in its box. A box that is lost becomes an observation of its own."""

    def __init__(self, box: AnyBox, exercise: Exercise, allowed: Allowance) -> None:
        self._box = box
        self._exercise = exercise
        self._allowed = allowed
        self.lost: BoxLost | None = None

    def observe(self, cases: Sequence[Case], hidden: bool = False) -> list[Observation]:
        """What it does on these cases, up to the first that ends the run or the box."""
        wanted = self._exercise
        seen: list[Observation] = []
        try:
            for one in self._box.observe_cases(
                wanted.name, cases, hidden=hidden, forbidden=wanted.forbidden, allowed=self._allowed
            ):
                seen.append(kept_observation(one))  # those before a loss count
        except BoxLost as lost:
            self.lost = lost
            seen.append(Observation(returned=False, failure=lost.outcome))
        return seen
