"""A Jupyter server for tests, and what a learner's hands do in its notebooks."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import SECONDS_TO_WAIT

TOKEN = "learner"
OPTIONS = ["--no-browser", "--allow-root", "--port=0", f"--IdentityProvider.token={TOKEN}"]

ADDRESSES = {"lab": "lab/tree", "notebook": "notebooks"}
"""Where JupyterLab and Notebook 7 show a file."""


@contextmanager
def serving(app: str, work: Path, home: Path) -> Iterator[str]:
    """A server of a working folder, with a home of its own; gives the address of its root.

    Args:
        app: "lab", which `katze learn` starts, or "notebook"; "course" is JupyterLab as an instructor starts it.
        work: the working folder, with the lessons in it, or a course's.
        home: where it keeps what it remembers.
    """
    command = [sys.executable, "-m"]
    if app == "lab":
        command += ["katze", "learn", str(work), f"--lab={' '.join(OPTIONS)}"]
    else:
        command += ["jupyterlab" if app == "course" else app, f"--ServerApp.root_dir={work}", *OPTIONS]
    folders = {f"JUPYTER_{name.upper()}_DIR": str(home / name) for name in ("config", "data", "runtime")}
    environment = {**os.environ, "HOME": str(home), "IPYTHONDIR": str(home / "ipython"), **folders}
    environment.pop("KATZE_WORK", None)
    home.mkdir(parents=True, exist_ok=True)
    with (home / "log.txt").open("wb") as log:
        inside = work if app == "course" else None  # nbgrader reads the settings of where it is started
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=inside, start_new_session=True)
        try:
            yield _address(server, home)
        finally:
            server.terminate()
            server.wait()
            _wait_until_nobody_is_left(server.pid)


def _wait_until_nobody_is_left(group: int) -> None:
    for _ in attempts():
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
    raise AssertionError("what was started with the server runs on without it")


def _address(server: subprocess.Popen[bytes], home: Path) -> str:
    """The server's address, once it answers."""
    for _ in attempts():
        for said in (home / "runtime").glob("jpserver-*.json"):
            address = json.loads(said.read_text() or "{}").get("url")
            if address:
                return str(address).replace("localhost", "127.0.0.1")
        assert server.poll() is None, (home / "log.txt").read_text()
    raise AssertionError((home / "log.txt").read_text())


def attempts() -> Iterator[None]:
    """Turns of a loop that waits for something, until nobody would wait any longer."""
    end = time.monotonic() + SECONDS_TO_WAIT
    while time.monotonic() < end:
        yield
        time.sleep(0.1)


def address_of(app: str, root: str, file: str) -> str:
    """Where a server shows a file of its folder."""
    return f"{root}{ADDRESSES[app]}/{file}?token={TOKEN}"


def cell(page: Page, text: str) -> Locator:
    """The code cell that has a text in it."""
    return page.locator(".jp-CodeCell").filter(has_text=text)


def run_all(page: Page, file: Path) -> None:
    """Run all cells by the menu, and wait until each has a number; folded ones show none."""
    codes = [one for one in json.loads(file.read_text())["cells"] if one["cell_type"] == "code"]
    shown = [one for one in codes if not one["metadata"].get("jupyter", {}).get("source_hidden")]
    choose(page, "Run", "Run All Cells")
    expect(page.locator(".jp-CodeCell .jp-InputPrompt").filter(has_text=NUMBERED)).to_have_count(len(shown))
    expect(page.locator(".jp-Notebook-ExecutionIndicator").first).to_have_attribute("data-status", "idle")


def choose(page: Page, menu: str, item: str) -> None:
    """Choose from a menu."""
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).first.click()


def write_into(page: Page, where: Locator, source: str) -> None:
    """Replace what stands in a cell, as by hand."""
    where.scroll_into_view_if_needed()
    where.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(source)


def run_cell(page: Page, where: Locator) -> None:
    """Run a cell, and wait for its new number."""
    prompt = where.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    where.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(prompt).not_to_have_text(before)
    expect(prompt).to_have_text(NUMBERED)


def save(page: Page, file: Path, holds: str) -> None:
    """Save by the keyboard, and wait until the file holds a text."""
    page.keyboard.press("Escape")
    page.keyboard.press("Control+S")
    assert any(holds in file.read_text() for _ in attempts()), f"{file} was not saved"


def complaints(page: Page) -> list[str]:
    """What a notebook shows where something has gone wrong in it."""
    wrong = page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error'], .jp-mod-error")
    told = page.get_by_text("Error displaying widget").or_(page.get_by_text("Javascript Error"))
    return [*wrong.all_inner_texts(), *told.all_inner_texts()]


def forget_trust(file: Path) -> None:
    """Change what a saved notebook shows, so that no server has signed it: scripts and styles of it are taken away."""
    notebook = json.loads(file.read_text())
    for one in notebook["cells"]:
        for output in one.get("outputs", []):
            if "data" in output:
                output["metadata"]["came_from"] = "somewhere else"
    file.write_text(json.dumps(notebook))


NUMBERED = re.compile(r"\[\d+\]:")
