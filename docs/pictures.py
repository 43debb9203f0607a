"""The README's pictures, taken anew from the real thing: `.venv/bin/python docs/pictures.py [DIR]`.

It runs cells as a student would, grades a submission of the bundled class, and photographs in the installed browser
what a reader gets to see.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert.exporters.html import HTMLExporter
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.grading.batch import grade_assignment  # noqa: E402
from tests.autograder.small_class import BY_NAME, LESSON, hand_in, make_course  # noqa: E402
from tests.browser.chromium import FLAGS, INSTALL, find_browser  # noqa: E402

PLACE = ROOT / "docs" / "pictures"
WIDTH = 860
"""Of what is photographed, in CSS pixels."""

ANSWER = """\
def scaled_dot_product_attention(q, k, v):
    scores = q @ k.transpose(-2, -1)
    alpha = torch.softmax(scores / k.shape[-2], dim=-1)
    return alpha @ v"""
"""Slide S2's slip."""

VERDICT = ("import torch\nfrom course_lib.checking import check", ANSWER, 'check("attention.scaled_dot_product")')
STEPPER = ("from course_lib import show", "show.attention_stepper()")
WRONG = "hana_slides_numbers"
"""Of the bundled class."""


def run(cells: tuple[str, ...], folder: Path) -> Path:
    """These cells' notebook, run and exported as a page."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    notebook.cells = notebook.cells[1:]
    page, _resources = HTMLExporter(template_name="lab").from_notebook_node(notebook)
    path = folder / f"{len(list(folder.iterdir()))}.html"
    path.write_text(page, encoding="utf-8")
    return path


def feedback(folder: Path) -> Path:
    """The feedback page of one of the bundled class."""
    course = make_course(folder)
    hand_in(course, WRONG, BY_NAME[WRONG])
    grade_assignment(course, LESSON)
    return course.feedback / WRONG / LESSON / f"{LESSON}.html"


@contextmanager
def opened() -> Iterator[Page]:
    """An empty page, sharp enough for a small print."""
    found = find_browser()
    if found is None:
        raise SystemExit(f"no browser is installed; install one with: {INSTALL}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser.new_page(viewport={"width": WIDTH, "height": 900}, device_scale_factor=2)
        browser.close()


def main(place: Path) -> None:
    """Take all three, as PNG files in a folder."""
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, opened() as page:
        folder = Path(work)
        os.environ["KATZE_WORK"] = work  # else the verdict would be written down as a learner's
        page.goto(run(VERDICT, folder).as_uri())
        page.locator("main").screenshot(path=place / "verdict.png")
        page.goto(run(STEPPER, folder).as_uri())
        page.locator(".katze-widget [role=gridcell], .katze-widget td button").nth(30).click()
        page.locator("main").screenshot(path=place / "stepper.png")
        (folder / "course").mkdir()
        page.goto(feedback(folder / "course").as_uri())
        page.screenshot(path=place / "feedback.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PLACE)
