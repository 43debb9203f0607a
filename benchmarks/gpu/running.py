"""A part in a process of its own: what it tells arrives at once, and its end, good or bad, frees the GPU.

Processes are forked from one that has imported what they need and has not touched the GPU: a part begins at once.
"""

from __future__ import annotations

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
    """A part has raised, or its process has died."""


class OutOfTime(Exception):
    """A part has reached its limit."""


@dataclass(frozen=True)
class Settings:
    """What is asked of a part.

    Attributes:
        device: where to compute.
        out: the folder for what it writes.
        tiny: whether to do all of it, at the smallest size.
        small: whether Multi30k is learned by a model for a processor.
        steps: of training; None for a recipe's own.
        seed: of weights, order and dropout.
    """

    device: str
    out: Path
    tiny: bool = False
    small: bool = False
    steps: int | None = None
    seed: int = 0

    @property
    def unfinished(self) -> Path:
        """The folder for what is of no use once its part has ended, such as checkpoints."""
        return self.out / "unfinished"


def import_once(modules: Collection[str]) -> None:
    """What the processes have imported when they begin; to be said before the first. What is missing is left out."""
    get_context("forkserver").set_forkserver_preload([*modules])


def run_apart(function: str, settings: Settings, seconds: float | None) -> Iterator[Told]:
    """What a part tells, as it does.

    Args:
        function: "module:name"; it takes the settings, and what to tell with.
        settings: for it.
        seconds: that it has; None for as long as it takes.

    Raises:
        PartFailed: it has raised, or its process has died; `log.txt` has all that it printed.
        OutOfTime: it has reached its limit.
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
            os.killpg(process.pid or 0, signal.SIGKILL)  # it, and all that it started
        process.join()


def _inside(function: str, settings: Settings, connection: Connection) -> None:
    """In the new process."""
    os.setsid()
    Thread(target=_end_with_parent, daemon=True).start()
    with (settings.out / "log.txt").open("a", encoding="utf-8") as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
    import torch  # the process that follows the parts has no use for it

    if settings.tiny:
        torch.set_num_threads(1)  # a second one costs more than such a model takes
    tell: Tell = connection.send
    try:
        pkgutil.resolve_name(function)(settings, tell)
    except Exception as problem:
        traceback.print_exc()
        connection.send(RuntimeError(f"{type(problem).__name__}: {problem}"))
    else:
        connection.send(None)


def _end_with_parent() -> None:
    """Whoever follows the part may be killed: then nobody is left to end it at its limit."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.killpg(0, signal.SIGKILL)
