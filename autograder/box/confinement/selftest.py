"""Chooses a level by trying it: a throwaway process confines itself, and then does what it must not."""

import contextlib
import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.box.confinement import bubblewrap, container, landlock, seccomp
from autograder.box.confinement.enclosure import Enclosure
from autograder.box.confinement.levels import Level
from autograder.box.fork_server.root import enclosure_at
from autograder.box.library import copy_library
from autograder.errors import BadInput
from autograder.limits import Limits

logger = logging.getLogger(__name__)

SELF_TEST_SECONDS = 30
_SEPARATE = ("mnt", "pid", "net", "ipc", "uts")  # namespaces that an enclosure must not share with this process


def default_level() -> Level:
    """Return the weakest level to accept by default."""
    return Level.L2 if sys.platform.startswith("linux") else Level.L1


def choose_level(minimum: Level | None = None) -> Level:
    """Return the strongest level that works on this machine; L4 only if `minimum` is L4.

    Args:
        minimum: the weakest level to accept; by default L2 on Linux, and L1 elsewhere.

    Raises:
        BadInput: that level is below `minimum`.
    """
    minimum = default_level() if minimum is None else minimum
    problems: list[str] = []
    for level in [Level.L4] if minimum is Level.L4 else [Level.L3, Level.L2]:
        if level >= minimum:
            problems = self_test(level)
            logger.info("level %s %s", level.name, f"does not hold: {'; '.join(problems)}" if problems else "holds")
            if not problems:
                return level
    if minimum <= Level.L1:
        return Level.L1
    raise BadInput(
        f"sandboxes at level {minimum.name} are not possible here ({'; '.join(problems)}); "
        "see `katze doctor`, or accept a lower level with --min-level"
    )


def self_test(level: Level = Level.L2) -> list[str]:
    """Try a level in a throwaway process; return what the process could still do, or why the level is not available.
    Empty if it holds.

    Args:
        level: L2, L3 or L4; for L4, the image is built first if it does not exist.
    """
    if landlock.abi() < 1:
        return ["no Landlock"]
    if not seccomp.supported():
        return [f"no seccomp filter for {os.uname().machine}"]
    if level is Level.L3 and bubblewrap.bwrap_path() is None:
        return ["bubblewrap is not installed"]
    try:
        engine = container.find_engine() if level is Level.L4 else ""
        if engine and not container.has_image(engine):
            print(f"building {container.image(engine)} with {engine}: once; it takes some minutes", file=sys.stderr)
            container.build_image(engine)
        return _tried(enclosure_at(level, Limits(), boxes=1), level)
    except container.ContainerFailed as problem:
        return [str(problem)]


def _tried(enclosure: Enclosure, level: Level) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="katze-test-") as folder, _listener() as port:
        root = Path(folder, "inside")
        (root / "own").mkdir(parents=True)
        canary = Path(folder, "canary")
        canary.write_text("canary")
        copy_library(root / "library", withheld=())
        shared = {} if level is Level.L2 else {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in _SEPARATE}
        config = json.dumps({"root": str(root), "canary": str(canary), "port": port, "namespaces": shared})
        start = f"import json, sys; sys.path.insert(0, {str(root / 'library')!r}); "
        start += (
            "from autograder.box.confinement.attempts import try_everything; try_everything(**json.loads(sys.argv[1]))"
        )
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        try:
            done = subprocess.run(
                enclosure.command(root, environment, ["-I", "-S", "-B", "-c", start, config]),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SELF_TEST_SECONDS,
                env=enclosure.own_environment(environment),
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            enclosure.end(root)
            return [f"the self-test took longer than {SELF_TEST_SECONDS} s"]
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            return [f"the self-test failed: {said[-1][:300] if said else f'exit status {done.returncode}'}"]
        try:
            return [str(problem) for problem in json.loads(done.stdout)]
        except ValueError:
            return ["the self-test gave no answer"]


@contextlib.contextmanager
def _listener() -> Iterator[int]:
    """Yield an open port on this machine; if there is no network at all, a closed one."""
    try:
        server = socket.create_server(("127.0.0.1", 0))
    except OSError:
        yield 9
        return
    with server:
        yield server.getsockname()[1]
