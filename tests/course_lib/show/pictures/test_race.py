"""The race: every layer has a line in both pictures, and what does not fit is refused."""

from __future__ import annotations

from course_lib import show

LENGTHS = [2, 4, 8, 16]
STEPS = {"RNN": LENGTHS, "self-attention": [1] * 4}
TIMES = {"RNN": [0.1, 0.2, 0.4, 0.8], "self-attention": [0.1, 0.1, 0.2, 0.4]}


def test_both_pictures_have_a_line_for_each_layer(drawn) -> None:
    left, right = drawn(show.race, LENGTHS, STEPS, TIMES, machine="cpu", alt="two pictures of two lines").axes
    for axes, numbers in ((left, STEPS), (right, TIMES)):
        assert {line.get_label(): list(line.get_ydata()) for line in axes.lines} == numbers
    assert "(cpu)" in right.get_title()
    assert [label.get_text() for label in left.get_xticklabels()] == ["2", "8"]
