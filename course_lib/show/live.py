"""Putting a widget on the page where somebody can answer its clicks, and nothing where nobody can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.getipython import get_ipython


def live(widget: Callable[[], Any], note: str) -> dict[str, Any]:
    """The widget as a mime bundle; empty without a kernel or without ipywidgets.

    Args:
        widget: makes it, and may raise an ImportError.
        note: what a saved page shows in its place.
    """
    if getattr(get_ipython(), "kernel", None) is None:
        return {}
    try:
        view: dict[str, Any] = widget()._repr_mimebundle_()
    except ImportError:
        return {}
    return {**view, "text/plain": note, "text/html": f"<p><em>{note}</em></p>"}
