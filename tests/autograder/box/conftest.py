from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.box.box import Box
from autograder.box.confinement import container
from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import self_test
from autograder.box.endings import BoxLost
from autograder.box.fork_server.client import ForkServer
from autograder.limits import Limits
from course_lib.judging.exercise import Case
from course_lib.judging.observation import Observation, Raised

WITHHELD = ("course_lib.attention",)
"""As in the first lesson."""

COURSE = "the-course-of-winter"
"""The folder in which the graders of these tests work, and which their environment names."""

QUICK = Limits(cell_seconds=1.0, call_seconds=1.0, memory_bytes=256 << 20)


@functools.cache
def why_not(level: Level) -> list[str]:
    """Why there are no sandboxes of this level here; no test builds an image."""
    if level is Level.L4:
        try:
            if not container.has_image(container.find_engine()):
                return ["no image has been built"]
        except container.ContainerFailed as problem:
            return [str(problem)]
    return self_test(level) if level >= Level.L2 else []


def server_at(level: Level, *withheld: str, **options: Any) -> ForkServer:
    """A fork server for sandboxes of this level, where there can be any."""
    problems = why_not(level)
    if problems:
        pytest.skip(f"no sandboxes at level {level.name} here: {problems}")
    return ForkServer(withheld, level, **options)


def value(box: Box, source: str) -> str:
    """The last value of a cell that runs to its end, as it is shown."""
    result = box.run_cell(source)
    assert result.ok, result.raised
    return str(result.outputs[-1]["data"]["text/plain"])


def raised(box: Box, source: str) -> Raised:
    """The exception that ends a cell."""
    result = box.run_cell(source)
    assert result.raised is not None, f"this was possible: {source}\n{result.outputs}"
    return result.raised


def asked(box: Box, name: str, case: Case, **options: Any) -> Observation:
    """What an answer in the sandbox does on one case."""
    [observation] = box.observe_cases(name, [case], **options)
    return observation


def ended(box: Box, source: str) -> BoxLost:
    """How a cell ends its sandbox."""
    with pytest.raises(BoxLost) as caught:
        box.run_cell(source)
    return caught.value


def own_memory(process: int) -> Iterator[bytes]:
    """What a process has in memory, libraries left out, piece by piece."""
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            addresses, modes, _, _, inode, *_ = line.split()
            if modes.startswith("rw") and inode == "0":
                start, end = (int(address, 16) for address in addresses.split("-"))
                with contextlib.suppress(OSError):  # pages that cannot be read
                    memory.seek(start)
                    while piece := memory.read(min(end - memory.tell(), 64 << 20)):
                        yield piece


ServerOf = Callable[[Level], ForkServer]


@pytest.fixture(scope="session")
def server_of(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerOf]:
    """One warm process of each level for all tests: what one sandbox does must not reach another."""
    course = tmp_path_factory.mktemp("parent") / COURSE
    course.mkdir()
    with contextlib.ExitStack() as running:

        @functools.cache
        def started(level: Level) -> ForkServer:
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(course)
                for name in ("PWD", "OLDPWD", "COURSE", "JUPYTER_CONFIG_DIR"):
                    patch.setenv(name, str(course))
                fork_server = server_at(level, *WITHHELD, channels=2, trains=level >= Level.L2)
                return running.enter_context(fork_server)

        yield started


@pytest.fixture(scope="session")
def fork_server(server_of: ServerOf) -> ForkServer:
    """At L2, but in files that try other levels as well."""
    return server_of(Level.L2)


@pytest.fixture
def box(fork_server: ForkServer) -> Iterator[Box]:
    with fork_server.open_box() as fresh:
        yield fresh


@pytest.fixture
def quick_box(fork_server: ForkServer) -> Iterator[Box]:
    """A sandbox with little time and memory, for code that uses them up."""
    with fork_server.open_box(limits=QUICK) as fresh:
        yield fresh
