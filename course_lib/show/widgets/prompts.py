"""Beginnings and how a model goes on: a few on the page, and a field for writing your own."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from course_lib.show.live import show_live

_NOTE = "The field to write in needs a running kernel: run this cell."
_WIDTH = 84
"""Longer lines would be broken inside a word where the window is narrow."""


def prompts(go_on: Callable[[str], str], beginnings: Sequence[str]) -> None:
    """Print how a model continues some beginnings, and show a field for others where there is a kernel.

    Args:
        go_on: from a beginning to the whole text, or to a sentence that says why not.
        beginnings: those that are on the page in any case.
    """
    for beginning in beginnings:
        whole = f"{beginning} … {go_on(beginning).removeprefix(beginning).strip()}"
        print(textwrap.fill(whole, _WIDTH), end="\n\n")
    show_live(lambda: widget(go_on, beginnings[0] if beginnings else ""), _NOTE)


def widget(go_on: Callable[[str], str], beginning: str) -> Any:
    """A field, a button, and what the model makes of it.

    Raises:
        ImportError: ipywidgets is not installed.
    """
    import ipywidgets as widgets

    field = widgets.Text(value=beginning, layout={"width": "26em"})
    button = widgets.Button(description="go on", button_style="primary")
    page = widgets.HTML()

    def write(_changed: object) -> None:
        page.value = f'<p style="line-height:1.6">{escape(go_on(field.value.strip()))}</p>'

    button.on_click(write)
    return widgets.VBox([widgets.HBox([field, button]), page])
