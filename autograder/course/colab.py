"""Makes the two cells below a released notebook's title: a link to Colab, and one that installs the library."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import course_lib
from autograder.course.course import Course
from autograder.course.folding import FOLDED
from autograder.errors import BadInput
from course_lib.exercises.catalogue import CONFIG_NAME, Catalogue

BADGE = "katze-badge"
"""Tag and id of the link to Colab. The link is text, because a badge image needs a network."""

INSTALL = "katze-install"
"""Tag and id of the cell that installs `course_lib` where it is missing."""

LACKING = ("jaxtyping==0.3.11", "wadler-lindig==0.1.8", "nh3==0.3.7")
"""Packages that `course_lib`, `katze check` and `preflight` import and Colab lacks."""

_CELL = """\
# @title What this notebook needs
# Gets the course's library where it is missing, as on Colab. The torch that is there stays as it is.
import importlib.util
import subprocess
import sys

from IPython.core.error import UsageError

if importlib.util.find_spec("course_lib") is None:
    needed = [
{needed}
    ]
    keep = ["--no-deps"] if importlib.util.find_spec("torch") else []
    if not keep and "go_ahead" not in globals():
        go_ahead = True
        raise UsageError(f"{{sys.executable}} has neither the course's library nor torch. Choose the course's kernel "
                         "(JupyterLab: Kernel > Change Kernel; VS Code: Select Kernel, top right), or run this cell "
                         "again: it then installs them here, with what they need: about 140 packages, 1.5 to 6 GB.")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *keep, *needed]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        told = [line for start in ("fatal: ", "error: ") for line in said if line.lower().startswith(start)]
        why = (told or said[-1:] or ["no reason given"])[0]
        raise UsageError(f"pip could not install the course's library: {{why}} "
                         "Once that is repaired, run this cell again, and the others after it.")
    importlib.invalidate_caches()
    from course_lib.learner.arrival import welcome

    print(welcome())

import course_lib

course_lib.require_version("{version}")"""


def opening_cells(course: Course, lesson: str, code: str) -> Iterator[NotebookNode]:
    """Yield the two cells, according to the settings `repository` and `revision`. Yield nothing if the course has its
    own exercises, because pip would not install those.

    Args:
        lesson: such as "01_ols".
        code: the lesson's code, which determines the packages to install.

    Raises:
        BadInput: the course's settings do not name its repository.
    """
    if course.exercises.folder is not None:
        return
    if not course.repository:
        raise BadInput(f'{course.root / CONFIG_NAME}: set c.Katze.repository = "OWNER/NAME": notebooks link to it')
    path = (course.release / lesson / f"{lesson}.ipynb").relative_to(course.root).as_posix()
    address = f"https://colab.research.google.com/github/{course.repository}/blob/{course.revision}/{path}"
    yield nbformat.v4.new_markdown_cell(f"[Open in Colab]({address})", id=BADGE, metadata={"tags": [BADGE]})
    yield install_cell(f"katze @ git+https://github.com/{course.repository}@{course.revision}", code, course.exercises)


def repository_of(notebook: Path) -> str:
    """Return OWNER/NAME of the repository that a released notebook links to, or "".

    An installed package has released notebooks but no course with settings.
    """
    found = _LINKED.search(notebook.read_text(encoding="utf-8"))
    return found[1] if found else ""


_LINKED = re.compile(r"\[Open in Colab\]\(https://colab\.research\.google\.com/github/([\w.-]+/[\w.-]+)/blob/")


def install_cell(library: str, code: str, catalogue: Catalogue) -> NotebookNode:
    """Build the cell that installs the course's library, from this requirement, and what this code needs besides."""
    needed = "\n".join(f'        "{package}",' for package in (library, *LACKING, *_lacking_for(code, catalogue)))
    source = _CELL.format(needed=needed, version=course_lib.__version__)
    cell: NotebookNode = nbformat.v4.new_code_cell(source, id=INSTALL, metadata={"tags": [INSTALL], **FOLDED})
    return cell


def _lacking_for(code: str, catalogue: Catalogue) -> Iterator[str]:
    for package, needed in catalogue.lacking.items():
        if re.search(rf"^ *(?:from|import) {re.escape(package)}\b", code, re.MULTILINE):
            yield from needed
