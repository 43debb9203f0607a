"""A gradebook that is looked at, made, and written by several: wherever it is."""

from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.course.address import Address, url_of
from autograder.errors import BadInput
from autograder.gradebook.access import open_gradebook, read_only
from tests.autograder.gradebook.toy_lesson import LESSON, grade


def test_looking_at_what_is_not_there_makes_nothing(address: Address) -> None:
    open_gradebook(address).check()
    with open_gradebook(address).looking() as session:
        assert session is None
    with open_gradebook(address, LESSON) as book:
        assert book.is_new()
    with pytest.raises(BadInput, match="there is no gradebook .* yet; grade a lesson"), read_only(address):
        pass
    assert open_gradebook(address).is_new()
    assert not isinstance(address, Path) or not address.exists()


def test_nbgrader_goes_on_from_a_gradebook_that_was_made_here_and_looking_writes_nothing(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")  # had the database no tables, nbgrader would look for alembic
    grade(address, LESSON, ["zoe"])
    with Gradebook(url_of(address), "toy") as nbgraders:
        found = nbgraders.find_submission(LESSON, "zoe")
        assert (found.score, found.max_score, found.needs_manual_grade) == (3.0, 6.0, True)
        assert found.timestamp.isoformat() == "2026-11-20T10:00:00"
        assert nbgraders.find_assignment(LESSON).course_id == "toy"
    before = address.read_bytes() if isinstance(address, Path) else b""
    with open_gradebook(address, LESSON) as book:
        assert not book.is_new()
        book.prepare()
        assert book.notices == []
    assert before == (address.read_bytes() if isinstance(address, Path) else b"")
