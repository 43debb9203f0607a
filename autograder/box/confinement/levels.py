"""Defines the levels of confinement, and confines this process to one of them.

    L0  nothing; only for debugging, and only when asked for
    L1  a session, a home and a working directory of its own, a scrubbed environment, limits on resources
    L2  L1, and no new privileges, no capabilities, Landlock and seccomp: no network, no processes, no files
        but the interpreter's and its own
    L3  L2, inside bubblewrap: namespaces of their own, where nothing else exists
    L4  L2, inside a container of docker or podman, with an image of its own; only when asked for

`selftest.py` chooses a level by trying it.
"""

import contextlib
import ctypes
import os
import resource
import sys
from collections.abc import Sequence
from enum import IntEnum

from autograder.box.confinement import landlock, recorded, seccomp
from autograder.limits import Limits, size

_DROP_BOUNDING, _NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_ALL = 24, 38, 47, 4  # of prctl
_CAPABILITY_VERSION = 0x20080522
_CAPSET = {"x86_64": 126}  # 91 elsewhere


class Level(IntEnum):
    """A level of confinement. Above L2, an enclosure surrounds the fork server."""

    L0 = 0
    L1 = 1
    L2 = 2
    L3 = 3
    L4 = 4


def describe(level: Level, limits: Limits) -> str:
    """Describe a level in one line, for logs and reports."""
    what = {
        Level.L0: "no confinement",
        Level.L1: "own session and folder, scrubbed environment; files and network are open",
        Level.L2: "Landlock, seccomp; no network, no processes",
        Level.L3: "bubblewrap, Landlock, seccomp; no network, no processes",
        Level.L4: "container, Landlock, seccomp; no network, no processes",
    }[level]
    seconds = f"{limits.submission_seconds:g} s of processor time"
    weaker = ", system calls by the deny-list" if level >= Level.L2 and limits.system_calls == "deny-list" else ""
    return f"sandboxes at level {level.name}: {what}{weaker}, {size(limits.memory_bytes)}, {seconds}"


# Confining this process --------------------------------------------------------------------------------------


def confine(level: Level, limits: Limits, own: int, grants: Sequence[landlock.Grant]) -> int:
    """Permanently give up everything that a sandbox at this level must not do. Whatever it needs must be open already.

    Args:
        level: the level.
        limits: the limits on resources.
        own: descriptor of the writable folder; closed afterwards.
        grants: what may be read (from level L2 on); also closed.

    Returns:
        The address space in use so far, which does not count toward the memory limit; 0 if memory is not limited.

    Raises:
        OSError: the kernel refused; the process must not go on.
    """
    mapped = mapped_bytes()
    if level >= Level.L2:
        if ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        _drop_capabilities()
        landlock.restrict(grants, own)
        if limits.system_calls == "recorded":
            recorded.begin()
        seccomp.install(limits.system_calls)
    for descriptor in (own, *(entry.descriptor for entry in grants)):
        os.close(descriptor)
    if level == Level.L0:
        return 0
    _limit_resources(limits, mapped)
    return mapped


def _limit_resources(limits: Limits, mapped: int) -> None:
    """Set this process's limits, never above the ones that it already has."""
    _limit(resource.RLIMIT_CPU, limits.processor_seconds, limits.processor_seconds + 5)
    _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_CORE, 0)
    if sys.platform.startswith("linux"):  # macOS maps far more than it uses
        most = max(limits.memory_bytes, limits.memory_ceiling_bytes) + mapped
        _limit(resource.RLIMIT_AS, limits.memory_bytes + mapped, most + MEMORY_RESERVE)


MEMORY_RESERVE = 64 << 20
"""Address space above the limit that lets a sandbox report that it hit the limit."""


def limit_memory(count: int | None = None) -> None:
    """Set this process's total address space within its hard limit; by default, to that limit.

    Student code could do the same, but the hard limit set at confinement holds.
    """
    with contextlib.suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = hard if count is None else count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _limit(kind: int, soft: int, hard: int | None = None) -> None:
    _, most = resource.getrlimit(kind)
    high = soft if hard is None else hard
    if most != resource.RLIM_INFINITY:
        soft, high = min(soft, most), min(high, most)
    resource.setrlimit(kind, (soft, high))


def mapped_bytes() -> int:
    """Return the address space that this process uses; 0 if the system does not count it."""
    if not sys.platform.startswith("linux"):
        return 0
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _drop_capabilities() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        if libc.prctl(_DROP_BOUNDING, capability, 0, 0, 0) != 0:
            break  # past the last one, or no privilege to drop: then there is none to keep either
    libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if libc.syscall(_CAPSET.get(os.uname().machine, 91), header, nothing) != 0:
        raise OSError(ctypes.get_errno(), "cannot drop capabilities")
