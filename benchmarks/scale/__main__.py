"""Measures the cost of a cluster: scheduling, memory, and throughput compared with `katze grade --workers`.

python -m benchmarks.scale                                  # everything, with processes on this machine
python -m benchmarks.scale --only scheduling --submissions 100 1000 10000 --workers 1 2 4
python -m benchmarks.scale --only class --rounds 5          # compared with --workers 1 and 2, in turn
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.cluster.backend import cluster_backend
from autograder.cluster.connecting import connected
from autograder.cluster.messages import pack_task
from autograder.cluster.pool import ClusterPool
from autograder.gradebook.record import Conditions, Record
from autograder.grading.backend import Backend, LocalBackend, StartBackend
from autograder.grading.batch import grade_assignment
from autograder.grading.strategy import Tell
from autograder.grading.task import Finished, Task
from autograder.grading.workers import schedule
from benchmarks.grading.courses import LESSON, make_course, ordinary
from benchmarks.scale.idle import REPLY_BYTES, IdleWorker, peak_memory
from benchmarks.table import Row, arguments, report

NOTEBOOK_BYTES = 100_000
"""About the size of a submission to lesson 01."""

SCHEDULING_MS = 5.0
"""The most that scheduling a submission may cost, in milliseconds."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=("scheduling", "class"), default=["scheduling", "class"])
    parser.add_argument("--submissions", nargs="+", type=int, default=[100, 1000, 10_000])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--students", type=int, default=100, help="of the class")
    parser.add_argument("--rounds", type=int, default=1, help="of the class, in turn")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    report("Grading on a cluster of processes of this machine", _measured(options), options.json)


def _measured(options: argparse.Namespace) -> Iterator[Row]:
    if "scheduling" in options.only:
        for workers in options.workers:
            yield from _scheduling(options.submissions, workers, empty=True)
            yield from _scheduling(options.submissions, workers, empty=False)
    if "class" in options.only:
        with tempfile.TemporaryDirectory() as folder:
            yield from _class(Path(folder), options.students, options.rounds, options.seed)


# --- scheduling


@dataclass(frozen=True)
class _IdleClientSide:
    """The client's side of grading nothing.

    Attributes:
        notebook: the size of a submission, in bytes.
        reply: the size of a reply, in bytes.
    """

    notebook: int = NOTEBOOK_BYTES
    reply: int = REPLY_BYTES

    def on_worker(self, name: str) -> IdleWorker:
        return IdleWorker(name, self.reply)

    def pack(self, task: Task) -> bytes:
        return pack_task(task, bytes(self.notebook))

    def unpack(self, task: Task, reply: bytes) -> Finished:
        return Finished(task, Record(task.student, "", "", "", "", 0, Conditions("", "", {}, {}), ()))

    def give_up(self, task: Task, problem: str) -> Finished:
        raise AssertionError(problem)


def _scheduling(counts: Sequence[int], workers: int, empty: bool) -> Iterator[Row]:
    """Send more and more submissions to one cluster: peak memory must stay the same."""
    side = _IdleClientSide(0, 0) if empty else _IdleClientSide()
    with connected("local", workers, patience=120) as client:
        for submissions in counts:
            tasks = [Task(f"{number:06d}", Path(), "", (), frozenset()) for number in range(submissions)]
            start, computed = time.perf_counter(), time.process_time()
            graded = schedule(lambda: ClusterPool(client, side, print), side.give_up, tasks, lambda: None)
            assert sum(1 for _ in graded) == submissions
            computed, passed = time.process_time() - computed, time.perf_counter() - start
            name = f"{submissions:,} {'empty ' if empty else ''}submissions, {workers} workers"
            each = 1000 * computed / submissions
            yield Row.of(f"client and scheduler, {name}, each", each, SCHEDULING_MS, "ms", more=False, goal=1.0)
            yield Row.of(f"by the clock, {name}, each", 1000 * passed / submissions, None, "ms", more=False)
            megabytes = max(client.run(peak_memory).values()) / 1e6
            yield Row.of(f"peak of a worker's memory after {name}", megabytes, None, "MB", more=False)
            yield Row.of(f"peak of the client's memory after {name}", peak_memory() / 1e6, None, "MB", more=False)


# --- a class


def _timing(start: StartBackend, rates: list[float], costs: list[float]) -> StartBackend:
    """Time a backend's grading, from when all workers are ready until the last submission is back."""

    def timing(*given: Any) -> Backend:
        backend = start(*given)
        untimed = backend.grade

        def grade(tasks: Sequence[Task], tell: Tell, tick: Callable[[], None]) -> Iterator[Finished]:
            times: list[float] = []
            computed = 0.0
            for finished in untimed(tasks, tell, tick):
                computed = computed or time.process_time()
                times.append(time.perf_counter())
                yield finished
            costs.append(1000 * (time.process_time() - computed) / len(times))
            warm = len(times) // 5  # skip those before every worker has made its answer keys
            rates.append(60 * (len(times) - warm) / (times[-1] - times[warm - 1]))

        backend.grade = grade  # type: ignore[method-assign]
        return backend

    return timing


def _class(folder: Path, students: int, rounds: int, seed: int) -> Iterator[Row]:
    """Grade the same class in turn with local processes and on a cluster."""
    ways: dict[str, tuple[int, StartBackend]] = {
        "--workers 1": (1, LocalBackend),
        "--workers 2": (2, LocalBackend),
        "a cluster of 1": (1, cluster_backend("local", 1, patience=120)),
        "a cluster of 2": (2, cluster_backend("local", 2, patience=120)),
        "a cluster of 4": (4, cluster_backend("local", 4, patience=120)),
    }
    course = make_course(folder / "class", ordinary(students, seed), keep_demos=False)
    rates: dict[str, list[float]] = {name: [] for name in ways}
    costs: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (workers, start) in ways.items():
            grade_assignment(
                course, LESSON, workers=workers, force=True, backend=_timing(start, rates[name], costs[name])
            )
    found = {name: statistics.median(each) for name, each in rates.items()}
    unit = "submissions/minute"
    yield Row.of("--workers 1", found["--workers 1"], None, unit, more=True)
    yield Row.of("--workers 2 beside --workers 1", found["--workers 2"], found["--workers 1"], unit, more=True)
    one, two = found["a cluster of 1"], found["a cluster of 2"]
    yield Row.of("a cluster of 1 beside --workers 1", one, found["--workers 1"], unit, more=True, goal=0.9)
    yield Row.of("a cluster of 2 beside --workers 2", two, found["--workers 2"], unit, more=True, goal=0.9)
    yield Row.of("a cluster of 2 beside a cluster of 1", two, one, unit, more=True, goal=1.8)
    yield Row.of("a cluster of 4 beside a cluster of 2", found["a cluster of 4"], two, unit, more=True)
    for name, each in costs.items():
        yield Row.of(
            f"{name}: client, scheduler and all that is written", statistics.median(each), None, "ms", more=False
        )


if __name__ == "__main__":
    main()
