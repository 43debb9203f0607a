"""What a confined process must not be able to do, tried one after another (the self-test's own process)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

from autograder.box.grants import open_grants
from autograder.box.levels import Level, confine
from autograder.limits import Limits


def try_everything(root: str, port: int) -> None:
    """The self-test's own process: confine it, try what a box must not do, print what could be done."""
    outside = Path(root)
    own = os.open(outside / "own", os.O_PATH)
    confine(Level.L2, Limits(), own, open_grants([]))
    attempts: dict[str, Callable[[], object]] = {
        "it can read files": (outside / "canary").read_bytes,
        "it can write files": lambda: (outside / "written").write_bytes(b""),
        "it can connect": lambda: socket.create_connection(("127.0.0.1", port), timeout=5),
        "it can start programs": lambda: subprocess.run(["/bin/true"], check=True),
        "it can fork": _fork,
        "it can signal its parent": lambda: os.kill(os.getppid(), 0),
        "it can change modes": lambda: os.chmod(outside / "canary", 0o600),
    }
    possible = [name for name, attempt in attempts.items() if _succeeds(attempt)]
    if not _succeeds(lambda: (outside / "own" / "file").write_bytes(b"x")):
        possible.append("it cannot write its own folder")
    print(json.dumps(possible))


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
