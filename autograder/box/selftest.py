"""Choosing a level by trying it: a throw-away process confines itself, and then does what it should not."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.box import landlock, seccomp
from autograder.box.levels import Level
from autograder.box.library import copy_library
from autograder.errors import BadInput

SELF_TEST_SECONDS = 30


def choose_level(minimum: Level | None = None) -> Level:
    """The strongest level that holds on this machine.

    Args:
        minimum: the weakest level to accept; by default L2 on Linux, and L1 where there is no L2.

    Raises:
        BadInput: it is below `minimum`.
    """
    if minimum is None:
        minimum = Level.L2 if sys.platform.startswith("linux") else Level.L1
    problems = self_test()
    level = Level.L1 if problems else Level.L2
    if level < minimum:
        raise BadInput(
            f"boxes at level {minimum.name} are not possible here ({'; '.join(problems)}); "
            f"grade on Linux 5.13 or newer, or accept a lower level with --min-level {level.name}"
        )
    return level


def self_test() -> list[str]:
    """Try level L2 in a throw-away process: what it could still do, or why it cannot be had. Empty if it holds."""
    if landlock.abi() < 1:
        return ["no Landlock"]
    if not seccomp.supported():
        return [f"no seccomp filter for {os.uname().machine}"]
    with tempfile.TemporaryDirectory(prefix="katze-test-") as folder, _listener() as port:
        root = Path(folder)
        (root / "canary").write_text("canary")
        (root / "own").mkdir()
        copy_library(root / "library", withheld=())
        config = json.dumps({"root": folder, "port": port})
        start = "import json, sys; c = json.loads(sys.argv[1]); sys.path.insert(0, c['root'] + '/library'); "
        start += "from autograder.box.attempts import try_everything; try_everything(c['root'], c['port'])"
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-B", "-c", start, config],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SELF_TEST_SECONDS,
                start_new_session=True,
                check=False,
            )
            if done.returncode != 0:
                return [f"the self-test failed: {done.stderr.decode(errors='replace').strip().splitlines()[-1:]}"]
            return [str(problem) for problem in json.loads(done.stdout)]
        except (subprocess.TimeoutExpired, ValueError) as error:
            return [f"the self-test failed: {type(error).__name__}"]


@contextlib.contextmanager
def _listener() -> Iterator[int]:
    """A port on this machine that accepts connections; one that does not, where there is no network at all."""
    try:
        server = socket.create_server(("127.0.0.1", 0))
    except OSError:
        yield 9
        return
    with server:
        yield server.getsockname()[1]
