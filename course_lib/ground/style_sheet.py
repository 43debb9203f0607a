"""How what the course puts on a page looks: verdicts, widgets and figures, on any page, light or dark."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "css"


@cache
def style_sheet(part: str) -> str:
    """The style sheet that each thing carries with it, as a <style> element.

    Args:
        part: "verdict", "widget", "figure" or "prediction"; before its own come rules that follow the page's theme.
    """
    rules = [(_FOLDER / f"{name}.css").read_text(encoding="utf-8") for name in ("theme", part)]
    return f"<style>{''.join(rules)}</style>"
