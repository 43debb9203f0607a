"""Grading a class: what a second, a killed, a forced and a failing run do and leave."""

import contextlib
import io
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from rich.console import Console

from autograder.course.course import SECRET_BYTES, Course
from autograder.errors import BadInput
from autograder.gradebook.record import SET_ASIDE
from autograder.grading import assignment, backend
from autograder.grading.answer_keys import AnswerKeys
from autograder.grading.batch import grade_assignment
from autograder.grading.plan import LEFT_UNDONE, SUBMITTED_AGAIN
from autograder.grading.task import Finished, Task
from autograder.pages.class_report import class_page
from tests.autograder.small_class import (
    BY_NAME,
    LESSON,
    MOST,
    ROOT,
    answer,
    by_student,
    comments,
    everything,
    hand_in,
    insert_cell,
    make_course,
    page,
    rows,
    scores,
    why,
)

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture
def course(tmp_path: Path, steady_versions: None) -> Course:
    """A course, graded by one version of the code even while somebody edits it, and in the order of the names."""
    course = make_course(tmp_path)
    (course.root / ".katze").mkdir()
    (course.root / ".katze" / "secret").write_bytes(SECRET)
    return course


SECRET = (28).to_bytes(SECRET_BYTES, "big")
"""With it hidden inputs, and so the order of grading, go by the names that are used here."""


def test_submissions_are_graded_in_the_order_of_the_names_that_are_used_here() -> None:
    slots = [AnswerKeys(SECRET).slot(name) for name in ("ada", "ben", "eve", "quin", "rob")]
    assert slots == sorted(slots)


def test_a_second_run_replaces_what_the_first_one_left(course: Course) -> None:
    hand_in(course, "ada")
    grade_assignment(course, LESSON)
    autograded = course.autograded / "ada" / LESSON / f"{LESSON}.ipynb"
    assert autograded.exists()
    (course.submitted / "ada" / LESSON / f"{LESSON}.ipynb").write_bytes(b"{")
    assert by_student(grade_assignment(course, LESSON))["ada"].points is None
    assert not autograded.exists()
    assert "no score" in page(course, "ada").lower()
    assert scores(course, "ada") == {(None, True)}
    hand_in(course, "ada")
    grade_assignment(course, LESSON, feedback=False)
    assert not course.feedback.joinpath("ada", LESSON, f"{LESSON}.html").exists()


def test_what_could_hide_a_call_is_kept_for_the_instructor_and_no_student_reads_it(course: Course) -> None:
    insert_cell(hand_in(course, "ada"), 0, "import math, ctypes")
    hand_in(course, "ben")
    with open(course.root / "nbgrader_config.py", "a") as file:
        file.write('c.Katze.packages = {"01_attention": ["einops"]}\n')
    course = Course.find(course.root)
    first = grade_assignment(course, LESSON)
    [notice] = first.notices
    assert notice.startswith("c.Katze.packages in nbgrader_config.py: no longer used; delete the line")
    ada, ben = by_student(first).values()
    place = "cell 1, line 1: import math, ctypes [calls compiled code directly]"
    looks = {one.exercise: one.worth_a_look for one in ada.exercises if one.worth_a_look}
    adjusted = {one.id for one in course.exercises.of_lesson(LESSON) if one.forbidden}
    assert looks == dict.fromkeys(adjusted, place)
    assert not any(one.worth_a_look for one in ben.exercises)
    assert ada.points == ben.points == 17
    assert grade_assignment(course, LESSON).submissions == first.submissions
    report = BeautifulSoup(class_page(course, LESSON), "html.parser").get_text(" ")
    assert " ".join(report.split()).count(place) == len(adjusted)
    assert "ctypes" in page(course, "ada")
    assert "compiled code" not in page(course, "ada")
    assert "compiled code" not in (course.autograded / "ada" / LESSON / f"{LESSON}.ipynb").read_text()


# --- exact


TELLS_THE_RUN = """
import os, random, torch
def dot_product_scores(q, k):
    raise ValueError(f"{object()} {os.getcwd()} {list({'a', 'b', 'c', 'd', 'e'})} {random.random()} {torch.rand(1)}")
"""
"""An answer whose message depends on all that chance decides: addresses, folders, sets and random numbers."""


def test_the_order_and_the_number_of_workers_change_nothing(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    names = (
        "ada_reference", "hana_slides_numbers", "kai_leaves_torch", "lea_mistakes_of_her_own", "max_syntax_error",
        "nils_raises_on_import", "rosa_exits", "urs_patched_observer", "vera_always_equal", "zoe_stripped_metadata",
        "zora_not_a_notebook",
    )  # fmt: skip
    for name in names:
        hand_in(course, name, BY_NAME[name])
    answer(course, "tell", {"attention-scores-answer": TELLS_THE_RUN})
    asked_here = []
    monkeypatch.setattr(assignment, "_versions", lambda _: asked_here.append("") or {"Katze": "1"})
    grade_assignment(course, LESSON, workers=1)
    assert len(asked_here) == 1, "else each worker reads all sources for it"
    first = everything(course)
    assert any("0x…" in row[-1] and "~" in row[-1] for row in first if row[0] == "tell" and row[-1])

    in_order = backend.grade_in_parallel

    def backwards(strategy: object, fork_server: object, tasks: list[Task], *more: Any) -> Iterator[Finished]:
        return in_order(strategy, fork_server, tasks[::-1], *more)  # type: ignore[arg-type]

    monkeypatch.setattr(backend, "grade_in_parallel", backwards)
    grade_assignment(course, LESSON, workers=2, force=True)
    assert everything(course) == first


# --- interrupted


RUN = """
import sys
from autograder.grading import assignment
from autograder.cli import main
assignment._versions = lambda withheld: {"Katze": "1"}
sys.exit(main(["grade", "01_attention", "--workers", "1", *sys.argv[1:]]))
"""


def killed_when(course: Course, *arguments: str, query: str) -> None:
    """Start a run, and kill it when a query on the gradebook first finds something."""
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        cwd=course.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and run.poll() is None:
        with contextlib.suppress(sqlite3.Error):
            if course.gradebook.exists() and rows(course, query):
                break
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    while members(run.pid):
        assert time.monotonic() < until, "a run that was killed leaves processes"
        time.sleep(0.05)


def members(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, own = entry.read_text().rpartition(")")[2].split()[:4]
            if int(own) == session and state != "Z":
                found.append(int(entry.parent.name))
    return found


def test_a_killed_run_is_resumed_with_nothing_lost_and_nothing_twice(course: Course) -> None:
    for name in ("ada", "ben", "eve"):
        hand_in(course, name)
    hand_in(course, "quin", BY_NAME["quin_endless_cell"])  # the run stays with it for ten seconds
    hand_in(course, "rob")
    killed_when(course, query="SELECT 1 FROM katze_submission WHERE student = 'eve'")
    assert rows(course, "SELECT finished FROM katze_run") == [(None,)]
    hand_in(course, "quin")
    resumed = grade_assignment(course, LESSON)
    assert set(why(resumed)) == {"quin", "rob"}
    assert {one.points for one in resumed.submissions} == {17.0}
    assert rows(course, "SELECT student, count(*) FROM katze_event GROUP BY student") == [
        (name, 1) for name in ("ada", "ben", "eve", "quin", "rob")
    ]
    assert rows(course, "SELECT count(*) FROM submitted_assignment") == [(5,)]
    assert not list(course.root.rglob("*.part"))


def test_a_forced_run_that_is_killed_leaves_no_stale_grade(course: Course) -> None:
    for name in ("ada", "ben", "eve"):
        hand_in(course, name)
    grade_assignment(course, LESSON)
    first = everything(course)
    good = hand_in(course, "ben").read_bytes()
    hand_in(course, "ben", BY_NAME["quin_endless_cell"])
    killed_when(course, "--force", query="SELECT 1 FROM katze_submission WHERE student = 'ada' AND run = 2")
    assert (2.0, False) in scores(course, "ada")
    for name in ("ben", "eve"):
        assert scores(course, name) == {(None, True)}
        assert comments(course, name) == {SET_ASIDE}
        assert not (course.feedback / name / LESSON / f"{LESSON}.html").exists()
    (course.submitted / "ben" / LESSON / f"{LESSON}.ipynb").write_bytes(good)
    resumed = grade_assignment(course, LESSON)
    assert why(resumed)["eve"] == (LEFT_UNDONE,)
    assert LEFT_UNDONE in why(resumed)["ben"]
    assert everything(course) == first
    kinds = rows(course, "SELECT kind FROM katze_event WHERE student = 'eve' ORDER BY id")
    assert [kind for (kind,) in kinds] == ["graded", "set aside", "graded"]


def test_an_empty_gradebook_beside_graded_notebooks_is_told(course: Course) -> None:
    hand_in(course, "ada")
    out = io.StringIO()
    grade_assignment(course, LESSON, console=Console(file=out))
    assert "is empty, though" not in out.getvalue()
    course.gradebook.write_bytes(b"")
    grade_assignment(course, LESSON, console=Console(file=out))
    assert "is empty, though autograded/ holds graded notebooks" in out.getvalue()


SCORES_BY_OTHERS = {
    "on_top": "import einops\n{scores}    return einops.einsum(q, k, '... i d, ... j d -> ... i j')\n",
    "inside": "{scores}    import polars\n    return polars.from_torch(q @ k.transpose(-2, -1))\n",
    "in_a_helper": "import pandas\ndef f(x):\n    return pandas.isna(x)\n{scores}    return f(4) or q @ k.mT\n",
}
"""Answers to attention.scores that call what is not installed."""


def test_an_exercise_that_could_not_be_graded_leaves_all_else_graded_and_on_the_page(course: Course) -> None:
    more = {
        "attention-scale-answer": "def scale_scores(scores, d_head):\n    return scores / d_head**0.5\n",
        "attention-gradients-answer": "import einops\ndef attention_gradients(*_):\n    return einops.dot(_)\n",
    }
    for name, source in SCORES_BY_OTHERS.items():
        scores_answer = source.format(scores="def dot_product_scores(q, k):\n")
        answer(course, name, {"attention-scores-answer": scores_answer, **(more if name == "inside" else {})})
    run = grade_assignment(course, LESSON, workers=2)
    assert run.left_ungraded
    assert run.stale_pages == ()
    package = {"on_top": "einops", "inside": "polars", "in_a_helper": "pandas"}
    for name, record in by_student(run).items():
        lost = [one.exercise for one in record.ungraded]
        assert lost == ["attention.scores", *(["attention.gradients"] if name == "inside" else [])]
        assert (record.points, record.total) == (float(name == "inside"), float(name == "inside"))
        assert record.max_total == MOST - sum(one.max_points for one in record.ungraded)
        assert f"could not be graded, because it uses {package[name]}" in page(course, name)
        assert "could not be graded. This is not a zero:" in page(course, name)
        assert (course.autograded / name / LESSON / f"{LESSON}.ipynb").is_file()
        assert any(f"because it uses {package[name]}" in (comment or "") for comment in comments(course, name))
    again = grade_assignment(course, LESSON)
    assert (again.gradings, again.left_ungraded, again.stale_pages) == ({}, False, ())
    hand_in(course, "on_top")
    mended = grade_assignment(course, LESSON)
    assert why(mended) == {"on_top": (SUBMITTED_AGAIN,)}
    assert by_student(mended)["on_top"].ungraded == ()
    assert not mended.left_ungraded


# --- a full disk


def test_a_gradebook_that_can_grow_no_more_keeps_what_was_recorded(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(course, "ada")
    grade_assignment(course, LESSON)
    before = everything(course)
    for name in ("ben", "eve", "rob"):
        hand_in(course, name)
    [(pages,)] = rows(course, "PRAGMA page_count")
    connect = sqlite3.connect

    def connect_to_a_full_disk(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = connect(*arguments, **options)  # type: ignore[call-overload]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection  # type: ignore[no-any-return]

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", connect_to_a_full_disk)
        with pytest.raises(
            BadInput, match="the disk is full: make room and run this again; what has been recorded is kept"
        ):
            grade_assignment(course, LESSON)
    assert set(before) <= set(everything(course))
    assert "ada" not in why(grade_assignment(course, LESSON))
