"""Opens JupyterLab for learners: on a page that lists the lessons, without the parts that only instructors need."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import nbformat
from ipykernel.ipkernel import IPythonKernel
from nbformat.sign import NotebookNotary

from autograder.course.reading_time import what_it_takes
from autograder.learn.folder import KEPT
from course_lib.ground.files import put_in_place
from course_lib.learner.folder import PROGRESS
from course_lib.learner.progress_file import ProgressFile
from course_lib.learner.progress_map import progress_map
from course_lib.learner.recall import older_questions

START = "start.ipynb"

_WELCOME = """\
# Katze: from a bag of words to a transformer

In every lesson you write a piece of it yourself, and learn at once what is wrong and which mistake it is. {takes}

Open a lesson below. `Shift`+`Enter` runs a cell and goes on to the next. Run them all from the top, write your answer
where the lesson asks for it, run that cell too, and then the check below it. Are you stuck? Each call to `hint("...")`
in a new cell opens another hint.

Here is how far you have come. To refresh it, run the cell below, or `progress()` in any lesson."""

_ASK = "A question, or a mistake in a lesson? [Ask here](https://github.com/{}/issues): others read the answer, too."

_FURNITURE = ("formgrader", "validate_assignment", "assignment_list", "course_list")
"""The parts of nbgrader's server extension."""


def write_start_page(folder: Path, repository: str = "") -> Path:
    """Write the page that lists the lessons, with the current progress.

    Args:
        folder: the working folder.
        repository: OWNER/NAME on GitHub, where learners ask questions; may be empty.
    """
    shown = progress_map(kept=ProgressFile(folder / PROGRESS), page=folder)
    output = nbformat.v4.new_output("display_data", {"text/html": shown.html(), "text/plain": shown.text()})
    cell = nbformat.v4.new_code_cell(
        "# Your progress: run this cell to refresh it\nfrom course_lib.checking import progress\n\nprogress()",
        id="progress",
        outputs=[output],
        metadata={"jupyter": {"source_hidden": True}},
    )
    takes = what_it_takes(folder / lesson.lesson / f"{lesson.lesson}.ipynb" for lesson in shown.lessons)
    welcome = _WELCOME.format(takes=takes)
    welcome += f"\n\n{_ASK.format(repository)}" if repository else ""
    cells = [nbformat.v4.new_markdown_cell(welcome, id="welcome"), cell]
    older = older_questions(shown.lessons, date.today())
    if older is not None:
        cells.append(nbformat.v4.new_markdown_cell(older.markdown(), id="looking-back"))
    page = nbformat.v4.new_notebook(cells=cells)
    page.metadata.kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    page.metadata.language_info = IPythonKernel.language_info  # else the kernel adds it, which changes the page
    with put_in_place(folder / START) as unfinished:
        nbformat.write(page, unfinished)
    NotebookNotary().sign(page)  # else JupyterLab removes the page's style
    return folder / START


def open_lab(folder: Path, options: Sequence[str] = ()) -> int:
    """Run JupyterLab in a working folder until somebody ends it; return its exit status.

    Args:
        folder: the working folder, with a start page.
        options: options for JupyterLab, such as "--no-browser".
    """
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    command += [f"--LabApp.default_url=/lab/tree/{START}", *options]
    settings = _settings(folder)
    path = os.pathsep.join(filter(None, [str(settings), os.environ.get("JUPYTER_CONFIG_PATH")]))
    before = signal.signal(signal.SIGTERM, _end)
    try:
        return subprocess.call(command, env={**os.environ, "JUPYTER_CONFIG_PATH": path})
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, _frame: object) -> None:
    """Leave `subprocess.call`, which then ends JupyterLab; the signal itself would end only this process."""
    raise SystemExit(128 + number)


def _settings(folder: Path) -> Path:
    """Write Jupyter settings without nbgrader's menus and handlers and without news; return their folder."""
    place = folder.resolve() / KEPT / "jupyter"
    lab = {"disabledExtensions": {"@jupyter/nbgrader": True}}
    parts = {f"nbgrader.server_extensions.{name}": False for name in _FURNITURE}
    server = {"ServerApp": {"jpserver_extensions": parts}}
    quiet = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
    files = {
        "labconfig/page_config.json": lab,
        "labconfig/default_setting_overrides.json": quiet,
        "jupyter_server_config.json": server,
    }
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(json.dumps(content, indent=1))
    return place
