"""Widgets that last: pictures that a reader can move, in one piece of HTML that needs neither kernel nor network.

A widget consists of a name, plain data, and a still picture. On the page, a small script of the course draws the widget
from the data in place of the still. If no script runs (in an untrusted notebook, or a repository's viewer), the reader
sees the still; without HTML, the text. So a saved notebook, an exported page, the website and a phone all show the
same, and our pages can redraw a student's saved widget from its data (`redrawn`) without running anything of theirs.

How to add a widget:

1. `scripts/NAME.js` has one function, `draw(data)`, which returns the elements of the widget. `scripts/base.js` comes
   before it in the same function: `el`, `row`, `slider`, `select`, `checkbox`, `choices`, `player`, `matrix`, `bars`,
   `chart`, `speaker` and some arithmetic. Elements are created by `el` and `svg`, and text is set as text: there is no
   `innerHTML`, since the data may come from a stranger's file. Loops run over arrays of the data, or over `range`,
   which is limited.
2. A module of `widgets` has a function for lessons, which ends in `interactive("NAME", data, still=, alt=, text=)`. The
   data must be JSON. The still shows the numbers: a table (`stills`), or a picture by `figures.pictured`. What an
   exercise asks for is computed in the script, not in Python, where a submission could call it.
3. `tests/browser/test_widgets.py` moves each of its controls by keyboard alone, and checks that the picture changes.

Everything is reachable by keyboard, labeled, and legible in light and dark; every color has a number beside it; changes
are announced to screen readers (`speaker`); nothing moves unless asked. Each control claims its own keys (`fill`),
since for the arrow keys Jupyter does not check the elements around it.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any, Final

from IPython.display import display

from course_lib.ground.style_sheet import style_sheet

SCRIPTS: Final = Path(__file__).parent / "scripts"
DATA_CHARACTERS: Final = 200_000
"""The most that `redrawn` accepts of a stranger's data. The lessons' widgets have far less."""


@dataclass(frozen=True)
class Interactive:
    """A widget in the form in which it goes onto a page.

    Attributes:
        name: the name of its script.
        data: what the script draws: numbers, text, lists, and dictionaries with text as keys.
        still: HTML that shows the same without a script.
        alt: one sentence for readers who cannot see it.
        text: the same for places without HTML.
    """

    name: str
    data: Any
    still: str
    alt: str
    text: str

    def html(self) -> str:
        """Return the widget as self-contained HTML."""
        return (
            f'<div class="katze-widget" data-katze-widget="{escape(self.name)}" role="group" '
            f'aria-label="{escape(self.alt)}" data-lm-suppress-shortcuts="true">'
            f'{style_sheet("widget")}<div class="katze-still">{self.still}</div>'
            f'<script type="application/json">{_json(self.data)}</script>'
            f"<script>{script(self.name)}</script></div>"
        )

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_wanted: Any) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text}


def interactive(name: str, data: Any, *, still: str, alt: str, text: str) -> None:
    """Put a widget on the page at this place; in a terminal, print its text.

    Args:
        name, data, still, alt, text: as in `Interactive`.
    """
    display(Interactive(name, data, still, alt, text))


@cache
def script(name: str) -> str:
    """Return the script that the page runs for the widget with this name.

    Raises:
        FileNotFoundError: there is no such widget.
    """
    return f'(function () {{\n"use strict";\n{_file("base.js")}\n{_file(f"{name}.js")}\nmount("{name}", draw);\n}})();'


def script_hash(name: str) -> str:
    """Return the script's hash, for a page's Content-Security-Policy to allow only this script."""
    digest = hashlib.sha256(script(name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def widget_names() -> frozenset[str]:
    """Return the names of all widgets."""
    return frozenset(path.stem for path in SCRIPTS.glob("*.js")) - {"base"}


def redrawn(fragment: str, clean: Callable[[str], str]) -> str | None:
    """Rebuild a widget from a saved output, keeping only its name, its data and its alternative text.

    Args:
        fragment: HTML, from anyone.
        clean: makes a stranger's HTML harmless; the old still, cleaned, becomes the new one.

    Returns:
        HTML with the course's own script, or None if the fragment is not a widget of the course.
    """
    saved = _SAVED.match(fragment)
    if saved is None or saved["name"] not in widget_names() or len(saved["data"]) > DATA_CHARACTERS:
        return None
    try:
        data = json.loads(saved["data"])
        return Interactive(saved["name"], data, clean(saved["still"]), unescape(saved["alt"]), "").html()
    except (ValueError, RecursionError):  # not JSON, not a number, or nested too deeply
        return None


@cache
def _file(name: str) -> str:
    return (SCRIPTS / name).read_text(encoding="utf-8")


def _json(data: Any) -> str:
    """Return data as JSON in which no `</script>` can end the element."""
    written = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


_SAVED = re.compile(
    r'<div class="katze-widget" data-katze-widget="(?P<name>[a-z_]{1,40})" role="group" '
    r'aria-label="(?P<alt>[^"<>]{0,2000})" data-lm-suppress-shortcuts="true"><style>[^<]{0,20000}</style>'
    r'<div class="katze-still">(?P<still>.*?)</div><script type="application/json">(?P<data>[^<]*)</script>',
    re.DOTALL,
)
