"""Reads the processor time and state of a sandbox's processes from outside, where student code cannot change it.

On Linux, the kernel keeps a clock for each process, over all its threads, that anyone may read. If a sandbox may start
processes (below level L2), and on macOS, all processes are searched for those that belong to it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

_DEATH_SIGNAL = 1  # of prctl
_KERNEL_CLOCK = 2  # CPUCLOCK_SCHED: what the scheduler has counted
_ANSWER_SECONDS = 10
_SIXTY = 60


class Doing(StrEnum):
    """What a group of processes is doing, taken together."""

    COMPUTES = "computes"
    """At least one is running, ready to run, or waiting for a disk."""

    WAITS = "waits"
    """All are asleep or have ended."""

    STOPPED = "stopped"
    """None is computing, and a signal has stopped one."""


_STATES = {"R": Doing.COMPUTES, "D": Doing.COMPUTES, "U": Doing.COMPUTES, "T": Doing.STOPPED, "t": Doing.STOPPED}
"""By the letters of proc_pid_stat(5) and ps(1); any other letter means waiting."""


@dataclass(frozen=True)
class Reading:
    """A reading at one moment.

    Attributes:
        computed: seconds of processor time since the processes began, threads and ended children included.
        doing: what they are doing now.
    """

    computed: float
    doing: Doing


def read(process: int, alone: bool) -> Reading | None:
    """Return a reading of a sandbox's process; None if it is gone, or the system does not say.

    Args:
        process: its process id.
        alone: whether it cannot have started others; otherwise they count, too.
    """
    try:
        if not sys.platform.startswith("linux"):
            return _together(_family(_listed_by_ps(), process))
        if not alone:
            return _together(_family(_listed(), process))
        clock = ~process << 3 | _KERNEL_CLOCK  # see clock_getcpuclockid(3)
        return Reading(time.clock_gettime(clock), _doing(_threads(process)))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def children(process: int) -> list[int]:
    """Return the ids of its child processes."""
    return [one.number for one in _listed() if one.parent == process]


def end_with_parent() -> None:
    """Have this process killed when its parent ends; on Linux only."""
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


# One process on Linux ----------------------------------------------------------------------------------------


def _threads(process: int) -> Iterator[str]:
    with os.scandir(f"/proc/{process}/task") as tasks:
        for task in tasks:
            with contextlib.suppress(OSError):  # ended in the meantime
                yield _fields(Path(task.path, "stat"))[0]


def _doing(states: Iterable[str]) -> Doing:
    found = {_STATES.get(state[:1], Doing.WAITS) for state in states}
    return next((one for one in (Doing.COMPUTES, Doing.STOPPED) if one in found), Doing.WAITS)


def _fields(stat: Path) -> list[str]:
    """Return the fields after the name, which may contain anything; the state comes first."""
    return stat.read_text(errors="replace").rpartition(")")[2].split()


# Several processes -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Process:
    number: int
    parent: int
    group: int  # its session, or, where that is unknown (macOS), its process group
    state: str
    seconds: float

    @classmethod
    def of(cls, stat: Path) -> _Process:
        """Parse a file of proc_pid_stat(5)."""
        fields = _fields(stat)
        ticks = sum(map(int, fields[11:15]))  # of its own and of its children that have ended
        return cls(int(stat.parent.name), int(fields[1]), int(fields[3]), fields[0], ticks / os.sysconf("SC_CLK_TCK"))


def _listed() -> list[_Process]:
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found.append(_Process.of(Path(entry.path, "stat")))
    return found


def _listed_by_ps() -> list[_Process]:
    command = ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,time="]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=True, errors="replace"
    )
    return [_of_ps(line) for line in done.stdout.splitlines() if line.strip()]


def _of_ps(line: str) -> _Process:
    number, parent, group, state, told = line.split()
    days, _, clock = told.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * _SIXTY + float(part)
    return _Process(int(number), int(parent), int(group), state, seconds + int(days or 0) * 86_400)


def _family(processes: Iterable[_Process], first: int) -> list[_Process]:
    """Return a process, the processes in its session, and all their descendants."""
    waiting = list(processes)
    family = [one for one in waiting if first in (one.number, one.group)]
    known = {one.number for one in family}
    for member in family:  # it grows
        more = [one for one in waiting if one.parent == member.number and one.number not in known]
        known.update(one.number for one in more)
        family += more
    return family


def _together(family: list[_Process]) -> Reading | None:
    if not family:
        return None
    states = [one.state for one in family]
    for one in family if sys.platform.startswith("linux") else ():  # where a state is that of one thread only
        with contextlib.suppress(OSError):
            states += _threads(one.number)
    return Reading(sum(one.seconds for one in family), _doing(states))
