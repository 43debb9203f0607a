"""A plain assignment as it is graded: its released notebooks, and nbgrader's gradebook rows for their cells.

`nbgrader generate_assignment` writes both. Only the gradebook has the hidden tests.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any, Literal

import nbformat

from autograder.course.course import Course
from autograder.course.semester import SEMESTER_NAME
from autograder.errors import BadInput
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.lesson import GradedCell, LessonRows
from autograder.gradebook.record import Conditions
from autograder.grading.digests.sources import limits_that_decide, versions_of
from autograder.grading.plain import files
from autograder.grading.plain.rows import read_notebooks
from autograder.limits import Limits
from autograder.pages.feedback import headings
from autograder.repair.text import plain
from course_lib.exercises.catalogue import CONFIG_NAME
from course_lib.judging.rules import syntax_tree

CELL_SECONDS = 30.0
"""nbgrader's own limit on a cell, where a course sets none."""

LONGEST_SECONDS = 600.0
"""A cell's time limit in seconds, if the course lets nbgrader wait forever."""

CELLS_WORTH = 10
"""A notebook's time limit, in multiples of a cell's."""

_GENERATED = re.compile(r"(cell-)?(?=.*\d)[0-9a-f]{8,}(-[0-9a-f]+)*")
"""Matches a meaningless grade_id: nbgrader's default for a new cell, or a UUID."""

_GRADING = [f"autograder.grading.plain.{name}" for name in ("files", "repairing", "running", "judging")]
"""Modules that read, run and judge submissions; with everything they import, they decide grades."""

_STRUCTURE = "{nbgrader_step}/{student_id}/{assignment_id}"

Role = Literal["test", "manual", "answer", "locked", "ordinary"]
"""A cell's role in grading: a test runs, a manual cell is graded by a person, nbgrader does not know ordinary ones."""


@dataclass(frozen=True)
class MasterCell:
    """A cell of a released notebook.

    Attributes:
        kind: "code", "markdown" or "raw".
        text: the text that students got.
        metadata: nbgrader's metadata in the release; empty for ordinary cells.
        row: its row in the gradebook; None for ordinary cells.
        attachments: of a text cell.
    """

    kind: str
    text: str
    metadata: Mapping[str, Any]
    row: GradedCell | None
    attachments: Mapping[str, Any]

    @property
    def role(self) -> Role:
        """Its role in grading."""
        if self.row is None:
            return "ordinary"
        if self.row.task or (self.row.grade and (self.row.solution or self.row.kind != "code")):
            return "manual"
        if self.row.grade:
            return "test"
        return "answer" if self.row.solution else "locked"

    @property
    def name(self) -> str:
        """Its grade_id; empty for ordinary cells."""
        return "" if self.row is None else self.row.name

    @property
    def points(self) -> float:
        """Its maximum points."""
        return 0.0 if self.row is None else self.row.points

    @property
    def source(self) -> str:
        """The source that runs, including hidden tests, which students did not get."""
        return self.text if self.row is None else self.row.source

    @functools.cached_property
    def plain(self) -> str:
        """Its text in a form for comparing."""
        return plain(self.text)

    @property
    def nbgrader(self) -> dict[str, Any]:
        """Return nbgrader's metadata as its own autograde would leave it."""
        if self.row is None:
            return {}
        points = {"points": self.row.points} if self.row.grade or self.row.task else {}
        return {**self.metadata, "checksum": self.row.checksum, "cell_type": self.row.kind, **points}


@dataclass(frozen=True)
class MasterNotebook:
    """A released notebook.

    Attributes:
        name: its name without `.ipynb`.
        cells: in order.
        metadata: of the notebook.
        rows: its rows in nbgrader's tables.
    """

    name: str
    cells: tuple[MasterCell, ...]
    metadata: Mapping[str, Any]
    rows: LessonRows

    @functools.cached_property
    def named(self) -> Mapping[str, int]:
        """The indices of the cells that nbgrader knows, by grade_id."""
        return {cell.name: place for place, cell in enumerate(self.cells) if cell.row is not None}

    @functools.cached_property
    def ordinary(self) -> Mapping[tuple[str, str], int]:
        """The indices of the other cells, by kind and text."""
        return {
            (cell.kind, cell.plain): place for place, cell in enumerate(self.cells) if cell.row is None and cell.plain
        }

    @property
    def tests(self) -> list[MasterCell]:
        """The test cells."""
        return [cell for cell in self.cells if cell.role == "test"]

    def exercise(self, grade_id: str) -> str:
        """Return a cell's id in records: several notebooks may have the same grade_id."""
        return f"{self.name}.{grade_id}"

    @functools.cached_property
    def titles(self) -> Mapping[str, str]:
        """The heading above each cell, by grade_id, to show in place of a meaningless grade_id."""
        above, found, times = self.name, {}, Counter[str]()
        for cell in self.cells:
            if cell.kind == "markdown":
                above = next((text.strip(" #") for _, text in reversed(headings(cell.text))), above)
            if _GENERATED.fullmatch(cell.name) and cell.role in ("test", "manual"):
                times[above] += 1
                found[cell.name] = above if times[above] == 1 else f"{above} ({times[above]})"
        return found


@dataclass(frozen=True)
class PlainAssignment:
    """An assignment as graded in one run.

    Attributes:
        course: the course; its limits are those of each notebook of a submission.
        name: the assignment's folder name.
        notebooks: the released notebooks, by name.
        feedback: whether to write feedback pages.
        course_files: the course's files that every submission gets, by path.
    """

    course: Course
    name: str
    notebooks: tuple[MasterNotebook, ...]
    feedback: bool
    course_files: Mapping[str, Path]

    @classmethod
    def load(cls, course: Course, name: str, feedback: bool) -> PlainAssignment:
        """Read the release and the gradebook, which nbgrader creates together with the assignment.

        Raises:
            BadInput: there is no such assignment, it cannot be graded here, or the gradebook has another version of it.
        """
        paths = _released(course, name)
        with open_gradebook(course.gradebook).looking() as session:
            if session is None:
                raise BadInput(
                    f"there is no gradebook {course.gradebook}; restore a copy of it, with the points that people have "
                    f"given, or run `nbgrader generate_assignment {quote(name)} --force` for a new one, then run this "
                    "again"
                )
            _check_settings(course, name)
            known = read_notebooks(session, name)
        if not known:
            raise BadInput(
                f"the gradebook {course.gradebook} has no assignment {name}; run `nbgrader generate_assignment "
                f"{quote(name)} --force`, then run this again"
            )
        different = sorted({path.stem for path in paths} ^ known.keys())
        if different:
            raise BadInput(_out_of_date(name, f"{different[0]}.ipynb is in only one of them"))
        notebooks = tuple(_load(name, path, *known[path.stem]) for path in paths)
        return cls(replace(course, limits=_limits(course)), name, notebooks, feedback, files.of_course(course, name))

    @functools.cached_property
    def conditions(self) -> Conditions:
        """The conditions that its grades depend on, besides the submission."""
        known = [[one.name, [asdict(cell.row) for cell in one.cells if cell.row is not None]] for one in self.notebooks]
        release = hashlib.sha256(json.dumps(known, sort_keys=True, default=str).encode()).hexdigest()
        packages = ("ipython", "nbgrader", *_packages(self.notebooks))
        versions = {**versions_of(_GRADING, packages), "files": files.digest(self.course_files)}
        return Conditions(release, "", versions, {"limits": limits_that_decide(self.course.limits)})

    @property
    def ignored_stderr(self) -> re.Pattern[str] | None:
        """What tests may write to stderr without failing, from `c.IgnorePattern`; None for nothing."""
        said = self.course.config.get("IgnorePattern", {})
        return re.compile(str(said.get("pattern", ""))) if said.get("enabled") and said.get("pattern") else None


def _released(course: Course, name: str) -> list[Path]:
    """Return the released notebooks of an assignment, sorted by name.

    Raises:
        BadInput: there are none.
    """
    paths = sorted((course.release / name).glob("*.ipynb")) if "/" not in name else []
    if paths:
        return paths
    if "/" not in name and any((course.source / name).glob("*.ipynb")):
        raise BadInput(
            f"{name} has not been released yet; run `nbgrader generate_assignment {quote(name)}`, then run this again"
        )
    others = ", ".join(course.assignments()) or "none yet: run `nbgrader generate_assignment ASSIGNMENT`"
    raise BadInput(f"no assignment {name!r} in {course.release}; there are: {others}")


def _check_settings(course: Course, name: str) -> None:
    structure = course.config.get("CourseDirectory", {}).get("directory_structure", _STRUCTURE)
    if Path(str(structure)).as_posix() != _STRUCTURE:
        raise BadInput(f"{CONFIG_NAME}: c.CourseDirectory.directory_structure must keep its default, {_STRUCTURE!r}")
    try:
        re.compile(str(course.config.get("IgnorePattern", {}).get("pattern", "")))
    except re.error as error:
        raise BadInput(f"{CONFIG_NAME}: c.IgnorePattern.pattern is not a regular expression: {error}") from error
    if course.semester.lesson(name).due is not None:
        raise BadInput(
            f"{SEMESTER_NAME}: lessons.{name}: due: `katze autograde` goes by nbgrader's own due dates; set it in "
            "formgrader, and remove it here"
        )


def _limits(course: Course) -> Limits:
    """Return the course's limits for its sandboxes; by default, cells get nbgrader's own time limit."""
    limits, said = course.limits, course.config.get("Katze", {}).get("limits", {})
    if "cell_seconds" not in said:
        limits = replace(limits, cell_seconds=_timeout(course))
    if "submission_seconds" not in said:
        limits = replace(limits, submission_seconds=max(limits.submission_seconds, CELLS_WORTH * limits.cell_seconds))
    if "processor_seconds" not in said:
        limits = replace(limits, processor_seconds=max(limits.processor_seconds, math.ceil(limits.submission_seconds)))
    return limits


def _timeout(course: Course) -> float:
    for section in ("Execute", "ExecutePreprocessor", "NotebookClient"):
        settings = course.config.get(section, {})
        if "timeout" in settings:
            value = settings["timeout"]
            return float(value) if isinstance(value, (int, float)) and value > 0 else LONGEST_SECONDS
    return CELL_SECONDS


def _packages(notebooks: Iterable[MasterNotebook]) -> list[str]:
    """Return the installed packages that the course's own cells import."""
    modules = {
        name
        for notebook in notebooks
        for cell in notebook.cells
        if cell.kind == "code"
        for name in _imported(cell.source)
    }
    known = importlib.metadata.packages_distributions()
    return sorted({package for module in modules for package in known.get(module, [])} - {"katze"})


def _imported(source: str) -> Iterator[str]:
    """Yield the names of the packages that a cell imports."""
    for node in ast.walk(syntax_tree(source) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]


# --- a notebook


def _load(name: str, path: Path, rows: LessonRows, known: Mapping[str, GradedCell]) -> MasterNotebook:
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat's readers and converters fail in many ways
        raise BadInput(
            f"the released notebook {path} cannot be read ({type(error).__name__}); run `nbgrader generate_assignment "
            f"{quote(name)} --force`"
        ) from error
    _check_kernel(path, notebook["metadata"])
    names = Counter(_grade_id(cell) for cell in notebook["cells"] if _grade_id(cell))
    for grade_id, times in names.items():
        if times > 1:
            raise BadInput(
                f"{path}: the grade_id {grade_id!r} is on {times} cells; give each its own in the source notebook, "
                f"then run `nbgrader generate_assignment {quote(name)} --force`"
            )
    different = sorted(names.keys() ^ known.keys())
    if different:
        raise BadInput(_out_of_date(name, f"the cell {different[0]} of {path.name} is in only one of them"))
    cells = tuple(_cell(cell, known.get(_grade_id(cell))) for cell in notebook["cells"])
    return MasterNotebook(path.stem, cells, dict(notebook["metadata"]), rows)


def _cell(cell: Mapping[str, Any], row: GradedCell | None) -> MasterCell:
    meta = cell["metadata"].get("nbgrader", {})
    return MasterCell(
        cell["cell_type"],
        cell["source"],
        json.loads(json.dumps(meta)) if row is not None else {},
        row,
        json.loads(json.dumps(cell.get("attachments", {}))),
    )


def _grade_id(cell: Mapping[str, Any]) -> str:
    """Return the grade_id of a cell that matters for grading; empty for others."""
    meta = cell["metadata"].get("nbgrader", {})
    flags = any(meta.get(flag) for flag in ("grade", "solution", "locked", "task"))
    return str(meta.get("grade_id", "")) if flags else ""


def _out_of_date(name: str, what: str) -> str:
    return (
        f"the release of {name} and the gradebook do not match: {what}; run `nbgrader generate_assignment "
        f"{quote(name)} --force`, then run this again"
    )


def _check_kernel(path: Path, metadata: Mapping[str, Any]) -> None:
    """Refuse a notebook whose kernel or last run says that it is in another language."""
    stated = (metadata.get("kernelspec", {}).get("language"), metadata.get("language_info", {}).get("name"))
    language = next((said.lower() for said in stated if isinstance(said, str) and said), "python")
    if not language.startswith(("python", "ipython")):
        raise BadInput(
            f"{path.name} runs on a kernel for {language}, and sandboxes run Python only; grade it with `nbgrader "
            "autograde`, on a machine that you can spare"
        )
