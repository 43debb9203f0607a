"""Gives each sandbox a control group, so that the kernel limits all its processes and threads together.

This needs version 2, and permission to divide the group that this process is in, as under `systemd-run --user --scope
--property=Delegate=yes`. Elsewhere, per-process limits and a check ten times a second must do (`levels.py`, `box.py`),
and `katze doctor` says so.
"""

import contextlib
import functools
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.limits import Limits

CONTROLLERS = ("memory", "pids", "cpu")
"""The controllers to use; see cgroups(7)."""

DELEGATE = "systemd-run --user --scope --property=Delegate=yes"
"""Put this before a command on a system with systemd to let it divide its group."""

_ROOM = 512 << 20
"""Memory allowed in addition to a sandbox's address space: what it copies of the pages that it shared, and files in its
folder.
"""

_PERIOD = 100_000  # microseconds, in which a sandbox computes no longer than one processor would


@dataclass(frozen=True)
class Division:
    """The part of the hierarchy that holds the sandboxes' groups.

    Attributes:
        folder: its folder in the kernel's file system.
        controllers: which of `CONTROLLERS` work there.
    """

    folder: Path
    controllers: tuple[str, ...]

    def admit(self, process: int, limits: Limits) -> Path:
        """Move a sandbox's process into a new group with its limits, before any student code has run there.

        Returns:
            The group's folder.

        Raises:
            OSError: the kernel refused; the group is gone.
        """
        group = Path(tempfile.mkdtemp(prefix="box-", dir=self.folder))
        memory = max(limits.memory_bytes, limits.memory_ceiling_bytes) + _ROOM
        settings = {
            "memory.max": str(memory),
            "memory.swap.max": "0",
            "memory.oom.group": "1",
            "pids.max": str(2 * limits.threads),
            "cpu.max": f"{_PERIOD} {_PERIOD}",
        }
        try:
            for name, value in settings.items():
                if (group / name).exists():  # there is no swap everywhere
                    (group / name).write_text(value)
            (group / "cgroup.procs").write_text(str(process))
        except OSError:
            remove_group(group)
            raise
        return group


def remove_group(group: Path) -> None:
    """Remove a sandbox's group once everything in it has ended."""
    with contextlib.suppress(OSError):
        group.rmdir()


@functools.cache
def own_division() -> Division | None:
    """Return the part below this process's own group, dividing that on the first call; None if that is not allowed.

    A divided group holds no processes itself: this one moves into a part, and its children start there.
    """
    if not sys.platform.startswith("linux"):
        return None
    folder = _own_group(Path("/proc/self/cgroup").read_text(), Path("/proc/self/mounts").read_text())
    return None if folder is None else divide(folder)


def divide(folder: Path) -> Division | None:
    """Divide a group that holds only this process and its future children.

    Args:
        folder: where the kernel shows the group.

    Returns:
        None if this user may not divide it, it holds other processes, or it limits nothing.
    """
    own, boxes = folder / "katze-grader", folder / "katze-boxes"
    try:
        offered = (folder / "cgroup.controllers").read_text().split()
        controllers = tuple(name for name in CONTROLLERS if name in offered)
        if not controllers or not os.access(folder / "cgroup.subtree_control", os.W_OK):
            return None
        for part in (own, boxes):
            part.mkdir(exist_ok=True)
        (own / "cgroup.procs").write_text(str(os.getpid()))
        for part in (folder, boxes):  # refused where the group holds others as well
            (part / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in controllers))
    except OSError:
        with contextlib.suppress(OSError):
            (folder / "cgroup.procs").write_text(str(os.getpid()))
            own.rmdir()
            boxes.rmdir()
        return None
    return Division(boxes, controllers)


def _own_group(groups: str, mounts: str) -> Path | None:
    """Return the folder of this process's version 2 group, from /proc/self/cgroup and /proc/self/mounts."""
    paths = [line.removeprefix("0::") for line in groups.splitlines() if line.startswith("0::")]
    places = [line.split()[1] for line in mounts.splitlines() if line.split()[2] == "cgroup2"]
    return Path(places[0], paths[0].lstrip("/")) if paths and places else None
