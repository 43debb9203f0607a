from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.box.box import Box
from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import self_test
from autograder.box.fork_server.client import ForkServer
from autograder.limits import Limits

WITHHELD = ("course_lib.attention",)
QUICK = Limits(cell_seconds=1.0, call_seconds=1.0, memory_bytes=256 << 20)


@pytest.fixture(scope="session")
def fork_server(processes: None) -> Iterator[ForkServer]:
    """One warm process at L2 for all tests: what one box does must not reach another."""
    problems = self_test()
    if problems:
        pytest.skip(f"no boxes at level L2 here: {problems}")
    with ForkServer(WITHHELD, Level.L2, channels=2) as warm:
        yield warm


@pytest.fixture
def box(fork_server: ForkServer) -> Iterator[Box]:
    with fork_server.open_box() as fresh:
        yield fresh


@pytest.fixture
def quick_box(fork_server: ForkServer) -> Iterator[Box]:
    """A box with little time and memory, for code that uses them up."""
    with fork_server.open_box(limits=QUICK) as fresh:
        yield fresh
