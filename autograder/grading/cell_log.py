"""A submission's cells and what happened to each, for the student and for the instructor."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.box.endings import BoxLost, more_memory
from autograder.box.protocol import CellResult
from autograder.grading.answer_grader import with_setting, without_package
from autograder.grading.kept_outputs import OutputKeeper
from autograder.limits import NO_ALLOWANCE, Allowance, Limits
from autograder.repair import Cell
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.exercise import Exercise
from course_lib.judging.finding import find_answer, wrong_name
from course_lib.judging.observation import Outcome, Raised
from course_lib.judging.verdict import Verdict


@dataclass(frozen=True)
class Script:
    """The cells of a submission in notebook order, and their limits."""

    cells: Sequence[Cell]
    limits: Limits
    allowances: Mapping[str, Allowance]
    catalogue: Catalogue

    def allowed(self, cell: Cell) -> Allowance:
        """Return a cell's own limits: an exercise's answer and its check may have some."""
        return self.allowances.get(cell.exercise or "", NO_ALLOWANCE)

    def limits_of(self, place: int) -> Limits:
        """Return the limits of the cell at this index."""
        return self.allowed(self.cells[place]).applied(self.limits)

    def number(self, place: int) -> int:
        """Return the execution number that a notebook run from the top shows for this cell."""
        return sum(cell.is_code for cell in self.cells[: place + 1])


class CellLog:
    """What happened to each cell, by index: its outputs, its exception, and whether it ended its sandbox."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._keeper = OutputKeeper()
        self.outputs: dict[int, list[dict[str, Any]]] = {}
        self.raised: dict[int, tuple[Outcome, Raised, str]] = {}  # with a package that is missing, if any
        self.lost: dict[int, BoxLost] = {}

    def note_loss(self, place: int, lost: BoxLost) -> None:
        """Note that a cell has ended its sandbox."""
        self.lost[place] = lost
        self.outputs.pop(place, None)

    def note_result(self, place: int, result: CellResult, shown: bool) -> None:
        """Note that a cell has run, with its outputs if they are shown."""
        if shown:
            self.outputs[place] = self._keeper.keep(place, result.outputs)
        self.raised.pop(place, None)
        if result.raised is not None:
            self.raised[place] = (result.failure or Outcome.RAISED, result.raised, result.missing)

    def notices(self) -> dict[int, str]:
        """Return what the student reads below cells that hit a limit or ended their sandbox."""
        short = {place: f"Cell {self._script.number(place)}: {reason}." for place, reason in self._short_of_memory()}
        return {place: self._stopped(place, lost) for place, lost in self.lost.items()} | short

    def remarks(self) -> Iterator[str]:
        """Yield the same for the instructor, with the names of the limits."""
        for place, lost in sorted(self.lost.items()):
            yield f"cell {self._script.number(place)} ended its sandbox: {with_setting(lost.reason, lost.setting)}"
        for place, reason in sorted(self._short_of_memory()):
            yield f"cell {self._script.number(place)}: {with_setting(reason, 'memory_bytes')}"

    def explain_undefined(self, exercise: Exercise) -> Verdict:
        """Return the verdict on an answer whose name does not exist: perhaps its cell was stopped, or raised."""
        cells = [cell.source if cell.runs else "" for cell in self._script.cells]
        own = [place for place, cell in enumerate(self._script.cells) if cell.exercise == exercise.id]
        found = find_answer(exercise.name, cells, own)
        for place in own if found.cell is None else sorted({*own, found.cell}):
            if place in self.raised and (package := self.raised[place][2]):
                return without_package(exercise, package)
            if place in self.lost or place in self.raised:
                outcome, how = self._ending(place)
                return Verdict(exercise, outcome, 0.0, note=f"The cell that should define {exercise.name} {how}")
        note = wrong_name(exercise, found.other) if found.other else f"The notebook never defines {exercise.name}."
        return Verdict(exercise, Outcome.NEVER_DEFINED, 0.0, note=note)

    def _ending(self, place: int) -> tuple[Outcome, str]:
        """Return how a cell ended that was stopped or raised."""
        if place in self.lost:
            return self.lost[place].outcome, f"was stopped: {self.lost[place].for_student}."
        failure, raised, _ = self.raised[place]
        if failure is Outcome.OUT_OF_MEMORY:
            return failure, f"was stopped: {more_memory(self._script.limits_of(place))}."
        line = f" in line {raised.line}" if raised.line else ""
        return failure, f"stops with {raised.type_name}{line}: {raised.message}"

    def _short_of_memory(self) -> Iterator[tuple[int, str]]:
        for place, (failure, *_) in self.raised.items():
            if failure is Outcome.OUT_OF_MEMORY:
                yield place, more_memory(self._script.limits_of(place))

    def _stopped(self, place: int, lost: BoxLost) -> str:
        number = self._script.number(place)
        if lost.out_of_time:  # nothing can run after this
            why = f"the time limit for the whole submission ({self._script.limits.submission_seconds:g} s) ran out"
            return f"Stopped in cell {number}: {why}; the earlier exercises keep their points."
        return f"Stopped in cell {number}: {lost.for_student}; the other exercises keep their points."
