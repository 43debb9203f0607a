"""The decoding tree: every word in its place, every probability on its branch, ways in colors."""

from __future__ import annotations

import numpy

from course_lib import show

BRANCHES = {(): {"die": 0.6, "eine": 0.4}, ("die",): {"Katze": 0.75, "Mieze": 0.25}}


def test_every_word_and_probability_is_written_and_every_sentence_ends(drawn) -> None:
    shown = drawn(show.tree, BRANCHES, alt="a tree", ends={("eine",): "0.4"})
    found = [text.get_text() for text in shown.axes[0].texts]
    for text in ("<s>", "die", "eine", "Katze", "Mieze", "0.6", "0.75", "0.25"):
        assert text in found
    assert found.count("<e>") == 3
    assert found.count("0.4") == 2, "on the branch, and behind the sentence"


def test_sentences_stand_below_each_other_and_words_to_the_right(drawn) -> None:
    (axes,) = drawn(show.tree, BRANCHES, alt="a tree").axes
    places = {text.get_text(): text.get_position() for text in axes.texts}
    assert places["Katze"][1] < places["die"][1] < places["Mieze"][1] < places["eine"][1]
    assert places["<s>"][0] < places["die"][0] == places["eine"][0] < places["Katze"][0]


def test_ways_are_drawn_side_by_side_and_named(drawn) -> None:
    ways = {"greedy": ["die", "Katze", "<e>"], "best": ["die", "Mieze"]}
    shown = drawn(show.tree, BRANCHES, ways=ways, alt="a tree")
    assert [text.get_text() for text in shown.legends[0].get_texts()] == ["greedy", "best"]
    broad = [line for line in shown.axes[0].lines if line.get_linewidth() == 5]
    assert len(broad) == 5
    first, shared = broad[0], broad[3]
    assert first.get_color() != shared.get_color()
    assert numpy.array_equal(first.get_xdata(), shared.get_xdata())
    assert not numpy.array_equal(first.get_ydata(), shared.get_ydata())
