"""Keeps a worker warm for a run, and lets it take submissions.

A worker that is ready offers Dask one unit of a resource that is named after the run, and each submission asks for one.
So no worker gets a submission before it is examined, whenever it joined, and each one grades one submission at a time.
"""

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
"""Why a worker takes no more submissions."""

SETTLING_SECONDS = 2.0
"""How long to leave a worker alone that has just started."""

_OBSERVERS = ("profile", "profile-cycle", "tick")
"""Dask's own measurements of a worker for its dashboard, a hundred a second; they took a tenth of all time."""


class WorkerRefused(Exception):
    """A worker cannot take part; the message says why and what to do."""


class RunOnWorker(WorkerPlugin):
    """A worker's part in a run: opened once on each worker, and closed at the end of the run.

    Attributes:
        name: the name of the run and of the resource that the worker offers.
        problem: why this worker takes no submissions; empty while it does, None until that is known.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.problem: str | None = None

    def open(self, scratch: Path) -> None:
        """Get ready to grade; called in a thread of its own.

        Args:
            scratch: a folder for its files.

        Raises:
            WorkerRefused: this worker cannot take part.
        """

    def grade(self, task: bytes) -> bytes:
        """Grade one submission: take the bytes of `pack_task`, return those of `pack_reply`.

        Raises:
            OSError: the disk is full.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Undo `open`."""

    async def setup(self, worker: Worker) -> None:
        """Open the run, and offer the worker; Dask calls this when the run begins or the worker joins."""
        self._worker = worker
        self._scratch = Path(tempfile.mkdtemp(prefix="run-", dir=worker.local_directory))
        self.problem = await asyncio.to_thread(self._open)
        logger.info("run %s: %s", self.name, self.problem or "ready")
        if self.problem:
            return
        if worker.periodic_callbacks["heartbeat"].is_running():
            await self._offer(worker)
        else:  # still starting; a nanny does not restart a worker that dies this early
            worker.loop.call_later(SETTLING_SECONDS, self._offer, worker)

    async def teardown(self, worker: Worker) -> None:
        """Close the run; Dask calls this when the run or the worker ends."""
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
        except Exception as error:  # whatever it is, this worker cannot take part, but others can
            return f"it cannot begin: {type(error).__name__}: {error}"
        return ""

    async def _offer(self, worker: Worker) -> None:
        for name in _OBSERVERS:
            if name in worker.periodic_callbacks:
                worker.periodic_callbacks[name].stop()
        await worker.set_resources(**{self.name: 1})
        if worker.status is Status.running:  # Dask offers waiting tasks to a worker that starts to run
            worker.status = Status.paused
            worker.status = Status.running

    def _withdraw(self) -> None:
        """Tell the scheduler that this worker offers nothing any more; submissions on their way are handed back."""
        worker = self._worker
        resources = {**worker.state.total_resources, self.name: 0}
        sync(worker.loop, worker.scheduler.set_resources, resources=resources, worker=worker.contact_address)


def grade_submission(name: str, task: bytes) -> bytes:
    """Grade one submission on the worker where this is called: the only function of ours that Dask calls for one."""
    run: Any = get_worker().plugins.get(name)
    if run is None:  # the run has ended, or this worker has just restarted
        raise Reschedule
    reply: bytes = run.take(task)
    return reply


async def examine_worker(min_level: str, level: str) -> dict[str, Any]:
    """Return what the worker where this is called would grade with: an `Examined` as plain data."""
    from autograder.cluster.examining import examine_oneself

    return asdict(await asyncio.to_thread(examine_oneself, min_level, level))


def problem_at(name: str, dask_worker: Worker) -> str | None:
    """Return why this worker takes no submissions of a run; empty while it does, None if that is not known yet."""
    run = dask_worker.plugins.get(name)
    return run.problem if isinstance(run, RunOnWorker) else None


def keep_few_messages(dask_scheduler: Any) -> None:
    """Limit how many sent messages the scheduler keeps: for 200 workers, gigabytes of submissions by default."""
    dask.config.set({"distributed.admin.low-level-log-length": KEPT_MESSAGES})  # for workers that join later
    for stream in dask_scheduler.stream_comms.values():
        stream.recent_message_log = deque(stream.recent_message_log, KEPT_MESSAGES)


def stale_runs(dask_scheduler: Any) -> list[str]:
    """Return the names of runs whose client is gone."""
    prefix = "katze-"
    names = [name for name in dask_scheduler.worker_plugins if name.startswith(prefix)]
    return [name for name in names if name.removeprefix(prefix) not in dask_scheduler.clients]
