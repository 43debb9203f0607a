"""A lesson run from top to end with its solutions: once for all who want to see what its cells show.

It is kept under `build/executed`, under a digest of all that it depends on, so that the website's build and the tests
of lessons run a lesson once between them, and anew as soon as its text, what it reaches of the library, or a package
has changed.
"""

from __future__ import annotations

import copy
import fcntl
import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

import course_lib
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.grading.digests.reach import Library, mentioned
from autograder.grading.digests.sources import files_of
from course_lib.ground.files import put_in_place
from course_lib.learner.recall import QUESTIONS
from course_lib.learner.solutions import SOLVED

logger = logging.getLogger(__name__)

SECONDS_FOR_A_CELL = 600
"""Far beyond what a cell needs, on the busiest machine."""

SHOWN_BY = ("ipykernel", "matplotlib", "numpy", "torch")
"""The packages on which outputs depend."""


def read_solution(course: Course, lesson: str) -> NotebookNode:
    """A lesson's source, with its solutions, as a notebook."""
    notebook: NotebookNode = jupytext.read(course.solutions / lesson / f"{lesson}.py")
    return notebook


SETTINGS = {"HF_HUB_OFFLINE": "1", "KATZE_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
"""A lesson is run with the texts and published models that are here: none is fetched for it.
Lessons run side by side: a second thread of each would only wait for the others'."""


def execute_notebook(
    notebook: NotebookNode, folder: Path, environment: Mapping[str, str] | None = None
) -> NotebookNode:
    """A copy of a notebook after a run from the top that stops at the first error.

    Args:
        notebook: of ours: its cells run in a kernel, without a box.
        folder: the kernel's working folder.
        environment: the kernel's; by default this process's.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell has failed.
    """
    ran = copy.deepcopy(notebook)
    client = NotebookClient(
        ran,
        timeout=SECONDS_FOR_A_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],  # else each says that its port here is not encrypted
    )
    client.execute(env=dict(os.environ if environment is None else environment))
    return ran


def executed_solution(course: Course, lesson: str) -> NotebookNode:
    """A lesson's source after a run, kept or new.

    Raises:
        BadInput: a cell has failed.
    """
    notebook = read_solution(course, lesson)
    kept = course.root / "build" / "executed" / f"{lesson}-{_digest(course, lesson, notebook)}.ipynb"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_name(f".{lesson}").open("w") as lock:  # whoever comes second finds what the first has made
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            logger.info("%s is run", lesson)
            with tempfile.TemporaryDirectory(prefix="katze-executed-") as folder:
                try:
                    ran = execute_notebook(notebook, Path(folder), {**os.environ, "KATZE_WORK": folder, **SETTINGS})
                except CellExecutionError as failed:
                    raise BadInput(f"a cell of {lesson}, with its solution, has failed:\n{failed}") from failed
            for older in kept.parent.glob(f"{lesson}-*.ipynb"):
                older.unlink(missing_ok=True)
            with put_in_place(kept) as unfinished:
                nbformat.write(ran, unfinished)
    executed: NotebookNode = nbformat.read(kept, as_version=4)
    return executed


def _digest(course: Course, lesson: str, notebook: NotebookNode) -> str:
    """A name for all that a run depends on."""
    found = hashlib.sha256(sys.version.encode())
    found.update("\0".join(f"{cell.cell_type}\0{cell.source}" for cell in notebook.cells).encode())
    for package in SHOWN_BY:
        found.update(f"\0{package} {version(package)}".encode())
    for path in sorted(reached_files(course, lesson, notebook)):
        found.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def reached_files(course: Course, lesson: str, notebook: NotebookNode) -> set[Path]:
    """The files of the library that a lesson's cells can reach, those of its exercises, and all data of the library."""
    root = Path(course_lib.__file__).parent
    library = Library(withheld=())
    named = mentioned(cell.source for cell in notebook.cells if cell.cell_type == "code")
    found = {library.modules[name] for name in library.reached(named)} | {*(root / "exercises").glob("*.py")}
    if lesson in course.exercises.modules:
        found = found.union(*map(files_of, course.exercises.of_lesson(lesson)))
    others = {path for path in root.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}}
    return found | {path for path in others if path.parent not in {SOLVED, QUESTIONS}}
