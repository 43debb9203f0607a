"""What every test relies on: one thread for each process, so that tests can run side by side and fork; and no test
leaves anything in the home of whoever runs it. What draws its own examples has no deadline: no test depends on time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from uuid import uuid4

import hypothesis
import pytest

from tests.postgres import INSTALL, Cluster, find_programs, is_required, running

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
_work = tempfile.TemporaryDirectory(prefix="katze-work-")
os.environ["KATZE_WORK"] = _work.name

hypothesis.settings.register_profile("katze", deadline=None)
hypothesis.settings.load_profile("katze")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL server, once for each process that runs tests."""
    if find_programs() is None:
        said = f"PostgreSQL is not installed; install it with: {INSTALL}"
        if is_required():
            pytest.fail(said)
        pytest.skip(said)
    with running() as started:
        yield started


@pytest.fixture
def database(cluster: Cluster, request: pytest.FixtureRequest) -> str:
    """The name of a new database on it, in which both instructors act as its owner."""
    return cluster.create(f"{request.node.name[:40]}_{uuid4().hex[:8]}")
