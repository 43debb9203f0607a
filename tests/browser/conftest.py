"""A real browser for tests: pages in it, at any width, in light and dark, and a picture of each on which a test failed.

With `--thorough` there is one of every page as it was left. Pictures are in `build/screenshots`.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from tests.browser.chromium import FLAGS, INSTALL, find_browser
from tests.once import skip_without

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"

TALLEST = 16_000
"""The most pixels of a page that a picture holds, from its top; Chromium draws no more."""

SECONDS_TO_WAIT = 300
"""How long a page may take to show what a test waits for, on the busiest machine."""

ABROAD = re.compile(r"https?://(?!localhost[:/]|127\.0\.0\.1[:/])")
"""Addresses that are not on this machine."""

Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def browser(processes: None) -> Iterator[Browser]:
    """The installed browser, once for each file of tests.

    Not once for all: while Playwright runs, its thread has a running event loop, and other tests need theirs.
    """
    found = find_browser()
    if found is None:
        skip_without("a browser", INSTALL, "KATZE_BROWSER")
    expect.set_options(timeout=1000 * SECONDS_TO_WAIT)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Opens pages: `visit(path_or_address, width=1280, dark=False, scripts=True)`.

    When the test is over, it fails if a page has asked for anything that is not on this machine: it never gets it. Of a
    page that is not ours, `in_vain="host"` says from where it may ask.
    """
    failed_before = request.session.testsfailed
    contexts: list[BrowserContext] = []
    asked: list[str] = []

    def opened(
        where: Path | str, *, width: int = 1280, dark: bool = False, scripts: bool = True, in_vain: str = ""
    ) -> Page:
        def refuse(route: Route) -> None:
            if not in_vain or urlsplit(route.request.url).hostname != in_vain:
                asked.append(route.request.url)
            route.abort()

        scheme = "dark" if dark else "light"
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, java_script_enabled=scripts)
        context.set_default_timeout(1000 * SECONDS_TO_WAIT)
        context.route(ABROAD, refuse)
        contexts.append(context)
        page = context.new_page()
        page.goto(where.resolve().as_uri() if isinstance(where, Path) else where)
        return page

    yield opened
    pages = [page for context in contexts for page in context.pages]
    for page in pages:
        page.wait_for_load_state()  # by then it has asked for all that its text names
    shown = request.session.testsfailed > failed_before or request.config.getoption("thorough", False)
    for number, page in enumerate(pages if shown else []):
        keep_picture(page, f"{request.node.path.stem}/{request.node.name}" + (f"-{number + 1}" if number else ""))
    for context in contexts:
        context.close()
    assert asked == [], "a page loads what is not on this machine"


def keep_picture(page: Page, name: str) -> Path:
    """Keep a picture of all of a page as it is now, under a name that may have folders in it."""
    path = SCREENSHOTS / re.sub(r"[^\w./-]+", "-", f"{name}.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    assert size is not None
    height = page.evaluate("document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(max(height, size["height"]), TALLEST)}
    page.screenshot(path=path, full_page=True, clip=clip)
    return path
