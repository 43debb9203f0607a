"""The progress bar: what it shows where there is a terminal, and nothing where there is none."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from course_lib.training import progress
from course_lib.training.progress import NotebookBar, TrainingStep, progress_bar


def drawn(terminal: bool) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, force_jupyter=False, width=120)
    with progress_bar(4, "learning", console) as tell:
        for number in range(1, 5):
            tell(TrainingStep(number, 2.0 / number, rate=0.1, tokens=3000 * number, seconds=0.5 * number))
    return file.getvalue()


def test_a_terminal_sees_steps_loss_and_speed() -> None:
    shown = drawn(terminal=True)
    assert "learning" in shown
    assert "4/4" in shown
    assert "loss 0.500" in shown
    assert "6,000 tokens/s" in shown


def test_a_file_sees_nothing() -> None:
    assert drawn(terminal=False).strip() == ""


def test_no_time_is_no_speed() -> None:
    assert TrainingStep(1, 1.0, 0.1, tokens=5, seconds=0.0).tokens_per_second == 0


def test_a_notebook_sees_plain_html_that_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[NotebookBar] = []

    class Place:
        def update(self, bar: NotebookBar) -> None:
            shown.append(bar)

    def display(bar: NotebookBar, **_wanted: Any) -> Place:
        shown.append(bar)
        return Place()

    monkeypatch.setattr(progress, "display", display)
    monkeypatch.setattr(progress, "BETWEEN", -1.0)
    with progress_bar(3, "<cats>", Console(force_jupyter=True)) as tell:
        for number in range(1, 4):
            tell(TrainingStep(number, 2.0, rate=0.1, tokens=10, seconds=1.0))
    pages = [bar._repr_mimebundle_()["text/html"] for bar in shown]
    assert [bar.done for bar in shown] == [0, 1, 2, 3]
    assert 'value="1"' in pages[1]
    assert "loss 2.000" in pages[1]
    assert "&lt;cats&gt;" in pages[1]
    assert pages[-1] == ""
    assert all("<cats>" not in page for page in pages)
