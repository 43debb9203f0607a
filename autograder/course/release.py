"""Builds `notebooks/`, which students open, from `solutions/`, which people write.

    solutions/<lesson>/<lesson>.py  --jupytext-->  build/source/...  --nbgrader-->  notebooks/<lesson>/<lesson>.ipynb
                                    --the answers with their reasons-->  course_lib/learner/solved/<exercise>.md

The first step adds everything that can be derived, so that no author has to write it: the link to Colab and the install
cell; the questions about earlier lessons; the flags, points and markers of graded cells; and cell ids. The second step
is nbgrader's own `generate_assignment`, so that `nbgrader generate_assignment` on `build/source` gives the same bytes.
It runs without a database: a release contains no grades, so building one never touches a gradebook.

The same solutions always give the same bytes, which `check_release` relies on to find drift.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import logging
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from logging.handlers import BufferingHandler
from pathlib import Path
from shlex import quote

import jupytext
import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import Config

from autograder.course.colab import opening_cells
from autograder.course.course import Course
from autograder.course.folding import fold, fold_aside, shown_cells
from autograder.course.looking_back import recall_cells
from autograder.course.notebook_definitions import answered_cells
from autograder.course.reading_time import tell_rating, tell_times
from autograder.course.solved import is_reason, solved_pages
from autograder.course.store.builds import NOT_ASSETS, REFERENCE_LIST, chosen_lessons, files_in
from autograder.errors import BadInput
from course_lib.checking.notebook import IMPORTED_CHECK
from course_lib.exercises.catalogue import SETTING
from course_lib.judging.exercise import Exercise

logger = logging.getLogger(__name__)

NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

KEPT_METADATA = ("nbgrader", "tags", "jupyter")
"""Cell metadata that students get; jupytext's own is dropped."""

LONGEST_ID = 64
"""nbformat's limit for a cell id, and therefore ours for a `grade_id`."""

_KINDS = {
    "answer": ("code", {"grade": False, "solution": True, "locked": False}),
    "check": ("code", {"grade": True, "solution": False, "locked": True}),
    "written": ("markdown", {"grade": True, "solution": True, "locked": False}),
}
"""The type and the flags of each kind of graded cell."""

_GRADE_ID = re.compile(r"(?P<module>[a-z][a-z0-9_]*)-(?P<task>[a-z][a-z0-9_]*)-(?P<kind>answer|check|written)")


@dataclass(frozen=True)
class Role:
    """The role of a graded cell.

    Attributes:
        exercise: the exercise's id, such as "ols.fit".
        kind: "answer" (the student's code), "check" (its grade) or "written" (prose, graded by hand).
    """

    exercise: str
    kind: str

    @classmethod
    def parse(cls, grade_id: str) -> Role | None:
        """Return the role that a `grade_id` such as "ols-fit-answer" names; None for any other text."""
        match = _GRADE_ID.fullmatch(grade_id)
        return cls(f"{match['module']}.{match['task']}", match["kind"]) if match else None

    @property
    def grade_id(self) -> str:
        """nbgrader's name for the cell."""
        return f"{self.exercise.replace('.', '-')}-{self.kind}"

    @property
    def marker(self) -> str:
        """The first line of the cell's source; it survives the loss of metadata."""
        text = f"katze: {self.exercise} {self.kind}"
        return f"<!-- {text} -->" if self.kind == "written" else f"# {text}"


def release(course: Course, lessons: Sequence[str] | None = None) -> list[Path]:
    """Build the students' notebooks, and nbgrader's source notebooks on the way; return the paths of the first.

    Build everything before writing anything: if one lesson fails, nothing changes. Files that a lesson no longer has
    stay, and `check_release` names them.

    Args:
        lessons: the lessons to build, in the order of the result; by default all in `course.solutions`.

    Raises:
        BadInput: a lesson does not exist, or disagrees with its exercises.
    """
    chosen = chosen_lessons(course, lessons)
    for path, content in _build(course, chosen).items():
        if not path.is_file() or path.read_bytes() != content:  # unchanged files keep their modification time
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    if course.solved is not None and not course.shows_solutions:
        for page in course.solved.glob("*.md"):
            page.unlink()
    return [_notebook(course, lesson) for lesson in chosen]


def check_release(course: Course, lessons: Sequence[str] | None = None) -> list[str]:
    """Return the differences between the release on disk and what `release` would build: one line for each file that is
    missing, different or left over. Nothing is written.

    Args:
        lessons: as for `release`; leftover lessons and solutions are reported only if all lessons are checked.

    Raises:
        BadInput: as for `release`.
    """
    chosen = chosen_lessons(course, lessons)
    built = _build(course, chosen)
    wanted = {path: content for path, content in built.items() if not path.is_relative_to(course.source)}
    folders = [course.release / lesson for lesson in chosen]
    if lessons is None and course.solved is not None:
        folders.append(course.solved)
    problems = []
    for path in sorted({*wanted, *(folder / name for folder in folders for name in files_in(folder))}):
        shown = _shown(path, course.root)
        if path not in wanted:
            problems.append(f"{shown} is left over: the solutions have no such file; remove it")
        elif not path.is_file():
            problems.append(f"{shown} is missing: run `katze release`")
        elif path.read_bytes() != wanted[path]:
            problems.append(f"{shown} differs from what its solutions give: run `katze release`")
            if path == _notebook(course, path.stem) and (written := answered_cells(path, wanted[path])):
                problems.append(
                    f"{shown} holds answers ({', '.join(written)}): `katze learn --move-answers {quote(path.stem)}` "
                    "moves them to work/ and restores the file"
                )
    for lesson in sorted(set(course.lessons()) - set(chosen)) if lessons is None else ():
        problems.append(f"{_shown(course.release / lesson, course.root)} is left over: no solutions give it; remove it")
    return problems


def fresh_release(course: Course, lesson: str) -> bytes:
    """Return a lesson's notebook as `release` would write it.

    Raises:
        BadInput: as for `release`.
    """
    return _build(course, chosen_lessons(course, [lesson]))[_notebook(course, lesson)]


def _notebook(course: Course, lesson: str) -> Path:
    return course.release / lesson / f"{lesson}.ipynb"


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _build(course: Course, lessons: Iterable[str]) -> dict[Path, bytes]:
    """Build a release of these lessons, and return the content of each file."""
    exercises = course.exercises.all()
    pages: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="katze-release-") as folder:
        workshop = Path(folder)
        for lesson in lessons:
            wanted = {exercise.id: exercise for exercise in exercises if exercise.lesson == lesson}
            written = _written_cells(lesson, course.solutions / lesson / f"{lesson}.py")
            pages |= solved_pages(lesson, written)
            shown = shown_cells((cell for cell in written if not is_reason(cell)), course.shows_slides)
            notebook = _source_notebook(course, lesson, shown, wanted)
            _check_agreement(lesson, notebook, wanted)
            source = workshop / "source" / lesson
            ignored = shutil.ignore_patterns(f"{lesson}.py", *NOT_ASSETS)
            shutil.copytree(course.solutions / lesson, source, ignore=ignored)
            nbformat.write(notebook, source / f"{lesson}.ipynb")
            _generate_assignment(course, lesson, workshop)
            _check_stubs(lesson, workshop / "release" / lesson / f"{lesson}.ipynb", wanted)
            logger.info("%s built, with %d exercises", lesson, len(wanted))
        files = {
            place / path: (workshop / step / path).read_bytes()
            for step, place in (("source", course.source), ("release", course.release))
            for path in files_in(workshop / step)
        }
    if course.solved is not None:
        files[course.solved.parent / REFERENCE_LIST] = _reference_list(exercises).encode()
        if course.shows_solutions:
            files |= {course.solved / name: page.encode() for name, page in pages.items()}
    return files


def _reference_list(exercises: Iterable[Exercise]) -> str:
    """Return the module that says where the library implements each exercise; sandboxes, which contain no exercises,
    read it.
    """
    rows = [
        f'    "{one.id}": "{one.reference.__module__.removeprefix("course_lib.")}.{one.reference.__name__}",\n'
        for one in exercises
        if one.reference.__module__.startswith("course_lib.")
    ]
    about = '"""Where the library does what each exercise asks for: written by `katze release`."""'
    return f"{about}\n\nREFERENCES = {{\n{''.join(rows)}}}\n"


# ---- from text to nbgrader's source notebook


def _written_cells(lesson: str, path: Path) -> list[NotebookNode]:
    try:
        return list(jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent").cells)
    except Exception as error:  # jupytext may raise anything for a file that is not a notebook
        raise BadInput(f"{lesson}: {path} is not a notebook: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _source_notebook(
    course: Course, lesson: str, written: Sequence[NotebookNode], wanted: dict[str, Exercise]
) -> NotebookNode:
    code = "\n".join(cell.source for cell in written if cell.cell_type == "code")
    opening = [*opening_cells(course, lesson, code), *recall_cells(course, lesson)]
    cells = copy.deepcopy(list(written))
    for cell in cells:
        cell.metadata = NotebookNode({key: cell.metadata[key] for key in KEPT_METADATA if key in cell.metadata})
        fold(cell)
        fold_aside(lesson, cell)
        tell_rating(cell, wanted)
        if "nbgrader" in cell.metadata:
            _complete(lesson, cell, wanted)
    tell_times(course.exercises.seconds.get(lesson, 0), [*opening, *cells])
    _name(cells)
    notebook: NotebookNode = nbformat.v4.new_notebook(metadata=copy.deepcopy(NOTEBOOK_METADATA))
    notebook.nbformat_minor = 5
    below_title = int(cells[0].cell_type == "markdown")
    notebook.cells = [*cells[:below_title], *opening, *cells[below_title:]]
    return notebook


def _complete(lesson: str, cell: NotebookNode, wanted: dict[str, Exercise]) -> None:
    """Add to a graded cell all metadata that nbgrader needs, derived from its `grade_id` and its exercise; and the
    marker.

    Raises:
        BadInput: it has no such id, or its contents contradict the exercise.
    """
    written = cell.metadata.nbgrader
    grade_id = written.get("grade_id", "")
    role = Role.parse(grade_id) if isinstance(grade_id, str) and len(grade_id) <= LONGEST_ID else None
    if role is None:
        raise BadInput(
            f'{lesson}: grade_id {grade_id!r} must read "<module>-<task>-answer", "...-check" or "...-written", '
            f"with at most {LONGEST_ID} characters"
        )
    cell_type, flags = _KINDS[role.kind]
    if cell.cell_type != cell_type or any(written.get(name, flag) != flag for name, flag in flags.items()):
        listed = ", ".join(f"{name} {json.dumps(flag)}" for name, flag in flags.items())
        raise BadInput(f"{lesson}: {grade_id} must be a {cell_type} cell; if it has flags, with {listed}")
    cell.metadata.nbgrader = NotebookNode({"task": False, "schema_version": 3} | flags | written)
    if role.kind != "written" and role.exercise not in wanted:
        raise BadInput(
            f"{lesson}: {grade_id}: this lesson's exercises have no {role.exercise}; is their module in {SETTING}?"
        )
    if role.kind == "check":
        points = cell.metadata.nbgrader.setdefault("points", wanted[role.exercise].points)
        if points != wanted[role.exercise].points:
            raise BadInput(
                f"{lesson}: {grade_id} gives {points!r} {'point' if points == 1 else 'points'}, but the exercise has "
                f"{wanted[role.exercise].points}: delete them from the cell, which then gets the exercise's points"
            )
        calls = _checked_ids(lesson, cell)
        if not calls or set(calls) != {role.exercise}:
            raise BadInput(f'{lesson}: {grade_id} must call check("{role.exercise}") and check nothing else')
        cell.source = f"{IMPORTED_CHECK}\n{cell.source}"
    elif "BEGIN SOLUTION" not in cell.source:
        if role.kind == "answer":
            raise BadInput(f"{lesson}: {grade_id} needs a region ### BEGIN SOLUTION ... ### END SOLUTION")
        cell.source = f"### BEGIN SOLUTION\n{cell.source}\n### END SOLUTION"  # else nbgrader replaces the marker, too
    separator = "\n\n" if role.kind == "written" else "\n"
    cell.source = f"{role.marker}{separator}{cell.source}"


def _checked_ids(lesson: str, cell: NotebookNode) -> list[object]:
    """Return the first argument of each call of `check` in a cell; None for one that is not a literal."""
    return [
        node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        for node in ast.walk(_parsed(lesson, cell))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check"
    ]


def _parsed(lesson: str, cell: NotebookNode) -> ast.Module:
    try:
        return ast.parse(str(cell.source))
    except SyntaxError as error:
        raise BadInput(f"{lesson}: {cell.metadata.nbgrader.grade_id} is not Python: {_first_line(error)}") from error


def _name(cells: Sequence[NotebookNode]) -> None:
    """Give cells ids that depend only on their contents: the grade_id, or a hash of the source.

    Equal sources are numbered, so that inserting or moving other cells changes no id.
    """
    copies: Counter[tuple[str, str]] = Counter()
    for cell in cells:
        if "nbgrader" in cell.metadata:
            cell["id"] = cell.metadata.nbgrader.grade_id
        else:
            content = (cell.cell_type, cell.source)
            copies[content] += 1
            cell["id"] = hashlib.sha256("\n".join((*content, str(copies[content]))).encode()).hexdigest()[:12]


# ---- agreement of a lesson with its exercises


def _check_agreement(lesson: str, notebook: NotebookNode, wanted: Iterable[str]) -> None:
    """Check that every exercise of the lesson has one answer, followed by one check."""
    order = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata]
    for grade_id, times in Counter(order).items():
        if times > 1:
            raise BadInput(f"{lesson}: grade_id {grade_id!r} is on {times} cells; each must be unique")
    for exercise_id in wanted:
        answer, check = Role(exercise_id, "answer").grade_id, Role(exercise_id, "check").grade_id
        for grade_id in (answer, check):
            if grade_id not in order:
                raise BadInput(f"{lesson}: the exercise {exercise_id} has no cell with grade_id {grade_id!r}")
        if order.index(answer) > order.index(check):
            raise BadInput(f"{lesson}: {check} comes before {answer}")


def _check_stubs(lesson: str, path: Path, wanted: dict[str, Exercise]) -> None:
    """Check that the students' stub still defines the name that will be checked."""
    for cell in nbformat.read(path, as_version=4).cells:
        role = Role.parse(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if role is not None and role.kind == "answer":
            name = wanted[role.exercise].name
            if name not in {getattr(node, "name", None) for node in _parsed(lesson, cell).body}:
                raise BadInput(f"{lesson}: {role.grade_id} must leave the student a definition of {name}")


# ---- nbgrader's own pipeline


def _generate_assignment(course: Course, lesson: str, workshop: Path) -> None:
    """Run `nbgrader generate_assignment` in this process, with the course's settings and without a database."""
    config = copy.deepcopy(course.config)
    config.merge(
        Config(
            CourseDirectory={
                "root": str(workshop),
                "source_directory": "source",
                "release_directory": "release",
                "assignment_id": lesson,
            },
            GenerateAssignment={"no_database": True},
            SaveCells={"enabled": False},
        )
    )
    log, logged = logging.Logger("katze.release"), BufferingHandler(sys.maxsize)
    log.addHandler(logged)  # nbgrader logs its reasons, and its exceptions lack them
    directory = CourseDirectory(config=config, log=log)
    try:
        GenerateAssignment(coursedir=directory, config=config, log=log).start()
    except NbGraderException as error:
        messages = [record.getMessage() for record in logged.buffer]
        reasons = [message.strip().splitlines()[-1] for message in messages if "Traceback" in message]
        raise BadInput(f"{lesson}: nbgrader cannot build it: {(reasons or [error])[0]}") from error
