"""Grading one submission, with a sandbox that is a dictionary: what runs, what is replayed, what is shown.

Tests `answer_grader.py` and `cell_log.py` as well.
"""

import gc
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from autograder.box.endings import BoxLost
from autograder.box.protocol import CellResult
from autograder.grading.answer_keys import SLOTS, AnswerKeys
from autograder.grading.notebook_runner import Graded, grade_notebook
from autograder.limits import Allowance, Limits
from autograder.repair import Cell, CellKind
from course_lib import exercises
from course_lib.judging.answer_key import PUBLIC_SEED, AnswerKey
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.observation import Observation, Outcome, Raised, observe
from tests.boxes import answered

SCORES = "attention.scores"
SCALE = "attention.scale"
RIGHT_SCORES = "def dot_product_scores(q, k):\n    return q @ k.transpose(-2, -1)"
RIGHT_SCALE = "def scale_scores(scores, d_head):\n    return scores / d_head**0.5"


class Hang(BaseException):
    """Stands for code that never returns."""


class DictionaryBox:
    """A sandbox for tests: no process, but the same endings."""

    def __init__(self, log: list[str]) -> None:
        self.names: dict[str, Any] = {"Hang": Hang}
        self.log = log
        self.allowed: list[Allowance] = []
        self.share = 0.0
        self.starved = False

    def run_cell(self, source: str, allowed: Allowance) -> CellResult:
        self.allowed.append(allowed)
        self.log.append(source)
        self.share += sum(float(word) for word in source.split("# takes ")[1:])
        self.starved |= "# starved" in source
        try:
            exec(source, self.names)
        except Hang:
            raise BoxLost(Outcome.TIMED_OUT, "it used more than 10 s of processor time") from None
        except Exception as error:
            failure = Outcome.OUT_OF_MEMORY if isinstance(error, MemoryError) else Outcome.RAISED
            return CellResult([], False, Raised(type(error).__name__, str(error), line=1), failure)
        return CellResult([{"output_type": "stream", "name": "stdout", "text": source}], True)

    def changes(self) -> list[str]:
        return []

    def observe_cases(
        self, name: str, cases: Sequence[Case], *, hidden: bool, allowed: Allowance, forbidden: Sequence[str]
    ) -> Iterator[Observation]:
        for case in cases:
            yield self._observe(name, case, hidden, forbidden)
            if name not in self.names:
                return

    def _observe(self, name: str, case: Case, hidden: bool, forbidden: Sequence[str]) -> Observation:
        self.log.append(f"{'hidden' if hidden else 'visible'} {name}")
        if name not in self.names:
            return Observation(returned=False, failure=Outcome.NEVER_DEFINED)
        seen = observe(self.names[name], case, forbidden)
        if seen.raised is not None and seen.raised.type_name == "Hang":
            raise BoxLost(Outcome.TIMED_OUT, "it used more than 10 s of processor time")
        return seen


def code(source: str, *tags: str) -> Cell:
    return Cell(CellKind.CODE, source, tags=tags)


def grade(cells: list[Cell], log: list[str] | None = None, seconds: float = 60.0, **options: bool) -> Graded:
    log = [] if log is None else log

    @contextmanager
    def open_box(seconds: float) -> Iterator[Any]:
        log.extend(["open", f"{seconds:g} s left"])
        yield DictionaryBox(log)

    def key_for(exercise: Exercise) -> AnswerKey:
        return AnswerKey(exercise, PUBLIC_SEED)

    return grade_notebook(cells, exercises.COURSE, open_box, key_for, Limits(submission_seconds=seconds), **options)


def outcomes(graded: Graded) -> dict[str, tuple[str, float | None]]:
    return {name: (str(verdict.outcome), verdict.points) for name, verdict in graded.verdicts.items()}


def test_right_answers_pass_in_a_single_box_and_hidden_cases_run_behind_the_last_cell() -> None:
    log: list[str] = []
    graded = grade([*answered(SCORES, RIGHT_SCORES), *answered(SCALE, RIGHT_SCALE), code("last = 1")], log)
    assert outcomes(graded) == {SCORES: ("passed", 1), SCALE: ("passed", 1)}
    assert log.count("open") == 1
    assert log.index("last = 1") < log.index("hidden dot_product_scores")
    assert graded.outputs[4][0]["text"] == "last = 1"


def test_a_helper_redefined_later_spoils_no_answer_and_what_runs_after_hidden_inputs_is_not_shown() -> None:
    log: list[str] = []
    cells = [
        code("kept = []\nturn = lambda x: x.transpose(-2, -1)"),
        *answered(SCORES, "def dot_product_scores(q, k):\n    kept.append(q)\n    return q @ turn(k)"),
        code("turn = lambda x: x"),
    ]
    graded = grade(cells, log)
    assert outcomes(graded) == {SCORES: ("passed", 1)}
    assert log.count("open") == 2
    assert graded.outputs[3][0]["text"] == "turn = lambda x: x"  # from the first sandbox


@pytest.mark.parametrize(
    ("source", "outcome", "note"),
    [
        (f"import no_such_module\n{RIGHT_SCORES}", ("raised", 0), "ModuleNotFoundError"),
        (f"{RIGHT_SCORES}\nprint(no_such_name)", ("passed", 1), ""),
        (f"raise MemoryError\n{RIGHT_SCORES}", ("out_of_memory", 0), "was stopped: it needed more memory"),
        ("pass", ("never_defined", 0), "never defines dot_product_scores"),
        ("def dot_product_scores(q, k):\n    raise NotImplementedError()", ("not_attempted", 0), ""),
    ],
)
def test_what_its_cell_does_is_told_where_an_answer_is_not_there(
    source: str, outcome: tuple[str, float], note: str
) -> None:
    graded = grade([*answered(SCORES, source), *answered(SCALE, RIGHT_SCALE)])
    assert outcomes(graded) == {SCORES: outcome, SCALE: ("passed", 1)}
    assert note in graded.verdicts[SCORES].note


def test_nothing_is_checked_in_a_box_that_has_seen_hidden_inputs_in_place() -> None:
    turned = "turn = lambda x: x.transpose(-2, -1)"
    log: list[str] = []
    cells = [
        code(turned),
        *answered(SCORES, "def dot_product_scores(q, k):\n    return q @ turn(k)"),
        code("root = lambda d: d**0.5"),
        *answered(SCALE, "def scale_scores(scores, d_head):\n    return scores / root(d_head)"),
        code("turn = root = lambda x: x"),
    ]
    assert outcomes(grade(cells, log)) == {SCORES: ("passed", 1), SCALE: ("passed", 1)}
    boxes = " ".join(log).split("open")[2:]
    assert len(boxes) == 2
    for box in boxes:
        assert "visible" not in box[box.index("hidden") :]


def test_a_cell_that_hangs_costs_its_own_exercise_only() -> None:
    log: list[str] = []
    cells = [
        *answered(SCORES, RIGHT_SCORES + "\nraise Hang"),
        *answered(SCALE, RIGHT_SCALE),
    ]
    graded = grade(cells, log)
    assert outcomes(graded) == {SCORES: ("timed_out", 0), SCALE: ("passed", 1)}
    assert log.count("open") == 2
    assert graded.notices == {
        0: "Stopped in cell 1: it used more than 10 s of processor time; the other exercises keep their points."
    }
    assert 0 not in graded.outputs


def test_a_call_that_hangs_on_hidden_inputs_only_is_caught_and_leaves_the_others() -> None:
    visible = {tuple(case.args[0].shape) for case in exercises.find(SCALE).visible_cases()}
    source = f"def scale_scores(scores, d_head):\n    if tuple(scores.shape) not in {visible}:\n        raise Hang\n"
    cells = [*answered(SCALE, source + "    return scores / d_head**0.5"), *answered(SCORES, RIGHT_SCORES)]
    assert outcomes(grade(cells)) == {SCALE: ("timed_out", 0), SCORES: ("passed", 1)}


def test_a_first_try_with_a_forbidden_name_is_forgotten_once_the_answer_is_another() -> None:
    tried = code("import torch\ndef attention_weights(scaled):\n    return torch.softmax(scaled, -1)")
    mended = "def attention_weights(scaled):\n    powers = (scaled - scaled.amax(-1, keepdim=True)).exp()\n"
    mended += "    return powers / powers.sum(-1, keepdim=True)"
    cells = [tried, *answered("attention.weights", mended), tried]
    assert outcomes(grade(cells))["attention.weights"] == ("passed", 3)


def test_demo_cells_are_left_out_until_a_later_cell_needs_one() -> None:
    figure = code("helper = lambda x: x.transpose(-2, -1)", "demo")
    log: list[str] = []
    grade([figure, *answered(SCORES, RIGHT_SCORES)], log)
    assert figure.source not in log
    grade([figure, *answered(SCORES, RIGHT_SCORES)], log, skip_demos=False)
    assert figure.source in log

    needs_it = "helper\ndef dot_product_scores(q, k):\n    return q @ helper(k)"
    log.clear()
    assert outcomes(grade([figure, *answered(SCORES, needs_it)], log)) == {SCORES: ("passed", 1)}
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
    cells = [*answered(SCALE, RIGHT_SCALE), code(demo, "demo"), *answered(SCORES, cell)]
    assert outcomes(grade(cells, log)) == {SCALE: ("passed", 1), SCORES: ("passed", 1)}
    assert log.count("open") == 2


def test_a_name_that_is_nowhere_is_looked_for_once() -> None:
    log: list[str] = []
    cells = [code("figure = 1", "demo"), *answered(SCORES, "def dot_product_scores(q, k):\n    return q @ nowhere(k)")]
    assert outcomes(grade(cells, log)) == {SCORES: ("raised", 0)}
    assert log.count("open") == 2
    log.clear()
    assert outcomes(grade([code("figure = 1", "demo"), *answered(SCORES, "")], log)) == {SCORES: ("never_defined", 0)}
    assert log.count("open") == 1


def test_a_demo_of_the_release_runs_only_where_it_defines_the_name() -> None:
    training = replace(code("raise Hang  # trains a model, for long", "demo"), origin="release")
    reading = replace(code("table = 1", "demo"), origin="release")
    making = replace(code("table\nhelper = lambda x: x.mT", "demo"), origin="release")
    log: list[str] = []
    nowhere = answered(SCORES, "F\ndef dot_product_scores(q, k):\n    return q @ F.mystery(k)")
    graded = grade([training, reading, making, *nowhere], log)
    assert outcomes(graded) == {SCORES: ("raised", 0)}
    assert log.count("open") == 1
    assert not graded.notices

    log.clear()
    called = answered(SCORES, "def dot_product_scores(q, k):\n    return q @ helper(k)")
    graded = grade([training, reading, making, *called], log)
    assert outcomes(graded) == {SCORES: ("passed", 1)}
    assert log.count("open") == 3
    assert not graded.notices


@pytest.mark.parametrize(
    "demos",
    [
        ["raise Hang  # takes 10"],
        ["raise Hang  # takes 60"],
        ["raise Hang  # takes 10"] * 7,
        ["shown = 1  # takes 30", "shown = 2  # takes 40"],
        ["helper = 1\nraise Hang  # takes 70"],
    ],
    ids=["one limit", "all the time there is", "seven limits", "within its limit", "defines as well"],
)
def test_a_demo_that_takes_too_long_costs_no_point(demos: list[str]) -> None:
    cells = [
        *answered(SCALE, RIGHT_SCALE),
        *(code(demo, "demo") for demo in demos),
        *answered(SCORES, RIGHT_SCORES),
        *answered("attention.weights", "def attention_weights(scaled):\n    return scaled"),
    ]
    log: list[str] = []
    graded = grade(cells, log, skip_demos=False)
    assert {name: verdict.points for name, verdict in graded.verdicts.items()} == {
        SCALE: 1,
        SCORES: 1,
        "attention.weights": 0,
    }
    assert demos[0] in log


@pytest.mark.parametrize(
    ("hanging", "boxes", "outcome", "note"),
    [
        (20, 21, ("passed", 1), ""),
        (60, 40, ("timed_out", 0), "More than 40 cells made Python exit before this exercise was reached."),
    ],
)
def test_many_cells_that_end_their_box_leave_the_answers_until_it_is_too_much(
    hanging: int, boxes: int, outcome: tuple[str, float], note: str
) -> None:
    log: list[str] = []
    graded = grade([code(f"raise Hang  # {number}") for number in range(hanging)] + answered(SCORES, RIGHT_SCORES), log)
    assert log.count("open") == boxes
    assert outcomes(graded) == {SCORES: outcome}
    assert graded.verdicts[SCORES].note == note


def test_what_a_box_has_used_up_the_next_one_does_not_have() -> None:
    log: list[str] = []
    graded = grade([*(code("raise Hang  # takes 25") for _ in range(3)), *answered(SCORES, RIGHT_SCORES)], log)
    assert [said for said in log if said.endswith(" left")] == ["60 s left", "35 s left", "10 s left"]
    assert outcomes(graded) == {SCORES: ("timed_out", 0)}


@pytest.mark.parametrize("starved", [False, True])
def test_a_grade_says_whether_a_busy_machine_may_have_spoiled_it(starved: bool) -> None:
    log: list[str] = []
    graded = grade([code("raise Hang" + "  # starved" * starved), *answered(SCORES, RIGHT_SCORES)], log)
    assert (log.count("open"), graded.starved) == (2, starved)


def test_without_time_nothing_is_run() -> None:
    log: list[str] = []
    graded = grade(answered(SCORES, RIGHT_SCORES), log, seconds=0.0)
    assert log == []
    assert "ran out" in graded.verdicts[SCORES].note


def test_hidden_inputs_follow_from_secret_exercise_and_slot() -> None:
    def inputs(secret: bytes, student: str) -> str:
        return str([case.args for case in AnswerKeys(secret).key(exercises.find(SCORES), student).hidden])

    assert inputs(b"a" * 32, "ada") == inputs(b"a" * 32, "ada")
    assert inputs(b"a" * 32, "ada") != inputs(b"b" * 32, "ada")
    drawn = {inputs(b"a" * 32, f"student {number}") for number in range(200)}
    assert 16 < len(drawn) <= SLOTS


def test_seeds_of_hidden_inputs_have_256_bits() -> None:
    seeds = [AnswerKeys(b"a" * 32).seed(SCORES, slot) for slot in range(SLOTS)]
    assert len({seed % 2**32 for seed in seeds}) == len({seed >> 224 for seed in seeds}) == SLOTS
    assert 2**250 < max(seeds) < 2**256


def test_the_keys_of_one_slot_are_kept_at_a_time() -> None:
    keys = AnswerKeys(b"a" * 32)
    students = [f"student {number}" for number in range(3 * SLOTS)]
    first = students[0]
    same = next(student for student in students[1:] if keys.slot(student) == keys.slot(first))
    other = next(student for student in students if keys.slot(student) != keys.slot(first))
    kept = keys.key(exercises.find(SCORES), first)
    assert keys.key(exercises.find(SCORES), same) is kept
    forgotten = weakref.ref(kept)
    del kept
    keys.key(exercises.find(SCORES), other)
    gc.collect()
    assert forgotten() is None


SOFTMAX_BY_HAND = """
def attention_weights(scaled):
    e = (scaled - scaled.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)
"""


WEIGHTS = "attention.weights"
HELPER = "def helper(x):\n    return getattr(torch, 'soft' + 'max')(x, -1)"


def test_who_earns_nothing_is_not_looked_at() -> None:
    wrong = answered(WEIGHTS, "import threading\ndef attention_weights(scaled):\n    return scaled")
    assert grade(wrong).worth_a_look == {}
    given = Cell(CellKind.CODE, "import torch, threading", origin="release")
    assert grade([given, *answered(WEIGHTS, SOFTMAX_BY_HAND)]).worth_a_look == {}


def test_a_skipped_check_gives_no_verdict_and_is_counted_all_the_same() -> None:
    defined, check = answered(SCORES, RIGHT_SCORES)
    graded = grade([defined, check.skip(), code("raise Hang()")])
    assert graded.verdicts == {}
    assert graded.notices[2].startswith("Stopped in cell 3: ")
