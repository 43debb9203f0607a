"""Where a gradebook is, and that its password is told to nobody."""

from pathlib import Path

import pytest

from autograder.course.address import Server, address_from, url_of
from autograder.errors import BadInput

ROOT = Path("/courses/nlp")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///gradebook.db", ROOT / "gradebook.db"),
        ("sqlite:///kept/grades.db", ROOT / "kept" / "grades.db"),
        ("sqlite:////srv/grades.db", Path("/srv/grades.db")),
    ],
)
def test_a_file(url: str, path: Path) -> None:
    address = address_from(ROOT, url)
    assert address == path
    assert url_of(address) == f"sqlite:///{path}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql+psycopg://ada:s3cret@db.example.org:5433/nlp", "postgresql://ada@db.example.org:5433/nlp"),
        ("postgresql://ada@db.example.org/nlp?sslmode=require", "postgresql://ada@db.example.org/nlp"),
        ("postgresql+psycopg://ada:s3%2Fcret@/nlp?host=/run/postgresql", "postgresql://ada@/run/postgresql/nlp"),
        ("postgresql+psycopg://ada@db.example.org/nlp?password=s3cret", "postgresql://ada@db.example.org/nlp"),
        ("postgresql+psycopg:///nlp", "postgresql:///nlp"),
    ],
)
def test_a_database_is_shown_without_its_password(url: str, shown: str) -> None:
    address = address_from(ROOT, url)
    assert isinstance(address, Server)
    assert str(address) == shown
    assert "s3" not in repr(address)
    assert url_of(address) == url


@pytest.mark.parametrize(
    "url",
    [
        "gradebook.db",
        "sqlite://",
        "sqlite:///",
        "sqlite://gradebook.db",
        "mysql://ada:s3cret@host/grades",
        "postgres://ada:s3/cr@et@host/grades",
        "postgresql+psycopg2://ada:s3cret@host/grades",
        "postgresql://ada:s3cret@host:port/grades",
        "postgresql://ada:s3cret@host",
        "oracle://host/grades?user=ada&password=s3cret&more=1",
    ],
)
def test_what_is_neither_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BadInput, match="sqlite:///FILE or postgresql[+]psycopg://USER@HOST/DATABASE") as refused:
        address_from(ROOT, url)
    assert "s3" not in str(refused.value)
    assert "et@" not in str(refused.value)
    assert "\n" not in str(refused.value)
