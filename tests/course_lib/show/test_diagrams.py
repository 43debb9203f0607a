"""Boxes, stacks, trees and bricks: everything is drawn, and in its place."""

import numpy
import pytest
from matplotlib.patches import FancyBboxPatch

from course_lib import show
from course_lib.show import Family, Layer, Stack

ONE = Family("one, one", ["a vector"], ["class"], "a bag")
MANY_ONE = Family("many, one", ["the", "cat", "sat"], ["class"], "a sentence")
TAGGING = Family("many, many", ["the", "cat"], ["DET", "NOUN"], "tags")
TRANSLATION = Family("many, many, delayed", ["the", "cat"], ["die", "Katze", "<e>"], "translation", delay=True)


@pytest.mark.parametrize(
    ("family", "first", "steps"), [(ONE, 0, 1), (MANY_ONE, 2, 3), (TAGGING, 0, 2), (TRANSLATION, 2, 5)]
)
def test_an_output_stands_where_it_comes(family: Family, first: int, steps: int) -> None:
    assert (family.first_output, family.steps) == (first, steps)


def test_every_word_of_a_family_is_drawn_in_its_row(drawn) -> None:
    axes = drawn(show.families, ONE, TRANSLATION, alt="two families").axes
    assert [panel.get_title() for panel in axes] == ["one, one", "many, many, delayed"]
    places = {text.get_text(): text.get_position() for text in axes[1].texts}
    assert (places["cat"][1], places["Katze"][1]) == (0.5, 2.5)
    assert places["the"] < places["cat"] < places["die"] < places["Katze"] < places["<e>"]


ENCODER = Stack("encoder", "the cat", [Layer("embedding", "[2, 8]"), Layer("self-attention", "[2, 8]")], (1, 1), "6 ×")
DECODER = Stack(
    "decoder",
    "<s> die",
    [Layer("embedding", "[3, 8]"), Layer("cross-attention", "[3, 8]"), Layer("output", "[3, 99]")],
    (1, 1),
    "6 ×",
    output="scores",
)


def test_all_of_both_stacks_is_written(drawn) -> None:
    (axes,) = drawn(show.stacks, ENCODER, DECODER, into=1, alt="two stacks").axes
    texts = [text.get_text() for text in axes.texts]
    for stack in (ENCODER, DECODER):
        assert {stack.title, stack.input, stack.output, *(layer.name for layer in stack.layers)} <= set(texts)
    assert texts.count("[2, 8]") == 2, "once within the encoder, once beside the memory"
    assert [texts.count(text) for text in ("6 ×", "[3, 8]", "[3, 99]", "memory")] == [2, 2, 1, 1]
    assert sum(isinstance(patch, FancyBboxPatch) for patch in axes.patches) >= 5


def test_the_memory_ends_at_its_reader(drawn) -> None:
    ends = []
    for into in (0, 1):
        (axes,) = drawn(show.stacks, ENCODER, DECODER, into, alt="two stacks").axes
        (line,) = axes.lines
        ends.append(numpy.asarray(line.get_ydata()).tolist()[-1])
    assert ends[1] > ends[0]


BRANCHES = {(): {"die": 0.6, "eine": 0.4}, ("die",): {"Katze": 0.75, "Mieze": 0.25}}


def test_every_word_and_probability_is_written_and_every_sentence_ends(drawn) -> None:
    shown = drawn(show.tree, BRANCHES, alt="a tree", ends={("eine",): "0.4"})
    found = [text.get_text() for text in shown.axes[0].texts]
    assert {"<s>", "die", "eine", "Katze", "Mieze", "0.6", "0.75", "0.25"} <= {*found}
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


STEPS = [["▁", "a", "n", "a", "n"], ["▁", "an", "an"], ["▁an", "an"]]


def test_every_character_stands_in_its_column(drawn) -> None:
    rows = [("all", ["▁play", "ing"]), ("none", list("▁play"))]
    (axes,) = drawn(show.piece_rows, rows, title="play", alt="two rows").axes
    first = [(text.get_text(), text.get_position()[0]) for text in axes.texts if text.get_position()[1] == 0.5]
    assert first[0][0] == "all"
    assert [(character, x - 0.5) for character, x in first[1:-1]] == [*zip("▁playing", range(8), strict=True)]
    assert first[-1][0] == "2"  # how many pieces
    assert len(axes.patches) == 2 + 5


def test_a_joined_piece_stands_above_and_between_its_parts(drawn) -> None:
    (axes,) = drawn(show.merge_tree, STEPS, numbers=[1, 4], title="anan", alt="a tree").axes
    places = {(text.get_text(), text.get_position()) for text in axes.texts}
    assert {("▁", (0, 0)), ("an", (1.5, 1)), ("an", (3.5, 1)), ("▁an", (0.75, 2))} <= places
    numbers = [text.get_text() for text in axes.texts if text.get_text().endswith(".")]
    assert sorted(numbers) == ["1.", "1.", "4."]
    assert len(axes.lines) == 6
