"""Every control of the widgets that look into models is moved by the keyboard, and the picture changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page

from course_lib import show
from course_lib.show.interactive import Interactive
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit
from tests.browser.keyboard import CONTROLS, control, page_of, picture, reached_by_tab

WIDGETS: Mapping[str, Callable[[], None]] = {"schedules": show.schedules}
"""Each with little data."""

MOVES: Mapping[str, Mapping[str, str]] = {
    "schedules": {
        "d_model": "ArrowUp",
        "warm-up, in steps": "ArrowRight",
        "look at step": "ArrowLeft",
        "peak of the cosine": "ArrowRight",
        "give both the same peak": "Enter",
    },
}
"""Every control of a widget, in an order in which each changes something, and the key that does."""


@pytest.fixture
def widget(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Interactive:
    shown: list[Interactive] = []
    monkeypatch.setattr(sys.modules["course_lib.show.interactive"], "display", shown.append)
    WIDGETS[request.param]()
    return shown[0]


@pytest.fixture
def opened(visit: Visit, widget: Interactive, tmp_path: Path) -> Callable[..., Page]:
    path = page_of(widget, tmp_path / "page.html")
    return lambda **how: visit(path, **how)


every_widget = pytest.mark.parametrize("widget", WIDGETS, indirect=True)


@pytest.mark.parametrize(("widget", "moves"), MOVES.items(), indirect=["widget"], ids=MOVES)
def test_every_control_changes_the_picture(opened: Callable[..., Page], moves: Mapping[str, str]) -> None:
    page = opened()
    for name, key in moves.items():
        before = picture(page)
        control(page, name).focus(timeout=5_000)
        page.keyboard.press(key)
        assert picture(page) != before, name
    assert page.locator(CONTROLS).count() == len(moves)


@every_widget
def test_tab_reaches_every_control(opened: Callable[..., Page]) -> None:
    page = opened()
    assert reached_by_tab(page) == page.locator(f"{CONTROLS}:enabled").count()


@every_widget
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_keeps_anybody_out(opened: Callable[..., Page], width: int, dark: bool) -> None:
    page = opened(width=width, dark=dark)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@every_widget
def test_a_still_picture_remains_without_scripts(opened: Callable[..., Page], widget: Interactive) -> None:
    page = opened(scripts=False)
    assert page.locator(".katze-still").inner_text().strip()
    assert page.get_by_role("group", name=widget.alt).count() == 1
