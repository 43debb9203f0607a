"""The race: every layer has a line in both pictures, and what does not fit is refused."""

from __future__ import annotations

import pytest

from course_lib import show
from course_lib.show import figures
from course_lib.show.pictures.race import draw_race

LENGTHS = [2, 4, 8, 16]
STEPS = {"RNN": LENGTHS, "self-attention": [1] * 4}
TIMES = {"RNN": [0.1, 0.2, 0.4, 0.8], "self-attention": [0.1, 0.1, 0.2, 0.4]}


def test_both_pictures_have_a_line_for_each_layer() -> None:
    left, right = draw_race(LENGTHS, STEPS, TIMES, "cpu").axes
    for axes, numbers in ((left, STEPS), (right, TIMES)):
        assert {line.get_label(): list(line.get_ydata()) for line in axes.lines} == numbers  # type: ignore[arg-type]
    assert "(cpu)" in right.get_title()
    assert [label.get_text() for label in left.get_xticklabels()] == ["2", "8"]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="steps are for RNN, self-attention, but times for RNN"):
        draw_race(LENGTHS, STEPS, {"RNN": [1.0] * 4}, "cpu")
    with pytest.raises(ValueError, match="RNN has 3 numbers for 4 lengths"):
        draw_race(LENGTHS, {"RNN": LENGTHS}, {"RNN": [1.0] * 3}, "cpu")


def test_it_reaches_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[figures.Pictured] = []
    monkeypatch.setattr(figures, "display", shown.append)
    show.race(LENGTHS, STEPS, TIMES, machine="cpu", alt="two pictures of two lines")
    assert [picture.alt for picture in shown] == ["two pictures of two lines"]
