"""Runs a lesson with its solutions from top to end, once for everything that needs the outputs of its cells.

The result is kept under `build/executed`, named by a digest of everything that it depends on. The website's build and
the lessons' tests therefore share one run of a lesson, until its text, the library code that it reaches, or a package
changes.
"""

import asyncio
import copy
import fcntl
import hashlib
import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode

import course_lib
from autograder.box.clocks import Clock, Stopwatch
from autograder.box.processes import read
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.grading.digests.reach import Library, mentioned
from autograder.grading.digests.sources import files_of
from course_lib.ground.files import put_in_place
from course_lib.learner.recall import QUESTIONS
from course_lib.learner.solutions import SOLVED

logger = logging.getLogger(__name__)

SECONDS_FOR_A_CELL = 600
"""Limit for a cell's processor time, far beyond what it needs."""

WALL_FACTOR = 10
"""The limit for waiting, relative to that limit, for the busiest machine."""

KEPT = 3
"""How many runs of a lesson are kept: of the latest text, of its short form for tests, and of the text before."""


def read_solution(course: Course, lesson: str) -> NotebookNode:
    """Read a lesson's source, with its solutions, as a notebook."""
    notebook: NotebookNode = jupytext.read(course.solutions / lesson / f"{lesson}.py")
    return notebook


SETTINGS = {"HF_HUB_OFFLINE": "1", "KATZE_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
"""A lesson runs with the texts and published models on this machine, and fetches none. Lessons run in parallel, so a
second thread in each would only wait for the others."""


def execute_notebook(
    notebook: NotebookNode, folder: Path, environment: Mapping[str, str] | None = None
) -> NotebookNode:
    """Return a copy of a notebook after running it from the top, up to the first error.

    Args:
        notebook: a notebook of the course: its cells run in a kernel, without a sandbox.
        folder: the kernel's working directory.
        environment: the kernel's environment; by default this process's.

    Raises:
        BadInput: a cell failed, or took too long to compute or wait; the message names it and the reason.
    """
    ran = copy.deepcopy(notebook)
    client = _Client(
        ran,
        timeout=None,
        shutdown_kernel="immediate",
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],  # else each warns that its local port is not encrypted
    )
    client.execute(env=dict(os.environ if environment is None else environment))
    return ran


class _Client(NotebookClient):
    """Runs each cell within its time limit, and names the cell that fails."""

    async def async_execute_cell(
        self, cell: NotebookNode, cell_index: int, *given: Any, **settings: Any
    ) -> NotebookNode:
        running = asyncio.ensure_future(super().async_execute_cell(cell, cell_index, *given, **settings))
        try:
            return await self._within_its_time(running)
        except (BadInput, CellExecutionError, DeadKernelError) as failed:
            why = f"{failed.ename}: {failed.evalue}" if isinstance(failed, CellExecutionError) else str(failed)
            message = f"{_name(self.nb.cells, cell_index)} has failed: {why}"
            raise BadInput(message + (f"\n{failed}" if isinstance(failed, CellExecutionError) else "")) from failed

    async def _within_its_time(self, running: asyncio.Future[NotebookNode]) -> NotebookNode:
        clock = Clock(SECONDS_FOR_A_CELL, WALL_FACTOR * SECONDS_FOR_A_CELL)
        kernel: Any = self.km and self.km.provisioner
        watch = Stopwatch(partial(read, kernel.pid, alone=False), every=1)
        while True:
            with watch.awaiting():
                await asyncio.wait({running}, timeout=watch.rest)
            if running.done():
                return running.result()
            exceeded = clock.exceeded(watch.lap, watch.look(lambda: not running.done()))
            if exceeded:
                await kernel.kill()
                await asyncio.gather(running, return_exceptions=True)
                raise BadInput(exceeded[0])


def _name(cells: list[NotebookNode], place: int) -> str:
    """Describe a cell so that its author finds it: by number, section and first line."""
    above = [line for cell in cells[:place] if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    section = next((line.lstrip("# ") for line in reversed(above) if re.match("#{1,6} ", line)), "")
    begins = next(line for line in cells[place].source.splitlines() if line.strip())
    return f"cell {place + 1}{f' (in “{section}”)' if section else ''}, which begins with `{begins}`,"


def executed_solution(course: Course, lesson: str) -> NotebookNode:
    """Return a lesson's source after a run, which is reused if it was kept.

    Raises:
        BadInput: a cell failed.
    """
    notebook = read_solution(course, lesson)
    kept = course.root / "build" / "executed" / f"{lesson}-{_digest(course, lesson, notebook)}.ipynb"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_name(f".{lesson}").open("w") as lock:  # the second process finds the first one's result
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            kept.touch()
        else:
            logger.info("%s is run", lesson)
            with tempfile.TemporaryDirectory(prefix="katze-executed-") as folder:
                try:
                    ran = execute_notebook(notebook, Path(folder), {**os.environ, "KATZE_WORK": folder, **SETTINGS})
                except BadInput as failed:
                    raise BadInput(f"{lesson}, with its solutions: {failed}") from failed
            with put_in_place(kept) as unfinished:
                nbformat.write(ran, unfinished)
            runs = sorted(kept.parent.glob(f"{lesson}-*.ipynb"), key=lambda path: path.stat().st_mtime)
            for older in runs[:-KEPT]:
                older.unlink(missing_ok=True)
    executed: NotebookNode = nbformat.read(kept, as_version=4)
    return executed


def _digest(course: Course, lesson: str, notebook: NotebookNode) -> str:
    """Return a name for everything that a run depends on."""
    found = hashlib.sha256(sys.version.encode())
    found.update("\0".join(f"{cell.cell_type}\0{cell.source}" for cell in notebook.cells).encode())
    found.update("".join(f"\0{package}" for package in _packages()).encode())
    for path in sorted(reached_files(course, lesson, notebook)):
        found.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def _packages() -> Iterator[str]:
    """Yield the packages, with versions, that affect outputs: those that lessons need or that let them show more."""
    for needed in requires("katze") or ():
        name, *_ = re.split(r"[^\w.-]", needed)
        if "extra ==" not in needed or '"models"' in needed:
            try:
                yield f"{name} {version(name)}"
            except PackageNotFoundError:
                yield f"no {name}"


def reached_files(course: Course, lesson: str, notebook: NotebookNode) -> set[Path]:
    """Return the library files that a lesson's cells can reach, its exercises' files, and the library's data."""
    root = Path(course_lib.__file__).parent
    library = Library(withheld=())
    named = mentioned(cell.source for cell in notebook.cells if cell.cell_type == "code")
    found = {library.modules[name] for name in library.reached(named)} | {*(root / "exercises").glob("*.py")}
    if lesson in course.exercises.modules:
        found = found.union(*map(files_of, course.exercises.of_lesson(lesson)))
    others = {path for path in root.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}}
    return found | {path for path in others if path.parent not in {SOLVED, QUESTIONS}}
