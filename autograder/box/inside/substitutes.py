"""Replaces other programs and processes, which a sandbox never starts.

An honest notebook that asks for workers, or for `pip install`, must not lose points over it. So workers are threads, a
program seems to succeed silently, and a notice in the cell says so. These substitutes are a courtesy, not protection:
seccomp refuses whatever gets around them.
"""

import concurrent.futures.process
import inspect
import io
import multiprocessing
import multiprocessing.dummy as threads
import multiprocessing.pool
import os
import shlex
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from multiprocessing.queues import SimpleQueue
from types import SimpleNamespace
from typing import Any

import torch
import torch.multiprocessing

Notice = Callable[[str], None]
"""Shows a sentence in the running cell."""

_MOST_WORKERS = 8


def stay_in_one_process(notice: Notice, no_program: Notice) -> None:
    """Replace functions that start workers with ones that use threads, and functions that start programs with ones that
    don't.

    Args:
        notice: called with a sentence about what was done instead.
        no_program: called with the program that was not started.
    """
    torch.utils.data.DataLoader.__init__ = _loader(notice)  # type: ignore[method-assign]
    executor = _executor(notice)
    concurrent.futures.process.ProcessPoolExecutor = executor  # type: ignore[assignment,misc]
    concurrent.futures.ProcessPoolExecutor = executor  # type: ignore[assignment,misc]
    _use_threads(notice)
    _start_no_programs(no_program)


def _loader(notice: Notice) -> Callable[..., None]:
    original = torch.utils.data.DataLoader.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("num_workers"):
            notice("`num_workers` was taken as 0: a notebook is graded in one process.")
            for name in ("num_workers", "prefetch_factor", "persistent_workers", "multiprocessing_context"):
                kwargs.pop(name, None)
        original(self, *args, **kwargs)

    return __init__


def _executor(notice: Notice) -> type[ThreadPoolExecutor]:
    class ProcessPoolExecutor(ThreadPoolExecutor):
        def __init__(self, max_workers: int | None = None, *args: Any, **kwargs: Any) -> None:
            notice("`ProcessPoolExecutor` used threads: a notebook is graded in one process.")
            initializer, initargs = kwargs.get("initializer"), kwargs.get("initargs", ())
            super().__init__(max_workers, initializer=initializer, initargs=initargs)

    return ProcessPoolExecutor


def _use_threads(notice: Notice) -> None:
    """Give `multiprocessing` the names of its own thread-based version."""

    class Process(threads.Process):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            notice("`Process` was a thread: a notebook is graded in one process.")
            super().__init__(*args, **kwargs)

        def close(self) -> None:
            """Do nothing."""

    def pool(processes: int | None = None, initializer: Any = None, initargs: Any = (), *rest: Any) -> Any:
        notice("`Pool` used threads: a notebook is graded in one process.")
        return ThreadPool(min(processes or _MOST_WORKERS, _MOST_WORKERS), initializer, initargs)

    names: dict[str, Any] = {name: getattr(threads, name) for name in threads.__all__}
    names.update(Process=Process, Pool=pool, SimpleQueue=lambda: SimpleQueue(ctx=threads))
    context = SimpleNamespace(**names)
    for module in (multiprocessing, torch.multiprocessing):
        vars(module).update(names, set_start_method=lambda method, force=False: None)
    for module in (multiprocessing, torch.multiprocessing, multiprocessing.pool):
        vars(module).update(get_context=lambda method=None: context)


def _start_no_programs(no_program: Notice) -> None:
    signature = inspect.signature(subprocess.Popen)

    class Popen(subprocess.Popen[Any]):
        """A program that was not started: it seems to have succeeded silently."""

        _child_created = False  # asked for when it is deleted

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            asked = signature.bind(*args, **kwargs)
            asked.apply_defaults()
            wish = asked.arguments
            no_program(_command(wish["args"]))
            self.args, self.pid, self.returncode = wish["args"], 0, 0
            as_text = any(wish[name] for name in ("text", "universal_newlines", "encoding", "errors"))
            pipes = {name: io.StringIO() if as_text else io.BytesIO() for name in ("stdin", "stdout", "stderr")}
            for name, pipe in pipes.items():
                setattr(self, name, pipe if wish[name] == subprocess.PIPE else None)

        def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
            """Return its output: none."""
            return tuple(pipe and pipe.read() for pipe in (self.stdout, self.stderr))  # type: ignore[return-value]

        def wait(self, timeout: float | None = None) -> int:
            """Return success."""
            return 0

        def poll(self) -> int:
            """Return success."""
            return 0

    def system(command: Any) -> int:
        no_program(_command(command))
        return 0

    subprocess.Popen = Popen  # type: ignore[misc]
    os.system = system


def _command(args: Any) -> str:
    if isinstance(args, (list, tuple)):
        return shlex.join(str(os.fsdecode(arg) if isinstance(arg, (bytes, os.PathLike)) else arg) for arg in args)
    return os.fsdecode(args) if isinstance(args, (bytes, os.PathLike)) else str(args)
