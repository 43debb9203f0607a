"""Words as bricks and as trees: every piece in its place."""

from __future__ import annotations

import pytest

from course_lib.show.pictures.pieces import draw_merge_tree, draw_piece_rows

STEPS = [["▁", "a", "n", "a", "n"], ["▁", "an", "an"], ["▁an", "an"]]


def test_every_character_stands_in_its_column() -> None:
    (axes,) = draw_piece_rows([("all", ["▁play", "ing"]), ("none", list("▁play"))], "play").axes
    first = [(text.get_text(), text.get_position()[0]) for text in axes.texts if text.get_position()[1] == 0.5]
    assert first[0][0] == "all"
    assert [(character, x - 0.5) for character, x in first[1:-1]] == [*zip("▁playing", range(8), strict=True)]
    assert first[-1][0] == "2"  # how many pieces
    assert len(axes.patches) == 2 + 5


def test_a_joined_piece_stands_above_and_between_its_parts() -> None:
    (axes,) = draw_merge_tree(STEPS, [1, 4], "anan").axes
    places = {(text.get_text(), text.get_position()) for text in axes.texts}
    assert ("▁", (0, 0)) in places
    assert ("an", (1.5, 1)) in places
    assert ("an", (3.5, 1)) in places
    assert ("▁an", (0.75, 2)) in places
    numbers = [text.get_text() for text in axes.texts if text.get_text().endswith(".")]
    assert sorted(numbers) == ["1.", "1.", "4."]
    assert len(axes.lines) == 6


def test_steps_must_follow_from_each_other() -> None:
    with pytest.raises(ValueError, match="does not follow"):
        draw_merge_tree([["a", "b"], ["ba"]], [1], "")
    with pytest.raises(ValueError, match="lacks the end"):
        draw_merge_tree([["a", "b"], ["a"]], [1], "")
    with pytest.raises(ValueError, match="2 steps need 1 numbers, not 0"):
        draw_merge_tree([["a", "b"], ["ab"]], [], "")
