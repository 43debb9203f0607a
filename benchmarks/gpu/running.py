"""Runs a part in its own process: reports arrive at once, and its end, good or bad, frees the GPU.

Processes are forked from one that has imported what they need and has not touched the GPU, so parts start at once.
"""

import os
import pkgutil
import signal
import sys
import time
import traceback
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread

from benchmarks.gpu.results import Tell, Told


class PartFailed(Exception):
    """A part raised an exception, or its process died."""


class OutOfTime(Exception):
    """A part reached its time limit."""


@dataclass(frozen=True)
class Settings:
    """The settings of a part.

    Attributes:
        device: the device to compute on.
        out: the output folder.
        tiny: whether to use the smallest size.
        small: whether to train a small model for a processor on Multi30k.
        steps: the number of training steps; None for the recipe's.
        seed: the seed for weights, order and dropout.
    """

    device: str
    out: Path
    tiny: bool = False
    small: bool = False
    steps: int | None = None
    seed: int = 0

    @property
    def unfinished(self) -> Path:
        """The folder for files that are useless once their part has ended, such as checkpoints."""
        return self.out / "unfinished"


def import_once(modules: Collection[str]) -> None:
    """Set the modules that processes have imported when they start; call it before the first one. Skip missing ones."""
    get_context("forkserver").set_forkserver_preload([*modules])


def run_apart(function: str, settings: Settings, seconds: float | None) -> Iterator[Told]:
    """Run a part, and yield its reports as they arrive.

    Args:
        function: "module:name" of a function of the settings and `Tell`.
        settings: its settings.
        seconds: its time limit; None for none.

    Raises:
        PartFailed: it raised an exception, or its process died; `log.txt` has its output.
        OutOfTime: it reached its time limit.
    """
    context = get_context("forkserver")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_inside, args=(function, settings, theirs))
    ends = None if seconds is None else time.monotonic() + seconds
    process.start()
    theirs.close()
    try:
        while True:
            if not ours.poll(None if ends is None else max(0.0, ends - time.monotonic())):
                raise OutOfTime
            match ours.recv():
                case None:
                    return
                case Exception() as problem:
                    raise PartFailed(str(problem))
                case told:
                    yield told
    except EOFError:
        process.join()
        raise PartFailed(f"its process ended with exit code {process.exitcode}") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # the process and everything that it started
        process.join()


def _inside(function: str, settings: Settings, connection: Connection) -> None:
    """Run a part in the new process."""
    os.setsid()
    Thread(target=_end_with_parent, daemon=True).start()
    with (settings.out / "log.txt").open("a", encoding="utf-8") as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
    import torch  # here, because the process that follows the parts does not need it

    if settings.tiny:
        torch.set_num_threads(1)  # a second thread would cost more time than it saves
    tell: Tell = connection.send
    try:
        pkgutil.resolve_name(function)(settings, tell)
    except Exception as problem:
        traceback.print_exc()
        connection.send(RuntimeError(f"{type(problem).__name__}: {problem}"))
    else:
        connection.send(None)


def _end_with_parent() -> None:
    """End this process group if the parent is killed, because nobody else would end it at its limit."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.killpg(0, signal.SIGKILL)
