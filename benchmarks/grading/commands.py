"""Runs a command as its user would, and measures what it costs."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

OURS = Path(sys.executable).parent
"""The folder of programs in the environment that this runs in."""

_LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Cost:
    """The time and memory that one run of a command took.

    Attributes:
        wall: seconds from start to end.
        processor: seconds of processor time of all the processes that it started.
        memory: megabytes of all its processes together, sampled five times a second; a page that several of them share
            is divided between them.
    """

    wall: float
    processor: float
    memory: tuple[float, ...]


def run(programs: Path, folder: Path, command: str, *arguments: str) -> Cost:
    """Run a command of an environment, and sample its processes meanwhile.

    Args:
        programs: the environment's folder of programs, which comes first on the path.
        folder: its working folder.
        command: its name.
        arguments: its arguments.

    Raises:
        RuntimeError: it failed; the message ends with the end of its output.
    """
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    if programs != OURS:
        environment.pop("PYTHONPATH", None)  # a peer sees its own packages
    before, start = processor_seconds(), time.perf_counter()
    memory, enclosed = [0.0], 0.0
    with tempfile.TemporaryFile("w+") as log:
        running = subprocess.Popen(
            [str(programs / command), *arguments], cwd=folder, env=environment, stdout=log, stderr=log
        )
        while running.poll() is None:
            held, computed = _looked_at(running.pid)
            memory.append(held)
            enclosed = max(enclosed, computed)
            with suppress(subprocess.TimeoutExpired):
                running.wait(_LOOK_SECONDS)
        wall, processor = time.perf_counter() - start, processor_seconds() - before
        log.seek(0)
        said = log.read()[-2000:]
    if running.returncode:
        raise RuntimeError(f"{command} {' '.join(arguments)}: {said}")
    return Cost(wall, processor + enclosed, tuple(memory))


def processor_seconds() -> float:
    """Return the processor time of all ended processes below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _looked_at(process: int) -> tuple[float, float]:
    """Return the megabytes of a process and all below it, and the processor seconds of those in other namespaces.

    The kernel does not report the usage of ended processes to anybody outside their namespace.
    """
    megabytes, seconds, own = 0.0, 0.0, os.readlink("/proc/self/ns/pid")
    with suppress(psutil.Error):
        parent = psutil.Process(process)
        for member in (parent, *parent.children(recursive=True)):
            with suppress(psutil.Error, OSError):
                megabytes += member.memory_full_info().pss / 1e6
                if os.readlink(f"/proc/{member.pid}/ns/pid") != own:
                    seconds += sum(member.cpu_times()[:4])
    return megabytes, seconds
