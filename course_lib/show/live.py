"""Putting a widget on the page where something can answer its clicks, and nothing where nothing can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

_VIEW = "application/vnd.jupyter.widget-view+json"


def live(widget: Callable[[], Any], note: str) -> dict[str, Any]:
    """The widget as a mime bundle; empty without a kernel or without ipywidgets.

    Args:
        widget: makes it, and may raise an ImportError.
        note: what a saved page shows in its place.
    """
    if getattr(get_ipython(), "kernel", None) is None:
        return {}
    try:
        view = widget().get_view_spec()  # which ipywidgets 7, still Colab's, has as well
    except ImportError:
        return {}
    return {_VIEW: view, "text/plain": note, "text/html": f"<p><em>{note}</em></p>"}


def show_live(widget: Callable[[], Any], note: str) -> bool:
    """Put the widget on the page if something can answer its clicks, and say whether. Arguments as for `live`."""
    bundle = live(widget, note)
    if bundle:
        display(bundle, raw=True)
    return bool(bundle)


def show_above_its_page(widget: Callable[[], Any], note: str, *, page: str, text: str, summary: str) -> None:
    """Put the widget on the page, and below it everything it can show; folded away where the widget is there.

    Args:
        widget, note: as for `live`.
        page: everything it can show, as HTML.
        text: the same where there is no HTML.
        summary: what stands on the fold.
    """
    if show_live(widget, note):
        page = f"<details><summary>{summary}</summary>{page}</details>"
    display({"text/html": page, "text/plain": text}, raw=True)
