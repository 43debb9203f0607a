"""A submission's cells run in boxes, one after another, until every answer has its verdict.

A cell that ends its box is left out of the next one; a demo that turns out to be needed runs in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from autograder.box import BoxLost, CellResult
from autograder.box.endings import more_memory
from autograder.grading.kept_outputs import OutputKeeper
from autograder.grading.one_answer import AnyBox, Missing, OneAnswer, with_setting, without_package
from autograder.limits import NO_ALLOWANCE, Allowance, Limits
from autograder.repair import Cell
from course_lib.checking import AnswerKey, Exercise, Outcome, Verdict
from course_lib.checking.observation import Raised
from course_lib.checking.rules import Code, defines
from course_lib.exercises.catalogue import Catalogue

MOST_BOXES = 40
"""A submission is replayed at most this often, if its time allows; one that ends every box is stopped here."""

OpenBox = Callable[[float], AbstractContextManager[AnyBox]]
"""Opens a fresh box, for a submission that has this many seconds left."""

KeyFor = Callable[[Exercise], AnswerKey]
"""Gives the answer key of an exercise."""


class Budget:
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


@dataclass(frozen=True)
class Script:
    """The cells of a submission, in notebook order, and what each may use."""

    cells: Sequence[Cell]
    limits: Limits
    allowances: Mapping[str, Allowance]
    catalogue: Catalogue

    def allowed(self, cell: Cell) -> Allowance:
        """What a cell may use instead of the limits: an exercise's answer and its check have some of their own."""
        return self.allowances.get(cell.exercise or "", NO_ALLOWANCE)

    def limits_of(self, place: int) -> Limits:
        """What the cell at this place may use."""
        return self.allowed(self.cells[place]).applied(self.limits)

    def number(self, place: int) -> int:
        """The number that a notebook shows next to this cell when it is run from the top: cells of code are counted."""
        return sum(cell.is_code for cell in self.cells[: place + 1])


class Demos:
    """Which cells tagged `demo` are left out: those that nothing has been found to need."""

    def __init__(self, cells: Sequence[Cell], skip: bool, needed: Iterable[int] = ()) -> None:
        self._cells = cells
        self.skip = skip
        self.needed = set(needed)

    def skips(self, place: int) -> bool:
        """Whether the cell at this place is left out."""
        return self._cells[place].is_demo and self.skip and place not in self.needed

    def need(self, skipped: Sequence[int], missing: Missing | None) -> bool:
        """Whether skipped cells may define what is missing. These run from now on, the others need not.

        What the release's cells define is plain: a name that is nowhere is no reason to train a model.
        A student's own may do it in more ways than can be read off them.
        """
        if missing is None:
            return False
        found = [
            place
            for place in skipped
            if defines(self._cells[place].source, missing.name)
            or (missing.when_run and self._cells[place].origin == "student")
        ]
        self.needed.update(found)
        return bool(found)


class CellLog:
    """What has become of each cell, by its place: its outputs, what it raised, and whether it has ended its box."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._keeper = OutputKeeper()
        self.outputs: dict[int, list[dict[str, Any]]] = {}
        self.raised: dict[int, tuple[Outcome, Raised]] = {}
        self._missing: dict[int, str] = {}
        self.lost: dict[int, BoxLost] = {}

    def note_loss(self, place: int, lost: BoxLost) -> None:
        """A cell has ended its box."""
        self.lost[place] = lost
        self.outputs.pop(place, None)

    def note_result(self, place: int, result: CellResult, shown: bool) -> None:
        """A cell has run, and perhaps its outputs are to be shown."""
        if shown:
            self.outputs[place] = self._keeper.keep(place, result.outputs)
        self.raised.pop(place, None)
        if result.raised is not None:
            self.raised[place] = (result.failure or Outcome.RAISED, result.raised)
            self._missing[place] = result.missing

    def notices(self) -> dict[int, str]:
        """What the student reads below cells that hit a limit or have ended their box."""
        short = {place: f"Cell {self._script.number(place)}: {reason}." for place, reason in self._short_of_memory()}
        return {place: self._stopped(place, lost) for place, lost in self.lost.items()} | short

    def remarks(self) -> Iterator[str]:
        """The same for the instructor, with the names of the limits."""
        for place, lost in sorted(self.lost.items()):
            yield f"cell {self._script.number(place)} ended its box: {with_setting(lost.reason, lost.setting)}"
        for place, reason in sorted(self._short_of_memory()):
            yield f"cell {self._script.number(place)}: {with_setting(reason, 'memory_bytes')}"

    def explain_undefined(self, exercise: Exercise) -> Verdict:
        """The verdict on an answer whose name does not exist: its cell may have been stopped, or have raised."""
        outcome, note = Outcome.NEVER_DEFINED, f"The notebook never defines {exercise.name}."
        for place, cell in enumerate(self._script.cells):
            is_its_own = cell.exercise == exercise.id or defines(cell.source, exercise.name)
            if is_its_own and place in self.raised and self._missing[place]:
                return without_package(exercise, self._missing[place])
            if is_its_own and (place in self.lost or place in self.raised):
                outcome, how = self._ending(place)
                note = f"The cell that should define {exercise.name} {how}"
                break
        return Verdict(exercise, outcome, 0.0, note=note)

    def _ending(self, place: int) -> tuple[Outcome, str]:
        """How a cell ended that was stopped or has raised."""
        if place in self.lost:
            return self.lost[place].outcome, f"was stopped: {self.lost[place].told}."
        failure, raised = self.raised[place]
        if failure is Outcome.OUT_OF_MEMORY:
            return failure, f"was stopped: {more_memory(self._script.limits_of(place))}."
        line = f" in line {raised.line}" if raised.line else ""
        return failure, f"stops with {raised.type_name}{line}: {raised.message}"

    def _short_of_memory(self) -> Iterator[tuple[int, str]]:
        for place, (failure, _) in self.raised.items():
            if failure is Outcome.OUT_OF_MEMORY:
                yield place, more_memory(self._script.limits_of(place))

    def _stopped(self, place: int, lost: BoxLost) -> str:
        number = self._script.number(place)
        if lost.out_of_time:  # nothing can run after this
            told = f"the {self._script.limits.submission_seconds:g} s for the whole submission were used up"
            return f"Stopped in cell {number}: {told}; the earlier exercises keep their points."
        return f"Stopped in cell {number}: {lost.told}; the other exercises keep their points."


class Replay:
    """A submission in its boxes.

    Attributes:
        script: its cells.
        budget: its time.
        demos: which cells are left out.
        log: what has become of each cell.
        answers: of each exercise that is checked, in the notebook's order.
        disturbed: whether the cells have changed Python or torch itself.

    Args:
        key_for: gives the answer key of an exercise.
        first: whether it is for the cells' sake, too: they are shown, and asked, at the end, what they have changed.
    """

    def __init__(self, script: Script, budget: Budget, key_for: KeyFor, demos: Demos, first: bool = True) -> None:
        self.script = script
        self.budget = budget
        self.demos = demos
        self.log = CellLog(script)
        self.disturbed = False
        self._key_for = key_for
        self._first = first
        self._reached_the_end = False
        self._gave_up = False
        self.answers: dict[str, OneAnswer] = {}
        self._code = Code([cell.source if cell.runs else "" for cell in script.cells])
        for place, cell in enumerate(script.cells):
            if cell.is_checked and cell.exercise:
                answer = OneAnswer(key_for(script.catalogue.find(cell.exercise)), script.limits, script.allowed(cell))
                self.answers.setdefault(cell.exercise, answer).read(self._code, place)

    def run_all(self) -> None:
        """Run and check everything, in as many boxes as it takes."""
        for _ in range(MOST_BOXES):
            if self._is_finished() or self.budget.seconds_left <= 0:
                return
            with self.budget.open_box() as box:
                self._run_in(box)
        self._gave_up = not self._is_finished() and self.budget.seconds_left > 0

    def verdicts(self) -> dict[str, Verdict]:
        """What is known now; an exercise that was never reached has run out of time."""
        boxes = MOST_BOXES if self._gave_up else 0
        return {name: answer.verdict or answer.leave_unreached(boxes) for name, answer in self.answers.items()}

    def retry(self, names: Collection[str], without: Collection[int]) -> dict[str, Verdict]:
        """The verdicts on these exercises, had some cells not been there."""
        cells = [
            cell.skip() if place in without or place in self.log.lost or self._is_other(cell, names) else cell
            for place, cell in enumerate(self.script.cells)
        ]
        script = Script(cells, self.script.limits, self.script.allowances, self.script.catalogue)
        demos = Demos(script.cells, self.demos.skip, self.demos.needed)
        again = Replay(script, self.budget, self._key_for, demos, first=False)
        again.run_all()
        return {name: answer.verdict for name, answer in again.answers.items() if answer.verdict is not None}

    def runnable(self) -> dict[int, tuple[str, Allowance]]:
        """The source of each cell that runs, with what it may use, by its place."""
        return {
            place: (cell.source, self.script.allowed(cell))
            for place, cell in enumerate(self.script.cells)
            if cell.runs and place not in self.log.lost and not self.demos.skips(place)
        }

    def _is_finished(self) -> bool:
        return self._reached_the_end and all(answer.verdict is not None for answer in self.answers.values())

    def _is_other(self, cell: Cell, names: Collection[str]) -> bool:
        return cell.is_checked and cell.exercise not in names

    def _run_in(self, box: AnyBox) -> None:
        """Run and check what can be run in one box. It ends at the last cell, or where the box is lost."""
        skipped: list[int] = []
        for place, cell in enumerate(self.script.cells):
            if cell.is_checked and cell.exercise:
                if not self._check(box, self.answers[cell.exercise], skipped):
                    return
            elif cell.runs and place not in self.log.lost:
                if self.demos.skips(place):
                    skipped.append(place)
                elif not self._run_cell(box, place, skipped):
                    return
        if not self._reached_the_end:
            self._reached_the_end = True
            if self._first and not self._ask_for_changes(box):
                return
        for answer in self.answers.values():
            if not answer.check_hidden(box):
                return

    def _run_cell(self, box: AnyBox, place: int, skipped: Sequence[int]) -> bool:
        """Run one cell; False where the box is lost, or must be left because a skipped cell was needed."""
        cell = self.script.cells[place]
        try:
            result = box.run_cell(cell.source, self.script.allowed(cell))
        except BoxLost as lost:
            self.log.note_loss(place, lost)
            return False
        shown = not self._reached_the_end  # later boxes have seen hidden inputs: nothing of theirs is shown
        self.log.note_result(place, result, shown)
        return not self.demos.need(skipped, Missing.of(result.raised))

    def _check(self, box: AnyBox, answer: OneAnswer, skipped: Sequence[int]) -> bool:
        """Check where the check stands; False where the box must be left: it was lost over it, it has seen hidden
        inputs, which nothing that is checked after may show, or a skipped cell was needed.
        """
        go_on = answer.check_in_place(box, sealed=self._reached_the_end)
        if self.demos.need(skipped, answer.find_missing()):
            answer.forget()
            return False
        if answer.verdict is not None and answer.verdict.outcome is Outcome.NEVER_DEFINED:
            answer.verdict = self.log.explain_undefined(answer.key.exercise)
        return go_on

    def _ask_for_changes(self, box: AnyBox) -> bool:
        """Find out whether the cells have changed what is not theirs; False where the box is lost over it."""
        try:
            self.disturbed = bool(box.changes())
        except BoxLost:
            self.disturbed = True
            return False
        return True
