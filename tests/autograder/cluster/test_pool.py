"""What can go wrong on a cluster, each thing once: nothing is lost, nothing is written twice, and a run says what
happened.

Tests `worker.py` as well.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import dask
import msgpack
import pytest
from distributed import Client, LocalCluster

from autograder.cluster import connecting, pool
from autograder.cluster.connecting import KEPT_MESSAGES, LOCAL, connected
from autograder.cluster.examining import Examined, ExaminedWorker
from autograder.cluster.messages import pack_task
from autograder.cluster.pool import ClusterPool, examine_workers, require_a_worker
from autograder.cluster.worker import FULL
from autograder.errors import BadInput
from autograder.gradebook.record import Conditions, Record
from autograder.grading.task import Finished, Task
from autograder.grading.workers import DIED_TWICE, WorkersLost, schedule
from tests.autograder.cluster.proxy import Proxy
from tests.autograder.cluster.stand_ins import StandInWorker, graded

pytestmark = pytest.mark.usefixtures("processes")

STUDENTS = [f"student_{number}" for number in range(60)]
OTHER_TORCH = "torch is 1.0 there and 2.0 here; install the same versions there"


class Run:
    """One run over a class that is not there: the client's side of it as well.

    Attributes:
        told: the lines for the instructor.
        written: whose results have been written.
        most: how many submissions were on their way at a time.
    """

    def __init__(self, client: Any, folder: Path, unfit: tuple[str, ...] = ()) -> None:
        self.client, self.folder, self.unfit = client, folder, unfit
        self.told: list[str] = []
        self.written: list[str] = []
        self.most = 0

    def on_worker(self, name: str) -> StandInWorker:
        return StandInWorker(name, str(self.folder), self.unfit)

    def pack(self, task: Task) -> bytes:
        return pack_task(task)

    def unpack(self, task: Task, reply: bytes) -> Finished:
        assert msgpack.unpackb(reply)["student"] == task.student
        self.written.append(task.student)
        return self.give_up(task, "")

    def give_up(self, task: Task, problem: str) -> Finished:
        conditions = Conditions("", "", {}, {})
        return Finished(task, Record(task.student, "", "", "", "", 0, conditions, (), problem=problem))

    def over(self, *names: str) -> Iterator[Finished]:
        def opened() -> ClusterPool:
            self.pool = ClusterPool(self.client, self, self.told.append)
            return self.pool

        def tick() -> None:
            self.most = max(self.most, len(self.pool._on_their_way))

        return schedule(opened, self.give_up, [Task(name, Path(), "", (), frozenset()) for name in names], tick)

    def grades_each_once(self, *names: str) -> None:
        """Grade these, of whom nobody may be lost, graded in vain or written twice."""
        found = list(self.over(*names))
        assert names_of(found) == Counter(names) == Counter(self.written)
        assert {one.record.problem for one in found} == {""}


def names_of(found: list[Finished]) -> Counter[str]:
    return Counter(one.task.student for one in found)


@contextmanager
def cluster_of(workers: int, processes: bool, ttl: str = "5 minutes") -> Iterator[LocalCluster]:
    """A cluster whose scheduler gives up a worker that it has not heard of for this long: on a busy machine, any."""
    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.scheduler.worker-ttl": ttl}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=None,
            host="127.0.0.1",
            memory_limit=0,
            silence_logs=False,
            protocol="tcp://",
        ) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def killable(processes: None) -> Iterator[Any]:
    """A client of workers that are processes: they may be killed, and come again."""
    with cluster_of(2, processes=True) as cluster, Client(cluster.scheduler_address, set_as_default=False) as client:
        yield client


@pytest.fixture
def hard_run(killable: Any, tmp_path: Path) -> Run:
    killable.wait_for_workers(2, timeout=120)
    return Run(killable, tmp_path)


@pytest.fixture(scope="module")
def threads(processes: None) -> Iterator[LocalCluster]:
    """A cluster whose workers are in this process: quickly there, and not to be killed."""
    with cluster_of(2, processes=False) as cluster:
        yield cluster


@pytest.fixture
def run(threads: LocalCluster, tmp_path: Path) -> Iterator[Run]:
    with connected(threads.scheduler_address) as client:
        yield Run(client, tmp_path)


@pytest.fixture(autouse=True)
def _scheduler_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has to unpickle what it is sent, as the client of another one has not."""
    monkeypatch.setattr(connecting, "reading_plain_data", nullcontext)


# --- an everyday run


def test_each_submission_is_graded_once_and_few_are_on_their_way(run: Run, threads: LocalCluster) -> None:
    run.grades_each_once(*STUDENTS)
    assert sorted(line.split()[0] for line in graded(run.folder)) == sorted(STUDENTS)
    assert run.told == []
    assert 0 < run.most <= 4
    logs = [stream.recent_message_log for stream in threads.scheduler.stream_comms.values()]
    assert [len(log) for log in logs] == [KEPT_MESSAGES] * 2, "the scheduler does not keep what it has sent"


def test_what_crosses_is_bytes_and_names(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    crossed: list[Any] = []
    submit = run.client.submit
    monkeypatch.setattr(run.client, "submit", lambda *sent, **how: crossed.append((sent, how)) or submit(*sent, **how))
    list(run.over("student_0"))
    [((function, *sent), how)] = crossed
    assert (function.__module__, function.__name__) == ("autograder.cluster.worker", "grade_submission")
    assert [type(one) for one in sent] == [str, bytes]
    assert {name: type(value) for name, value in how.items()} == {"key": str, "resources": dict, "pure": bool}


def test_dask_does_not_watch_a_worker_that_grades_and_nothing_is_left_there(run: Run, threads: LocalCluster) -> None:
    def watched() -> list[bool]:
        return [worker.periodic_callbacks["profile"].is_running() for worker in threads.workers.values()]

    found = run.over("student_0", "wait_0")
    next(found)
    meanwhile = watched()
    (run.folder / "go on").touch()
    list(found)
    assert (meanwhile, watched()) == ([False] * 2, [True] * 2)
    assert not any("katze" in name for worker in threads.workers.values() for name in worker.plugins)
    assert not any("katze" in name for name in threads.scheduler.worker_plugins)


def test_what_a_killed_client_has_left_is_ended_by_the_next_one(run: Run, threads: LocalCluster) -> None:
    run.client.register_plugin(run.on_worker("katze-gone"), name="katze-gone")
    assert "katze-gone" in threads.scheduler.worker_plugins
    examine_workers(run.client, Examined("here"), "", "L2")
    assert "katze-gone" not in threads.scheduler.worker_plugins


# --- workers that die


@pytest.mark.parametrize("how", ["killonce_0", "hangonce_0"])
def test_one_that_is_killed_or_hangs_costs_nothing(hard_run: Run, how: str) -> None:
    hard_run.grades_each_once(*STUDENTS[:4], how, *STUDENTS[4:8])


def test_nor_does_it_where_replies_come_straight_from_the_workers(tmp_path: Path) -> None:
    with connected(LOCAL, 2, patience=120) as client:
        assert client.direct_to_workers
        Run(client, tmp_path).grades_each_once(*STUDENTS[:4], "killonce_0", *STUDENTS[4:8])


def test_one_that_stands_still_is_left_out(tmp_path: Path) -> None:
    with cluster_of(2, processes=True, ttl="8 s") as cluster, connected(cluster.scheduler_address) as client:
        processes = client.run(os.getpid)
        try:
            Run(client, tmp_path).grades_each_once("stop_0", *STUDENTS[:3])
        finally:
            for process in processes.values():
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)


def test_a_submission_that_kills_every_worker_goes_ungraded_and_nobody_else(hard_run: Run) -> None:
    problems = {one.task.student: one.record.problem for one in hard_run.over("kill_0", *STUDENTS[:5])}
    assert problems == {"kill_0": DIED_TWICE} | dict.fromkeys(STUDENTS[:5], "")
    assert Counter(hard_run.written) == Counter(STUDENTS[:5])


# --- workers that are refused, and that join


def test_one_whose_disk_is_full_gets_no_more_and_is_named(run: Run) -> None:
    run.grades_each_once("full_0", *[f"slow_{number}" for number in range(12)])
    assert len({line.split()[1] for line in graded(run.folder)}) == 1
    assert [line for line in run.told if line.endswith(f"is refused: {FULL}")] == run.told != []


def test_where_all_disks_are_full_the_run_ends_and_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "LOST_SECONDS", 0.5)
    with pytest.raises(WorkersLost, match=f"no worker.*{FULL}"):
        list(run.over(*[f"full_{number}" for number in range(4)]))


def test_one_of_another_version_gets_nothing_and_is_named(run: Run) -> None:
    run.unfit = ("0",)
    run.grades_each_once(*STUDENTS[:8])
    assert {line.split()[1] for line in graded(run.folder)} == {"1"}
    [line] = run.told
    assert line.startswith("worker 0 at ")
    assert line.endswith(f"is refused: {OTHER_TORCH}")


def test_before_a_run_they_are_named_and_one_good_one_is_enough() -> None:
    good, bad = Examined("a", {"torch": "2.0"}, "L2"), Examined("b", {"torch": "1.0"}, "L2")
    workers = [ExaminedWorker("", "tcp://a", good, ""), ExaminedWorker("bea", "tcp://b", bad, OTHER_TORCH)]
    told: list[str] = []
    assert require_a_worker(workers, told.append) == [good]
    assert told == [f"worker bea at tcp://b is refused: {OTHER_TORCH}"]
    with pytest.raises(BadInput, match=r"no worker can grade: worker bea at tcp://b is refused: torch is 1\.0.*1 more"):
        require_a_worker(workers[1:] * 2, told.append)


def test_one_that_joins_late_is_examined_and_gets_its_share(tmp_path: Path) -> None:
    with cluster_of(1, processes=False) as cluster, connected(cluster.scheduler_address) as client:
        found = Run(client, tmp_path, unfit=("2",)).over(*STUDENTS[:1], "wait_0", *STUDENTS[1:8])
        first = next(found)
        cluster.scale(3)
        while_it_waits = [next(found) for _ in range(5)]
        (tmp_path / "go on").touch()
        assert names_of([first, *while_it_waits, *found]) == Counter([*STUDENTS[:8], "wait_0"])
        assert {line.split()[1] for line in graded(tmp_path)} == {"0", "1"}


# --- the way to the cluster, and the instructor


@pytest.mark.parametrize("way", ["cut", "ended"])
def test_where_it_is_cut_what_came_back_is_kept_and_the_run_says_so(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as resources:
        cluster = resources.enter_context(cluster_of(1, processes=False))
        proxy = resources.enter_context(Proxy(cluster.scheduler_address))
        client = resources.enter_context(connected(proxy.address))
        run = Run(client, tmp_path)
        found = run.over("student_0", "student_1", "wait_0")
        before = [next(found), next(found)]
        cut: dict[str, Callable[[], Any]] = {"cut": proxy.cut, "ended": lambda: cluster.sync(cluster.scheduler.close)}
        timeouts = dask.config.get("distributed.comm.timeouts")
        monkeypatch.setitem(timeouts, "connect", "1 s")  # from here on nobody can answer, however long one waits
        monkeypatch.setattr(client, "_timeout", 1.0)
        monkeypatch.setattr(pool, "ANSWER_SECONDS", 1.0)
        cut[way]()
        with pytest.raises(WorkersLost, match="connection to the scheduler"):
            list(found)
        assert names_of(before) == Counter(["student_0", "student_1"]) == Counter(run.written)
        (tmp_path / "go on").touch()


def test_after_control_c_nothing_is_lost_and_the_workers_are_free(run: Run) -> None:
    found = run.over(*STUDENTS[:2], "wait_0", "wait_1", "wait_2")
    written = [next(found), next(found)]
    with pytest.raises(KeyboardInterrupt):
        found.throw(KeyboardInterrupt)  # type: ignore[attr-defined]
    assert names_of(written) == Counter(run.written)
    (run.folder / "go on").touch()
    Run(run.client, run.folder).grades_each_once("wait_0", "wait_1", "wait_2")
