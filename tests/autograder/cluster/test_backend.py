"""An assignment graded on a cluster: what is recorded and written is what one machine records and writes.

Tests `grading_on_worker.py`, `lesson_on_worker.py`, `plain_on_worker.py`, `examining.py`, `connecting.py` and
`messages.py` as well.
"""

import contextlib
import functools
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dask
import pytest

from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import choose_level
from autograder.cluster import backend
from autograder.cluster.backend import ClusterBackend, cluster_backend
from autograder.cluster.connecting import connected
from autograder.cluster.messages import open_task, pack_task
from autograder.cluster.pool import CUT
from autograder.course.course import Course
from autograder.course.release import release
from autograder.errors import BadInput
from autograder.gradebook.record import Conditions
from autograder.grading.batch import grade_assignment
from autograder.grading.strategy import Tell
from autograder.grading.task import Finished, Task
from autograder.grading.workers import WorkersLost
from autograder.starter.new_course import write_course
from tests.autograder.cluster.dask_processes import scheduler, worker
from tests.autograder.grading.plain import plain_course
from tests.autograder.small_class import (
    BY_NAME,
    LESSON,
    answer,
    by_student,
    everything,
    hand_in,
    make_course,
    rows,
    why,
)

WRONG = {"attention-scores-answer": "def dot_product_scores(q, k):\n    return q @ k.mT * 2\n"}
READS_ITS_FILE = {"mean": "def mean(values):\n    return float(open('mine/two.txt').read())\n"}


def lesson_class(root: Path) -> Course:
    """Some were graded before an exercise got another limit; the others have handed in since."""
    root.mkdir()
    course = make_course(root)
    hand_in(course, "fay")
    answer(course, "ben", WRONG)
    grade_assignment(course, LESSON)
    with (root / "nbgrader_config.py").open("a") as file:
        file.write('\nc.Katze.exercise_limits = {"attention.scores": {"call_seconds": 9}}\n')
    hand_in(course, "ada")
    path = hand_in(course, "cleo")
    path.write_text("no notebook")
    renamed = hand_in(course, "dan", BY_NAME["gus_untouched"])
    renamed.rename(renamed.with_name("my homework.ipynb"))
    renamed.with_name("timestamp.txt").write_text("the day before yesterday\n")
    nothing = hand_in(course, "eve")
    nothing.rename(nothing.with_name("homework.pdf"))
    return Course.find(root)


def plain_class(root: Path) -> Course:
    """Submissions with another file than the course's, one of the course's replaced, links, and what is no notebook."""
    course = plain_course.make_course(root, "c.Execute.timeout = 60\n")
    course.secret()
    (plain_course.hand_in(course, "ada") / "timestamp.txt").write_text("the day before yesterday\n")
    ben = plain_course.hand_in(course, "ben", {"first": READS_ITS_FILE})
    (ben / "mine").mkdir()
    (ben / "mine" / "two.txt").write_text("2")
    (ben / "mine" / "link.txt").symlink_to("/etc/hostname")
    (ben / "data.txt").write_text("of the student's own")
    cleo = plain_course.hand_in(course, "cleo")
    (cleo / "first.ipynb").write_text("no notebook")
    dan = plain_course.hand_in(course, "dan")
    (dan / "second.ipynb").rename(dan / "my second homework.ipynb")
    (course.submitted / "eve" / plain_course.NAME).mkdir(parents=True)
    (course.submitted / "finn").mkdir()
    (course.submitted / "finn" / plain_course.NAME).symlink_to(ben)
    return course


KINDS = {"exercises": (lesson_class, LESSON, 17), "test cells": (plain_class, plain_course.NAME, 4)}
"""How a class of each kind is made, the assignment's name, and the points that ada gets."""


def written(course: Course) -> tuple[list[Any], dict[str, bytes]]:
    """All that a run has recorded and written; it may depend on nothing but the class."""
    recorded = [everything(course), rows(course, plain_course.GRADES), rows(course, plain_course.COMMENTS)]
    files = {
        str(path.relative_to(course.root)): path.read_bytes()
        for folder in (course.autograded, course.feedback)
        for path in sorted(folder.rglob("*.*"))
    }
    assert all(recorded)
    assert files
    return recorded, files


@pytest.fixture(scope="module")
def started(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a scheduler that has one worker, and the folder that this writes into."""
    folder = tmp_path_factory.mktemp("workers")
    with scheduler() as address, worker(address, "one", folder):
        yield address, folder


@pytest.mark.parametrize(("make_class", "name", "points"), KINDS.values(), ids=KINDS)
def test_on_a_cluster_all_comes_out_as_on_one_machine(
    make_class: Callable[[Path], Course],
    name: str,
    points: float,
    started: tuple[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, workers_folder = started
    here = make_class(tmp_path / "here")
    there = Course.find(shutil.copytree(here.root, tmp_path / "there", symlinks=True))
    locally = grade_assignment(here, name, workers=2)
    sent: list[Any] = []
    on_disk: list[bytes] = []
    opened = backend.open_reply

    def open_reply(*arrived: Any) -> Any:  # while the workers are at it
        for folder, _, names in os.walk(workers_folder):  # what they remove meanwhile is passed over
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    on_disk.append(Path(folder, name).read_bytes())
        return opened(*arrived)

    for kind in ("LessonOnWorker", "PlainOnWorker"):
        on_worker = getattr(backend, kind)
        monkeypatch.setattr(backend, kind, lambda *of, on=on_worker: sent.append(on(*of)) or sent[-1])
    monkeypatch.setattr(backend, "open_reply", open_reply)
    remotely = grade_assignment(there, name, workers=1, backend=cluster_backend(address, 1, patience=60))
    problems = [{one.student: one.problem for one in run.submissions} for run in (locally, remotely)]
    assert problems[0] == problems[1]
    assert by_student(remotely)["ada"].points == points
    assert written(there) == written(here)
    assert why(remotely) == why(locally)
    assert remotely.boxes.startswith("1 worker on 1 machine; sandboxes at level ")

    [content] = map(pickle.dumps, sent)  # all that a worker gets of a run
    assert (there.secret() in content) == (name == LESSON)
    assert str(there.root).encode() not in content
    assert on_disk
    assert not [content for content in on_disk if there.secret() in content]

    again = grade_assignment(there, name, workers=1, backend=cluster_backend("tcp://127.0.0.1:1", 1))
    assert again.gradings == {}, "nothing has changed, so nobody is asked"
    if name == LESSON:
        for student in ("fay", "ben"):
            assert {reason.partition(":")[0] for reason in why(remotely)[student]} == {"attention.scores"}


def test_half_of_a_character_crosses_as_it_is(tmp_path: Path) -> None:
    task = Task("ada", tmp_path, "", ("the notebook says \ud83d",), frozenset())
    assert open_task(pack_task(task), tmp_path, Conditions("", "", {}, {})).task == task


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp:/127.0.0.1:8786", "is not a scheduler's address"),
        ("127.0.0.1:99999", "is not a scheduler's address"),
        ("tcp://127.0.0.1:1", r"no scheduler answers at tcp://127\.0\.0\.1:1 within 0\.5 s; check the address"),
        ("tls://127.0.0.1:1", "no connection to tls://127.0.0.1:1: .*docs/cluster.md"),
    ],
)
def test_where_there_is_no_scheduler_one_line_says_so_and_nothing_is_written(
    tmp_path: Path, address: str, said: str
) -> None:
    course = make_course(tmp_path)
    hand_in(course, "ada")
    before = sorted(course.root.rglob("*"))
    with pytest.raises(BadInput, match=said) as refused:
        grade_assignment(course, LESSON, backend=cluster_backend(address, 1, patience=0.5))
    assert "\n" not in str(refused.value)
    assert sorted(course.root.rglob("*")) == before


FINDS_THE_ANSWERS = """\
def design_matrix(x):
    from pathlib import Path
    (found,) = Path({folder!r}).rglob("ols_exercises.py")
    names = {{}}
    exec(found.read_text(), names)
    return names["design_matrix"](x)
"""


@pytest.mark.usefixtures("processes")
def test_exercises_of_a_course_s_own_go_along_and_no_box_reads_them(tmp_path: Path) -> None:
    try:
        choose_level(Level.L2)
    except BadInput as problem:
        pytest.skip(f"no sandboxes that keep the answers away here: {problem}")
    write_course(tmp_path / "here")
    here = Course.find(tmp_path / "here")
    release(here)
    subprocess.run([sys.executable, "demo_class.py"], cwd=here.root, check=True)
    for student in here.submitted.iterdir():
        if student.name not in ("cleo_svd_and_loops", "gus_elementwise_inverse", "jo_reads_the_answers"):
            shutil.rmtree(student)
    path = here.submitted / "jo_reads_the_answers" / "01_ols" / "01_ols.ipynb"
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "ols-design_matrix-answer":
            cell["source"] = FINDS_THE_ANSWERS.format(folder=str(tmp_path / "workers"))
    path.write_text(json.dumps(notebook))
    here.secret()
    shutil.copytree(here.root, tmp_path / "there")
    there = Course.find(tmp_path / "there")

    locally = grade_assignment(here, "01_ols", workers=1)
    with dask.config.set({"temporary-directory": str(tmp_path / "workers")}):
        remotely = grade_assignment(there, "01_ols", workers=1, backend=cluster_backend("local", 1, patience=60))
    graded = {
        name: [one.misconception or one.outcome for one in record.exercises]
        for name, record in by_student(remotely).items()
    }
    assert graded == {
        "cleo_svd_and_loops": ["passed", "passed", "passed"],
        "gus_elementwise_inverse": ["passed", "elementwise_inverse", "n_minus_one"],
        "jo_reads_the_answers": ["raised", "raised", "not_attempted"],
    }
    assert by_student(locally).keys() == graded.keys()
    assert everything(there) == everything(here)


class LostInTheMiddle(ClusterBackend):
    """A backend that hands one submission back, and is lost."""

    workers = 1

    def describe(self) -> str:
        return "nowhere"

    def begin(self) -> None:
        pass

    def grade(self, tasks: Sequence[Task], tell: Tell, tick: object) -> Iterator[Finished]:
        yield self.strategy.give_up(tasks[0], "no notebook")
        raise WorkersLost(CUT)


def test_where_the_workers_are_lost_what_came_back_is_recorded_and_one_line_says_how_to_go_on(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    hand_in(course, "ada")
    hand_in(course, "ben")
    lost = functools.partial(LostInTheMiddle, connected, 1)
    with pytest.raises(BadInput, match=f"^{CUT}; 1 of 2 done, and recorded; run this again to continue$"):
        grade_assignment(course, LESSON, backend=lost)
    assert len(rows(course, "SELECT student FROM katze_submission")) == 1
