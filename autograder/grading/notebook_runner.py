"""Grades one submission's notebook: runs its cells in sandboxes, and judges its answers from outside.

A cell that ends its sandbox (a timeout, `os._exit`, too much memory) costs only what it defines: a fresh sandbox runs
the others without it. Time limits count the sandboxes' processor time, so that a busy machine costs nobody a point.

`answer_grader.py` finds the verdict on each answer; `cell_log.py` keeps what happened to the cells.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.box.box import Box
from autograder.box.endings import BoxLost
from autograder.grading.answer_grader import AnswerGrader, Missing
from autograder.grading.cell_log import CellLog, Script
from autograder.limits import Allowance, Limits
from autograder.repair import Cell
from autograder.words import shown, some
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Exercise
from course_lib.judging.hiding import HiddenCall, hidden_calls
from course_lib.judging.observation import Outcome
from course_lib.judging.rules import Code, defines
from course_lib.judging.verdict import Verdict

MOST_BOXES = 40
"""Most sandboxes for one submission: stops one whose cells end every sandbox."""

MOST_NAMED = 3
"""Most changes to Python or torch reported for a cell."""

NO_ALLOWANCES: Mapping[str, Allowance] = {}
"""Default for single exercises' own limits: none."""

_MAY_BE_DISTURBED = (Outcome.WRONG, Outcome.RAISED, Outcome.DIED, Outcome.TIMED_OUT)
"""Outcomes that an earlier cell may have caused by changing Python or torch itself."""

OpenBox = Callable[[float], AbstractContextManager[Box]]
"""Opens a fresh sandbox for a submission with this many seconds left."""

KeyFor = Callable[[Exercise], AnswerKey]
"""Returns the answer key of an exercise."""


@dataclass
class Graded:
    """The result of grading a submission's notebook.

    Attributes:
        verdicts: one per exercise, in the notebook's order.
        outputs: the outputs of each cell that ran, by index (nbformat 4, not sanitized yet).
        notices: a sentence for each cell that hit a limit or ended its sandbox, by index.
        remarks: the same for the instructor, with the names of the limits, and which limits stopped an answer.
        worth_a_look: where an answer that earns points could hide a forbidden call, a sentence each, by exercise; for
            the instructor only.
        starved: whether a sandbox hit a time limit while the machine was busy, and might do better alone.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    notices: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    worth_a_look: dict[str, list[str]] = field(default_factory=dict)
    starved: bool = False


def grade_notebook(
    cells: Sequence[Cell],
    catalogue: Catalogue,
    open_box: OpenBox,
    key_for: KeyFor,
    limits: Limits,
    skip_demos: bool = True,
    allowances: Mapping[str, Allowance] = NO_ALLOWANCES,
) -> Graded:
    """Run the cells of a repaired submission and judge every answer it checks.

    Visible cases run at the check. Hidden ones run after the last cell, so that no cell can show their inputs; if a
    later cell changes what the answer uses, a fresh sandbox runs them at the check.

    Args:
        cells: in notebook order.
        catalogue: the course's exercises.
        limits: of the sandboxes; `submission_seconds` covers all sandboxes together.
        skip_demos: leave out cells tagged `demo`, except those that may define a name that is missing later. If they
            run and hit a limit, answers are also graded without them, and the better verdict counts.
        allowances: single exercises' own limits, by id.
    """
    script = Script(cells, limits, allowances, catalogue)
    runner = NotebookRunner(script, Budget(open_box, limits.submission_seconds), key_for, Demos(cells, skip_demos))
    graded = runner.grade()
    if skip_demos or not runner.hit_a_limit:
        return graded
    budget = Budget(open_box, limits.submission_seconds)  # a demo may have used up what an answer needed
    without = NotebookRunner(script, budget, key_for, Demos(cells, skip=True)).grade().verdicts
    better = {
        name: verdict
        for name, verdict in without.items()
        if (verdict.points or 0.0) > (graded.verdicts[name].points or 0.0)
    }
    return replace(graded, verdicts=graded.verdicts | better)


@dataclass
class Budget:
    """The time that all sandboxes of a submission share."""

    open_fresh: OpenBox
    seconds_left: float
    starved: bool = False

    @contextmanager
    def open_box(self) -> Iterator[Box]:
        """Open a fresh sandbox, which may use the remaining time."""
        with self.open_fresh(self.seconds_left) as box:
            try:
                yield box
            finally:
                self.seconds_left -= box.share
                self.starved = self.starved or box.starved


@dataclass
class Demos:
    """Decides which cells tagged `demo` to leave out: those that nothing has needed so far."""

    cells: Sequence[Cell]
    skip: bool
    needed: set[int] = field(default_factory=set)

    def skips(self, place: int) -> bool:
        """Return whether to leave out the cell at this index."""
        return self.cells[place].is_demo and self.skip and place not in self.needed

    def need(self, skipped: Sequence[int], missing: Missing | None) -> bool:
        """Return whether skipped cells may define what is missing; those run from now on.

        The names that released cells define are known, so a name that none defines is no reason to train a model. A
        student's own cell may define names in ways that cannot be read off it.
        """
        if missing is None:
            return False
        found = [
            place
            for place in skipped
            if defines(self.cells[place].source, missing.name)
            or (missing.when_run and self.cells[place].origin == "student")
        ]
        self.needed.update(found)
        return bool(found)


class NotebookRunner:
    """Runs a notebook's cells in one sandbox after another until every answer has a verdict.

    Every verdict is found here; nothing outside changes one.
    """

    def __init__(self, script: Script, budget: Budget, key_for: KeyFor, demos: Demos, asks: bool = True) -> None:
        """Read the answers; nothing is run yet.

        Args:
            asks: whether to find out, after the last cell, if the cells have changed Python or torch itself.
        """
        self._script = script
        self._budget = budget
        self._key_for = key_for
        self._demos = demos
        self._log = CellLog(script)
        self._asks = asks
        self._is_disturbed = False
        self._reached_the_end = False
        self._gave_up = False
        self._answers: dict[str, AnswerGrader] = {}
        code = Code([cell.source if cell.runs else "" for cell in script.cells])
        for place, cell in enumerate(script.cells):
            if cell.is_checked and cell.exercise:
                key = key_for(script.catalogue.find(cell.exercise))
                answer = AnswerGrader(key, script.limits, script.allowed(cell), self._log.explain_undefined)
                self._answers.setdefault(cell.exercise, answer).read(code, place)

    def grade(self) -> Graded:
        """Run and check everything; return the result."""
        self._run()
        better, disturbing = self._retry_without_disturbing() if self._is_disturbed else ({}, {})
        verdicts = self._verdicts() | better
        notices, remarks = self._log.notices(), [*self._log.remarks()]
        for place, change in sorted(disturbing.items()):
            number = self._script.number(place)
            notices[place] = (
                f"Cell {number} changes {change}, for everything that runs after it. The exercises that "
                "failed because of it were graded without this cell."
            )
            remarks.append(f"cell {number} changes {change}; what failed because of it was graded without it")
        remarks += [f"{name}: {answer.stopped}" for name, answer in self._answers.items() if answer.stopped]
        looks = _worth_a_look(self._script, verdicts)
        return Graded(verdicts, self._log.outputs, notices, remarks, looks, self._budget.starved)

    @property
    def hit_a_limit(self) -> bool:
        """Return whether a limit has stopped anything."""
        is_stopped = any(answer.stopped for answer in self._answers.values())
        return is_stopped or bool(self._log.lost) or self._budget.seconds_left <= 0

    def _verdicts(self) -> dict[str, Verdict]:
        """Return a verdict for each answer; one that was never reached has run out of time."""
        boxes = MOST_BOXES if self._gave_up else 0
        return {name: answer.verdict or answer.leave_unreached(boxes) for name, answer in self._answers.items()}

    # --- in sandboxes

    def _run(self) -> None:
        """Run and check everything, in as many sandboxes as it takes."""
        for _ in range(MOST_BOXES):
            if self._is_finished() or self._budget.seconds_left <= 0:
                return
            with self._budget.open_box() as box:
                self._run_in(box)
        self._gave_up = not self._is_finished() and self._budget.seconds_left > 0

    def _is_finished(self) -> bool:
        return self._reached_the_end and all(answer.verdict is not None for answer in self._answers.values())

    def _run_in(self, box: Box) -> None:
        """Run and check what one sandbox can, up to the last cell or until the sandbox is lost."""
        skipped: list[int] = []
        for place, cell in enumerate(self._script.cells):
            if cell.is_checked and cell.exercise:
                if not self._check(box, self._answers[cell.exercise], skipped):
                    return
            elif cell.runs and place not in self._log.lost:
                if self._demos.skips(place):
                    skipped.append(place)
                elif not self._run_cell(box, place, skipped):
                    return
        if not self._reached_the_end:
            self._reached_the_end = True
            if self._asks and not self._ask_for_changes(box):
                return
        for answer in self._answers.values():
            if not answer.check_hidden(box):
                return

    def _run_cell(self, box: Box, place: int, skipped: Sequence[int]) -> bool:
        """Run one cell; return False if the sandbox is lost, or must be left because a skipped cell was needed."""
        cell = self._script.cells[place]
        try:
            result = box.run_cell(cell.source, self._script.allowed(cell))
        except BoxLost as lost:
            self._log.note_loss(place, lost)
            return False
        shown = not self._reached_the_end  # later sandboxes have seen hidden inputs: nothing of theirs is shown
        self._log.note_result(place, result, shown)
        return not self._demos.need(skipped, Missing.of(result.raised))

    def _check(self, box: Box, answer: AnswerGrader, skipped: Sequence[int]) -> bool:
        """Check an answer; return False if the sandbox must be left: because it was lost, because a skipped cell was
        needed, or because it has seen hidden inputs, which nothing checked later may show.
        """
        go_on = answer.check_in_place(box, sealed=self._reached_the_end)
        if self._demos.need(skipped, answer.find_missing()):
            answer.forget()
            return False
        return go_on

    def _ask_for_changes(self, box: Box) -> bool:
        """Find out whether the cells have changed Python or torch; return False if the sandbox is lost over it."""
        try:
            self._is_disturbed = bool(box.changes())
        except BoxLost:
            self._is_disturbed = True
            return False
        return True

    # --- once more, without cells that disturb the others

    def _retry_without_disturbing(self) -> tuple[dict[str, Verdict], dict[int, str]]:
        """Grade answers that failed their visible cases once more, without cells that change Python or torch itself.
        Answers that passed their visible cases were not disturbed.

        An exercise's own cells stay: it is responsible for what they change.

        Returns:
            The verdicts that improved, and the cells that had made these exercises fail, each with what it changes, in
            words.
        """
        first = self._verdicts()
        failed = [name for name, one in first.items() if self._answers[name].verdict and _may_be_disturbed(one)]
        if not failed or self._budget.seconds_left <= 0:
            return {}, {}
        suspects = self._find_changing_cells()
        together: dict[frozenset[int], list[str]] = {}
        for name in failed:
            others = frozenset(place for place in suspects if self._script.cells[place].exercise != name)
            if others:
                together.setdefault(others, []).append(name)
        better, disturbing = dict[str, Verdict](), dict[int, str]()
        for places, names in together.items():
            changed = "; ".join(
                f"cell {self._script.number(place)} changes {suspects[place]}" for place in sorted(places)
            )
            note = f"This was graded without a cell that is not part of the exercise: {changed}."
            for name, verdict in self._retry(names, places).items():
                if (verdict.points or 0.0) > (first[name].points or 0.0):
                    better[name] = replace(verdict, note=note)
                    disturbing |= {place: suspects[place] for place in places}
        return better, disturbing

    def _find_changing_cells(self) -> dict[int, str]:
        """Return the cells that change Python or torch itself, by index, each with what it changes, in words.

        The cells run once more in a sandbox of their own, which reports after each what has changed. A cell that ends
        the sandbox, or leaves it unable to answer, counts as one of them and ends the search.
        """
        found: dict[int, str] = {}
        known: set[str] = set()
        with self._budget.open_box() as box:
            for place, cell in enumerate(self._script.cells):
                if not cell.runs or place in self._log.lost or self._demos.skips(place):
                    continue
                try:
                    box.run_cell(cell.source, self._script.allowed(cell))
                    now = box.changes()
                except BoxLost:
                    return {**found, place: "Python itself"}
                new = [shown(change) for change in now if change not in known]
                if new:
                    found[place] = some(new, MOST_NAMED)
                known.update(now)
        return found

    def _retry(self, names: Collection[str], without: Collection[int]) -> dict[str, Verdict]:
        """Return the verdicts on these exercises without some of the cells."""
        cells = [
            cell.skip()
            if place in without or place in self._log.lost or (cell.is_checked and cell.exercise not in names)
            else cell
            for place, cell in enumerate(self._script.cells)
        ]
        demos = replace(self._demos, cells=cells, needed={*self._demos.needed})
        again = NotebookRunner(replace(self._script, cells=cells), self._budget, self._key_for, demos, asks=False)
        again._run()
        return {name: answer.verdict for name, answer in again._answers.items() if answer.verdict is not None}


def _may_be_disturbed(verdict: Verdict) -> bool:
    shown_failed = any(not case.passed for case in verdict.cases if not case.hidden)
    return verdict.outcome in _MAY_BE_DISTURBED and (shown_failed or not verdict.cases)


def _worth_a_look(script: Script, verdicts: Mapping[str, Verdict]) -> dict[str, list[str]]:
    """Return where answers that earn points could hide forbidden calls, by exercise."""
    ruled = {name: one.exercise.name for name, one in verdicts.items() if one.exercise.forbidden and one.points}
    if not ruled:
        return {}
    cells = [cell.source if cell.runs else "" for cell in script.cells]
    own = {place for place, cell in enumerate(script.cells) if cell.origin == "student" and cell.runs}
    found = hidden_calls(cells, own, ruled.values())
    return {
        name: [_place_in_words(script, call) for call in found[answer]]
        for name, answer in ruled.items()
        if found[answer]
    }


def _place_in_words(script: Script, call: HiddenCall) -> str:
    line = f", line {call.line}" if call.line else ""
    code = f": {call.code}" if call.code else ""
    return f"cell {script.number(call.cell)}{line}{code} [{call.reason}]"
