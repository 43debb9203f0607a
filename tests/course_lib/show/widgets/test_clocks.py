"""The clocks: hands that stand where sine and cosine say, and a slider that turns them."""

from __future__ import annotations

import math
from importlib import import_module
from types import SimpleNamespace

import ipywidgets
import numpy
import pytest
import torch
from matplotlib.lines import Line2D

from course_lib import show
from course_lib.positions import sinusoidal_encoding
from course_lib.show import figures
from course_lib.show.widgets.clocks import Clocks

LIVE = import_module("course_lib.show.live")
"""The package has a function of the same name."""

ENCODING = sinusoidal_encoding(20, 6)


def tip(line: Line2D) -> list[float]:
    """Where a hand ends."""
    return [float(numpy.asarray(data)[1]) for data in line.get_data()]


def test_a_hand_turns_like_that_of_a_clock() -> None:
    assert Clocks(ENCODING).hands(0) == [(0.0, 1.0)] * 3
    quarter = torch.tensor([[math.sin(math.pi / 2), math.cos(math.pi / 2)]])
    (across, upwards), *_others = Clocks(quarter).hands(0)
    assert (across, upwards) == pytest.approx((1, 0), abs=1e-6), "a quarter of a turn is at three"


def test_a_row_for_each_place_and_a_clock_for_each_pair() -> None:
    drawn = Clocks(ENCODING).draw([0, 3], "hands")
    assert len(drawn.axes) == 6
    texts = [text.get_text() for text in drawn.texts]
    assert {"word 0", "word 3", "0, 1", "2, 3", "4, 5", "hands"} <= set(texts)
    assert tip(drawn.axes[3].lines[-1]) == pytest.approx([math.sin(3), math.cos(3)], abs=1e-5)


def test_the_second_hand_is_that_of_a_later_word() -> None:
    first = Clocks(ENCODING, shift=4).draw([2], "shifted").axes[0]
    *_others, orange, blue = first.lines
    assert tip(blue) == pytest.approx([math.sin(2), math.cos(2)], abs=1e-5)
    assert tip(orange) == pytest.approx([math.sin(6), math.cos(6)], abs=1e-5)
    assert len(Clocks(ENCODING).draw([2], "alone").axes[0].lines) == len(first.lines) - 1


def test_the_slider_turns_the_hands_and_stops_where_the_second_one_ends() -> None:
    widget = Clocks(ENCODING, shift=4).widget()
    slider, row = widget.children
    assert isinstance(slider, ipywidgets.IntSlider)
    assert slider.max == 15
    before = row.value
    slider.value = 15
    assert row.value == Clocks(ENCODING, shift=4).svg(15) != before


def test_what_is_no_encoding_is_refused() -> None:
    for wrong in (torch.zeros(4, 3), torch.zeros(4)):
        with pytest.raises(ValueError, match="clocks need"):
            Clocks(wrong)
    with pytest.raises(IndexError, match="no position 20 among 20"):
        Clocks(ENCODING).hands(20)


def shown(
    monkeypatch: pytest.MonkeyPatch, kernel: object | None
) -> tuple[list[figures.Pictured], list[dict[str, str]]]:
    pictures: list[figures.Pictured] = []
    bundles: list[dict[str, str]] = []
    monkeypatch.setattr(figures, "display", pictures.append)
    monkeypatch.setattr(LIVE, "display", lambda bundle, raw: bundles.append(bundle))
    monkeypatch.setattr("course_lib.show.live.get_ipython", lambda: SimpleNamespace(kernel=kernel))
    show.clocks(ENCODING, [0, 1], alt="two rows of clocks", title="hands")
    return pictures, bundles


def test_the_picture_is_there_without_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures, bundles = shown(monkeypatch, kernel=None)
    assert [picture.alt for picture in pictures] == ["two rows of clocks"]
    assert bundles == []


def test_with_a_kernel_there_is_the_slider_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures, (bundle,) = shown(monkeypatch, kernel=object())
    assert len(pictures) == 1
    assert "application/vnd.jupyter.widget-view+json" in bundle
