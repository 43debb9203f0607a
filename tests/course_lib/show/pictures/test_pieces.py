"""Words as bricks and as trees: every piece in its place."""

from __future__ import annotations

from course_lib import show

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
    assert ("▁", (0, 0)) in places
    assert ("an", (1.5, 1)) in places
    assert ("an", (3.5, 1)) in places
    assert ("▁an", (0.75, 2)) in places
    numbers = [text.get_text() for text in axes.texts if text.get_text().endswith(".")]
    assert sorted(numbers) == ["1.", "1.", "4."]
    assert len(axes.lines) == 6
