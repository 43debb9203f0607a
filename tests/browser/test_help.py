"""What `hint`, `solution` and `progress` draw, in a browser: on a telephone and on a desk, in light and dark."""

from pathlib import Path
from typing import Any

import pytest

from course_lib import exercises
from course_lib.checking import check, hint, progress, solution
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit
from tests.browser.keyboard import page_of

EXERCISES = ("attention.scaled_dot_product", "decoding.beam_search")
"""One with formulas in its code, and one with a long solution."""


@pytest.fixture
def help_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page with all hints, a solution and the map of somebody who has passed, failed and not tried exercises."""
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))
    for lesson in exercises.LESSONS:
        (tmp_path / lesson).mkdir()
        (tmp_path / lesson / f"{lesson}.ipynb").touch()
    shown: list[Any] = []
    for name in EXERCISES:
        exercise = exercises.find(name)
        check(name, exercise.misconceptions[0].answer)
        shown += [hint(name) for _ in exercise.hints][-1:]
        shown.append(solution(name))
    passed = exercises.of_lesson(exercises.find(EXERCISES[-1]).lesson)[0]
    check(passed.id, passed.reference)
    shown.append(progress(exercises.find(EXERCISES[-1]).lesson))
    return page_of((one._repr_html_() for one in shown), tmp_path / "help.html")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_help_reads_well_on_every_screen(width: int, dark: bool, visit: Visit, help_page: Path) -> None:
    page = visit(help_page, width=width, dark=dark)
    assert page.locator(".katze-verdict").count() == 2 * len(EXERCISES) + 1
    assert page.get_by_role("link").count() == len(exercises.LESSONS)
    assert page.get_by_role("img", name="passed").count() == page.get_by_role("img", name="begun").count() == 1
    assert page.locator("pre").count() >= len(EXERCISES), "a solution has its code"
    assert faults(page, every=True) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out of the page"
