"""`docs/postgres.md` says what is so. Its SQL is what the tests' own server is set up by."""

import re
from pathlib import Path

import pytest

from autograder.course.address import address_from
from autograder.errors import BadInput
from autograder.gradebook import server
from autograder.gradebook.access import open_gradebook
from autograder.grading.plan import OTHER_SECRET
from tests.postgres import INSTRUCTORS, TEAM, Cluster, statements

PAGE = (Path(__file__).parents[1] / "docs" / "postgres.md").read_text(encoding="utf-8")
FLAT = " ".join(PAGE.split())


def test_its_statements_make_one_role_of_all_instructors() -> None:
    roles, database = statements()
    assert [re.findall(r"CREATE ROLE (\w+)", one) for one in roles] == [[name] for name in (TEAM, *INSTRUCTORS)]
    assert len(database) == 1 + len(INSTRUCTORS)


def test_its_addresses_are_such() -> None:
    addresses = re.findall(r'"(postgresql\+psycopg://[^"]+)"', PAGE)
    assert [str(address_from(Path("/"), one)) for one in addresses] == ["postgresql://db.example.org/nlp"]
    query = "?sslmode=verify-full&sslrootcert=/etc/ssl/our-ca.pem"
    assert f"…/nlp{query}" in PAGE
    assert str(address_from(Path("/"), addresses[0] + query)) == "postgresql://db.example.org/nlp"


def test_what_it_quotes_is_what_is_said(cluster: Cluster, database: str) -> None:
    address = cluster.server(database)
    with open_gradebook(address, "01_attention"), pytest.raises(BadInput) as refused:
        open_gradebook(address, "01_attention").__enter__()
    said = re.sub(r"process \d+ on \S+\)", "process 4711 on ada-laptop)", str(refused.value))
    assert f"katze: {said.replace(str(address), 'postgresql://db.example.org/nlp')}." in FLAT
    assert f"`{OTHER_SECRET}`" in FLAT
    assert f"for {server.WAIT_SECONDS} seconds at most" in FLAT
    assert server._ENDED.partition(": ")[2].startswith("run this again")
