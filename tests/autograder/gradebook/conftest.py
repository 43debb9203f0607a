"""What is true of a gradebook wherever it is, is tested in both places."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course.address import Address


@pytest.fixture(params=["file", "server"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Address:
    """A gradebook that is still to be made: a file, or an empty database in PostgreSQL."""
    if request.param == "file":
        return tmp_path / "gradebook.db"
    cluster, database = request.getfixturevalue("cluster"), request.getfixturevalue("database")
    server: Address = cluster.server(database, "ada")
    return server
