"""Makes the console that commands print to."""

from typing import IO

from rich.console import Console

_ENDLESS = 10_000
"""A line length that is never reached, so that piped output is not wrapped."""


def output_console(file: IO[str] | None = None, width: int | None = None) -> Console:
    """Return a console for standard output: lines as wide as a terminal, and of any length elsewhere.

    Text is printed as it is: without interpreting markup or coloring its contents. Even in a notebook, it goes to
    `file` and not to the page.
    """
    console = Console(file=file, width=width, highlight=False, markup=False, emoji=False, force_jupyter=False)
    if width is None and not console.is_terminal:
        console.width = _ENDLESS
    return console
