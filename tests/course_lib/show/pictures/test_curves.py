"""The loss curve draws what it is given."""

from __future__ import annotations

import pytest

from course_lib import show
from course_lib.show.pictures.curves import smoothed


def test_a_mean_of_the_last_values() -> None:
    assert smoothed([4.0, 2.0, 6.0, 1.0], 2) == pytest.approx([4, 3, 4, 3.5])
    assert smoothed([4.0, 2.0], 1) == [4, 2]


def test_it_draws_every_step_the_trend_and_the_validation(drawn) -> None:
    losses = [3.0 - step / 100 for step in range(200)]
    (axes,) = drawn(show.loss_curve, losses, {100: 2.5, 200: 1.5}).axes
    raw, trend, validation = axes.lines
    assert list(raw.get_ydata()) == losses
    assert list(trend.get_ydata()) == smoothed(losses, 4)
    assert list(validation.get_xdata()) == [100, 200]
    assert list(validation.get_ydata()) == [2.5, 1.5]
    assert axes.get_ylim()[0] == 0


def test_a_floor_is_a_line_with_its_number_and_without_validation_there_is_no_legend(drawn) -> None:
    (axes,) = drawn(show.loss_curve, [3.0, 2.0], floor=0.848).axes
    assert list(axes.lines[-1].get_ydata()) == [0.848, 0.848]
    assert [text.get_text() for text in axes.texts] == ["lowest possible: 0.85"]
    assert axes.get_legend() is None
