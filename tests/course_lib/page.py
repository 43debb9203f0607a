"""A page that keeps the bars that it is shown."""

from __future__ import annotations

from typing import Any

from course_lib.ground.progress_bar import NotebookBar


class Page:
    """Stands for a notebook's page."""

    def __init__(self) -> None:
        self.bars: list[NotebookBar] = []

    def display(self, bar: NotebookBar, **_wanted: Any) -> Page:
        self.update(bar)
        return self

    def update(self, bar: NotebookBar) -> None:
        self.bars.append(bar)

    @property
    def texts(self) -> list[str]:
        return [bar._repr_mimebundle_()["text/html"] for bar in self.bars]
