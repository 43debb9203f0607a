"""Running a command as its user would, and what it took."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

OURS = Path(sys.executable).parent
"""The programs of the environment that this one runs in."""

_LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Cost:
    """What one run of a command, or several, took.

    Attributes:
        submissions: how many were graded.
        wall: seconds from start to finish.
        processor: seconds of processor time, of all the processes that it started.
    """

    submissions: int
    wall: float
    processor: float

    @property
    def per_minute(self) -> float:
        """Submissions graded in a minute."""
        return 60 * self.submissions / self.wall

    @property
    def processor_each(self) -> float:
        """Seconds of processor time for each submission."""
        return self.processor / self.submissions


def run(programs: Path, folder: Path, command: str, *arguments: str) -> None:
    """Run a command of an environment.

    Args:
        programs: the environment's folder of programs, which comes first on the path.
        folder: where it runs.
        command: its name.
        arguments: what follows.

    Raises:
        RuntimeError: it failed; with the end of what it said.
    """
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    if programs != OURS:
        environment.pop("PYTHONPATH", None)  # a peer sees its own packages
    done = subprocess.run(
        [str(programs / command), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command} {' '.join(arguments)}: {done.stdout[-500:]}{done.stderr[-2000:]}")


def cost(submissions: int, programs: Path, folder: Path, *commands: Sequence[str]) -> Cost:
    """What these commands took, one after another, with all the processes that they started."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with _enclosed_processes() as enclosed:
        for command in commands:
            run(programs, folder, *command)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(submissions, wall, processor + enclosed.seconds)


@dataclass(frozen=True)
class Watched:
    """What one run of a command took, and what it held meanwhile.

    Attributes:
        wall: seconds from start to finish.
        processor: seconds of processor time, of all the processes that it started.
        memory: megabytes of all its processes together, looked at five times a second.
        said: the end of what it printed.
    """

    wall: float
    processor: float
    memory: tuple[float, ...]
    said: str


def watched(programs: Path, folder: Path, command: str, *arguments: str) -> Watched:
    """Run a command of an environment, and look at its processes every now and then.

    Args:
        programs: the environment's folder of programs.
        folder: where it runs.
        command: its name.
        arguments: what follows.

    Raises:
        RuntimeError: it failed; with the end of what it said.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    memory, enclosed = [], Enclosed()
    with tempfile.TemporaryFile("w+") as log:
        running = subprocess.Popen([str(programs / command), *arguments], cwd=folder, stdout=log, stderr=log)
        while running.poll() is None:
            memory.append(sum(map(_megabytes, family(running.pid))))
            enclosed.look()
            with suppress(subprocess.TimeoutExpired):
                running.wait(_LOOK_SECONDS)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        log.seek(0)
        said = log.read()[-2000:]
    if running.returncode:
        raise RuntimeError(f"{command} {' '.join(arguments)}: {said}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Watched(wall, processor + enclosed.seconds, tuple(memory), said)


def _megabytes(process: int) -> float:
    """The process's share of memory: pages that several processes hold count in parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


@dataclass
class Enclosed:
    """The processor time of processes in namespaces of their own, which nobody outside is told of when they end."""

    seconds: float = 0.0

    def look(self) -> None:
        """Add up what those that live now have used, with their ended children; never less than before."""
        own = os.readlink("/proc/self/ns/pid")
        now = sum(
            _processor_seconds(process) for process in family(os.getpid()) if _namespace(process) not in ("", own)
        )
        self.seconds = max(self.seconds, now)


@contextmanager
def _enclosed_processes() -> Iterator[Enclosed]:
    """Look at the enclosed processes below this one every now and then; the time since the last look is lost."""
    enclosed, finished = Enclosed(), threading.Event()

    def watch() -> None:
        while not finished.wait(_LOOK_SECONDS):
            enclosed.look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield enclosed
    finally:
        finished.set()
        watcher.join()


def family(process: int) -> list[int]:
    """A process and its descendants."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(_statistics(int(entry.name))[1])
            except OSError:
                continue  # it has ended
    members = [process]
    for member in members:
        members += [child for child, parent in parents.items() if parent == member]
    return members


def _namespace(process: int) -> str:
    try:
        return os.readlink(f"/proc/{process}/ns/pid")
    except OSError:
        return ""


def _processor_seconds(process: int) -> float:
    """What a process and its ended children have used."""
    try:
        return sum(map(int, _statistics(process)[11:15])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def _statistics(process: int) -> list[str]:
    """The fields after the name in a process's `stat`, from its state on; see proc_pid_stat(5)."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
