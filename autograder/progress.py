"""Makes a progress bar with a reliable estimate of the time left."""

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
    """Return a progress bar that is drawn on demand: a thread for it would not survive the workers' fork.

    Submissions take between a tenth of a second and a minute each, in random order. The pace of the last few seconds
    says little about the rest, so the estimate uses all of them.
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
