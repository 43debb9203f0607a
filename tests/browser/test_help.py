"""What `hint`, `solution` and `progress` draw, in a browser: on a telephone and on a desk, in light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_lib import exercises
from course_lib.checking import check, hint, progress, solution
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit

EXERCISES = ("attention.scaled_dot_product", "decoding.beam_search")
"""One with formulas in its code, and one with a long solution."""


@pytest.fixture
def help_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page with all hints, a solution and the map of somebody who has passed, failed and not tried exercises."""
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))
    for lesson in exercises.LESSONS:
        (tmp_path / lesson).mkdir()
        (tmp_path / lesson / f"{lesson}.ipynb").touch()
    shown: list[object] = []
    for name in EXERCISES:
        exercise = exercises.find(name)
        check(name, exercise.misconceptions[0].answer)
        shown += [hint(name) for _ in exercise.hints][-1:]
        shown.append(solution(name))
    passed = exercises.of_lesson(exercises.find(EXERCISES[-1]).lesson)[0]
    check(passed.id, passed.reference)
    shown.append(progress(exercises.find(EXERCISES[-1]).lesson))
    bodies = "".join(one._repr_html_() for one in shown)  # type: ignore[attr-defined]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    dark = "<style>@media (prefers-color-scheme: dark) { body { background: #14161a; color: #e8eaed } }</style>"
    path = tmp_path / "help.html"
    path.write_text(
        f'<!DOCTYPE html><html lang="en"><head>{head}{dark}<title>help</title></head>'
        f"<body><main><h1>help</h1>{bodies}</main></body></html>",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1280, False), (1280, True)])
def test_help_reads_well_on_every_screen(width: int, dark: bool, visit: Visit, help_page: Path) -> None:
    page = visit(help_page, width=width, dark=dark)
    assert page.locator(".katze-verdict").count() == 2 * len(EXERCISES) + 1
    assert page.get_by_role("link").count() == len(exercises.LESSONS)
    assert page.locator(".katze-mark").filter(has_text="✓").count() == 1
    assert page.locator(".katze-mark").filter(has_text="◐").count() == 1
    assert page.locator("pre").count() >= len(EXERCISES), "a solution has its code"
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out of the page"
