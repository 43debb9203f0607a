"""Keeps a worker warm for a run, and lets it take submissions.

A worker that is ready offers Dask a resource of its own name, one of it; each submission asks for one. So nobody gets
a submission who has not been examined, whenever it has joined, and each worker has one in its hands at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import tempfile
from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dask
from distributed import Reschedule, Status, Worker, WorkerPlugin, get_worker
from distributed.utils import sync

from autograder.cluster.connecting import KEPT_MESSAGES
from autograder.errors import DISK_FULL

logger = logging.getLogger(__name__)

FULL = "its disk is full; make room there"
"""Why a worker is given no more."""

SETTLING_SECONDS = 2.0
"""How long a worker that has only just started is left alone."""

_OBSERVERS = ("profile", "profile-cycle", "tick")
"""How Dask watches a worker, a hundred times a second, for its dashboard; that took a tenth of all time."""


class WorkerRefused(Exception):
    """A worker cannot take part; the message says why and what to do."""


class RunOnWorker(WorkerPlugin):
    """A worker's place in a run: it is opened once on each worker, and closed at the end of the run.

    Attributes:
        name: of the run; also of the resource that it offers.
        problem: why this worker takes nothing; empty while it does, None until that is known.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.problem: str | None = None

    def open(self, scratch: Path) -> None:
        """Make ready, in a thread of its own.

        Args:
            scratch: a folder for its files.

        Raises:
            WorkerRefused: this worker cannot take part.
        """

    def grade(self, task: bytes) -> bytes:
        """Grade one submission: from `pack_task` to `pack_reply`.

        Raises:
            OSError: the disk is full.
        """
        raise NotImplementedError

    def close(self) -> None:
        """End what was opened."""

    async def setup(self, worker: Worker) -> None:
        """Called by Dask when the run begins, or when the worker joins."""
        self._worker = worker
        self._scratch = Path(tempfile.mkdtemp(prefix="run-", dir=worker.local_directory))
        self.problem = await asyncio.to_thread(self._open)
        logger.info("run %s: %s", self.name, self.problem or "ready")
        if self.problem:
            return
        if worker.periodic_callbacks["heartbeat"].is_running():
            await self._offer(worker)
        else:  # it is only starting, and a nanny does not start a worker again that dies before that has ended
            worker.loop.call_later(SETTLING_SECONDS, self._offer, worker)

    async def teardown(self, worker: Worker) -> None:
        """Called by Dask when the run ends, or the worker does."""
        with contextlib.suppress(Exception):
            await asyncio.to_thread(self.close)
        await asyncio.to_thread(shutil.rmtree, self._scratch, ignore_errors=True)
        if worker.status is Status.running:
            worker.start_periodic_callbacks()

    def take(self, task: bytes) -> bytes:
        """Grade a submission here, or hand it back to be graded elsewhere."""
        if self.problem:
            raise Reschedule
        try:
            return self.grade(task)
        except OSError as error:
            if error.errno not in DISK_FULL:
                raise
            self._withdraw()
            self.problem = FULL
            raise Reschedule from error

    def _open(self) -> str:
        try:
            self.open(self._scratch)
        except WorkerRefused as problem:
            return str(problem)
        except OSError as error:
            return FULL if error.errno in DISK_FULL else f"it cannot begin: {error}"
        except Exception as error:  # whatever it is, this worker cannot take part, and others can
            return f"it cannot begin: {type(error).__name__}: {error}"
        return ""

    async def _offer(self, worker: Worker) -> None:
        for name in _OBSERVERS:
            if name in worker.periodic_callbacks:
                worker.periodic_callbacks[name].stop()
        await worker.set_resources(**{self.name: 1})
        if worker.status is Status.running:  # what waits for a worker is offered to one that begins to run
            worker.status = Status.paused
            worker.status = Status.running

    def _withdraw(self) -> None:
        """Tell the scheduler that nothing is offered here any more. What has been sent already comes here, and is
        handed back.
        """
        worker = self._worker
        resources = {**worker.state.total_resources, self.name: 0}
        sync(worker.loop, worker.scheduler.set_resources, resources=resources, worker=worker.contact_address)


def grade_submission(name: str, task: bytes) -> bytes:
    """Grade one submission on the worker that this is called on: the only function that Dask runs of us for one."""
    run: Any = get_worker().plugins.get(name)
    if run is None:  # the run has ended, or this worker was only just restarted
        raise Reschedule
    reply: bytes = run.take(task)
    return reply


async def examine_worker(min_level: str, level: str) -> dict[str, Any]:
    """What the worker that this is called on would grade with: an `Examined` as plain data."""
    from autograder.cluster.examining import examine_oneself

    return asdict(await asyncio.to_thread(examine_oneself, min_level, level))


def problem_at(name: str, dask_worker: Worker) -> str | None:
    """Why this worker takes nothing of the run of this name; empty while it does, None where that is not known yet."""
    run = dask_worker.plugins.get(name)
    return run.problem if isinstance(run, RunOnWorker) else None


def keep_few_messages(dask_scheduler: Any) -> None:
    """Let the scheduler not keep what it sends, which would be gigabytes of submissions for two hundred workers."""
    dask.config.set({"distributed.admin.low-level-log-length": KEPT_MESSAGES})  # for workers that will join
    for stream in dask_scheduler.stream_comms.values():
        stream.recent_message_log = deque(stream.recent_message_log, KEPT_MESSAGES)


def stale_runs(dask_scheduler: Any) -> list[str]:
    """The names of runs whose client is gone."""
    prefix = "katze-"
    names = [name for name in dask_scheduler.worker_plugins if name.startswith(prefix)]
    return [name for name in names if name.removeprefix(prefix) not in dask_scheduler.clients]
