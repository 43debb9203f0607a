"""A progress bar whose time left is true."""

from __future__ import annotations

import math

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


def progress_bar(console: Console) -> Progress:
    """A progress bar that is drawn on demand: a thread of its own would not survive the workers' fork.

    Submissions take between a tenth of a second and a minute each, in no order: the pace of the last few seconds says
    little about the rest, so that all of them count that are known.
    """
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
        auto_refresh=False,
        speed_estimate_period=math.inf,
    )
