"""The terminal that commands write to."""

from __future__ import annotations

from rich.console import Console

_ENDLESS = 10_000
"""Characters in a line that nobody looks at: what is piped is not wrapped."""


def output_console() -> Console:
    """Standard output: lines as wide as the terminal, and as long as they are where it is none."""
    console = Console()
    return console if console.is_terminal else Console(width=_ENDLESS)
