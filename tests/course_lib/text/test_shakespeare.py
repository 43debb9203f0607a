import pytest

from course_lib.text import shakespeare
from course_lib.text.downloads import DownloadError
from course_lib.text.shakespeare import a_little_shakespeare, shakespeare_at_hand


def test_a_play_and_the_sonnets_come_with_the_course() -> None:
    text = a_little_shakespeare()
    assert "The course of true love never did run smooth" in text
    assert "Shall I compare thee to a summer's day?" in text
    assert "Gutenberg" not in text


def test_tiny_shakespeare_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shakespeare, "tiny_shakespeare", lambda: "First Citizen:\nBefore we proceed any further")
    assert shakespeare_at_hand(13) == ("First Citizen", "The text: tiny Shakespeare.")


def test_what_is_at_hand_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise DownloadError("cannot fetch it")

    monkeypatch.setattr(shakespeare, "tiny_shakespeare", fail)
    text, said = shakespeare_at_hand(1000)
    assert text == a_little_shakespeare()[:1000]
    assert "come with the course" in said
    assert "cannot fetch it" in said
