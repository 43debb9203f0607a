"""The clocks: hands that stand where sine and cosine say."""

from __future__ import annotations

import math

import numpy
import pytest
import torch
from matplotlib.lines import Line2D

from course_lib import show
from course_lib.positions import sinusoidal_encoding

ENCODING = sinusoidal_encoding(20, 6)
TOLD = {"alt": "two rows", "title": "hands"}


def tip(line: Line2D) -> list[float]:
    """Where a hand ends."""
    return [float(numpy.asarray(data)[1]) for data in line.get_data()]


def test_a_row_for_each_position_and_a_clock_for_each_pair(drawn) -> None:
    shown = drawn(show.clocks, ENCODING, [0, 3], **TOLD)
    assert len(shown.axes) == 6
    texts = [text.get_text() for text in shown.texts]
    assert {"at 0", "at 3", "0, 1", "2, 3", "4, 5", "hands"} <= set(texts)
    assert tip(shown.axes[0].lines[-1]) == pytest.approx([0, 1])
    assert tip(shown.axes[3].lines[-1]) == pytest.approx([math.sin(3), math.cos(3)], abs=1e-5)


def test_the_second_hand_is_that_of_a_later_position(drawn) -> None:
    first = drawn(show.clocks, ENCODING, [2], shift=4, **TOLD).axes[0]
    *_others, orange, blue = first.lines
    assert tip(blue) == pytest.approx([math.sin(2), math.cos(2)], abs=1e-5)
    assert tip(orange) == pytest.approx([math.sin(6), math.cos(6)], abs=1e-5)
    assert len(drawn(show.clocks, ENCODING, [2], **TOLD).axes[0].lines) == len(first.lines) - 1


def test_the_script_has_every_hand_and_the_still_those_that_were_asked_for(put_on_the_page) -> None:
    widget = put_on_the_page(show.clocks, ENCODING, [0, 3], shift=4, **TOLD)
    assert widget.name == "clocks"
    assert widget.data["shift"] == 4
    torch.testing.assert_close(torch.tensor(widget.data["encoding"]), ENCODING, atol=5e-5, rtol=0)
    assert 'alt="two rows"' in widget.still
    assert "position 3: (0.14, -0.99)" in widget.text
