"""Grading one submission, with a box that is a dictionary: what runs, what is replayed, what is shown.

Tests `replay.py` and `one_answer.py` as well.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from autograder.box import BoxLost, CellResult
from autograder.box.bench import CELLS, Bench
from autograder.grading.submission import SLOTS, AnswerKeys, Graded, grade_cells
from autograder.limits import Allowance, Limits
from autograder.repair import Cell, CellKind
from course_lib import exercises
from course_lib.checking import PUBLIC_SEED, AnswerKey, Case, Exercise, Observation, Outcome, observe
from course_lib.checking.observation import Raised
from course_lib.checking.ready_made import READY_MADE

SCORES = "attention.scores"
SCALE = "attention.scale"
RIGHT_SCORES = "def dot_product_scores(q, k):\n    return q @ k.transpose(-2, -1)"
RIGHT_SCALE = "def scale_scores(scores, d_head):\n    return scores / d_head**0.5"


class Hang(BaseException):
    """Stands for code that never returns."""


class DictionaryBox:
    """A box for tests: no process, but the same endings."""

    def __init__(self, log: list[str], bench: Bench = CELLS) -> None:
        self.bench = bench
        self.names: dict[str, Any] = {"Hang": Hang, "LACKING": bench.families}
        self.log = log
        self.allowed: list[Allowance] = []
        self.share = 0.0
        self.starved = False

    def run_cell(self, source: str, allowed: Allowance) -> CellResult:
        self.allowed.append(allowed)
        self.log.append(source)
        try:
            exec(source, self.names)
        except Hang:
            raise BoxLost(Outcome.TIMED_OUT, "it used more than 10 s of processor time") from None
        except Exception as error:
            failure = Outcome.OUT_OF_MEMORY if isinstance(error, MemoryError) else Outcome.RAISED
            return CellResult([], False, Raised(type(error).__name__, str(error), line=1), failure)
        lacked = "needed here" in source and self.bench != CELLS
        return CellResult([{"output_type": "stream", "name": "stdout", "text": source}], True, lacked=lacked)

    def changes(self) -> list[str]:
        return []

    def observe_cases(
        self, name: str, cases: Sequence[Case], *, hidden: bool, allowed: Allowance
    ) -> Iterator[Observation]:
        for case in cases:
            yield self._observe(name, case, hidden)
            if name not in self.names:
                return

    def _observe(self, name: str, case: Case, hidden: bool) -> Observation:
        self.log.append(f"{'hidden' if hidden else 'visible'} {name}")
        if name not in self.names:
            return Observation(returned=False, failure=Outcome.NEVER_DEFINED)
        seen = observe(self.names[name], case, [name for one in self.bench.families for name in READY_MADE[one].names])
        if seen.raised is not None and seen.raised.type_name == "Hang":
            raise BoxLost(Outcome.TIMED_OUT, "it used more than 10 s of processor time")
        return seen


def answer(exercise: str, source: str) -> list[Cell]:
    """An answer cell and its check."""
    return [Cell(CellKind.ANSWER, source, exercise), Cell(CellKind.CHECK, f"check({exercise!r})", exercise)]


def code(source: str, *tags: str) -> Cell:
    return Cell(CellKind.CODE, source, tags=tags)


def grade(cells: list[Cell], log: list[str] | None = None, seconds: float = 60.0, **options: bool) -> Graded:
    log = [] if log is None else log

    @contextmanager
    def open_box(seconds: float, bench: Bench) -> Iterator[DictionaryBox]:
        log.append("open")
        yield DictionaryBox(log, bench)

    def key_for(exercise: Exercise) -> AnswerKey:
        return AnswerKey(exercise, PUBLIC_SEED)

    return grade_cells(cells, exercises.COURSE, open_box, key_for, Limits(submission_seconds=seconds), **options)


def outcomes(graded: Graded) -> dict[str, tuple[str, float | None]]:
    return {name: (str(verdict.outcome), verdict.points) for name, verdict in graded.verdicts.items()}


def test_right_answers_pass_in_a_single_box() -> None:
    log: list[str] = []
    graded = grade([*answer(SCORES, RIGHT_SCORES), *answer(SCALE, RIGHT_SCALE)], log)
    assert outcomes(graded) == {SCORES: ("passed", 2), SCALE: ("passed", 1)}
    assert log.count("open") == 1


def test_hidden_cases_run_behind_the_last_cell_whose_output_is_kept() -> None:
    log: list[str] = []
    graded = grade([*answer(SCORES, RIGHT_SCORES), code("last = 1")], log)
    assert log.index("last = 1") < log.index("hidden dot_product_scores")
    assert graded.outputs[2][0]["text"] == "last = 1"


def test_a_helper_redefined_later_does_not_spoil_an_answer() -> None:
    log: list[str] = []
    cells = [
        code("turn = lambda x: x.transpose(-2, -1)"),
        *answer(SCORES, "def dot_product_scores(q, k):\n    return q @ turn(k)"),
        code("turn = lambda x: x"),
    ]
    assert outcomes(grade(cells, log)) == {SCORES: ("passed", 2)}
    assert log.count("open") == 2


def test_what_runs_after_hidden_inputs_were_seen_is_not_shown() -> None:
    cells = [
        code("kept = []"),
        *answer(SCORES, "def dot_product_scores(q, k):\n    kept.append(q)\n    return q @ turn(k)"),
        code("turn = lambda x: x"),
    ]
    cells.insert(0, code("turn = lambda x: x.transpose(-2, -1)"))
    graded = grade(cells)
    assert graded.outputs[4][0]["text"] == "turn = lambda x: x"  # from the first box


def test_nothing_is_checked_in_a_box_that_has_seen_hidden_inputs_in_place() -> None:
    turned = "turn = lambda x: x.transpose(-2, -1)"
    log: list[str] = []
    cells = [
        code(turned),
        *answer(SCORES, "def dot_product_scores(q, k):\n    return q @ turn(k)"),
        code("root = lambda d: d**0.5"),
        *answer(SCALE, "def scale_scores(scores, d_head):\n    return scores / root(d_head)"),
        code("turn = root = lambda x: x"),
    ]
    assert outcomes(grade(cells, log)) == {SCORES: ("passed", 2), SCALE: ("passed", 1)}
    boxes = " ".join(log).split("open")[2:]
    assert len(boxes) == 2
    for box in boxes:
        assert "visible" not in box[box.index("hidden") :]


def test_a_cell_that_hangs_costs_its_own_exercise_only() -> None:
    log: list[str] = []
    cells = [
        *answer(SCORES, RIGHT_SCORES + "\nraise Hang"),
        *answer(SCALE, RIGHT_SCALE),
    ]
    graded = grade(cells, log)
    assert outcomes(graded) == {SCORES: ("timed_out", 0), SCALE: ("passed", 1)}
    assert log.count("open") == 2
    assert graded.notices == {
        0: "Stopped in cell 1: it used more than 10 s of processor time; the other exercises keep their points."
    }
    assert 0 not in graded.outputs


def test_a_call_that_hangs_costs_its_own_exercise_only() -> None:
    cells = [
        *answer(SCORES, RIGHT_SCORES),
        *answer(SCALE, "def scale_scores(scores, d_head):\n    raise Hang"),
        code("after = 1"),
    ]
    graded = grade(cells)
    assert outcomes(graded) == {SCORES: ("passed", 2), SCALE: ("timed_out", 0)}
    assert graded.outputs[4][0]["text"] == "after = 1"


def test_a_call_that_hangs_on_hidden_inputs_only_is_caught_and_leaves_the_others() -> None:
    visible = {tuple(case.args[0].shape) for case in exercises.find(SCALE).visible_cases()}
    source = f"def scale_scores(scores, d_head):\n    if tuple(scores.shape) not in {visible}:\n        raise Hang\n"
    cells = [*answer(SCALE, source + "    return scores / d_head**0.5"), *answer(SCORES, RIGHT_SCORES)]
    assert outcomes(grade(cells)) == {SCALE: ("timed_out", 0), SCORES: ("passed", 2)}


def test_a_cell_that_raises_is_named_where_it_should_have_defined_the_answer() -> None:
    graded = grade([*answer(SCORES, "import no_such_module\n" + RIGHT_SCORES), *answer(SCALE, RIGHT_SCALE)])
    assert outcomes(graded) == {SCORES: ("raised", 0), SCALE: ("passed", 1)}
    assert "ModuleNotFoundError" in graded.verdicts[SCORES].note


def test_an_answer_defined_before_its_cell_raises_still_counts() -> None:
    graded = grade(answer(SCORES, RIGHT_SCORES + "\nprint(no_such_name)"))
    assert outcomes(graded) == {SCORES: ("passed", 2)}


def test_a_name_that_is_never_defined_and_a_stub() -> None:
    stub = "def scale_scores(scores, d_head):\n    raise NotImplementedError()"
    graded = grade([*answer(SCORES, "pass"), *answer(SCALE, stub)])
    assert outcomes(graded) == {SCORES: ("never_defined", 0), SCALE: ("not_attempted", 0)}


def test_a_forbidden_name_breaks_a_rule_without_a_call() -> None:
    log: list[str] = []
    source = "def attention_weights(scaled):\n    return scaled.softmax(-1)"
    graded = grade(answer("attention.weights", source), log)
    assert outcomes(graded) == {"attention.weights": ("rule_broken", 0)}
    assert (
        "uses softmax, which this exercise asks you to write yourself (line 2:"
        in graded.verdicts["attention.weights"].note
    )
    assert "visible attention_weights" not in log


def test_a_forbidden_function_reached_by_a_detour_breaks_the_rule_as_well() -> None:
    source = "import torch\ntools = {}\ntools['s'] = getattr(torch, 'soft' + 'max')\n"
    source += "def attention_weights(scaled):\n    try:\n        return tools['s'](scaled, -1)\n"
    source += "    except Exception:\n        return scaled.exp() / scaled.exp().sum(-1, keepdim=True)"
    graded = grade(answer("attention.weights", source))
    assert outcomes(graded) == {"attention.weights": ("rule_broken", 0)}
    assert "uses softmax" in graded.verdicts["attention.weights"].note


def test_a_first_try_with_a_forbidden_name_is_forgotten_once_the_answer_is_another() -> None:
    tried = code("import torch\ndef attention_weights(scaled):\n    return torch.softmax(scaled, -1)")
    mended = "def attention_weights(scaled):\n    powers = (scaled - scaled.amax(-1, keepdim=True)).exp()\n"
    mended += "    return powers / powers.sum(-1, keepdim=True)"
    cells = [tried, *answer("attention.weights", mended), tried]
    assert outcomes(grade(cells))["attention.weights"] == ("passed", 3)


def test_demo_cells_are_left_out_until_a_later_cell_needs_one() -> None:
    figure = code("helper = lambda x: x.transpose(-2, -1)", "demo")
    log: list[str] = []
    grade([figure, *answer(SCORES, RIGHT_SCORES)], log)
    assert figure.source not in log

    needs_it = "helper\ndef dot_product_scores(q, k):\n    return q @ helper(k)"
    log.clear()
    assert outcomes(grade([figure, *answer(SCORES, needs_it)], log)) == {SCORES: ("passed", 2)}
    assert log.count("open") == 2
    assert figure.source in log


@pytest.mark.parametrize(
    ("demo", "cell"),
    [
        ("helper = lambda x: x.mT", "def dot_product_scores(q, k):\n    return q @ helper(k)"),
        (RIGHT_SCORES, "# see the picture above"),
    ],
)
def test_a_demo_cell_that_an_answer_needs_when_called_is_run_too(demo: str, cell: str) -> None:
    log: list[str] = []
    cells = [*answer(SCALE, RIGHT_SCALE), code(demo, "demo"), *answer(SCORES, cell)]
    assert outcomes(grade(cells, log)) == {SCALE: ("passed", 1), SCORES: ("passed", 2)}
    assert log.count("open") == 2


def test_a_name_that_is_nowhere_is_looked_for_once() -> None:
    log: list[str] = []
    cells = [code("figure = 1", "demo"), *answer(SCORES, "def dot_product_scores(q, k):\n    return q @ nowhere(k)")]
    assert outcomes(grade(cells, log)) == {SCORES: ("raised", 0)}
    assert log.count("open") == 2
    log.clear()
    assert outcomes(grade([code("figure = 1", "demo"), *answer(SCORES, "")], log)) == {SCORES: ("never_defined", 0)}
    assert log.count("open") == 1


def test_a_demo_of_the_release_runs_only_where_it_defines_the_name() -> None:
    training = replace(code("raise Hang  # trains a model, for long", "demo"), origin="release")
    reading = replace(code("table = 1", "demo"), origin="release")
    making = replace(code("table\nhelper = lambda x: x.mT", "demo"), origin="release")
    log: list[str] = []
    nowhere = answer(SCORES, "F\ndef dot_product_scores(q, k):\n    return q @ F.mystery(k)")
    graded = grade([training, reading, making, *nowhere], log)
    assert outcomes(graded) == {SCORES: ("raised", 0)}
    assert log.count("open") == 1
    assert not graded.notices

    log.clear()
    called = answer(SCORES, "def dot_product_scores(q, k):\n    return q @ helper(k)")
    graded = grade([training, reading, making, *called], log)
    assert outcomes(graded) == {SCORES: ("passed", 2)}
    assert log.count("open") == 3
    assert not graded.notices


def test_an_answer_cell_that_runs_out_of_memory_says_so() -> None:
    cell = "raise MemoryError\n" + RIGHT_SCORES
    graded = grade(answer(SCORES, cell))
    assert outcomes(graded) == {SCORES: ("out_of_memory", 0)}


def test_all_cells_run_where_that_is_asked_for() -> None:
    log: list[str] = []
    grade([code("shown = 1", "demo"), *answer(SCORES, RIGHT_SCORES)], log, skip_demos=False)
    assert "shown = 1" in log


def test_many_cells_that_end_their_box_still_leave_the_answers() -> None:
    log: list[str] = []
    graded = grade([code(f"raise Hang  # {number}") for number in range(20)] + answer(SCORES, RIGHT_SCORES), log)
    assert log.count("open") == 20 + 1
    assert outcomes(graded) == {SCORES: ("passed", 2)}


def test_a_submission_that_ends_every_box_is_stopped() -> None:
    log: list[str] = []
    graded = grade([code(f"raise Hang  # {number}") for number in range(60)] + answer(SCORES, RIGHT_SCORES), log)
    assert log.count("open") == 40
    assert outcomes(graded) == {SCORES: ("timed_out", 0)}
    assert graded.verdicts[SCORES].note == "More than 40 cells ended Python itself before this exercise was reached."


def test_what_a_box_has_used_up_the_next_one_does_not_have() -> None:
    left: list[float] = []

    @contextmanager
    def open_box(seconds: float, bench: Bench) -> Iterator[DictionaryBox]:
        left.append(seconds)
        box = DictionaryBox([])
        box.share = 25.0
        yield box

    cells = [code("raise Hang  # 1"), code("raise Hang  # 2"), code("raise Hang  # 3"), *answer(SCORES, RIGHT_SCORES)]
    graded = grade_cells(cells, exercises.COURSE, open_box, lambda exercise: AnswerKey(exercise, PUBLIC_SEED), Limits())
    assert left == [60.0, 35.0, 10.0]
    assert outcomes(graded) == {SCORES: ("timed_out", 0)}


@pytest.mark.parametrize("starved", [False, True])
def test_a_grade_says_whether_a_busy_machine_may_have_spoiled_it(starved: bool) -> None:
    opened: list[DictionaryBox] = []

    @contextmanager
    def open_box(seconds: float, bench: Bench) -> Iterator[DictionaryBox]:
        opened.append(DictionaryBox([]))
        opened[-1].starved = starved and len(opened) == 1
        yield opened[-1]

    cells = [code("raise Hang"), *answer(SCORES, RIGHT_SCORES)]
    graded = grade_cells(cells, exercises.COURSE, open_box, lambda exercise: AnswerKey(exercise, PUBLIC_SEED), Limits())
    assert len(opened) == 2
    assert graded.starved is starved


def test_without_time_nothing_is_run() -> None:
    log: list[str] = []
    graded = grade(answer(SCORES, RIGHT_SCORES), log, seconds=0.0)
    assert log == []
    assert "used up" in graded.verdicts[SCORES].note


@pytest.fixture
def scores_exercise() -> Exercise:
    return exercises.find(SCORES)


def test_hidden_inputs_follow_from_secret_exercise_and_slot(scores_exercise: Exercise) -> None:
    def inputs(secret: bytes, student: str) -> str:
        return str([case.args for case in AnswerKeys(secret).key(scores_exercise, student).hidden])

    assert inputs(b"a" * 32, "ada") == inputs(b"a" * 32, "ada")
    assert inputs(b"a" * 32, "ada") != inputs(b"b" * 32, "ada")
    drawn = {inputs(b"a" * 32, f"student {number}") for number in range(200)}
    assert 16 < len(drawn) <= SLOTS


def test_seeds_of_hidden_inputs_have_256_bits() -> None:
    seeds = [AnswerKeys(b"a" * 32).seed(SCORES, slot) for slot in range(SLOTS)]
    assert len({seed % 2**32 for seed in seeds}) == len({seed >> 224 for seed in seeds}) == SLOTS
    assert 2**250 < max(seeds) < 2**256


def test_the_keys_of_one_slot_are_kept_at_a_time(scores_exercise: Exercise) -> None:
    keys = AnswerKeys(b"a" * 32)
    students = [f"student {number}" for number in range(3 * SLOTS)]
    first = students[0]
    same = next(student for student in students[1:] if keys.slot(student) == keys.slot(first))
    other = next(student for student in students if keys.slot(student) != keys.slot(first))
    kept = keys.key(scores_exercise, first)
    assert keys.key(scores_exercise, same) is kept
    forgotten = weakref.ref(kept)
    del kept
    keys.key(scores_exercise, other)
    gc.collect()
    assert forgotten() is None


SOFTMAX_BY_HAND = """
def attention_weights(scaled):
    e = (scaled - scaled.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)
"""


JACOBIAN_BY_HAND = """
def softmax_jacobian(scores):
    alpha = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return torch.diag_embed(alpha) - alpha.unsqueeze(-1) * alpha.unsqueeze(-2)
"""
WEIGHTS, JACOBIAN = "attention.weights", "attention.softmax_jacobian"
BY_HAND = {
    WEIGHTS: [code("import torch"), *answer(WEIGHTS, SOFTMAX_BY_HAND)],
    JACOBIAN: [code("import torch"), *answer(JACOBIAN, JACOBIAN_BY_HAND)],
}
"""Two answers that need different benches: the cells are run on that of the first."""


def test_the_cells_are_run_on_the_bench_of_most_answers() -> None:
    log: list[str] = []
    assert outcomes(grade([*BY_HAND[WEIGHTS], *answer(SCALE, RIGHT_SCALE)], log)) == {
        WEIGHTS: ("passed", 3),
        SCALE: ("passed", 1),
    }
    assert log.count("open") == 1


@pytest.mark.parametrize("place", ["before", "after"])
def test_where_a_cell_lacks_something_all_begins_again_without_a_bench(place: str) -> None:
    log: list[str] = []
    needs = code("'needed here'")
    cells = [needs, *BY_HAND[WEIGHTS]] if place == "before" else [*BY_HAND[WEIGHTS], needs]
    graded = grade(cells, log)
    assert outcomes(graded) == {WEIGHTS: ("passed", 3)}
    assert log.count("open") == 3
    assert log.count("'needed here'") == 3
    assert len(graded.outputs) == 3


def test_where_an_answer_breaks_another_s_rule_all_begins_again_without_a_bench() -> None:
    """An exercise without a rule may use what is forbidden to the other."""
    log: list[str] = []
    free = "def scale_scores(scores, d_head):\n    torch.softmax(scores, -1)\n    return scores / d_head**0.5"
    graded = grade([*BY_HAND[WEIGHTS], *answer(SCALE, free)], log)
    assert outcomes(graded) == {WEIGHTS: ("passed", 3), SCALE: ("passed", 1)}
    assert log.count("open") == 3


def test_no_bench_is_chosen_that_lacks_what_the_lesson_s_own_cells_call() -> None:
    log: list[str] = []
    given = Cell(CellKind.CODE, "torch.softmax(torch.ones(3), -1)", origin="release")
    assert outcomes(grade([*BY_HAND[WEIGHTS], given], log)) == {WEIGHTS: ("passed", 3)}
    assert log[0] == "open"
    assert "hidden attention_weights" not in log[: log.index("open", 1)]


def test_what_may_not_use_something_is_judged_where_it_is_missing() -> None:
    log: list[str] = []
    cells = [*BY_HAND[JACOBIAN], code("print('needless')"), *answer(WEIGHTS, SOFTMAX_BY_HAND)]
    assert outcomes(grade(cells, log)) == {JACOBIAN: ("passed", 2), WEIGHTS: ("passed", 3)}
    cells_box, bench = " ".join(log).split("open")[1:]
    assert "hidden attention_weights" not in cells_box
    assert "hidden softmax_jacobian" in cells_box
    assert "hidden attention_weights" in bench
    assert "needless" in bench  # a student's own cell may be needed in ways that nobody can read


def test_an_answer_that_earns_nothing_is_not_judged_again() -> None:
    log: list[str] = []
    wrong = "def attention_weights(scaled):\n    return scaled"
    assert outcomes(grade(answer("attention.weights", wrong), log)) == {"attention.weights": ("wrong", 0)}
    assert log.count("open") == 1


def test_the_release_s_cells_that_an_answer_does_not_need_are_left_out_and_come_back_if_it_does() -> None:
    shown = Cell(CellKind.CODE, "globals()['helper'] = lambda x: x.amax(-1, keepdim=True)", origin="release")
    needs = SOFTMAX_BY_HAND.replace("scaled.amax(-1, keepdim=True)", "globals()['helper'](scaled)")
    log: list[str] = []
    home = [*BY_HAND[JACOBIAN], shown]
    assert outcomes(grade([*home, *answer(WEIGHTS, SOFTMAX_BY_HAND)], log))[WEIGHTS][0] == "passed"
    assert log.count(shown.source) == 1
    log.clear()
    assert outcomes(grade([*home, *answer(WEIGHTS, needs)], log))[WEIGHTS] == ("passed", 3)
    assert log.count(shown.source) == 2
    assert log.count("open") == 3


@pytest.mark.parametrize("exercise", ["attention.weights", "attention.softmax_jacobian"])
def test_an_answer_that_only_works_with_what_it_may_not_use_earns_nothing(exercise: str) -> None:
    reference, family = {WEIGHTS: ("attention_weights", "softmax"), JACOBIAN: ("softmax_jacobian", "jacobian")}[
        exercise
    ]
    written = f"from course_lib.attention import {reference} as right\n"
    written += (
        f"def {reference}(scores):\n    if {family!r} in LACKING:\n        raise KeyError\n    return right(scores)"
    )
    [other] = BY_HAND.keys() - {exercise}
    verdict = grade([*BY_HAND[other], *answer(exercise, written)]).verdicts[exercise]
    assert (verdict.outcome, verdict.points) == (Outcome.RAISED, 0)
    assert "is missing" in verdict.note


def test_a_skipped_check_gives_no_verdict_and_is_counted_all_the_same() -> None:
    defined, check = answer(SCORES, RIGHT_SCORES)
    graded = grade([defined, check.skip(), code("raise Hang()")])
    assert graded.verdicts == {}
    assert graded.notices[2].startswith("Stopped in cell 3: ")
