"""A learner's first hour in JupyterLab and in Notebook 7: run all, err, be told, fix it, save, and come back.

The lesson's widgets are moved before and after; in a notebook that is not trusted each of them is its still.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from autograder.cli import main
from course_lib import exercises
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit
from tests.browser.jupyter import (
    address_of,
    cell,
    complaints,
    forget_trust,
    run_all,
    run_cell,
    save,
    serving,
    write_into,
)
from tests.browser.keyboard import CONTROLS, move, picture

pytestmark = pytest.mark.sampled(1)

FILE = "01_attention/01_attention.ipynb"
EXERCISE = exercises.find("attention.scale")
ANSWER, CHECK = f"katze: {EXERCISE.id} answer", f"katze: {EXERCISE.id} check"
MISTAKE = next(one for one in EXERCISE.misconceptions if one.id == "divided_by_d_head")

WRONG = f"# {ANSWER}\ndef {EXERCISE.name}(scores, d_head):\n    return scores / d_head"
RIGHT = f"# {ANSWER}\ndef {EXERCISE.name}(scores, d_head):\n    return scores / d_head**0.5"

STILLS = {
    "attention_stepper": "softmax(scaled), along the keys",
    "query_explorer": "Worked example A: each key, which is its value too",
    "softmax_gradient": "One row of scores, d_head = 64, divided in three ways",
}
"""The lesson's widgets, and words that are in the still of each and nowhere else."""


@dataclass(frozen=True)
class Seat:
    """A learner's place: the program, its address, and the working folder."""

    app: str
    root: str
    work: Path

    @property
    def notebook(self) -> Path:
        return self.work / FILE

    @property
    def address(self) -> str:
        return address_of(self.app, self.root, FILE)


@pytest.fixture(scope="module", params=["lab", "notebook"])
def seat(processes: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    home = tmp_path_factory.mktemp(request.param)
    assert main(["learn", str(home / "work"), "--no-lab"]) == 0
    with serving(request.param, home / "work", home / "home") as root:
        yield Seat(request.param, root, home / "work")


def opened(page: Page) -> Page:
    """The page, once the whole notebook is on it."""
    expect(cell(page, ANSWER)).to_be_attached()
    expect(page.get_by_text("What you have now")).to_be_attached()
    return page


def move_every_widget(page: Page, most: int | None = None) -> None:
    """Move each control of the lesson's widgets by the keyboard, or the first of each, and see the picture change."""
    for name in STILLS:
        widget = page.locator(f'[data-katze-widget="{name}"]')
        expect(widget.locator(".katze-live")).to_be_visible()
        for place in range(widget.locator(CONTROLS).count())[:most]:
            before = picture(widget)
            move(widget.locator(CONTROLS).nth(place))
            assert picture(widget) != before, f"control {place} of {name}"
            # its keys have done nothing in the notebook around it
            expect(page.locator(".jp-Cell.jp-mod-active .katze-live :focus")).to_have_count(1)


def see_the_stills(page: Page, file: Path) -> None:
    """Where no script may run, a widget is its still and nothing else, and every picture has its alternative text."""
    expect(page.locator(".katze-still")).to_have_count(len(STILLS))
    for words in STILLS.values():
        expect(page.locator(".katze-still").filter(has_text=words)).to_be_visible()
    assert page.locator(".katze-widget > :not(.katze-still), .katze-live").count() == 0
    pictures = file.read_text().count(r"<img class=\"katze-figure\"")
    assert pictures > 0
    expect(page.locator("img.katze-figure[alt]:not([alt=''])")).to_have_count(pictures)


def test_a_first_hour(visit: Visit, seat: Seat) -> None:
    page = opened(visit(seat.address))
    run_all(page, seat.notebook)
    assert complaints(page) == [], "a blank notebook runs to its end"
    move_every_widget(page)

    answer, check = cell(page, ANSWER), cell(page, CHECK)
    write_into(page, answer, WRONG)
    run_cell(page, answer)
    run_cell(page, check)
    verdict = check.locator(".katze-verdict")
    expect(verdict).to_contain_text("Not yet right")
    expect(verdict).to_contain_text(MISTAKE.message)
    assert faults(page, within=".katze-verdict") == []

    write_into(page, answer, RIGHT)
    run_cell(page, answer)
    run_cell(page, check)
    expect(verdict).to_contain_text("Right")
    expect(verdict).to_contain_text("1 of 1 point")
    save(page, seat.notebook, "1 of 1 point")
    page.close()

    again = opened(visit(seat.address))
    expect(cell(again, CHECK).locator(".katze-verdict")).to_contain_text("1 of 1 point")
    move_every_widget(again, most=1)
    assert complaints(again) == []
    again.close()

    forget_trust(seat.notebook)
    strange = opened(visit(seat.address))
    if seat.app == "notebook":
        expect(strange.get_by_text("Not Trusted")).to_be_visible()
    expect(cell(strange, CHECK).locator(".katze-verdict")).to_contain_text("1 of 1 point")
    see_the_stills(strange, seat.notebook)
    assert complaints(strange) == []


@pytest.mark.parametrize("seat", ["lab"], indirect=True)
def test_the_start_page_lists_the_lessons(visit: Visit, seat: Seat) -> None:
    page = visit(address_of(seat.app, seat.root, "start.ipynb"))
    expect(page.get_by_role("heading", name="Katze: from a bag of words to a transformer")).to_be_visible()
    expect(page.locator(".jp-OutputArea a").filter(has_text="Attention")).to_be_visible()
    assert page.get_by_role("menuitem", name="Nbgrader").count() == 0
