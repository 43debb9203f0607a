"""What can go wrong on a cluster, each thing once: nothing is lost, nothing is written twice, and a run says what
happened.

Tests `worker.py` as well.
"""

from __future__ import annotations

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
from autograder.cluster.examining import Examined
from autograder.cluster.messages import Message, pack_task
from autograder.cluster.pool import ClusterPool, examine_workers, require_a_worker
from autograder.cluster.worker import FULL
from autograder.errors import BadInput
from autograder.gradebook.record import Conditions, Record
from autograder.grading.task import Finished, Task
from autograder.grading.workers import DIED_TWICE, WorkersLost, schedule
from tests.autograder.cluster.proxy import Proxy
from tests.autograder.cluster.stand_ins import StandInWorker, graded

pytestmark = pytest.mark.usefixtures("processes")


NOTHING = Conditions("", "", {}, {})


class StandInClientSide:
    def __init__(self, folder: Path, unfit: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.unfit = unfit
        self.written: list[str] = []

    def on_worker(self, name: str) -> StandInWorker:
        return StandInWorker(name, str(self.folder), self.unfit)

    def pack(self, task: Task) -> Message:
        return Message(pack_task(task))

    def unpack(self, task: Task, reply: bytes) -> Finished:
        assert msgpack.unpackb(reply)["student"] == task.student
        self.written.append(task.student)
        return finished(task)

    def give_up(self, task: Task, problem: str) -> Finished:
        return finished(task, problem)


def finished(task: Task, problem: str = "") -> Finished:
    return Finished(task, Record(task.student, "", "", "", "", 0, NOTHING, (), problem=problem))


def tasks(*names: str) -> list[Task]:
    return [Task(name, Path(), "", (), frozenset()) for name in names]


def ordinary(number: int) -> list[str]:
    return [f"student_{count}" for count in range(number)]


class Run:
    """One run over a class that is not there."""

    def __init__(self, client: Any, folder: Path, unfit: tuple[str, ...] = (), lost_seconds: float = 60.0) -> None:
        self.told: list[str] = []
        self.side = StandInClientSide(folder, unfit)
        self.client = client
        self.lost_seconds = lost_seconds

    def over(self, *names: str, tick: Callable[[], None] = lambda: None) -> Iterator[Finished]:
        def opened() -> ClusterPool:
            return ClusterPool(self.client, self.side, self.told.append, self.lost_seconds)

        return schedule(opened, self.side.give_up, tasks(*names), tick)


@contextmanager
def cluster_of(workers: int, processes: bool) -> Iterator[LocalCluster]:
    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.scheduler.worker-ttl": "8 s"}
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
def client(processes: None, killable: Any) -> Any:
    killable.wait_for_workers(2, timeout=120)
    return killable


@pytest.fixture(scope="module")
def threads(processes: None) -> Iterator[LocalCluster]:
    """A cluster whose workers are in this process: quickly there, and not to be killed."""
    with cluster_of(2, processes=False) as cluster:
        yield cluster


def names_of(found: list[Finished]) -> Counter[str]:
    return Counter(one.task.student for one in found)


@pytest.fixture(autouse=True)
def _scheduler_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has to unpickle what it is sent, as the client of another one has not."""
    monkeypatch.setattr(connecting, "reading_plain_data", nullcontext)


class TestAnEverydayRun:
    def test_each_submission_is_graded_once_and_written_once(self, threads: LocalCluster, tmp_path: Path) -> None:
        with connected(threads.scheduler_address) as client:
            run = Run(client, tmp_path)
            found = list(run.over(*ordinary(30)))
            assert names_of(found) == Counter(ordinary(30)) == Counter(run.side.written)
            assert sorted(line.split()[0] for line in graded(tmp_path)) == sorted(ordinary(30))
            assert run.told == []

    def test_what_crosses_is_bytes_and_names(
        self, threads: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with connected(threads.scheduler_address) as client:
            crossed: list[Any] = []
            submit = client.submit
            monkeypatch.setattr(
                client, "submit", lambda *sent, **how: crossed.append((sent, how)) or submit(*sent, **how)
            )
            list(Run(client, tmp_path).over("student_0"))
            [((function, *sent), how)] = crossed
            assert (function.__module__, function.__name__) == ("autograder.cluster.worker", "grade_submission")
            assert [type(one) for one in sent] == [str, bytes, bytes, bytes]
            assert {name: type(value) for name, value in how.items()} == {"key": str, "resources": dict, "pure": bool}

    def test_few_are_on_their_way_at_a_time(self, threads: LocalCluster, tmp_path: Path) -> None:
        with connected(threads.scheduler_address) as client:
            run = Run(client, tmp_path)
            on_their_way = []

            def opened() -> ClusterPool:
                made.append(ClusterPool(client, run.side, run.told.append))
                return made[-1]

            made: list[ClusterPool] = []
            for _ in schedule(
                opened, run.side.give_up, tasks(*ordinary(60)), lambda: on_their_way.append(len(made[0]._on_their_way))
            ):
                pass
            assert 0 < max(on_their_way) <= 4

    def test_the_scheduler_does_not_keep_what_it_has_sent(self, threads: LocalCluster, tmp_path: Path) -> None:
        with connected(threads.scheduler_address) as client:
            list(Run(client, tmp_path).over(*ordinary(4 * KEPT_MESSAGES)))
        logs = [stream.recent_message_log for stream in threads.scheduler.stream_comms.values()]
        assert [len(log) for log in logs] == [KEPT_MESSAGES] * 2

    def test_dask_does_not_watch_a_worker_that_grades(self, threads: LocalCluster, tmp_path: Path) -> None:
        def watched() -> list[bool]:
            return [worker.periodic_callbacks["profile"].is_running() for worker in threads.workers.values()]

        with connected(threads.scheduler_address) as client:
            found = Run(client, tmp_path).over("student_0", "wait_0")
            next(found)
            meanwhile = watched()
            (tmp_path / "go on").touch()
            list(found)
        assert (meanwhile, watched()) == ([False] * 2, [True] * 2)

    def test_nothing_is_left_on_the_workers(self, threads: LocalCluster, tmp_path: Path) -> None:
        with connected(threads.scheduler_address) as client:
            list(Run(client, tmp_path).over("student_0"))
        assert all(not [name for name in worker.plugins if "katze" in name] for worker in threads.workers.values())
        assert not any("katze" in name for name in threads.scheduler.worker_plugins)

    def test_what_a_killed_client_has_left_is_ended_by_the_next_one(
        self, threads: LocalCluster, tmp_path: Path
    ) -> None:
        with connected(threads.scheduler_address) as client:
            client.register_plugin(StandInWorker("katze-gone", str(tmp_path)), name="katze-gone")
            assert "katze-gone" in threads.scheduler.worker_plugins
            examine_workers(client, "", "L2")
        assert "katze-gone" not in threads.scheduler.worker_plugins


class TestWorkersThatDie:
    def test_one_that_is_killed_in_the_middle_costs_nothing(self, client: Any, tmp_path: Path) -> None:
        run = Run(client, tmp_path)
        found = list(run.over(*ordinary(4), "killonce_0", *ordinary(8)[4:]))
        assert names_of(found) == Counter([*ordinary(8), "killonce_0"]) == Counter(run.side.written)
        assert {one.record.problem for one in found} == {""}

    def test_nor_does_it_where_replies_come_straight_from_the_workers(self, tmp_path: Path) -> None:
        with connected(LOCAL, 2, patience=120) as client:
            assert client.direct_to_workers
            run = Run(client, tmp_path)
            found = list(run.over(*ordinary(4), "killonce_0", *ordinary(8)[4:]))
        assert names_of(found) == Counter([*ordinary(8), "killonce_0"]) == Counter(run.side.written)

    def test_one_that_hangs_is_ended_and_another_takes_its_submission(self, client: Any, tmp_path: Path) -> None:
        run = Run(client, tmp_path)
        found = list(run.over("hangonce_0", *ordinary(3)))
        assert names_of(found) == Counter([*ordinary(3), "hangonce_0"]) == Counter(run.side.written)
        assert {one.record.problem for one in found} == {""}

    def test_one_that_stands_still_is_left_out(self, tmp_path: Path) -> None:
        with cluster_of(2, processes=True) as cluster, connected(cluster.scheduler_address) as client:
            processes = client.run(os.getpid)
            try:
                found = list(Run(client, tmp_path).over("stop_0", *ordinary(3)))
                assert names_of(found) == Counter([*ordinary(3), "stop_0"])
            finally:
                for process in processes.values():
                    end(process)

    def test_a_submission_that_kills_every_worker_goes_ungraded_and_nobody_else(
        self, client: Any, tmp_path: Path
    ) -> None:
        run = Run(client, tmp_path)
        found = list(run.over("kill_0", *ordinary(5)))
        problems = {one.task.student: one.record.problem for one in found}
        assert problems == {"kill_0": DIED_TWICE} | dict.fromkeys(ordinary(5), "")
        assert Counter(run.side.written) == Counter(ordinary(5))


def end(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


class TestWorkersThatAreRefused:
    def test_one_whose_disk_is_full_gets_no_more_and_is_named(self, threads: LocalCluster, tmp_path: Path) -> None:
        with connected(threads.scheduler_address) as client:
            run = Run(client, tmp_path)
            found = list(run.over("full_0", *[f"slow_{number}" for number in range(12)]))
            assert names_of(found) == Counter(["full_0", *[f"slow_{number}" for number in range(12)]])
            assert len({line.split()[1] for line in graded(tmp_path)}) == 1
            assert Counter(run.side.written) == names_of(found)
            assert [line for line in run.told if line.endswith(f"is refused: {FULL}")] == run.told != []

    def test_where_all_disks_are_full_the_run_ends_and_says_so(self, threads: LocalCluster, tmp_path: Path) -> None:
        with connected(threads.scheduler_address) as client, pytest.raises(WorkersLost, match=f"no worker.*{FULL}"):
            list(Run(client, tmp_path, lost_seconds=0.5).over(*[f"full_{number}" for number in range(4)]))

    def test_one_of_another_version_gets_nothing_and_is_named(self, threads: LocalCluster, tmp_path: Path) -> None:
        with connected(threads.scheduler_address) as client:
            run = Run(client, tmp_path, unfit=("0",))
            found = list(run.over(*ordinary(8)))
            assert names_of(found) == Counter(ordinary(8))
            assert {line.split()[1] for line in graded(tmp_path)} == {"1"}
            [line] = run.told
            assert line.startswith("worker 0 at ")
            assert line.endswith("is refused: torch is 1.0 there and 2.0 here; install the same versions there")

    def test_before_a_run_they_are_named_and_one_good_one_is_enough(self) -> None:
        here = Examined("here", {"torch": "2.0"}, "L2")
        there = {"tcp://a": Examined("a", {"torch": "2.0"}, "L2"), "tcp://b": Examined("b", {"torch": "1.0"}, "L2")}
        told: list[str] = []
        good = require_a_worker({"tcp://b": {"name": "bea"}}, there, here, told.append)
        assert list(good) == ["tcp://a"]
        assert told == [
            "worker bea at tcp://b is refused: torch is 1.0 there and 2.0 here; install the same versions there"
        ]
        with pytest.raises(BadInput, match=r"no worker can grade: worker bea at tcp://b is refused: torch is 1\.0"):
            require_a_worker({"tcp://b": {"name": "bea"}}, {"tcp://b": there["tcp://b"]}, here, told.append)


class TestWorkersThatJoin:
    def test_one_that_joins_late_is_examined_and_gets_its_share(self, tmp_path: Path) -> None:
        with cluster_of(1, processes=False) as cluster, connected(cluster.scheduler_address) as client:
            run = Run(client, tmp_path, unfit=("2",))
            found = run.over(*ordinary(1), "wait_0", *ordinary(8)[1:])
            first = next(found)
            cluster.scale(3)
            while_it_waits = [next(found) for _ in range(5)]
            (tmp_path / "go on").touch()
            assert names_of([first, *while_it_waits, *found]) == Counter([*ordinary(8), "wait_0"])
            assert {line.split()[1] for line in graded(tmp_path)} == {"0", "1"}


class TestTheWayToTheCluster:
    @pytest.mark.parametrize("way", ["cut", "ended"])
    def test_where_it_is_cut_what_came_back_is_kept_and_the_run_says_so(
        self, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with ExitStack() as resources:
            cluster = resources.enter_context(cluster_of(1, processes=False))
            proxy = resources.enter_context(Proxy(cluster.scheduler_address))
            client = resources.enter_context(connected(proxy.address, patience=10))
            monkeypatch.setattr(pool, "ANSWER_SECONDS", 10.0)
            run = Run(client, tmp_path)
            found = run.over("student_0", "student_1", "wait_0")
            before = [next(found), next(found)]
            if way == "cut":
                proxy.cut()
            else:
                cluster.sync(cluster.scheduler.close)
            with pytest.raises(WorkersLost, match="connection to the scheduler"):
                list(found)
            assert names_of(before) == Counter(["student_0", "student_1"]) == Counter(run.side.written)
            (tmp_path / "go on").touch()


class TestTheInstructor:
    def test_after_control_c_nothing_is_lost_and_the_workers_are_free(
        self, threads: LocalCluster, tmp_path: Path
    ) -> None:
        with connected(threads.scheduler_address) as client:
            run = Run(client, tmp_path)
            found = run.over(*ordinary(2), "wait_0", "wait_1", "wait_2")
            written = [next(found), next(found)]
            with pytest.raises(KeyboardInterrupt):
                found.throw(KeyboardInterrupt)  # type: ignore[attr-defined]
            assert names_of(written) == Counter(run.side.written)
            (tmp_path / "go on").touch()
            again = Run(client, tmp_path)
            assert names_of(list(again.over("wait_0", "wait_1", "wait_2"))) == Counter(["wait_0", "wait_1", "wait_2"])
