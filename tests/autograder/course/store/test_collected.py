"""The record of what was collected.

Tests `files.py` as well.
"""

from pathlib import Path

import pytest

from autograder.course.course import Course
from autograder.course.store.collected import Delivery, OlderDelivery, read_collected, write_collected
from autograder.errors import BadInput
from tests.autograder.small_class import LESSON, make_course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path)


ADA = Delivery(
    student="ada_40uni",
    platform="canvas",
    source="submissions.zip",
    names=("lovelaceada_LATE_12_34_01_attention-1.ipynb", "lovelaceada_LATE_12_35_notes.txt"),
    number="12",
    id="ada+1@uni",
    name="Ada Lovelace, \u200f🐈",
    email="ada@uni.example",
    handed_in="2026-11-20T17:50:00+00:00",
    late=True,
    attempt=2,
    digest="ab" * 32,
    extra={"assignment": "98765"},
    others=(OlderDelivery("lovelaceada_12_30_01_attention.ipynb", kept=".katze/replaced/x"),),
)


def place(course: Course) -> Path:
    """Where the record is, in a folder that is there."""
    path = course.root / ".katze" / "collected" / f"{LESSON}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def test_what_was_written_is_read(course: Course) -> None:
    assert read_collected(course, LESSON) == {}
    kept = {ADA.student: ADA, "ben": Delivery("ben", "folder", "week 1", ("ben/x.ipynb",))}
    write_collected(course, LESSON, kept)
    assert read_collected(course, LESSON) == kept
    assert [path.name for path in place(course).parent.iterdir()] == [f"{LESSON}.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 1}', b'{"students": {"ada": {"x": 1}}}', b"\xff"])
def test_a_damaged_file_is_refused_in_one_line(content: bytes, course: Course) -> None:
    place(course).write_bytes(content)
    with pytest.raises(BadInput, match="collect again") as raised:
        read_collected(course, LESSON)
    assert "\n" not in str(raised.value)


def test_a_newer_file_is_refused(course: Course) -> None:
    place(course).write_text('{"format": 2, "students": {}}')
    with pytest.raises(BadInput, match="newer Katze"):
        read_collected(course, LESSON)
