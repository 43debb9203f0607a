"""A training's progress, told step by step, and a bar that shows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from math import isfinite
from statistics import fmean
from typing import Any, TypeVar

from IPython.display import display
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


Item = TypeVar("Item")
ProgressCallback = Callable[[TrainingStep], None]

CURVE_WIDTH, CURVE_HEIGHT = 240, 48
"""Of the picture of the loss below a notebook's bar, in pixels."""

BETWEEN = 0.2
"""Seconds from one picture of a notebook's bar to the next."""

PATIENCE = 1.0
"""Seconds that `track` waits before it shows a bar: a shorter loop needs none."""


@contextmanager
def progress_bar(steps: int, title: str = "training", console: Console | None = None) -> Iterator[ProgressCallback]:
    """A bar with the loss, the speed and the time left; silent where there is neither a terminal nor a notebook.

    Args:
        steps: of the whole training.
        title: shown before the bar.
        console: where to draw.
    """
    console = console or Console(stderr=True)
    if console.is_jupyter:
        with _notebook_bar(steps, title) as tell:
            yield tell
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


@dataclass(frozen=True)
class NotebookBar:
    """A bar as a notebook shows it: plain HTML, for a widget would be an empty place in a page that was saved.

    Attributes:
        title: shown before the bar.
        done, steps: how far it is, and how far it goes.
        state: shown behind it.
        losses: of the steps up to `done`, drawn below it; a resumed run has none of the first ones.
    """

    title: str
    done: int
    steps: int
    state: str = ""
    losses: Sequence[float] = ()

    def __repr__(self) -> str:
        return ""

    def _repr_mimebundle_(self, **_wanted: Any) -> dict[str, str]:
        if self.done >= self.steps:  # what came of it, the cell itself tells
            return {"text/html": "", "text/plain": ""}
        bar = f'<progress max="{self.steps}" value="{self.done}"></progress>'
        told = f"{escape(self.title)} {bar} {self.done}/{self.steps} {escape(self.state)}"
        return {"text/html": f"<div>{told}{self._curve()}</div>", "text/plain": ""}

    def _curve(self) -> str:
        """The losses as a line that grows from left to right as the bar does; empty before there are two."""
        stride = max(1, self.steps // (CURVE_WIDTH // 2))
        means = [fmean(self.losses[first : first + stride]) for first in range(0, len(self.losses), stride)]
        if len(means) < 2 or not all(map(isfinite, means)):
            return ""
        begun, up = self.done - len(self.losses), CURVE_HEIGHT / max(*means, 1e-9)
        points = " ".join(
            f"{CURVE_WIDTH * (begun + place * stride) / self.steps:.1f},{CURVE_HEIGHT - mean * up:.1f}"
            for place, mean in enumerate(means)
        )
        return (
            f'<svg width="{CURVE_WIDTH}" height="{CURVE_HEIGHT + 2}" style="display:block" role="img" '
            f'aria-label="the loss so far, from {means[0]:.3g} to {means[-1]:.3g}">'
            f'<path d="M0 {CURVE_HEIGHT + 1} H{CURVE_WIDTH}" stroke="currentColor" opacity="0.4"/>'
            f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
        )


@contextmanager
def _notebook_bar(steps: int, title: str) -> Iterator[ProgressCallback]:
    """A bar that is drawn over itself, and is gone in the end."""
    shown = display(NotebookBar(title, 0, steps), display_id=True)
    began = drawn = time.monotonic()
    losses: list[float] = []

    def tell(step: TrainingStep) -> None:
        nonlocal drawn
        losses.append(step.loss)
        now = time.monotonic()
        if now - drawn > BETWEEN and step.number < steps:
            drawn = now
            left = (now - began) / step.number * (steps - step.number)
            shown.update(NotebookBar(title, step.number, steps, f"{_state(step)}, {left:.0f} s left", tuple(losses)))

    try:
        yield tell
    finally:
        shown.update(NotebookBar(title, steps, steps))


def track(items: Collection[Item], title: str = "training") -> Iterator[Item]:
    """Go through items one by one; in a notebook a bar shows how far that is, and is gone when it is over.

        for step in track(range(500), "four heads"):
            ...

    Where there is no page (in a script, a terminal, a grader's box) it goes through them and shows nothing.

    Args:
        items: what to go through.
        title: what is being done, in a few words.
    """
    if not Console().is_jupyter:
        yield from items
        return
    shown: Any = None
    began = drawn = time.monotonic()
    try:
        for done, item in enumerate(items):
            now = time.monotonic()
            if done and now - began > PATIENCE and now - drawn > BETWEEN:
                drawn = now
                bar = NotebookBar(title, done, len(items), f"{(now - began) / done * (len(items) - done):.0f} s left")
                if shown is None:
                    shown = display(bar, display_id=True)
                else:
                    shown.update(bar)
            yield item
    finally:
        if shown is not None:
            shown.update(NotebookBar(title, len(items), len(items)))
