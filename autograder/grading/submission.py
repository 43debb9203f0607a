"""Grading one submission: its cells run in a box, its answers are checked from outside.

A cell that ends its box (a timeout, `os._exit`, too much memory) costs what it defines and no more: a fresh
box replays the others without it. The time that counts is what the boxes compute, not what a busy machine makes of it.

`replay.py` runs the cells, `one_answer.py` brings each answer to its verdict; here is what is tried beyond that.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.box.bench import CELLS, Bench, assign_benches, own_bench
from autograder.grading.disturbance import find_changing_cells
from autograder.grading.one_answer import is_absence
from autograder.grading.replay import Budget, Demos, KeyFor, OpenBox, Replay, Script
from autograder.limits import Allowance, Limits
from autograder.repair import Cell
from course_lib.checking import AnswerKey, Exercise, Outcome, Verdict
from course_lib.checking.compare import OF_DTYPE, Tolerance
from course_lib.checking.judge import rule_broken
from course_lib.checking.ready_made import READY_MADE
from course_lib.exercises.catalogue import Catalogue

SLOTS = 32
"""Students share this many sets of hidden inputs: nothing to memorise, and expected results can be kept."""

NO_ALLOWANCES: Mapping[str, Allowance] = {}
"""What a course allows single exercises where it says nothing."""

NO_TOLERANCES: Mapping[str, Tolerance] = {}
"""How near answers must be where a course says nothing else."""

AGAIN_SECONDS = 15.0
"""Processor time to judge an answer without what it may not use, even if the submission has used up its own."""

_CALLED = re.compile(r"(\w+)\(")

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
        starved: whether a box was stopped for taking too long while the machine was busy: alone it might do better.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    notices: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
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
    Answers that may not use something are judged on a bench that does not have it. The cells are run on one of these
    benches, which saves a box; where one of them asks for what that lacks, or changes Python or torch itself, all
    begins again where nothing is lacking.

    Args:
        cells: in notebook order.
        catalogue: where the exercises are found that they name.
        open_box: opens a fresh box of a kind.
        key_for: gives the answer key of an exercise.
        limits: of the boxes; `submission_seconds` holds for all boxes together.
        skip_demos: leave out cells tagged `demo`, except those that may define a name that is missing later.
        allowances: what single exercises may use instead, by their ids.
    """
    script = Script(cells, limits, allowances, catalogue)
    benches = _benches(cells, catalogue)
    for home in dict.fromkeys((_find_home(cells, benches, Demos(cells, skip_demos)), CELLS)):
        key_at_home = _keys_at(home, benches, key_for)
        budget = Budget(open_box, limits.submission_seconds)
        replay = Replay(script, budget, key_at_home, Demos(cells, skip_demos), home)
        replay.run_all()
        if not (replay.lacked or replay.disturbed):
            break
    disturbing = _retry_without_disturbing(replay, key_at_home) if replay.disturbed else {}
    elsewhere = {name: bench for name, bench in benches.items() if bench not in (CELLS, home)}
    _judge_on_benches(replay, key_for, elsewhere, frozenset(disturbing))
    for answer in replay.answers.values():
        if answer.verdict is not None:
            answer.verdict = _excused_for_a_package(answer.verdict, catalogue)
    return _graded(replay, disturbing)


def _benches(cells: Sequence[Cell], catalogue: Catalogue) -> dict[str, Bench]:
    """Where each exercise's answer is judged."""
    checked = [catalogue.find(cell.exercise) for cell in cells if cell.is_checked and cell.exercise]
    shows_packages = any(exercise.lesson in catalogue.packages for exercise in checked)
    return assign_benches(list(dict.fromkeys(checked)), shows_packages)


def _keys_at(home: Bench, benches: Mapping[str, Bench], key_for: KeyFor) -> KeyFor:
    """Where the cells are run, an answer that has another bench shows its visible cases only."""

    def key_at_home(exercise: Exercise) -> AnswerKey:
        key = key_for(exercise)
        return key if benches[exercise.id] in (CELLS, home) else key.without_hidden()

    return key_at_home


def _find_home(cells: Sequence[Cell], benches: Mapping[str, Bench], demos: Demos) -> Bench:
    """The bench to run the cells on: that of most answers, of those that lack nothing which the lesson's cells call."""
    given = [cell for place, cell in enumerate(cells) if cell.runs and not demos.skips(place)]
    called = {name for cell in given if cell.origin != "student" for name in _CALLED.findall(cell.source)}
    count = Counter(bench for bench in benches.values() if bench != CELLS and not called & _lacking_names(bench))
    return max(count, key=lambda bench: count[bench], default=CELLS)


def _lacking_names(bench: Bench) -> set[str]:
    return {name for family in bench.families for name in READY_MADE[family].names}


def _retry_without_disturbing(replay: Replay, key_for: KeyFor) -> dict[int, str]:
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
        for name, verdict in replay.retry(names, key_for, without=places).items():
            before = replay.answers[name].verdict
            if before is not None and (verdict.points or 0.0) > (before.points or 0.0):
                replay.answers[name].verdict = replace(verdict, note=note)
                disturbing |= {place: suspects[place] for place in places}
    return disturbing


def _may_be_disturbed(verdict: Verdict) -> bool:
    shown_failed = any(not case.passed for case in verdict.cases if not case.hidden)
    return verdict.outcome in _MAY_BE_DISTURBED and (shown_failed or not verdict.cases)


def _judge_on_benches(replay: Replay, key_for: KeyFor, benches: Mapping[str, Bench], without: frozenset[int]) -> None:
    """Judge what has earned points in boxes that lack what the answer may not use, or what its lesson alone may.

    It is done in as few boxes as possible, with the cells that seem to be needed. What then does worse on the visible
    cases than before is judged once more, by itself and with all cells; that verdict stands.
    """
    together: dict[Bench, list[str]] = {}
    for name, answer in replay.answers.items():
        if name in benches and answer.verdict is not None and answer.verdict.points:
            together.setdefault(benches[name], []).append(name)
    for bench, names in together.items():
        replay.budget.seconds_left = max(replay.budget.seconds_left, AGAIN_SECONDS)
        found = replay.retry(names, key_for, without=replay.needless(names) | without, bench=bench)
        for name in names:
            answer, verdict = replay.answers[name], found.get(name)
            before = answer.verdict
            assert before is not None
            if verdict is None or not (_is_as_good(verdict, before) or _names_the_rule(verdict)):
                alone = own_bench(answer.key.exercise, bench.bare)
                replay.budget.seconds_left = max(replay.budget.seconds_left, AGAIN_SECONDS)
                verdict = replay.retry([name], key_for, without=without, bench=alone).get(name)
            answer.verdict = _compared_with_before(verdict, before) if verdict else answer.leave_unreached()


def _excused_for_a_package(verdict: Verdict, catalogue: Catalogue) -> Verdict:
    """An answer that calls a package which its box does not have breaks a rule where it is to write what the package
    does; elsewhere it could not be graded, which is no zero.
    """
    raised = next((case.actual.raised for case in verdict.cases if not case.passed), None)
    if raised is None or not is_absence(raised):
        return verdict
    said = raised.message.partition(" ")[0]
    package = said if said.isidentifier() else "a package"
    if verdict.exercise.forbidden or verdict.exercise.lesson in catalogue.packages:
        return rule_broken(verdict.exercise, package)
    note = (
        f"This could not be graded, because it uses {package}, which is not there when answers are judged. An "
        "instructor can add it with c.Katze.packages, or give points by hand."
    )
    return Verdict(verdict.exercise, Outcome.UNGRADED, None, note=note)


def _is_as_good(verdict: Verdict, before: Verdict) -> bool:
    """Whether every visible case that had passed has passed again."""
    passed = {case.case.name for case in verdict.cases if case.passed}
    return all(case.case.name in passed for case in before.cases if case.passed)


def _names_the_rule(verdict: Verdict) -> bool:
    """Whether the answer was seen to use what this exercise forbids, and not what another does on the same bench."""
    return verdict.outcome is Outcome.RULE_BROKEN and any(
        name in verdict.note for name in verdict.exercise.forbidden_names
    )


def _compared_with_before(verdict: Verdict, before: Verdict) -> Verdict:
    """The verdict of a bench, where another has come of the same visible cases before, with the reason."""
    if _is_as_good(verdict, before) or verdict.outcome is Outcome.RULE_BROKEN:
        return verdict
    lacking = ", ".join(family.names[0] for family in verdict.exercise.forbidden)
    if verdict.outcome is Outcome.NEVER_DEFINED:
        note = (
            "This could not be graded, because a cell that defines it fails where there is no "
            f"{lacking or 'package'}. An instructor can give points by hand."
        )
        return Verdict(verdict.exercise, Outcome.UNGRADED, None, note=note)
    return replace(
        verdict, note=f"Your answer fails where {lacking or 'the package that the lesson shows'} is missing."
    )


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
    return Graded(verdicts, replay.log.outputs, notices, remarks, replay.budget.starved)
