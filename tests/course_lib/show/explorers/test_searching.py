"""A tree of next words reaches the script and the still picture."""

from __future__ import annotations

from course_lib import show

BRANCHES = {(): {"eine": 0.25, "die": 0.75}, ("die",): {"<e>": 1.0, "Katze": 0.0}}


def test_the_likeliest_words_come_first_and_the_impossible_not_at_all(put_on_the_page) -> None:
    data = put_on_the_page(show.searching, BRANCHES, "the cat").data
    assert data["tree"] == [["die", 0.75, [["<e>", 1.0]]], ["eine", 0.25]]


def test_the_still_lists_what_may_follow_as_text(put_on_the_page) -> None:
    widget = put_on_the_page(show.searching, BRANCHES, "<b>")
    assert "<th>&lt;s&gt; die</th><td>&lt;e&gt; 1.00, Katze 0.00</td>" in widget.still
    assert "<b>" not in widget.still
    assert widget.text.splitlines()[2] == "<s> | eine 0.25, die 0.75"
