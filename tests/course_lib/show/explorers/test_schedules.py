"""The learning rates of the still picture are those of the formulas."""

from __future__ import annotations

import math

import pytest

from course_lib import show
from course_lib.show.explorers.schedules import PEAK, RATES, STEPS, WARMUP, WIDTH


def test_the_still_shows_the_rates_of_both_formulas(put_on_the_page) -> None:
    widget = put_on_the_page(show.schedules)
    for step, root, cosine in RATES:
        assert root == pytest.approx(WIDTH**-0.5 * min(step**-0.5, step * WARMUP**-1.5), abs=6e-7)
        falling = (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP))) / 2
        assert cosine == pytest.approx(PEAK * min(step / WARMUP, falling), abs=6e-7)
        assert f"<th>{step}</th><td>{root:.6f}</td><td>{cosine:.6f}</td>" in widget.still
    assert widget.name == "schedules"
    assert f"{WARMUP} | 0.000699" in widget.text
