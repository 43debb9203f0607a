"""The table of edits with its way."""

from __future__ import annotations

import pytest
import torch
from matplotlib.patches import Rectangle

from course_lib import show

TABLE = torch.tensor([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 1, 1]])
WAY = [(0, 0), (1, 1), (1, 2), (2, 3)]


def test_every_count_and_word_is_there_and_the_way_is_framed(drawn) -> None:
    (axes,) = drawn(show.edits, TABLE, WAY, ["a", "c"], ["a", "b", "c"], alt="from a c to a b c").axes
    assert [text.get_text() for text in axes.texts] == [str(count) for count in TABLE.flatten().tolist()]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["–", "a", "c"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["–", "a", "b", "c"]
    frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    middles = [(frame.get_y() + frame.get_height() / 2, frame.get_x() + frame.get_width() / 2) for frame in frames]
    assert middles == [pytest.approx(cell) for cell in WAY]


def test_an_empty_pair_can_be_drawn(drawn) -> None:
    assert drawn(show.edits, torch.zeros(1, 1, dtype=torch.long), [(0, 0)], [], [], alt="nothing").axes
