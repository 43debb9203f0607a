"""What is true of a gradebook wherever it is, is tested in both places."""

from pathlib import Path

import pytest

from autograder.course.address import Address, Server
from tests.postgres import Cluster


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that is still to be made."""
    return tmp_path / "gradebook.db"


@pytest.fixture
def server(cluster: Cluster, database: str) -> Server:
    """An empty database in PostgreSQL."""
    return cluster.server(database, "ada")


@pytest.fixture(params=["file", "server"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Address:
    """A gradebook that is still to be made, in both places."""
    made: Address = tmp_path / "gradebook.db" if request.param == "file" else request.getfixturevalue("server")
    return made
