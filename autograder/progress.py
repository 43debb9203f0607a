"""A progress bar whose time left is true."""

from __future__ import annotations

from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text


class TimeLeft(ProgressColumn):
    """The time left, if the rest goes as everything before it has.

    Submissions take between a tenth of a second and a minute each, in no order; the pace of the last few, which is
    what rich's own column shows, says little about the rest.
    """

    def render(self, task: Task) -> Text:
        """The time left as h:mm:ss; dashes until the first one is done."""
        left = seconds_left(task.elapsed, task.completed, task.total)
        shown = "-:--:--" if left is None else str(timedelta(seconds=round(left)))
        return Text(shown, style="progress.remaining")


def seconds_left(elapsed: float | None, completed: float, total: float | None) -> float | None:
    """How long the rest takes at the mean pace so far; None where nothing is known yet."""
    if elapsed is None or total is None or completed <= 0:
        return None
    return elapsed / completed * (total - completed)


def progress_bar(console: Console) -> Progress:
    """A progress bar that is drawn when it is told to: a thread of its own would not survive the workers' fork."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeLeft(),
        TextColumn("left"),
        console=console,
        auto_refresh=False,
    )
