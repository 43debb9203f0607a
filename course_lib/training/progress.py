"""The progress of training, reported step by step, and a bar that shows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from course_lib.ground.progress_bar import bar_in_page

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class TrainingStep:
    """A report after a step.

    Attributes:
        number: counted from 1.
        loss: the loss of its batch, before the weights change, in nats per target.
        rate: the learning rate.
        tokens: the number of tokens learned from since training began or was resumed, without padding.
        seconds: the time since then.
    """

    number: int
    loss: float
    rate: float
    tokens: int
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        """The speed since training began or was resumed."""
        return self.tokens / self.seconds if self.seconds else 0.0


Item = TypeVar("Item")
ProgressCallback = Callable[[TrainingStep], None]

PATIENCE = 1.0
"""Seconds that `track` waits before it shows a bar: shorter loops need none."""


@contextmanager
def progress_bar(steps: int, title: str = "training", console: Console | None = None) -> Iterator[ProgressCallback]:
    """Show a bar with the loss, the speed and the time left; show nothing outside a terminal or notebook.

    Args:
        steps: the number of steps of the whole run.
        title: shown before the bar.
        console: where to draw.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = console or Console(stderr=True)
    if console.is_jupyter:
        losses: list[float] = []
        with bar_in_page(title, steps) as draw:

            def tell_page(step: TrainingStep) -> None:
                losses.append(step.loss)
                draw(step.number, _state(step), losses)  # with the loss drawn below the bar

            yield tell_page
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}  {task.fields[state]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=steps, state="")

        def tell(step: TrainingStep) -> None:
            progress.update(task, completed=step.number, state=_state(step))

        yield tell


def _state(step: TrainingStep) -> str:
    return f"loss {step.loss:.3f}  {step.tokens_per_second:,.0f} tokens/s"


def track(items: Collection[Item], title: str = "training") -> Iterator[Item]:
    """Go through items one by one; in a notebook, show a bar that disappears at the end.

        for step in track(range(500), "four heads"):
            ...

    Without a page (in a script, a terminal, a grader's sandbox) nothing is shown.

    Args:
        items: the items to go through.
        title: what the loop does, in a few words.
    """
    from rich.console import Console

    if not Console().is_jupyter:
        yield from items
        return
    with bar_in_page(title, len(items), PATIENCE) as draw:
        for done, item in enumerate(items):
            draw(done)
            yield item
