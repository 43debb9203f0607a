"""The progress bar's time left."""

from __future__ import annotations

import io
import random
import re

import pytest
from rich.console import Console

from autograder.progress import progress_bar, seconds_left


def test_nothing_is_promised_before_anything_is_known() -> None:
    assert seconds_left(None, 0, 10) is None
    assert seconds_left(3.0, 0, 10) is None
    assert seconds_left(3.0, 1, None) is None


def test_the_rest_goes_as_all_before_it() -> None:
    assert seconds_left(10.0, 10, 3000) == pytest.approx(2990.0)
    assert seconds_left(10.0, 3000, 3000) == 0


def test_the_time_left_is_true_for_a_class_with_slow_ones_among_it() -> None:
    drawn = random.Random(1)
    seconds = [60.0 if drawn.random() < 0.01 else 0.15 for _ in range(3000)]
    total, elapsed, wrong = sum(seconds), 0.0, []
    for number, one in enumerate(seconds, 1):
        elapsed += one
        left = seconds_left(elapsed, number, len(seconds))
        assert left is not None
        if number >= 600:
            wrong.append(abs(elapsed + left - total) / total)
    assert max(wrong) < 0.25  # of the whole; the last few alone would say a fifth of it, or fifty times as much


def test_the_bar_shows_it() -> None:
    out = io.StringIO()
    now = [0.0]
    bar = progress_bar(Console(file=out, width=100, force_terminal=True))
    bar.get_time = lambda: now[0]
    with bar:
        task = bar.add_task("01_attention", total=3000)
        bar.refresh()
        assert "-:--:--" in out.getvalue()
        now[0] = 100.0
        bar.update(task, completed=1000)
        bar.refresh()
    assert "1000/3000" in out.getvalue()
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
    assert "0:01:40 elapsed, 0:03:20 left" in plain
