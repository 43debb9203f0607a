"""Sandboxes for all tests: a warm process of each level, once, for each costs three seconds of processor time."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.box.confinement import container
from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import self_test
from autograder.box.fork_server.client import ForkServer
from autograder.grading.notebook_runner import Graded, grade_notebook
from autograder.limits import Limits
from autograder.repair import Cell, CellKind
from course_lib import exercises
from course_lib.judging.answer_key import PUBLIC_SEED, AnswerKey

WITHHELD = ("course_lib.attention",)
"""As in lesson 01."""

COURSE = "the-course-of-winter"
"""The folder in which their grader works, and which its environment names."""

ServerOf = Callable[[Level], ForkServer]

FORGE = (
    "import json, os, struct\n"
    "def frame(header, payload=b''):\n"
    "    data = header if isinstance(header, bytes) else json.dumps(header).encode()\n"
    "    return struct.pack('>4sII', b'KTZ1', len(data), len(payload)) + data + payload\n"
    "def say(data):\n"
    "    while data: data = data[os.write(wire, data):]\n"
    "def send(header, payload=b''): say(frame(header, payload))\n"
    "import asyncio, stat\nloop = asyncio.get_event_loop_policy().get_event_loop()\n"
    "known = loop._ssock.fileno(), loop._csock.fileno()\n"
    "def is_socket(fd):\n"
    "    try: return stat.S_ISSOCK(os.fstat(fd).st_mode)\n"
    "    except OSError: return False\n"
    "[wire] = [fd for fd in range(3, 2000) if is_socket(fd) and fd not in known]\n"
)
"""Begins a cell that sends frames on the wire itself, in the sandbox's place."""


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


@contextlib.contextmanager
def warm_servers(parent: Path) -> Iterator[ServerOf]:
    """A fork server of each level that is asked for.

    Args:
        parent: of the folder in which the grader works.
    """
    course = parent / COURSE
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


def answered(exercise: str, source: str) -> list[Cell]:
    """An answer's cell and its check."""
    return [Cell(CellKind.ANSWER, source, exercise), Cell(CellKind.CHECK, "", exercise)]


def graded_in(fork_server: ForkServer, cells: Sequence[Cell], limits: Limits | None = None, **options: Any) -> Graded:
    """A notebook of these cells, graded in sandboxes of this fork server, with hidden inputs that anybody can draw."""
    return grade_notebook(
        cells,
        exercises.COURSE,
        lambda seconds: fork_server.open_box(seconds=seconds, limits=limits),
        lambda exercise: AnswerKey(exercise, PUBLIC_SEED),
        limits or Limits(),
        **options,
    )
