"""Uses Dask workers as a pool that grades submissions: the client's side of a run.

Only a few submissions are on their way at a time, so that memory use does not grow with their number. Dask chooses the
next worker, and passes a lost worker's submissions to another. A submission that has killed more workers than Dask
allows comes back here, and is tried once more by itself (`grading/workers.py`).
"""

import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Protocol, Self

from autograder.cluster.examining import Examined, ExaminedWorker, missing_in_words, refusal, why_not
from autograder.cluster.worker import (
    RunOnWorker,
    examine_worker,
    grade_submission,
    keep_few_messages,
    problem_at,
    stale_runs,
)
from autograder.errors import DISK_FULL, BadInput
from autograder.grading.task import Finished, Task
from autograder.grading.workers import WorkerDied, WorkersLost, error_in_words

logger = logging.getLogger(__name__)

AHEAD = 2
"""Submissions sent to each worker at a time: the one that it grades, and the next."""

LOOK_SECONDS = 1.0
"""Seconds between two checks of which workers there are."""

ANSWER_SECONDS = 30.0
"""How long the scheduler may take to answer."""

PARTING_SECONDS = 5.0
"""How long the scheduler may take to answer when the run has ended."""

CUT = "the connection to the scheduler was lost"
"""Why a run cannot go on."""

LOST_SECONDS = 60.0
"""How long a run waits when no worker is left: Dask needs a few seconds to restart one."""


class ClientSide(Protocol):
    """The client's part of one kind of grading."""

    def on_worker(self, name: str) -> RunOnWorker:
        """Return what each worker is to set up for the run with this name."""

    def pack(self, task: Task) -> bytes | Finished:
        """Return the bytes to send, or the result of a submission that needs no worker."""

    def unpack(self, task: Task, reply: bytes) -> Finished:
        """Return the result that a worker sent back, and write its files."""

    def give_up(self, task: Task, problem: str) -> Finished:
        """Return the result for a submission that the grader itself failed on: `ungraded`, no score."""


class ClusterPool:
    """The workers of a cluster during one run.

    Args:
        client: the cluster's client.
        side: the client's part of the grading.
        tell: called with a line for the instructor about a worker that is refused or lost.
    """

    def __init__(self, client: Any, side: ClientSide, tell: Callable[[str], None]) -> None:
        self.name = f"katze-{client.id}"
        self._client = client
        self._side = side
        self._tell = tell
        self._refused: dict[str, str] = {}
        self._offering: set[str] = set()
        self._on_their_way: dict[Future[Finished], Any] = {}
        self._next_look = self._last_offer = 0.0

    def __enter__(self) -> Self:
        self._client.run_on_scheduler(keep_few_messages)
        self._client.register_plugin(self._side.on_worker(self.name), name=self.name)
        self._last_offer = time.monotonic()
        self._look()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client.status != "running":
            return
        client, left = self._client, list(self._on_their_way.values())
        try:
            _ask(client, lambda: client.cancel(left, force=True), seconds=PARTING_SECONDS)
            _ask(client, lambda: client.unregister_worker_plugin(self.name), seconds=PARTING_SECONDS)
        except Exception:  # the connection may break here too, but the grades are safe
            if kind is None:
                self._tell("the workers did not learn that the run has ended; the next run ends what is left of it")

    @property
    def ahead(self) -> int:
        """The number of submissions that the workers may have at a time.

        Raises:
            WorkersLost: the connection is gone, or there has been no worker for a while.
        """
        if self._client.status != "running":
            raise WorkersLost(CUT)
        if time.monotonic() >= self._next_look:
            self._look()
        return AHEAD * len(self._offering)

    def submit(self, task: Task) -> Future[Finished]:
        """Send a submission to the workers."""
        done: Future[Finished] = Future()
        packed = self._side.pack(task)
        if isinstance(packed, Finished):
            done.set_result(packed)
            return done
        remote = self._client.submit(
            grade_submission,
            self.name,
            packed,
            key=f"katze-{uuid.uuid4().hex}",  # never that of a canceled task, which may still be under way
            resources={self.name: 1},
            pure=False,
        )
        logger.debug("%s sent to the workers", task.student)
        self._on_their_way[done] = remote
        remote.add_done_callback(lambda remote: self._receive(task, done, remote))
        return done

    def _receive(self, task: Task, done: Future[Finished], remote: Any) -> None:
        """Receive a submission's result, in a Dask thread. If the connection is lost, leave it open: `ahead` raises."""
        from distributed import KilledWorker

        if remote.status == "cancelled":
            return
        try:
            while True:  # while there is a connection; Dask alone would wait forever
                try:
                    reply: bytes = remote.result(timeout=ANSWER_SECONDS)
                    break
                except TimeoutError:
                    if self._client.status != "running":
                        raise
        except KilledWorker:
            done.set_exception(WorkerDied())
        except Exception as error:
            if remote.status != "error":  # the connection failed, not the worker
                return
            done.set_result(self._side.give_up(task, f"The grader failed: {error_in_words(error)}"))
        else:
            self._open(task, done, reply)
        finally:
            self._on_their_way.pop(done, None)
            remote.release()

    def _open(self, task: Task, done: Future[Finished], reply: bytes) -> None:
        try:
            done.set_result(self._side.unpack(task, reply))
        except Exception as error:
            if isinstance(error, OSError) and error.errno in DISK_FULL:
                done.set_exception(error)
            else:
                done.set_result(self._side.give_up(task, f"The grader failed: {error_in_words(error)}"))

    def _look(self) -> None:
        """Find out which workers there are, and name each refused one once."""
        workers = workers_of(self._client)
        offering = {address for address, worker in workers.items() if worker["resources"].get(self.name)}
        for address in self._offering - workers.keys():
            self._tell(f"worker {address} was lost; its submissions go to another worker")
        others = [address for address in workers if address not in offering and address not in self._refused]
        if others:
            client = self._client
            asked = _ask(client, lambda: client.run(problem_at, self.name, workers=others, on_error="return"))
            for address, problem in asked.items():
                if problem:
                    self._refused[address] = str(problem)
                    self._tell(refusal(workers[address].get("name", ""), address, str(problem)))
        now = time.monotonic()
        if offering != self._offering:
            logger.info("%d workers can grade", len(offering))
        if offering:
            self._last_offer = now
        elif now - self._last_offer > LOST_SECONDS:
            why = "".join(f"; {problem}" for problem in dict.fromkeys(self._refused.values()))
            raise WorkersLost(f"no worker is left that can grade{why}")
        self._offering = offering
        self._next_look = now + (LOOK_SECONDS if offering else LOOK_SECONDS / 4)


def workers_of(client: Any) -> Mapping[str, Any]:
    """Return the scheduler's facts about its workers, by address.

    Raises:
        WorkersLost: the scheduler does not answer.
    """
    found: Mapping[str, Any] = _ask(client, lambda: client.scheduler.identity(n_workers=-1))["workers"]
    return found


def _ask(client: Any, call: Callable[[], Any], seconds: float | None = None) -> Any:
    """Return the result of a Dask call.

    Raises:
        WorkersLost: it does not answer in time, or the connection breaks.
    """

    async def awaited() -> Any:
        return await call()

    try:
        return client.sync(awaited, callback_timeout=seconds or ANSWER_SECONDS)
    except (OSError, TimeoutError) as error:
        raise WorkersLost(CUT) from error


def examine_workers(client: Any, here: Examined, min_level: str, level: str) -> list[ExaminedWorker]:
    """Ask all workers to examine themselves, and decide whether they may grade for this client.

    Raises:
        BadInput: Katze is not installed where the scheduler runs.
    """
    try:
        for name in client.run_on_scheduler(stale_runs):
            client.unregister_worker_plugin(name)
    except ImportError as error:
        raise BadInput(
            f"the scheduler cannot import Katze ({error}); start it where the same Katze is installed"
        ) from None
    reports = client.run(examine_worker, min_level, level, on_error="return")
    known, found = workers_of(client), []
    for address, report in sorted(reports.items()):
        examined = _examined(report)
        name = str(known.get(address, {}).get("name", ""))
        found.append(ExaminedWorker(name, address, examined, why_not(examined, here)))
    return found


def _examined(report: object) -> Examined:
    if isinstance(report, dict):
        return Examined(**report)
    if isinstance(report, ImportError):
        return Examined("", problem=missing_in_words(report))
    return Examined("", problem=f"it does not answer: {report}")


def require_a_worker(workers: Sequence[ExaminedWorker], tell: Callable[[str], None]) -> list[Examined]:
    """Return the examinations of the workers that may grade, and name the others.

    Raises:
        BadInput: no worker may grade.
    """
    good = [worker.examined for worker in workers if not worker.refused]
    refused = [refusal(worker.name, worker.address, worker.refused) for worker in workers if worker.refused]
    if not good:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        raise BadInput(f"no worker can grade: {refused[0] if refused else 'there is none'}{more}")
    for line in refused:
        tell(line)
    return good
