"""Dask's workers as a pool that takes submissions: the client's side of a run.

Only a few submissions are on their way at a time, so that memory stays flat however many there are. What Dask does
itself is left to it: which worker is next, and that what a lost worker had goes to another. When that has killed more
workers than Dask allows, it comes back here, and is tried once more by itself (`grading/workers.py`).
"""

from __future__ import annotations

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
"""Submissions on their way to each worker: one in its hands, and the next."""

LOOK_SECONDS = 1.0
"""Time between two looks at which workers there are."""

ANSWER_SECONDS = 30.0
"""How long the scheduler may take to answer."""

PARTING_SECONDS = 5.0
"""How long it may take when the run has ended."""

CUT = "the connection to the scheduler was lost"
"""Why a run cannot go on."""

LOST_SECONDS = 60.0
"""How long a run goes on waiting when no worker is left: Dask needs a few seconds to start one again."""


class ClientSide(Protocol):
    """What one kind of grading does at the client."""

    def on_worker(self, name: str) -> RunOnWorker:
        """What each worker is to keep ready, for a run of this name."""

    def pack(self, task: Task) -> bytes | Finished:
        """What to send; or what came of a submission that needs no worker."""

    def unpack(self, task: Task, reply: bytes) -> Finished:
        """What a worker has sent back; its files are written."""

    def give_up(self, task: Task, problem: str) -> Finished:
        """What comes of a submission over which the grader itself has failed: `ungraded`, no score."""


class ClusterPool:
    """Workers of a cluster, as long as a run lasts.

    Args:
        client: of the cluster.
        side: what is graded.
        tell: takes a line for the instructor, on a worker that is refused or has been lost.
        lost_seconds: how long to wait when no worker is left.
    """

    def __init__(
        self, client: Any, side: ClientSide, tell: Callable[[str], None], lost_seconds: float = LOST_SECONDS
    ) -> None:
        self.name = f"katze-{client.id}"
        self._client = client
        self._side = side
        self._tell = tell
        self._lost_seconds = lost_seconds
        self._told: dict[str, str] = {}
        self._offering: set[str] = set()
        self._on_their_way: dict[Future[Finished], Any] = {}
        self._next_look = self._seen = 0.0

    def __enter__(self) -> Self:
        self._client.run_on_scheduler(keep_few_messages)
        self._client.register_plugin(self._side.on_worker(self.name), name=self.name)
        self._seen = time.monotonic()
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
        except Exception:  # the connection may break here as well, and what was done is done
            if kind is None:
                self._tell("the workers did not learn that the run has ended; the next run ends what is left of it")

    @property
    def ahead(self) -> int:
        """How many submissions the workers may have at a time.

        Raises:
            WorkersLost: the connection is gone, or no worker has been left for a while.
        """
        if self._client.status != "running":
            raise WorkersLost(CUT)
        if time.monotonic() >= self._next_look:
            self._look()
        return AHEAD * len(self._offering)

    def submit(self, task: Task) -> Future[Finished]:
        """Send a submission off."""
        done: Future[Finished] = Future()
        packed = self._side.pack(task)
        if isinstance(packed, Finished):
            done.set_result(packed)
            return done
        remote = self._client.submit(
            grade_submission,
            self.name,
            packed,
            key=f"katze-{uuid.uuid4().hex}",  # never one that was canceled, and may still be under way
            resources={self.name: 1},
            pure=False,
        )
        logger.debug("%s sent to the workers", task.student)
        self._on_their_way[done] = remote
        remote.add_done_callback(lambda remote: self._receive(task, done, remote))
        return done

    def _receive(self, task: Task, done: Future[Finished], remote: Any) -> None:
        """Take what has come of a submission, in a thread of Dask's. What was lost with the connection stays open:
        `ahead` says so.
        """
        from distributed import KilledWorker

        if remote.status == "cancelled":
            return
        try:
            while True:  # as long as there is a connection that it could come by: Dask would wait for ever
                try:
                    reply: bytes = remote.result(timeout=ANSWER_SECONDS)
                    break
                except TimeoutError:
                    if self._client.status != "running":
                        raise
        except KilledWorker:
            done.set_exception(WorkerDied())
        except Exception as error:
            if remote.status != "error":  # it is the connection's, not the worker's
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
        """See which workers there are, and name those that are refused, each once."""
        workers = workers_of(self._client)
        offering = {address for address, one in workers.items() if one["resources"].get(self.name)}
        for address in self._offering - workers.keys():
            self._tell(f"worker {address} was lost; its submissions go to another worker")
        others = [address for address in workers if address not in offering and address not in self._told]
        if others:
            client = self._client
            asked = _ask(client, lambda: client.run(problem_at, self.name, workers=others, on_error="return"))
            for address, problem in asked.items():
                if problem:
                    self._told[address] = str(problem)
                    self._tell(refusal(workers[address].get("name", ""), address, str(problem)))
        now = time.monotonic()
        if offering != self._offering:
            logger.info("%d workers can grade", len(offering))
        if offering:
            self._seen = now
        elif now - self._seen > self._lost_seconds:
            why = "".join(f"; {problem}" for problem in dict.fromkeys(self._told.values()))
            raise WorkersLost(f"no worker is left that can grade{why}")
        self._offering = offering
        self._next_look = now + (LOOK_SECONDS if offering else LOOK_SECONDS / 4)


def workers_of(client: Any) -> Mapping[str, Any]:
    """What the scheduler knows of its workers, by address.

    Raises:
        WorkersLost: it does not answer.
    """
    found: Mapping[str, Any] = _ask(client, lambda: client.scheduler.identity(n_workers=-1))["workers"]
    return found


def _ask(client: Any, call: Callable[[], Any], seconds: float | None = None) -> Any:
    """What a call of Dask's gives, if it does in time.

    Raises:
        WorkersLost: it does not, or the connection breaks.
    """

    async def awaited() -> Any:
        return await call()

    try:
        return client.sync(awaited, callback_timeout=seconds or ANSWER_SECONDS)
    except (OSError, TimeoutError) as error:
        raise WorkersLost(CUT) from error


def examine_workers(client: Any, here: Examined, min_level: str, level: str) -> list[ExaminedWorker]:
    """What all workers say of themselves, and whether they may grade for this client.

    Raises:
        BadInput: the scheduler has no Katze.
    """
    try:
        for name in client.run_on_scheduler(stale_runs):
            client.unregister_worker_plugin(name)
    except ImportError as error:
        raise BadInput(
            f"the scheduler cannot import Katze ({error}); start it where the same Katze is installed"
        ) from None
    said = client.run(examine_worker, min_level, level, on_error="return")
    known, found = workers_of(client), []
    for address, one in sorted(said.items()):
        examined = _examined(one)
        name = str(known.get(address, {}).get("name", ""))
        found.append(ExaminedWorker(name, address, examined, why_not(examined, here)))
    return found


def _examined(said: object) -> Examined:
    if isinstance(said, dict):
        return Examined(**said)
    if isinstance(said, ImportError):
        return Examined("", problem=missing_in_words(said))
    return Examined("", problem=f"it does not answer: {said}")


def require_a_worker(workers: Sequence[ExaminedWorker], tell: Callable[[str], None]) -> list[Examined]:
    """What those say of themselves that may grade; the others are named.

    Raises:
        BadInput: none may.
    """
    good = [one.examined for one in workers if not one.refused]
    refused = [refusal(one.name, one.address, one.refused) for one in workers if one.refused]
    if not good:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        raise BadInput(f"no worker can grade: {refused[0] if refused else 'there is none'}{more}")
    for line in refused:
        tell(line)
    return good
