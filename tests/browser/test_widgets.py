"""Every widget in a real browser: each control is reached and moved by the keyboard alone, and the picture changes.

A widget is tried twice as often as it has controls, on a page of its own, in light and dark, wide and narrow, without
scripts, and next to all the others. Its script may not fail, and axe-core may find nothing serious.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup
from playwright.sync_api import Page

from autograder.intake import sanitise
from autograder.pages.feedback import render_feedback
from course_lib import show
from course_lib.positions import sinusoidal_encoding
from course_lib.show.interactive import SCRIPTS, widget_names
from tests.autograder.records import record
from tests.browser import test_explorers
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit

STEPS = [
    show.Written(["<s>"], [("die", 0.9), ("der", 0.06)], [0.8, 0.1, 0.1]),
    show.Written(["<s>", "die"], [("Katze", 0.7), ("<b>", 0.2)], [0.05, 0.92, 0.03]),
    show.Written(["<s>", "die", "Katze"], [("tanzte", 0.7), ("schlief", 0.2)], [0.0, 0.1, 0.9]),
]


def cut(text: str, merges: list[tuple[str, str]]) -> list[str]:
    return [f"▁{text[: len(merges)]}", *text[len(merges) :]]


WIDGETS: Mapping[str, Callable[[], object]] = {
    "attention_stepper": show.attention_stepper,
    "block_walk": show.block_walk,
    "clocks": lambda: show.clocks(sinusoidal_encoding(60, 8), [0, 3], alt="clocks", title="clocks", shift=4),
    "covered": lambda: show.covered(
        ["the", "cat", "slept"], [[("the", 0.9)], [("dog", 0.6), ("cat", 0.3)], [("sat", 1)]]
    ),
    "cutting": lambda: show.cutting(cut, "cat", [("▁", "c"), ("▁c", "a")], (0, 2), title="cat", alt="cuts"),
    "mask_painter": lambda: show.mask_painter(
        ["<s>", "die", "Katze"], torch.eye(3)[:, :2] - 1, torch.tensor([2.0, 0.0])
    ),
    "neighbours": lambda: show.neighbours(
        ["train", "station", "radio"], torch.tensor([[2.3, 0.3], [0.6, 0.5], [0.1, 1.2]]), 1
    ),
    "prompts": lambda: show.prompts(lambda text: f"{text} saw {len(text)} mice", ["the cat", "a dog"]),
    "query_explorer": show.query_explorer,
    "questionnaire": lambda: show.questionnaire("grades", ["Is it good?\nA: yes", "Really?"], ["no", "yes"]),
    "softmax_gradient": show.softmax_gradient,
    "writing": lambda: show.writing(["the", "cat", "danced"], STEPS, alt="three steps"),
}
"""How a lesson shows each widget."""

PLAYING = [name for name in WIDGETS if "player(" in (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")]
"""Those that run by themselves when asked to."""

PICTURE = """() => {
    const live = document.querySelector(".katze-live").cloneNode(true);
    live.querySelectorAll("input, select, output").forEach((control) => control.remove());
    const lines = [...document.querySelectorAll("input[readonly]")].map((line) => line.value);
    return live.innerHTML + lines.join();
}"""
"""What a widget shows beside the controls themselves."""

STOPPED = "() => document.activeElement.closest('.katze-live') !== null"
DESCRIBED = """() => {
    const at = document.activeElement;
    return [at.type || at.getAttribute("role") || at.tagName, at.getAttribute("aria-label") || at.textContent];
}"""
ONLY_READ = "() => document.activeElement.matches('[role=region], [readonly]')"
NAMED = """() => [...document.querySelectorAll(".katze-live :is(input, select, button)")].filter((control) =>
    !control.labels?.length && !control.textContent.trim() && !control.getAttribute("aria-label")).length"""


@pytest.fixture
def widget_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A page that holds these widgets and nothing else."""

    def written(*names: str) -> Path:
        shown: list[object] = []
        monkeypatch.setattr(sys.modules["course_lib.show.interactive"], "display", shown.append)
        for name in names:
            shown += [one for one in [WIDGETS[name]()] if one is not None]
        bodies = "".join(one._repr_mimebundle_()["text/html"] for one in shown)  # type: ignore[attr-defined]
        head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        dark = "<style>@media (prefers-color-scheme: dark) { body { background: #14161a; color: #e8eaed } }</style>"
        path = tmp_path / "widget.html"
        path.write_text(
            f'<!DOCTYPE html><html lang="en"><head>{head}{dark}<title>{" ".join(names)}</title></head>'
            f"<body><main><h1>widgets</h1>{bodies}</main></body></html>",
            encoding="utf-8",
        )
        return path

    return written


def opened(visit: Visit, path: Path, **how: object) -> Page:
    """The page, which fails the test as soon as a script fails."""
    page = visit(path, **how)
    failed: list[str] = []
    page.on("console", lambda message: failed.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.reload()
    assert failed == []
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    return page


def focused(page: Page, stop: int) -> bool:
    """Whether there is a control after that many presses of Tab, which it then has the focus of."""
    page.reload()
    for _ in range(stop):
        page.keyboard.press("Tab")
    return bool(page.evaluate(STOPPED))


def move(page: Page) -> None:
    """Move the control that has the focus, by keys."""
    kind, name = page.evaluate(DESCRIBED)
    if kind == "range":
        page.keyboard.press("Home")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
    elif kind == "radio":
        page.keyboard.press("ArrowRight")
    elif kind == "select-one":
        page.keyboard.press("ArrowDown")
    elif kind == "gridcell":
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    elif kind != "text":
        page.keyboard.press("Space")
    elif page.evaluate("() => !document.activeElement.readOnly"):
        page.keyboard.type("cats ")


PAIRS = {"one step back": ("Tab", "Shift+Tab"), "one step on": ("Shift+Tab", "Tab"), "causal": ("Tab", "Shift+Tab")}
"""Buttons that may have nothing to do before another one was pressed, and the ways there and back."""


def prepare(page: Page) -> None:
    """Where the control that has the focus may have nothing to do, give it something."""
    _kind, name = page.evaluate(DESCRIBED)
    if name in PAIRS:
        there, back = PAIRS[name]
        page.keyboard.press(there)
        page.keyboard.press("Enter")
        page.keyboard.press(back)


def test_every_widget_is_tried_here_or_with_the_explorers() -> None:
    assert WIDGETS.keys() | test_explorers.WIDGETS.keys() == widget_names()
    assert WIDGETS.keys() | test_explorers.MOVES.keys() == widget_names()


@pytest.mark.parametrize("name", WIDGETS)
def test_every_control_changes_the_picture_by_the_keyboard_alone(
    name: str, visit: Visit, widget_page: Callable[..., Path]
) -> None:
    page = opened(visit, widget_page(name))
    stop = 1
    while focused(page, stop):
        prepare(page)
        before = page.evaluate(PICTURE)
        move(page)
        assert page.evaluate(ONLY_READ) or page.evaluate(PICTURE) != before, page.evaluate(DESCRIBED)
        stop += 1
    assert stop > 1, "it has no control"
    assert page.evaluate(NAMED) == 0


@pytest.mark.parametrize("name", WIDGETS)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_it_reads_well_on_every_screen(
    name: str, width: int, dark: bool, visit: Visit, widget_page: Callable[..., Path]
) -> None:
    page = opened(visit, widget_page(name), width=width, dark=dark)
    assert page.locator(".katze-live").count() == 1
    assert page.locator(".katze-still").count() == 0
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out of the page"


@pytest.mark.parametrize("name", WIDGETS)
def test_without_scripts_the_still_shows_it(name: str, visit: Visit, widget_page: Callable[..., Path]) -> None:
    path = widget_page(name)
    page = visit(path, scripts=False)
    still = page.locator(".katze-still")
    assert still.is_visible()
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select_one(".katze-still")
    assert soup is not None
    assert len(soup.text.strip()) > 20 or len(str(soup.img and soup.img["alt"])) > 3


def test_widgets_of_one_page_move_by_themselves(visit: Visit, widget_page: Callable[..., Path]) -> None:
    page = opened(visit, widget_page(*WIDGETS, "clocks"))
    assert page.locator(".katze-live").count() == len(WIDGETS) + 1
    first, second = page.locator('[data-katze-widget="clocks"]').all()
    untouched = second.inner_html()
    first.get_by_role("slider").first.press("ArrowRight")
    assert first.inner_html() != untouched
    assert second.inner_html() == untouched


def test_the_query_can_be_dragged(visit: Visit, widget_page: Callable[..., Path]) -> None:
    page = opened(visit, widget_page("query_explorer"))
    box = page.locator(".katze-chart").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"], box["y"] + 1)
    page.mouse.up()
    assert [each.input_value() for each in page.get_by_role("slider").all()] == ["6", "6"]
    assert "goes to “danced”" in page.locator(".katze-say").inner_text()


def test_a_longer_vector_wins_by_dot_product_alone(visit: Visit, widget_page: Callable[..., Path]) -> None:
    page = opened(visit, widget_page("neighbours"))
    said = page.locator(".katze-say")
    assert "“train” by dot product, and “radio” by cosine" not in said.inner_text()
    page.get_by_label("dim 0").fill("0.4")
    assert "“train” by dot product, and “radio” by cosine" in said.inner_text()
    page.get_by_label("the word to move").select_option("train")
    page.get_by_role("button", name="half as long").click()
    page.get_by_label("the word to move").select_option("station")
    assert "“radio”, by dot product and by cosine" in said.inner_text()


def test_the_past_notices_what_the_mask_lets_through(visit: Visit, widget_page: Callable[..., Path]) -> None:
    page = opened(visit, widget_page("mask_painter"))
    said = page.locator(".katze-say")
    page.get_by_label("exchange the last word").check()
    assert "no cheating" in said.inner_text()
    page.get_by_role("grid", name="mask").locator("td[tabindex]").nth(2).click()
    assert "the past noticed: <s>." in said.inner_text()
    page.get_by_role("button", name="only itself").click()
    assert "no cheating" in said.inner_text()
    page.get_by_label("multiplies the scores").check()
    assert "the past noticed: <s>, die" in said.inner_text()


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_feedback_page_draws_a_student_s_widget_anew_and_runs_nothing_of_theirs(
    width: int, dark: bool, visit: Visit, tmp_path: Path
) -> None:
    evil = "document.title = 'evil'"
    saved = show.attention_stepper()._repr_mimebundle_()["text/html"].replace("mount(", f"{evil}; mount(")
    outputs = sanitise.outputs([{"output_type": "display_data", "data": {"text/html": saved}}])
    about = {"katze": {"kind": "code", "origin": "student", "exercise": None}}
    cell = {"cell_type": "code", "metadata": about, "source": "my own", "outputs": outputs}
    html = render_feedback({"cells": [cell]}, record("ada", "01_attention", ()), {})
    path = tmp_path / "feedback.html"
    path.write_text(html.replace("</body>", f"<script>{evil}</script></body>"), encoding="utf-8")
    page = visit(path, width=width, dark=dark)
    page.get_by_label("as the slide prints it").check()
    assert "It divides by 3" in page.locator(".katze-live").inner_text()
    assert "evil" not in page.title()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_plays_can_be_stopped(visit: Visit, widget_page: Callable[..., Path]) -> None:
    page = opened(visit, widget_page("clocks"))
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => Number(document.querySelector('[type=range]').value) >= 2")
    page.get_by_role("button", name="Pause").click()
    assert page.get_by_role("button", name="Play").count() == 1


@pytest.mark.parametrize("name", PLAYING)
def test_what_plays_stops_at_its_end(name: str, visit: Visit, widget_page: Callable[..., Path]) -> None:
    page = opened(visit, widget_page(name))
    steps, play = page.locator(".katze-player input"), page.get_by_role("button", name="Play")
    steps.press("End")
    steps.press("ArrowLeft")
    before = int(steps.input_value())
    play.click()
    page.get_by_role("button", name="Pause").wait_for(state="detached")
    assert play.count() == 1
    assert int(steps.input_value()) == before + 1 == int(steps.get_attribute("max") or 0)
