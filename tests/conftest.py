"""What every test relies on: one thread for each process, so that tests can run side by side and fork; and no test
leaves anything in the home of whoever runs it. What draws its own examples has no deadline: no test depends on time.

How much is run follows from the fixtures that a test uses. `pytest` runs all but what asks for `thorough`, and of what
is `sampled(n)` the first n inputs; with `--thorough` the rest runs, too. With `--quick` a test that asks for no
`processes`, and is not `slow`, runs on its first inputs, and may start none.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import hypothesis
import pytest

from course_lib import exercises
from tests.fork_servers import kept_between_runs
from tests.once import skip_without
from tests.postgres import INSTALL, Cluster, find_programs, running

if TYPE_CHECKING:  # what imports the grader comes after its environment
    from autograder.box.fork_server.client import ForkServer
    from tests.boxes import ServerOf

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
_work = tempfile.TemporaryDirectory(prefix="katze-work-")
os.environ["KATZE_WORK"] = _work.name
os.environ["KATZE_CACHE"] = os.path.join(_work.name, "cache")

hypothesis.settings.register_profile("katze", deadline=None)
hypothesis.settings.load_profile("katze")

QUICK_INPUTS = 1
"""Of each test function, how many of its inputs `--quick` takes."""

SAMPLE = ["01_attention", "07_gpt"]
"""Two unlike lessons: functions of tensors, and models with what is trained and written."""

OUTSIDE = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "socket.connect", "subprocess.Popen"}
"""What Python says, to whoever audits it, when a process starts another one or speaks to one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    how_much = parser.getgroup("how much is run")
    how_much.addoption("--quick", action="store_true", help="no processes, nothing slow, each test's first input")
    how_much.addoption("--thorough", action="store_true", help="everything, in every lesson")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "sampled(n): its first n inputs on every change, and all before a release")
    platform.processor()  # asks another program, once in a process


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test of a `sampled_lesson` two lessons on every change, and every lesson before a release."""
    if "sampled_lesson" in metafunc.fixturenames:
        thorough = metafunc.config.getoption("thorough")
        metafunc.parametrize("sampled_lesson", list(exercises.LESSONS) if thorough else SAMPLE)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seen: Counter[str] = Counter()

    def is_wanted(item: pytest.Item) -> bool:
        used: list[str] = getattr(item, "fixturenames", [])
        function = item.nodeid.partition("[")[0]
        seen[function] += 1
        if config.getoption("thorough"):
            return True
        sampled = item.get_closest_marker("sampled")
        if "thorough" in used or (sampled and seen[function] > sampled.args[0]):
            return False
        if not config.getoption("quick"):
            return True
        return not {"processes", "slow"} & {*used} and seen[function] <= QUICK_INPUTS

    wanted = {item: is_wanted(item) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not wanted[item]])
    items[:] = [item for item in items if wanted[item]]


@pytest.fixture(scope="session")
def thorough() -> None:
    """What a test asks for that runs before a release alone."""


@pytest.fixture(scope="session")
def processes() -> Iterator[None]:
    """What a test asks for that starts processes or speaks to one: sandboxes, kernels, commands, a browser."""
    with kept_between_runs():
        yield


@pytest.fixture(scope="session")
def server_of(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerOf]:
    """The fork server of a level, with sandboxes for lesson 01: what one of them does must not reach another."""
    from tests.boxes import warm_servers

    with warm_servers(tmp_path_factory.mktemp("parent")) as started:
        yield started


@pytest.fixture(scope="session")
def fork_server(server_of: ServerOf) -> ForkServer:
    """That of level L2."""
    from autograder.box.confinement.levels import Level

    return server_of(Level.L2)


@pytest.fixture(scope="session")
def slow() -> None:
    """What a test asks for that computes for seconds, such as one in which a model learns."""


@pytest.fixture(scope="session", autouse=True)
def _no_processes_when_quick(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("quick"):
        return

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event in OUTSIDE:
            raise RuntimeError(f"{event}: a test that does this asks for the fixture `processes`")

    sys.addaudithook(refuse)


@pytest.fixture(scope="session")
def cluster(processes: None) -> Iterator[Cluster]:
    """A PostgreSQL server, once for each process that runs tests."""
    if find_programs() is None:
        skip_without("PostgreSQL", INSTALL, "KATZE_POSTGRES")
    with running() as started:
        yield started


@pytest.fixture
def database(cluster: Cluster, request: pytest.FixtureRequest) -> str:
    """The name of a new database on it, in which both instructors act as its owner."""
    return cluster.create(f"{request.node.name[:40]}_{uuid4().hex[:8]}")
