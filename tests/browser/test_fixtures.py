"""What the other tests of this folder lean on sees faults where there are some."""

import shutil
from pathlib import Path

import pytest

from tests.browser import chromium
from tests.browser.accessibility import faults
from tests.browser.conftest import SCREENSHOTS, Visit
from tests.once import skip_without

pytestmark = pytest.mark.usefixtures("processes")


pytest_plugins = ["pytester"]

BAD = """<!DOCTYPE html><html lang="en"><title>Bad</title><main><h1>A page</h1><img src="x"><button></button></main>"""


def test_faults_are_found_and_shown(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(BAD)
    found = faults(visit(path))
    assert {line.partition(" ")[0] for line in found} == {"image-alt", "button-name"}
    assert any("<button></button>" in line for line in found)


FOLDER_OF_TESTS = """
import pytest
from tests.browser.conftest import browser, visit

processes = pytest.fixture(scope="session")(lambda: None)

def test_a_page(visit):
    visit("about:blank").set_content("<p>kept")
    assert False

def test_another_page(visit):
    visit("about:blank")

def test_asks_abroad(visit):
    visit("about:blank").set_content("<img src='https://example.org/a.png'>", wait_until="commit")
"""


@pytest.mark.skipif(chromium.find_browser() is None, reason="no browser is installed")
def test_a_failed_tests_page_is_kept_and_pages_ask_nobody_abroad(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    kept = SCREENSHOTS / "test_a_failed_tests_page_is_kept_and_pages_ask_nobody_abroad"
    shutil.rmtree(kept, ignore_errors=True)
    pytester.makepyfile(FOLDER_OF_TESTS)
    monkeypatch.setenv("PYTHONPATH", str(request.config.rootpath))
    ran = pytester.runpytest_subprocess("-ra", "-p", "no:cacheprovider", "-p", "no:xdist")
    ran.assert_outcomes(failed=1, passed=2, errors=1)
    ran.stdout.fnmatch_lines(["*https://example.org/a.png*"])
    assert [path.name for path in kept.iterdir()] == ["test_a_page.png"]


@pytest.mark.parametrize(("required", "ended"), [("", pytest.skip.Exception), ("required", pytest.fail.Exception)])
def test_without_a_browser_tests_are_skipped_or_fail_and_say_what_to_do(
    required: str, ended: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATZE_BROWSER", required)
    with pytest.raises(ended, match="a browser is not installed; install it with: make browser"):
        skip_without("a browser", chromium.INSTALL, "KATZE_BROWSER")
