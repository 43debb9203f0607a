"""The look of what the course puts on a page: verdicts, widgets and figures, on any page, light or dark."""

from functools import cache
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "css"


@cache
def style_sheet(part: str) -> str:
    """Return the style sheet that each of these includes, as a <style> element.

    Args:
        part: "verdict", "widget", "figure" or "prediction"; its rules come after those that follow the page's theme.
    """
    rules = [(_FOLDER / f"{name}.css").read_text(encoding="utf-8") for name in ("theme", part)]
    return f"<style>{''.join(rules)}</style>"
