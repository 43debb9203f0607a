"""What a student reads when a limit is hit: one submission after another, in real but small sandboxes."""

import pytest

from autograder.box.endings import PYTHON_ENDED
from autograder.box.fork_server.client import ForkServer
from autograder.course.course import Course
from autograder.grading.batch import grade_assignment
from autograder.grading.notebook_runner import Graded
from autograder.limits import Allowance, Limits
from autograder.repair import Cell, CellKind
from course_lib import exercises
from course_lib.judging.observation import Outcome
from tests.autograder.small_class import BY_NAME, LESSON, answer, hand_in, make_course
from tests.boxes import answered, graded_in

pytestmark = pytest.mark.usefixtures("processes")


SCORES, SCALE = "attention.scores", "attention.scale"
RIGHT = {
    SCORES: "def dot_product_scores(q, k):\n    return q @ k.mT",
    SCALE: "def scale_scores(scores, d_head):\n    return scores / d_head**0.5",
}
LITTLE = Limits(
    memory_bytes=256 << 20,
    memory_ceiling_bytes=1 << 30,
    folder_bytes=20 << 20,
    file_bytes=4 << 20,
    output_bytes=1000,
    threads=20,
    files=50,
    cell_seconds=0.5,
    call_seconds=0.5,
)
COMPUTED = "it used more than 0.5 s of processor time"
WAITED = "it waited for more than 0.5 s without computing"
THREADS = (
    "import threading, time\nthreading.stack_size(1 << 16)\n"
    "for _ in range(50): threading.Thread(target=time.sleep, args=(9,)).start()\ntime.sleep(9)"
)


def grade(fork_server: ForkServer, *cells: Cell, limits: Limits = LITTLE, **more: dict[str, Allowance]) -> Graded:
    return graded_in(fork_server, cells, limits, **more)


def code(source: str) -> Cell:
    return Cell(CellKind.CODE, source)


def exercise(name: str, source: str = "") -> list[Cell]:
    return answered(name, source or RIGHT[name])


ENDED, KEPT = "cell 3 ended its sandbox: ", "; the other exercises keep their points."
MEMORY = "it needed more memory than the 256 MB that it may use"


@pytest.mark.parametrize(
    ("source", "notice", "remark"),
    [
        ("while True: pass", f"Stopped in cell 3: {COMPUTED}{KEPT}", f"{ENDED}{COMPUTED} (cell_seconds)"),
        ("import time; time.sleep(99)", f"Stopped in cell 3: {WAITED}{KEPT}", f"{ENDED}{WAITED} (cell_seconds)"),
        ("x = bytearray(1 << 30)", f"Cell 3: {MEMORY}.", f"cell 3: {MEMORY} (memory_bytes)"),
        (
            "i = 0\nwhile True:\n    open(str(i), 'wb').write(b'x' * (4 << 20)); i += 1",
            f"Stopped in cell 3: it wrote more than 20 MB to disk{KEPT}",
            f"{ENDED}it wrote more than 20 MB to disk (folder_bytes)",
        ),
        (
            "import time\nfor i in range(100): open(str(i), 'w').close()\ntime.sleep(2)",
            f"Stopped in cell 3: it made more than 50 files{KEPT}",
            f"{ENDED}it made more than 50 files (files)",
        ),
        (
            THREADS,
            f"Stopped in cell 3: it started more than 20 threads{KEPT}",
            f"{ENDED}it started more than 20 threads (threads)",
        ),
        (
            "import os; os._exit(3)",
            f"Stopped in cell 3: {PYTHON_ENDED}{KEPT}",
            f"{ENDED}its process ended with exit status 3",
        ),
    ],
    ids=["computes", "waits", "memory", "disk", "files", "threads", "exit"],
)
def test_a_limit_is_told_with_the_cell_and_costs_nothing_else_and_the_instructor_reads_its_setting(
    fork_server: ForkServer, source: str, notice: str, remark: str
) -> None:
    graded = grade(fork_server, *exercise(SCORES), code(source), *exercise(SCALE))
    assert graded.notices == {2: notice}
    assert graded.remarks == [remark]
    assert {name: verdict.points for name, verdict in graded.verdicts.items()} == {SCORES: 1, SCALE: 1}


def test_the_instructor_reads_which_setting_stopped_an_answer(fork_server: ForkServer) -> None:
    endless = "def scale_scores(scores, d_head):\n    while True: pass"
    remarks = grade(fork_server, *exercise(SCALE, endless), *exercise(SCORES)).remarks
    assert remarks == [f"{SCALE}: {COMPUTED} (call_seconds)"]


def test_memory_is_told_in_words_and_not_in_torch_s(fork_server: ForkServer) -> None:
    source = f"import torch\ntorch.empty(1 << 30, dtype=torch.uint8)\n{RIGHT[SCALE]}"
    verdict = grade(fork_server, *exercise(SCALE, source)).verdicts[SCALE]
    assert verdict.outcome is Outcome.OUT_OF_MEMORY
    assert verdict.note == (
        "The cell that should define scale_scores was stopped: it needed more memory than the 256 MB that it may use."
    )
    assert "alloc" not in grade(fork_server, *exercise(SCALE, LARGE_CALL)).verdicts[SCALE].html()


def test_processor_time_is_told(fork_server: ForkServer) -> None:
    limits = Limits(processor_seconds=1, cell_seconds=30.0)
    graded = grade(fork_server, code("while True: pass"), *exercise(SCALE), limits=limits)
    told = "Stopped in cell 1: it used more than 1 s of processor time; the other exercises keep their points."
    assert graded.notices == {0: told}
    assert graded.verdicts[SCALE].passed


def test_output_that_is_cut_is_told_in_the_cell(fork_server: ForkServer) -> None:
    graded = grade(fork_server, code("print('ä' * 5000)"), *exercise(SCALE))
    [output] = graded.outputs[0]
    assert output["text"].endswith("The rest of this cell's output was left out: it shows more than 1000 bytes.\n")
    assert len(output["text"].encode()) < 1200
    assert graded.verdicts[SCALE].passed


def test_the_end_of_all_time_is_told_where_it_came_and_where_it_was_felt(fork_server: ForkServer) -> None:
    limits = Limits(submission_seconds=1.5)
    graded = grade(fork_server, *exercise(SCORES), code("while True: pass"), *exercise(SCALE), limits=limits)
    assert graded.notices == {
        2: "Stopped in cell 3: the time limit for the whole submission (1.5 s) ran out; the earlier exercises keep "
        "their points."
    }
    assert graded.verdicts[SCALE].outcome is Outcome.TIMED_OUT
    assert graded.verdicts[SCALE].note == (
        "The time limit for the whole submission (1.5 s) ran out before this exercise was reached."
    )


@pytest.mark.parametrize(
    ("body", "outcome", "note"),
    [
        ("while True: pass", Outcome.TIMED_OUT, f"Your answer was stopped: {COMPUTED}."),
        (
            "return bytearray(1 << 30)",
            Outcome.OUT_OF_MEMORY,
            "Your answer was stopped: it needed more memory than the 256 MB that it may use.",
        ),
        (
            "import os; os._exit(3)",
            Outcome.DIED,
            f"Your answer was stopped: {PYTHON_ENDED}.",
        ),
    ],
    ids=["computes", "memory", "exit"],
)
def test_a_limit_of_a_call_is_told_in_the_verdict(
    fork_server: ForkServer, body: str, outcome: Outcome, note: str
) -> None:
    wrong = f"def scale_scores(scores, d_head):\n    {body}"
    graded = grade(fork_server, *exercise(SCALE, wrong), *exercise(SCORES))
    assert (graded.verdicts[SCALE].outcome, graded.verdicts[SCALE].note) == (outcome, note)
    assert note in graded.verdicts[SCALE].html()
    assert graded.verdicts[SCORES].passed


def test_hidden_inputs_are_not_told_by_the_limit_that_they_hit(fork_server: ForkServer) -> None:
    """A process that has seen them could choose how to end."""
    shapes = {tuple(case.args[0].shape) for case in exercises.find(SCALE).visible_cases()}
    source = f"def scale_scores(scores, d_head):\n    if tuple(scores.shape) not in {shapes}: import os; os._exit(77)\n"
    verdict = grade(fork_server, *exercise(SCALE, f"{source}    return scores / d_head**0.5")).verdicts[SCALE]
    assert (verdict.outcome, verdict.note) == (Outcome.DIED, f"Your answer was stopped: {PYTHON_ENDED}.")
    assert "77" not in verdict.text()


# --- what one exercise is allowed

SLOW = "import time\nend = time.thread_time() + 1\nwhile time.thread_time() < end: pass\n"
SLOW_CALL = "import time\ndef scale_scores(scores, d_head):\n    done.append(time.thread_time() + 1)\n"
SLOW_CALL += "    while time.thread_time() < done[0]: pass\n"
SLOW_CALL += "    return scores / d_head**0.5\ndone = []"
LARGE_CALL = "import torch\ndef scale_scores(scores, d_head):\n    torch.empty(512 << 20, dtype=torch.uint8)\n"
LARGE_CALL += "    return scores / d_head**0.5"


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        (SLOW + RIGHT[SCALE], Allowance(cell_seconds=10.0)),
        (SLOW_CALL, Allowance(call_seconds=10.0)),
        (f"import torch\ntorch.empty(512 << 20, dtype=torch.uint8)\n{RIGHT[SCALE]}", Allowance(memory_bytes=1 << 30)),
    ],
    ids=["cell", "call", "memory of its cell"],
)
def test_an_exercise_may_be_allowed_more(fork_server: ForkServer, source: str, allowed: Allowance) -> None:
    cells = [*exercise(SCORES), *exercise(SCALE, source)]
    assert not grade(fork_server, *cells).verdicts[SCALE].passed
    graded = grade(fork_server, *cells, allowances={SCALE: allowed})
    assert graded.verdicts[SCALE].passed
    assert not grade(fork_server, *cells, allowances={SCORES: allowed}).verdicts[SCALE].passed


def test_an_exercise_may_be_allowed_less_and_show_more(fork_server: ForkServer) -> None:
    allowances = {SCALE: Allowance(memory_bytes=128 << 20, output_bytes=3000)}
    source = f"print('x' * 2000)\nimport torch; torch.empty(192 << 20, dtype=torch.uint8)\n{RIGHT[SCALE]}"
    graded = grade(fork_server, code("print('x' * 2000)"), *exercise(SCALE, source), allowances=allowances)
    assert "left out" in graded.outputs[0][0]["text"]
    assert graded.outputs[1][0]["text"] == "x" * 2000 + "\n"
    assert graded.notices == {1: "Cell 2: it needed more memory than the 128 MB that it may use."}


# --- from the settings of a course to the page that a student reads


@pytest.fixture
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return make_course(tmp_path_factory.mktemp("course"))


def configure(course: Course, settings: str) -> Course:
    with open(course.root / "nbgrader_config.py", "a") as file:
        file.write(settings)
    return Course.find(course.root)


def test_a_courses_limits_reach_the_page(course: Course) -> None:
    hand_in(course, "quin", BY_NAME["quin_endless_cell"])
    answer(course, "eve", {"attention-scale-answer": SLOW_CALL})
    course = configure(
        course,
        'c.Katze.limits = {"cell_seconds": 0.5, "call_seconds": 0.5}\n'
        'c.Katze.exercise_limits = {"attention.scale": {"call_seconds": 20}}\n',
    )
    graded = {one.student: one for one in grade_assignment(course, LESSON, workers=2).submissions}
    page = (course.feedback / "quin" / LESSON / f"{LESSON}.html").read_text()
    assert f": {COMPUTED}; the other exercises keep their points." in page
    assert "[katze] Stopped in cell " in page
    assert {one.exercise: one.outcome for one in graded["eve"].exercises}[SCALE] is Outcome.PASSED
