"""The terminal that commands write to."""

from __future__ import annotations

from typing import IO

from rich.console import Console

_ENDLESS = 10_000
"""Characters in a line that nobody looks at: what is piped is not wrapped."""


def output_console(file: IO[str] | None = None, width: int | None = None) -> Console:
    """Standard output: lines as wide as the terminal, and as long as they are where it is none.

    What is printed is shown as it is: no text is taken for markup, or colored for what is in it. In a notebook, too, it
    goes to `file`, and not to the page.
    """
    console = Console(file=file, width=width, highlight=False, markup=False, emoji=False, force_jupyter=False)
    if width is None and not console.is_terminal:
        console.width = _ENDLESS
    return console
