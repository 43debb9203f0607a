"""Distributions side by side: one scale, a number at each bar, dots for what was drawn."""

from __future__ import annotations

import numpy
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib import show

WORDS = ["tanzte", "schlief", "sang"]
FLAT, SHARP = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([1.0, 0.0, 0.0])


def bars(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_bars_have_one_scale_and_their_numbers(drawn) -> None:
    first, second = drawn(show.distributions, WORDS, {"flat": FLAT, "sharp": SHARP}, alt="two").axes
    assert [bar.get_width() for bar in bars(first)] == pytest.approx([0.5, 0.3, 0.2])
    assert [text.get_text() for text in second.texts] == ["1.000", "0", "0"]
    assert first.get_xlim() == second.get_xlim()
    assert [label.get_text() for label in first.get_yticklabels()] == WORDS
    assert first.get_title(loc="left") == "flat"
    top, bottom = bars(first)[0].get_y(), bars(first)[2].get_y()
    assert first.transData.transform((0, top))[1] > first.transData.transform((0, bottom))[1], "from top to bottom"


def test_dots_mark_what_was_drawn(drawn) -> None:
    often = {"flat": torch.tensor([0.4, 0.4, 0.2])}
    (axes,) = drawn(show.distributions, WORDS, {"flat": FLAT}, alt="one", drawn=often).axes
    assert numpy.asarray(axes.lines[0].get_xdata()).tolist() == pytest.approx([0.4, 0.4, 0.2])
