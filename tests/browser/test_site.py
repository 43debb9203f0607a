"""The whole course as a website, opened from its files: read, searched and switched to dark by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from autograder.course.course import Course
from autograder.site.build import build_site
from tests.autograder.site.small_course import broken_links, loads_from_elsewhere
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit
from tests.once import made_once
from tests.solutions.short import course_to_run

ROOT = Path(__file__).parents[2]
PAGES = ("index.html", "lessons/01_attention.html", "library/attention.html", "instructors.html")


@pytest.fixture(scope="module")
def site(processes: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = course_to_run(request.config, tmp_path_factory)

    def build(folder: Path) -> None:
        assert build_site(course, folder / "site", workers=int(os.environ.get("WORKERS", "1"))) == []

    return made_once(tmp_path_factory, "website", build) / "site"


def test_every_link_of_the_whole_site_leads_somewhere(site: Path) -> None:
    assert broken_links(site) == []
    assert loads_from_elsewhere(site) == []


def test_every_lesson_has_its_page_with_pictures(site: Path) -> None:
    for lesson in Course.find(ROOT).lessons():
        html = (site / "lessons" / f"{lesson}.html").read_text()
        assert "../pictures/" in html, lesson
        assert "### BEGIN" not in html, lesson


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
@pytest.mark.parametrize("name", PAGES)
def test_a_page(visit: Visit, site: Path, name: str, width: int, dark: bool) -> None:
    page = visit(site / name, width=width, dark=dark)
    if name.startswith("lessons/"):
        expect(page.locator("mjx-container svg").first).to_be_attached()
        assert page.locator("mjx-merror").count() == 0
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_lesson_has_its_formulas_set(visit: Visit, site: Path) -> None:
    for path in sorted((site / "lessons").glob("*.html")):
        page = visit(path)
        page.wait_for_function("window.MathJax?.startup?.promise")
        page.evaluate("MathJax.startup.promise")
        assert page.locator("mjx-container").count() > 0, path.name
        assert page.locator("mjx-merror, [data-mjx-error]").count() == 0, path.name
        page.close()


def test_a_lesson_has_no_faults(visit: Visit, site: Path, sampled_lesson: str) -> None:
    page = visit(site / "lessons" / f"{sampled_lesson}.html")
    page.wait_for_function("window.MathJax?.startup?.promise")
    page.evaluate("MathJax.startup.promise")
    assert faults(page) == []


def test_the_search_finds_from_files(visit: Visit, site: Path) -> None:
    page = visit(site / "index.html")
    page.get_by_role("textbox", name="Search").fill("Jacobian")
    page.keyboard.press("Enter")
    found = page.locator("#search-results ul.search a")
    expect(found.first).to_be_visible()
    assert any("Attention" in title for title in found.all_inner_texts())
    found.filter(has_text="Attention").first.click()
    expect(page.locator("article h1").first).to_contain_text("ttention")


def test_dark_by_hand_and_what_cells_show_follows(visit: Visit, site: Path) -> None:
    page = visit(site / "lessons" / "01_attention.html")
    figure = page.locator(".katze-figure").first
    expect(figure).to_have_css("filter", "none")
    switch = page.locator(".theme-toggle:visible").first
    for _ in range(3):
        if page.evaluate("document.body.dataset.theme") != "dark":
            switch.click()
    assert page.evaluate("document.body.dataset.theme") == "dark"
    expect(figure).not_to_have_css("filter", "none")
    expect(page.locator(".katze-widget").first).to_have_css("color-scheme", "dark")


def test_next_leads_through_all_lessons(visit: Visit, site: Path) -> None:
    lessons = Course.find(ROOT).lessons()
    page = visit(site / "lessons" / f"{lessons[0]}.html", scripts=False)
    for lesson in lessons[1:]:
        page.locator("a.next-page").click()
        page.wait_for_url(f"**/{lesson}.html")


def test_a_widget_is_alive(visit: Visit, site: Path) -> None:
    page = visit(site / "lessons" / "01_attention.html", width=390)
    widget = page.locator(".katze-live").filter(has=page.get_by_role("checkbox")).first
    shown = widget.inner_text()
    widget.get_by_role("checkbox").first.check()
    expect(widget).not_to_have_text(shown, use_inner_text=True)
    assert faults(page, within=".katze-live") == []


def test_the_code_of_a_demo_unfolds(visit: Visit, site: Path) -> None:
    page = visit(site / "lessons" / "01_attention.html")
    fold = page.locator(".cell details").first
    assert not fold.locator("pre").first.is_visible()
    fold.locator("summary").click()
    assert fold.locator("pre").first.is_visible()
