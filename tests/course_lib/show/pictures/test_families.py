"""Families of tasks as boxes: which stand where."""

from __future__ import annotations

import pytest

from course_lib import show
from course_lib.show import Family

ONE = Family("one, one", ["a vector"], ["class"], "a bag")
MANY_ONE = Family("many, one", ["the", "cat", "sat"], ["class"], "a sentence")
TAGGING = Family("many, many", ["the", "cat"], ["DET", "NOUN"], "tags")
TRANSLATION = Family("many, many, delayed", ["the", "cat"], ["die", "Katze", "<e>"], "translation", delay=True)


@pytest.mark.parametrize(
    ("family", "first", "steps"), [(ONE, 0, 1), (MANY_ONE, 2, 3), (TAGGING, 0, 2), (TRANSLATION, 2, 5)]
)
def test_an_output_stands_where_it_comes(family: Family, first: int, steps: int) -> None:
    assert family.first_output == first
    assert family.steps == steps


def test_every_word_is_drawn_in_its_row(drawn) -> None:
    axes = drawn(show.families, ONE, TRANSLATION, alt="two families").axes
    assert [panel.get_title() for panel in axes] == ["one, one", "many, many, delayed"]
    heights = {text.get_text(): text.get_position()[1] for text in axes[1].texts}
    assert heights["cat"] == 0.5
    assert heights["Katze"] == 2.5
    places = {text.get_text(): text.get_position()[0] for text in axes[1].texts}
    assert places["the"] < places["cat"] < places["die"] < places["Katze"] < places["<e>"]
