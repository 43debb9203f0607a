"""What is put on the page in Colab, whose IPython and ipywidgets are older than those of the course's environment."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from course_lib.show.live import live

LIVE = sys.modules["course_lib.show.live"]


class WidgetOfVersion7:
    """What a widget of ipywidgets 7 offers: it has no `_repr_mimebundle_`."""

    def get_view_spec(self) -> dict[str, object]:
        return {"version_major": 2, "version_minor": 0, "model_id": "cat"}


def test_a_widget_of_version_7_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIVE, "get_ipython", lambda: SimpleNamespace(kernel=object()))
    bundle = live(WidgetOfVersion7, "run this cell")
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == "cat"
    assert bundle["text/plain"] == "run this cell"
