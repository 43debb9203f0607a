"""A training's progress, told step by step, and a bar that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


@dataclass(frozen=True)
class TrainingStep:
    """What is reported after a step.

    Attributes:
        number: counted from 1.
        loss: of its batch, before the weights change, in nats for each target.
        rate: the learning rate.
        tokens: how many were learned from since the training began or was resumed, padding left out.
        seconds: since then.
    """

    number: int
    loss: float
    rate: float
    tokens: int
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        """Since the training began or was resumed."""
        return self.tokens / self.seconds if self.seconds else 0.0


ProgressCallback = Callable[[TrainingStep], None]


@contextmanager
def progress_bar(steps: int, title: str = "training", console: Console | None = None) -> Iterator[ProgressCallback]:
    """A bar with the loss, the speed and the time left; silent where there is neither a terminal nor a notebook.

    Args:
        steps: of the whole training.
        title: shown before the bar.
        console: where to draw.
    """
    console = console or Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}  {task.fields[state]}"),
        TimeRemainingColumn(),
    )
    silent = not (console.is_terminal or console.is_jupyter)
    with Progress(*columns, console=console, disable=silent) as progress:
        task = progress.add_task(title, total=steps, state="")

        def tell(step: TrainingStep) -> None:
            state = f"loss {step.loss:.3f}  {step.tokens_per_second:,.0f} tokens/s"
            progress.update(task, completed=step.number, state=state)

        yield tell
