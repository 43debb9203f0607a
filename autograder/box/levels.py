"""How strongly a box is confined, and whether that works on this machine.

    L0  nothing; only for debugging, and only when asked for
    L1  a session, a home and a working directory of its own, a scrubbed environment, limits on resources
    L2  L1, and no new privileges, no capabilities, Landlock and seccomp: no network, no processes, no files
        but the interpreter's and its own

A level is chosen by trying it: a throw-away process confines itself and then does what it should not.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import autograder
from autograder.box import landlock, seccomp
from autograder.box.grants import open_grants
from autograder.errors import BadInput

SELF_TEST_SECONDS = 30
_DROP_BOUNDING, _NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_ALL = 24, 38, 47, 4  # of prctl
_CAPABILITY_VERSION = 0x20080522
_CAPSET = {"x86_64": 126}  # 91 elsewhere


class Level(IntEnum):
    """A level of confinement. Levels above L2 put the whole zygote into a container."""

    L0 = 0
    L1 = 1
    L2 = 2


@dataclass(frozen=True)
class Limits:
    """What a box may use.

    Attributes:
        memory_bytes: address space beyond what the libraries already take.
        processor_seconds: processor time of the box.
        file_bytes: the largest file.
        folder_bytes: all files of the box together.
        open_files: open files.
        output_bytes: what one cell may show.
        frame_bytes: what may cross at once.
        cell_seconds: wall-clock time of one cell.
        call_seconds: wall-clock time of one call of an answer.
        submission_seconds: wall-clock time from opening the box to its last answer.
    """

    memory_bytes: int = 2 << 30
    processor_seconds: int = 60
    file_bytes: int = 64 << 20
    folder_bytes: int = 256 << 20
    open_files: int = 128
    output_bytes: int = 1 << 20
    frame_bytes: int = 64 << 20
    cell_seconds: float = 10.0
    call_seconds: float = 10.0
    submission_seconds: float = 60.0


def describe(level: Level, limits: Limits) -> str:
    """One line for logs and reports: the level and what it means."""
    what = {
        Level.L0: "no confinement",
        Level.L1: "own session and folder, scrubbed environment; files and network are open",
        Level.L2: "Landlock, seccomp; no network, no processes",
    }[level]
    memory = f"{limits.memory_bytes / (1 << 30):g} GB"
    return f"boxes at level {level.name}: {what}, {memory}, {limits.submission_seconds:g} s"


# Confining the process one is in ----------------------------------------------------------------------------


def confine(level: Level, limits: Limits, own: int, grants: Sequence[landlock.Grant]) -> None:
    """Give up, for good, what a box at this level may not do. Everything it needs must be open already.

    Args:
        level: how much to give up.
        limits: the limits on resources.
        own: descriptor of the folder that may be written; closed afterwards.
        grants: what may be read (level L2); closed as well.

    Raises:
        OSError: the kernel refused; the process must not go on.
    """
    mapped = _mapped_bytes()
    if level >= Level.L2:
        _prctl(_NO_NEW_PRIVILEGES, 1)
        _drop_capabilities()
        landlock.restrict(grants, own)
        seccomp.install()
    for descriptor in (own, *(entry.descriptor for entry in grants)):
        os.close(descriptor)
    if level >= Level.L1:
        _limit_resources(limits, mapped)


def _limit_resources(limits: Limits, mapped: int) -> None:
    """Set the limits of this process, below those it already has."""
    _limit(resource.RLIMIT_CPU, limits.processor_seconds, limits.processor_seconds + 5)
    _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_CORE, 0)
    if sys.platform.startswith("linux"):  # macOS maps far more than it uses
        size = limits.memory_bytes + mapped
        _limit(resource.RLIMIT_AS, size, size + MEMORY_RESERVE)


MEMORY_RESERVE = 64 << 20
"""Address space above the limit, with which a box can still report that it ran into it."""


def release_reserve() -> None:
    """Raise the memory limit by its reserve, to report that it was reached."""
    with contextlib.suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _limit(kind: int, soft: int, hard: int | None = None) -> None:
    _, most = resource.getrlimit(kind)
    high = soft if hard is None else hard
    if most != resource.RLIM_INFINITY:
        soft, high = min(soft, most), min(high, most)
    resource.setrlimit(kind, (soft, high))


def _mapped_bytes() -> int:
    """The address space that this process takes; 0 where nobody counts."""
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


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


# Choosing a level -------------------------------------------------------------------------------------------


def choose_level(minimum: Level = Level.L1) -> Level:
    """The strongest level that holds on this machine.

    Raises:
        BadInput: it is below `minimum`.
    """
    problems = self_test()
    level = Level.L1 if problems else Level.L2
    if level < minimum:
        raise BadInput(
            f"boxes at level {minimum.name} are not possible here ({'; '.join(problems)}); "
            f"grade on Linux 5.13 or newer, or accept a lower level with --level {level.name}"
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
        config = json.dumps({"path": str(Path(autograder.__file__).parents[1]), "root": folder, "port": port})
        start = "import json, sys; c = json.loads(sys.argv[1]); sys.path.insert(0, c['path']); "
        start += "from autograder.box.levels import try_everything; try_everything(c['root'], c['port'])"
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


@contextlib.contextmanager
def _listener() -> Iterator[int]:
    """A port on this machine that accepts connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]
