"""The whole course as a website, opened from its files: read, searched, printed and switched to dark by hand."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from autograder.course.course import Course
from autograder.site.build import build_site
from tests.autograder.site.small_course import broken_links, loads_from_elsewhere
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit
from tests.once import made_once
from tests.solutions.short import course_to_run

ROOT = Path(__file__).parents[2]
LESSONS = Course.find(ROOT).lessons()
PHONE, DESK = 390, 1280

SMALL = """() => [...document.querySelectorAll(
    "a[href], button, input, select, summary, label[for], [role=gridcell][tabindex]")]
    .filter(one => one.checkVisibility({visibilityProperty: true, opacityProperty: true}))
    .filter(one => !(one.matches("p a, li p a, .sig a") && getComputedStyle(one).display === "inline"))
    .map(one => [one, (one.closest("label") ?? one).getBoundingClientRect()])
    .filter(([_one, box]) => box.width && Math.min(box.width, box.height) < 23.5)
    .map(([one, box]) => `${box.width} × ${box.height}: ${one.outerHTML.slice(0, 120)}`)"""
"""What is there for a finger and smaller than 24 pixels; a link within a sentence is as high as its line."""

HEADINGS = """() => ["h1", "h2", "h3"].map(name => document.querySelector(`article ${name}`))
    .map(heading => parseFloat(getComputedStyle(heading).fontSize))"""

UNSHOWN = """() => [...document.querySelectorAll("pre, .math-wrapper, .table-wrapper, .output, .page-content table")]
    .filter(part => part.scrollWidth > part.clientWidth + 1)
    .filter(part => getComputedStyle(part).maskImage === "none" || part.tabIndex !== 0)
    .map(part => part.outerHTML.slice(0, 120))"""
"""What goes on beyond its right edge and does not fade there, or cannot be scrolled by keys."""

CUT_OFF = """() => [...document.querySelectorAll("article *")]
    .filter(part => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== "visible")
    .map(part => part.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def site(processes: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = course_to_run(request.config, tmp_path_factory)

    def build(folder: Path) -> None:
        assert build_site(course, folder / "site", workers=1) == []

    return made_once(tmp_path_factory, "website", build) / "site"


def opened(visit: Visit, path: Path, width: int = PHONE) -> Page:
    """A page with its formulas set."""
    page = visit(path, width=width)
    page.wait_for_function("!document.querySelector('.math') || window.MathJax?.startup?.promise")
    page.evaluate("window.MathJax?.startup?.promise")
    return page


def test_every_link_of_the_whole_site_leads_somewhere(site: Path) -> None:
    assert broken_links(site) == []
    assert loads_from_elsewhere(site) == []


def test_every_lesson_has_its_page_with_pictures_and_leads_to_the_next(site: Path) -> None:
    for lesson, following in zip(LESSONS, [*LESSONS[1:], "../learners"], strict=True):
        html = (site / "lessons" / f"{lesson}.html").read_text()
        assert "### BEGIN" not in html, lesson
        assert re.findall(r'<a class="next-page" href="([^"]*)"', html) == [f"{following}.html"]
        pictures = re.findall(r"<img [^>]*>", html)
        assert pictures, lesson
        for part in (' loading="lazy"', ' height="', ' width="', ' alt="', ' src="../pictures/'):
            assert all(part in picture for picture in pictures), lesson


@pytest.mark.parametrize("name", ["index", "learners", "instructors", "library/attention", "lessons/01_attention"])
def test_a_page_has_no_faults_on_any_screen(name: str, visit: Visit, site: Path) -> None:
    page = opened(visit, site / f"{name}.html")
    assert faults(page, every=True, contrast=False) == [], "a theme has the same colors at every width"
    page.set_viewport_size({"width": DESK, "height": 900})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert faults(page, every=True) == [], scheme


def test_every_lesson_has_its_formulas_set_and_fits_a_phone(visit: Visit, site: Path) -> None:
    for lesson in LESSONS:
        page = opened(visit, site / "lessons" / f"{lesson}.html")
        assert page.locator("mjx-container").count() > 0, lesson
        assert page.locator("mjx-merror, [data-mjx-error]").count() == 0, lesson
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE, lesson
        assert page.evaluate(UNSHOWN) == [], lesson
        assert page.evaluate(SMALL) == [], lesson
        title, section, part = page.evaluate(HEADINGS)
        assert title > section > part, lesson
        page.close()


@pytest.mark.parametrize("name", ["index", "glossary", "instructors", "library", "library/blocks", "search"])
def test_what_is_no_lesson_fits_a_phone(name: str, visit: Visit, site: Path) -> None:
    page = opened(visit, site / f"{name}.html")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    assert page.evaluate(UNSHOWN) == []
    assert page.evaluate(SMALL) == []


def test_the_search_finds_from_files(visit: Visit, site: Path) -> None:
    page = visit(site / "index.html")
    page.get_by_role("textbox", name="Search").fill("Jacobian")
    page.keyboard.press("Enter")
    found = page.locator("#search-results ul.search a")
    expect(found.first).to_be_visible()
    assert any("Attention" in title for title in found.all_inner_texts())
    found.filter(has_text="Attention").first.click()
    expect(page.locator("article h1").first).to_contain_text("ttention")


def test_a_lesson_is_alive_turns_dark_by_hand_and_is_printed_light_and_whole(visit: Visit, site: Path) -> None:
    page = opened(visit, site / "lessons" / "01_attention.html", DESK)
    widget = page.locator(".katze-live").filter(has=page.get_by_role("checkbox")).first
    shown = widget.inner_text()
    widget.get_by_role("checkbox").first.check()
    expect(widget).not_to_have_text(shown, use_inner_text=True)

    figure = page.locator(".katze-figure").first
    expect(figure).to_have_css("filter", "none")
    for _ in range(3):
        if page.evaluate("document.body.dataset.theme") != "dark":
            page.locator(".theme-toggle:visible").first.click()
    assert page.evaluate("document.body.dataset.theme") == "dark"
    expect(figure).not_to_have_css("filter", "none")
    expect(page.locator(".katze-widget").first).to_have_css("color-scheme", "dark")

    folded = page.locator(".cell details pre").first
    assert not folded.is_visible()
    page.locator(".cell details summary").first.click()
    assert folded.is_visible()
    page.locator(".cell details summary").first.click()

    for scheme in ("dark", "light"):
        page.emulate_media(media="print", color_scheme=scheme)
        page.set_viewport_size({"width": 718, "height": 900})  # A4 without its margins
        expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
        expect(page.locator("article pre").first).to_have_css("color", "rgb(8, 8, 8)")
        expect(figure).to_have_css("filter", "none")
        expect(page.locator(".katze-widget").first).to_have_css("color-scheme", "light")
        assert page.evaluate("[...document.querySelectorAll('details pre')].every(one => one.checkVisibility())")
        assert page.evaluate(CUT_OFF) == []
    page.pdf(format="A4")
    assert page.evaluate("[...document.images].every(one => one.complete && one.naturalWidth)"), "none is left out"
