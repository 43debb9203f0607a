"""Lines on a terminal and in a pipe, and the progress bar's time left."""

import io
import random
import re

import pytest
from rich.console import Console

from autograder.console import output_console
from autograder.progress import progress_bar


@pytest.mark.parametrize(("terminal", "lines"), [(False, 1), (True, 7)])
def test_what_is_piped_is_not_wrapped(terminal: bool, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    output_console(out).print("[b] :cat: " + "word " * 100 + "end")
    assert out.getvalue().count("\n") == lines
    assert "[b] :cat: " in out.getvalue()


def test_the_time_left_is_true_for_a_class_with_slow_ones_among_it() -> None:
    now, out = [0.0], io.StringIO()
    bar = progress_bar(Console(file=out, width=100, force_terminal=True))
    bar.get_time = lambda: now[0]
    drawn = random.Random(1)
    seconds = [60.0 if drawn.random() < 0.01 else 0.15 for _ in range(3000)]
    with bar:
        bar.add_task("01_attention", total=3000)
        [task] = bar.tasks
        bar.refresh()
        assert "-:--:--" in out.getvalue()
        wrong = []
        for number, one in enumerate(seconds, 1):
            now[0] += one
            bar.advance(task.id)
            if number >= 600:
                assert task.time_remaining is not None
                wrong.append(abs(now[0] + task.time_remaining - sum(seconds)) / sum(seconds))
            if number == 1000:
                bar.refresh()
    assert max(wrong) < 0.25  # of the whole; the last few alone would say a fifth of it, or fifty times as much
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
    assert re.search(r"1000/3000 \d:\d\d:\d\d elapsed, \d:\d\d:\d\d left", plain)
