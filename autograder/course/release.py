"""From `solutions/`, which people write, to `notebooks/`, which students open.

    solutions/<lesson>/<lesson>.py  --jupytext-->  build/source/...  --nbgrader-->  notebooks/<lesson>/<lesson>.ipynb
                                    --the answers with their reasons-->  course_lib/learner/solved/<exercise>.md

The first step adds all that can be derived, so that nobody has to write it: the link to Colab and the install
cell, the markers in graded cells, and cell ids. The second is nbgrader's own `generate_assignment`, so that
`nbgrader generate_assignment` on `build/source` gives the same bytes. It runs without a database: a release says
nothing about grades, so building one never touches a gradebook.

The same solutions always give the same bytes. `check_release` relies on it to find drift.
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
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import Config

from autograder.course.colab import BADGE, INSTALL, opening_cells
from autograder.course.course import Course
from autograder.course.folding import fold
from autograder.course.notebook_definitions import answered_cells
from autograder.course.reading_time import tell_times
from autograder.course.solved import is_reason, solved_pages
from autograder.course.store.builds import NOT_ASSETS, REFERENCE_LIST, chosen_lessons, files_in
from autograder.errors import BadInput
from autograder.words import count
from course_lib.checking.notebook import IMPORTED_CHECK
from course_lib.exercises.catalogue import SETTING
from course_lib.judging.exercise import Exercise

logger = logging.getLogger(__name__)

NBGRADER_DEFAULTS = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}

NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

KEPT_METADATA = ("nbgrader", "tags", "jupyter")
"""Cell metadata that goes on to students; jupytext's own stays behind."""

LONGEST_ID = 64
"""nbformat's limit for a cell id, and so ours for a `grade_id`."""

_FLAGS = ("grade", "solution", "locked")
_KINDS = {
    "answer": ("code", False, True, False),
    "check": ("code", True, False, True),
    "written": ("markdown", True, True, False),
}
"""The type and the flags of each kind of graded cell."""

_GRADE_ID = re.compile(r"(?P<module>[a-z][a-z0-9_]*)-(?P<task>[a-z][a-z0-9_]*)-(?P<kind>answer|check|written)")


@dataclass(frozen=True)
class Role:
    """What a graded cell is for.

    Attributes:
        exercise: the exercise's id, such as "ols.fit".
        kind: "answer" (the student's code), "check" (its grade) or "written" (prose, graded by hand).
    """

    exercise: str
    kind: str

    @classmethod
    def parse(cls, grade_id: str) -> Role | None:
        """The role that a `grade_id` such as "ols-fit-answer" stands for; None for any other text."""
        match = _GRADE_ID.fullmatch(grade_id)
        return cls(f"{match['module']}.{match['task']}", match["kind"]) if match else None

    @property
    def grade_id(self) -> str:
        """nbgrader's name for the cell."""
        return f"{self.exercise.replace('.', '-')}-{self.kind}"

    @property
    def marker(self) -> str:
        """The first line of the cell's source: it survives where metadata is lost."""
        text = f"katze: {self.exercise} {self.kind}"
        return f"<!-- {text} -->" if self.kind == "written" else f"# {text}"


def release(
    course: Course, lessons: Sequence[str] | None = None, *, exercises: Iterable[Exercise] | None = None
) -> list[Path]:
    """Build the students' notebooks, and nbgrader's source notebooks on the way.

    Everything is built aside first: if one lesson cannot be built, nothing is written. Files that a lesson no
    longer has are left for `check_release` to name.

    Args:
        course: the course to release.
        lessons: which; by default all in `course.solutions`.
        exercises: the exercises of these lessons; by default the course's.

    Returns:
        The notebooks, in the order of `lessons`.

    Raises:
        BadInput: a lesson does not exist, or disagrees with its exercises.
    """
    chosen = chosen_lessons(course, lessons)
    with tempfile.TemporaryDirectory(prefix="katze-release-") as folder:
        workshop = Path(folder)
        known = course.exercises.all() if exercises is None else list(exercises)
        _build(course, chosen, workshop, known)
        for lesson in chosen:
            _copy_changed(workshop / "source" / lesson, course.source / lesson)
            _copy_changed(workshop / "release" / lesson, course.release / lesson)
        if course.solved is not None:
            _copy_changed(workshop / "solved", course.solved)
            _write_references(known, workshop / "references")
            _copy_changed(workshop / "references", course.solved.parent)
            for page in [] if course.shows_solutions else course.solved.glob("*.md"):
                page.unlink()
    return [course.release / lesson / f"{lesson}.ipynb" for lesson in chosen]


def check_release(
    course: Course, lessons: Sequence[str] | None = None, *, exercises: Iterable[Exercise] | None = None
) -> list[str]:
    """How the release on disk differs from what `release` would build; empty if it does not.

    Args:
        course: the course to look at. Nothing is written.
        lessons, exercises: as for `release`. Leftover lessons are looked for only when all are checked.

    Returns:
        One line for each file that is missing, different or left over.

    Raises:
        BadInput: as for `release`.
    """
    chosen = chosen_lessons(course, lessons)
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="katze-release-") as folder:
        workshop = Path(folder)
        known = course.exercises.all() if exercises is None else list(exercises)
        _build(course, chosen, workshop, known)
        for lesson in chosen:
            problems += _drift(workshop / "release" / lesson, course.release / lesson, course.root)
            problems += _answers(workshop / "release" / lesson / f"{lesson}.ipynb", course)
        if course.solved is not None:
            problems += _drift(workshop / "solved", course.solved, course.root, some=lessons is not None)
            _write_references(known, workshop / "references")
            problems += _drift(workshop / "references", course.solved.parent, course.root, some=True)
    for lesson in sorted(set(course.lessons()) - set(chosen)) if lessons is None else ():
        problems.append(f"{_shown(course.release / lesson, course.root)} is left over: no solutions give it; remove it")
    return problems


@contextmanager
def fresh_release(course: Course, lesson: str) -> Iterator[Path]:
    """A lesson's notebook as `release` would build it, in a folder that is gone afterwards.

    Raises:
        BadInput: as for `release`.
    """
    with tempfile.TemporaryDirectory(prefix="katze-release-") as folder:
        _build(course, chosen_lessons(course, [lesson]), Path(folder), course.exercises.all())
        yield Path(folder) / "release" / lesson / f"{lesson}.ipynb"


def _build(course: Course, lessons: Iterable[str], workshop: Path, exercises: Collection[Exercise]) -> None:
    for lesson in lessons:
        folder = course.solutions / lesson
        wanted = {exercise.id: exercise for exercise in exercises if exercise.lesson == lesson}
        written = _written_cells(lesson, folder / f"{lesson}.py")
        notebook = _source_notebook(course, lesson, [cell for cell in written if not is_reason(cell)])
        _check_agreement(course, lesson, notebook, wanted)
        source = workshop / "source" / lesson
        shutil.copytree(folder, source, ignore=shutil.ignore_patterns(f"{lesson}.py", *NOT_ASSETS))
        nbformat.write(notebook, source / f"{lesson}.ipynb")
        _generate_assignment(course, lesson, workshop)
        _check_release_notebook(lesson, workshop / "release" / lesson / f"{lesson}.ipynb", wanted)
        logger.info("%s built, with %d exercises", lesson, len(wanted))
        (workshop / "solved").mkdir(exist_ok=True)
        for name, page in solved_pages(lesson, written):
            if course.shows_solutions:
                (workshop / "solved" / name).write_text(page, encoding="utf-8")


def _write_references(exercises: Iterable[Exercise], folder: Path) -> None:
    """Write where the library does what each exercise asks for: sandboxes, which hold no exercises, read it there."""
    folder.mkdir()
    rows = [
        f'    "{one.id}": "{one.reference.__module__.removeprefix("course_lib.")}.{one.reference.__name__}",\n'
        for one in exercises
        if one.reference.__module__.startswith("course_lib.")
    ]
    about = '"""Where the library does what each exercise asks for: written by `katze release`."""'
    text = f"{about}\n\nREFERENCES = {{\n{''.join(rows)}}}\n"
    (folder / REFERENCE_LIST).write_text(text, encoding="utf-8")


# ---- from text to nbgrader's source notebook


def _written_cells(lesson: str, path: Path) -> list[NotebookNode]:
    try:
        return list(jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent").cells)
    except Exception as error:  # jupytext raises what it likes on a file that is not a notebook
        raise BadInput(f"{lesson}: {path} is not a notebook: {_first_line(error)}") from error


def _source_notebook(course: Course, lesson: str, written: Sequence[NotebookNode]) -> NotebookNode:
    code = "\n".join(cell.source for cell in written if cell.cell_type == "code")
    cells = [*opening_cells(course, lesson, code), *(_clean_cell(lesson, cell) for cell in written)]
    tell_times(course.exercises.seconds.get(lesson, 0), cells)
    for cell, identity in zip(cells, _identities(cells), strict=True):
        cell["id"] = identity
    notebook: NotebookNode = nbformat.v4.new_notebook(metadata=copy.deepcopy(NOTEBOOK_METADATA))
    notebook.nbformat_minor = 5
    notebook.cells = cells
    return notebook


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _clean_cell(lesson: str, cell: NotebookNode) -> NotebookNode:
    """A cell as nbgrader wants it: full metadata, and the marker where it is graded."""
    cell = copy.deepcopy(cell)
    cell.metadata = NotebookNode({key: cell.metadata[key] for key in KEPT_METADATA if key in cell.metadata})
    fold(cell)
    if "nbgrader" not in cell.metadata:
        return cell
    cell.metadata.nbgrader = NotebookNode(NBGRADER_DEFAULTS | cell.metadata.nbgrader)
    role = _role(lesson, cell)
    if role.kind == "answer" and "BEGIN SOLUTION" not in cell.source:
        raise BadInput(f"{lesson}: {role.grade_id} needs a region ### BEGIN SOLUTION ... ### END SOLUTION")
    if role.kind == "written" and "BEGIN SOLUTION" not in cell.source:  # nbgrader would replace the marker as well
        cell.source = f"### BEGIN SOLUTION\n{cell.source}\n### END SOLUTION"
    if role.kind == "check":
        cell.source = f"{IMPORTED_CHECK}\n{cell.source}"
    separator = "\n\n" if role.kind == "written" else "\n"
    cell.source = f"{role.marker}{separator}{cell.source}"
    return cell


def _role(lesson: str, cell: NotebookNode) -> Role:
    """The role of a graded cell.

    Raises:
        BadInput: its `grade_id`, its kind or its flags say something else.
    """
    flags = cell.metadata.nbgrader
    grade_id = flags.get("grade_id", "")
    role = Role.parse(grade_id) if isinstance(grade_id, str) and len(grade_id) <= LONGEST_ID else None
    if role is None:
        raise BadInput(
            f'{lesson}: grade_id {grade_id!r} must read "<module>-<task>-answer", "...-check" or "...-written", '
            f"with at most {LONGEST_ID} characters"
        )
    cell_type, *wanted = _KINDS[role.kind]
    if cell.cell_type != cell_type or [flags[name] for name in _FLAGS] != wanted:
        listed = ", ".join(f"{name} {json.dumps(value)}" for name, value in zip(_FLAGS, wanted, strict=True))
        raise BadInput(f"{lesson}: {grade_id} must be a {cell_type} cell with {listed}")
    return role


def _identities(cells: Sequence[NotebookNode]) -> Iterator[str]:
    """Ids that depend on nothing but what the cells are: the grade_id, or a hash of the source.

    Equal sources are numbered, so inserting or moving other cells changes no id.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for cell in cells:
        tags = cell.metadata.get("tags", [])
        if "nbgrader" in cell.metadata:
            yield cell.metadata.nbgrader.grade_id
        elif BADGE in tags or INSTALL in tags:
            yield tags[0]
        else:
            content = (cell.cell_type, cell.source)
            seen[content] += 1
            yield hashlib.sha256("\n".join((*content, str(seen[content]))).encode()).hexdigest()[:12]


# ---- agreement of a lesson with its exercises


def _check_agreement(course: Course, lesson: str, notebook: NotebookNode, wanted: dict[str, Exercise]) -> None:
    """Every exercise of the lesson has one answer and then one check, with its points.

    Raises:
        BadInput: the first disagreement.
    """
    graded = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    order = [cell.metadata.nbgrader.grade_id for cell in graded]
    for grade_id, times in Counter(order).items():
        if times > 1:
            raise BadInput(f"{lesson}: grade_id {grade_id!r} is on {times} cells; each must be unique")
    for cell in graded:
        role = _role(lesson, cell)
        if role.kind == "written":
            continue
        exercise = wanted.get(role.exercise)
        if exercise is None:
            unnamed = "" if lesson in course.exercises.modules else f"; name their module in {SETTING}"
            raise BadInput(f"{lesson}: {role.grade_id}: this lesson's exercises have no {role.exercise}{unnamed}")
        if role.kind == "check":
            _check_check(course, lesson, cell, exercise)
    for exercise_id in wanted:
        answer, check = Role(exercise_id, "answer").grade_id, Role(exercise_id, "check").grade_id
        for grade_id in (answer, check):
            if grade_id not in order:
                raise BadInput(f"{lesson}: the exercise {exercise_id} has no cell with grade_id {grade_id!r}")
        if order.index(answer) > order.index(check):
            raise BadInput(f"{lesson}: {check} comes before {answer}")


def _check_check(course: Course, lesson: str, cell: NotebookNode, exercise: Exercise) -> None:
    flags = cell.metadata.nbgrader
    if flags.get("points") != exercise.points:
        source = course.solutions / lesson / f"{lesson}.py"
        cell_place = _place(source, rf'# %%.*"{re.escape(flags.grade_id)}"', course.root)
        raise BadInput(
            f"{lesson}: {flags.grade_id} gives {_points(flags.get('points'))}, but the exercise has "
            f"{count(exercise.points, 'point')}; mend {cell_place}, or {_exercise_place(course, exercise)}"
        )
    calls = _checked_ids(lesson, cell)
    if not calls or set(calls) != {exercise.id}:
        raise BadInput(f'{lesson}: {flags.grade_id} must call check("{exercise.id}") and check nothing else')


def _points(points: object) -> str:
    if points is None:
        return "no points"
    return count(points, "point") if isinstance(points, (int, float)) else f"{points!r} points"


def _exercise_place(course: Course, exercise: Exercise) -> str:
    """The line with an exercise's points; its file alone if they are not written out there."""
    package, task = course.exercises.modules.get(exercise.lesson, ""), exercise.id.partition(".")[2]
    names = (f"{package}.{task}", package, exercise.cases.__module__)
    module = next(sys.modules[name] for name in names if name in sys.modules)
    wanted = rf'[ ]+id="{re.escape(exercise.id)}",\n(?:[ ]+.*\n)*?[ ]+points='
    return _place(Path(str(module.__file__)), wanted, course.root)


def _place(path: Path, pattern: str, root: Path) -> str:
    """A file, with the line on which a pattern's first match ends; the match begins a line."""
    text = path.read_text(encoding="utf-8")
    found = re.search(f"^{pattern}", text, re.M)
    if found is None:
        return _shown(path, root)
    line = text.count("\n", 0, found.end()) + 1
    return f"{_shown(path, root)}, line {line}"


def _checked_ids(lesson: str, cell: NotebookNode) -> list[object]:
    """The first argument of each call of `check` in a cell; None where it is not written out."""
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


def _check_release_notebook(lesson: str, path: Path, wanted: dict[str, Exercise]) -> None:
    """What a student gets still defines the name that will be checked."""
    for cell in nbformat.read(path, as_version=4).cells:
        if "nbgrader" not in cell.metadata:
            continue
        role = _role(lesson, cell)
        if role.kind != "answer":
            continue
        name = wanted[role.exercise].name
        defined = {getattr(node, "name", None) for node in _parsed(lesson, cell).body}
        if name not in defined:
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
    reasons = _Reasons()
    log = logging.Logger("katze.release")
    log.addHandler(reasons)
    directory = CourseDirectory(config=config, log=log)
    try:
        GenerateAssignment(coursedir=directory, config=config, log=log).start()
    except NbGraderException as error:
        raise BadInput(f"{lesson}: nbgrader cannot build it: {reasons.first or error}") from error


class _Reasons(logging.Handler):
    """nbgrader logs its reasons and raises without them: this keeps what it logs, and prints nothing."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message."""
        self.messages.append(record.getMessage())

    @property
    def first(self) -> str:
        """The exception at the end of the first traceback; empty if there was none."""
        traces = [message.strip().splitlines()[-1] for message in self.messages if "Traceback" in message]
        return traces[0] if traces else ""


# ---- files


def _copy_changed(built: Path, place: Path) -> None:
    """Copy what differs, so that files that stay the same keep their time."""
    for path in files_in(built):
        target = place / path
        if not target.is_file() or target.read_bytes() != (built / path).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(built / path, target)


def _drift(built: Path, place: Path, root: Path, *, some: bool = False) -> Iterator[str]:
    """How a folder differs from what was built; with `some`, others may have built more into it."""
    wanted = set(files_in(built))
    here = {path for path in wanted if (place / path).is_file()} if some else set(files_in(place))
    for path in sorted(here | wanted):
        shown = _shown(place / path, root)
        if path not in here:
            yield f"{shown} is missing: run `katze release`"
        elif path not in wanted:
            yield f"{shown} is left over: the solutions have no such file; remove it"
        elif (place / path).read_bytes() != (built / path).read_bytes():
            yield f"{shown} differs from what its solutions give: run `katze release`"


def _answers(fresh: Path, course: Course) -> Iterator[str]:
    """A line where somebody has written answers into a released notebook."""
    released = course.release / fresh.stem / fresh.name
    written = answered_cells(released, fresh) if released.is_file() else []
    if written:
        yield (
            f"{_shown(released, course.root)} holds answers ({', '.join(written)}): `katze learn --move-answers "
            f"{fresh.stem}` moves them to work/ and restores the file"
        )


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
