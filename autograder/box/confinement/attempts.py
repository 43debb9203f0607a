"""Tries everything that a confined process must not be able to do, in the self-test's own process."""

import fcntl
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from autograder.box.confinement.grants import open_grants
from autograder.box.confinement.levels import Level, confine
from autograder.limits import Limits


def try_everything(root: str, canary: str, port: int, namespaces: Mapping[str, str]) -> None:
    """Run the self-test's process: confine it, try what a sandbox must not do, and print what worked.

    Args:
        root: its own folder.
        canary: a file elsewhere.
        port: an open port on the testing machine.
        namespaces: the testing process's namespaces, by kind; this process must share none of them.
    """
    own, file = Path(root, "own"), Path(canary)
    around: dict[str, Callable[[], object]] = {
        "the enclosure lets it read files": file.read_bytes,
        "the enclosure lets it connect": lambda: socket.create_connection(("127.0.0.1", port), timeout=5),
        **{
            f"it shares the {kind} namespace": partial(_require_namespace, kind, name)
            for kind, name in namespaces.items()
        },
    }
    attempts: dict[str, Callable[[], object]] = {
        "it can read files": file.read_bytes,
        "it can write files": lambda: file.with_name("written").write_bytes(b""),
        "it can connect": lambda: socket.create_connection(("127.0.0.1", port), timeout=5),
        "it can start programs": lambda: subprocess.run(["/bin/true"], check=True),
        "it can fork": _fork,
        "it can signal its parent": lambda: os.kill(os.getppid(), 0),
        "it can change modes": lambda: os.chmod(own, 0o700),
        "it can lock files that all sandboxes read": _lock_library,
        "it can ask how full the disk is": lambda: os.statvfs(own),
        "it can read others' clocks": lambda: time.clock_gettime(~os.getppid() << 3 | 2),  # CPUCLOCK_SCHED
    }
    descriptor = os.open(own, os.O_PATH)
    possible = _possible(around) if namespaces else []
    confine(Level.L2, Limits(), descriptor, open_grants([]))
    possible += _possible(attempts)
    if not _succeeds(lambda: (own / "file").write_bytes(b"x")):
        possible.append("it cannot write its own folder")
    print(json.dumps(possible))


def _possible(attempts: Mapping[str, Callable[[], object]]) -> list[str]:
    """Return the meaning of each attempt that worked."""
    return [name for name, attempt in attempts.items() if _succeeds(attempt)]


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _require_namespace(kind: str, name: str) -> None:
    if os.readlink(f"/proc/self/ns/{kind}") != name:
        raise OSError("another one")


def _lock_library() -> None:
    with open(os.__file__, "rb") as library:
        fcntl.flock(library, fcntl.LOCK_SH)


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
