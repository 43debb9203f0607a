import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.box.box import Box
from autograder.box.endings import BoxLost
from autograder.box.fork_server.client import ForkServer
from autograder.limits import Limits
from course_lib.judging.exercise import Case
from course_lib.judging.observation import Observation, Raised

QUICK = Limits(cell_seconds=1.0, call_seconds=1.0, memory_bytes=256 << 20)


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


@pytest.fixture
def box(fork_server: ForkServer) -> Iterator[Box]:
    with fork_server.open_box() as fresh:
        yield fresh


@pytest.fixture(scope="module")
def kept_box(fork_server: ForkServer) -> Iterator[Box]:
    """One sandbox for all tests of a file whose cells do not mind what ran before them."""
    with fork_server.open_box() as kept:
        yield kept


@pytest.fixture
def quick_box(fork_server: ForkServer) -> Iterator[Box]:
    """A sandbox with little time and memory, for code that uses them up."""
    with fork_server.open_box(limits=QUICK) as fresh:
        yield fresh
