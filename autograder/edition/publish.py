"""`katze publish`: the class edition of a course, in a folder that can be installed, zipped or pushed.

DIR/notebooks/<lesson>/         the released lessons, which install the library from here
DIR/course_lib/                 the library without what these lessons withhold
DIR/course_lib/exercises/       what their checks compare with, as data
DIR/pyproject.toml, README.md   to install it, and to begin with
DIR/edition.json                which lessons and files it has

A course with its own exercises gets no library. Instead, it gets its modules of exercises, as data, and an
`nbgrader_config.py` that names them.
"""

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import metadata
from pathlib import Path

import nbformat

import course_lib
from autograder.course.colab import BADGE, INSTALL, install_cell, opening_cells
from autograder.course.course import Course
from autograder.edition.library import ROOT, copy_modules, imported_by, kept_modules, needed_packages, write_absent
from autograder.edition.recording import Recorded, write_lesson
from autograder.errors import BadInput
from course_lib.exercises.catalogue import CONFIG_NAME, SETTING, Catalogue

MANIFEST = "edition.json"
"""The file that identifies an edition's folder."""

ALWAYS = ("ipykernel", "jupyterlab")
"""Packages that notebooks need besides the library's imports."""


@dataclass(frozen=True)
class Plan:
    """The contents of an edition.

    Attributes:
        lessons: the lessons whose notebooks and checks it contains, in order.
        closed: those lessons among them whose answers students may read.
        withheld: the modules that are left out, with the lessons that withhold them.
        open: modules that other lessons withhold but that it contains, with these lessons.
        without: modules that are left out although demos in its notebooks import them, by lesson.
        modules: the library's modules that it contains.
    """

    lessons: tuple[str, ...]
    closed: tuple[str, ...]
    withheld: Mapping[str, tuple[str, ...]]
    open: Mapping[str, tuple[str, ...]]
    without: Mapping[str, tuple[str, ...]]
    modules: frozenset[str]


def plan_edition(course: Course, lessons: Sequence[str], closed: Iterable[str], besides: Iterable[str]) -> Plan:
    """Decide what an edition contains.

    Args:
        course: the course.
        lessons: the lessons whose notebooks and checks it contains; a number is enough.
        closed: those lessons among them whose answers students may read.
        besides: further lessons whose modules are left out.

    Raises:
        BadInput: there is no such lesson, or a lesson needs a module that another lesson withholds.
    """
    catalogue = course.exercises
    known = [lesson for lesson in catalogue.modules if lesson in course.lessons()]
    chosen = tuple(_lessons(lessons, known))
    over = tuple(_lessons(closed, chosen))
    further = _lessons(besides, list(catalogue.modules))
    withheld = _withheld_by(
        catalogue, [name for name in catalogue.modules if name in (*chosen, *further) and name not in over]
    )
    modules = kept_modules(withheld)
    without = {}
    for lesson in chosen:
        imported = imported_by(course.release_notebook(lesson))
        gone = [name for name in imported if name not in modules]
        if needed := [name for name in gone if imported[name]]:
            raise _cannot_do_without(lesson, needed[0], withheld)
        if gone:
            without[lesson] = tuple(gone)
    left = _withheld_by(catalogue, [lesson for lesson in catalogue.modules if lesson not in over])
    open_ = {name: lessons for name, lessons in left.items() if name in modules}
    return Plan(chosen, over, withheld, open_, without, frozenset(modules))


def _lessons(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return lessons by their names or numbers, in the course's order."""
    found = set()
    for name in names:
        meant = [lesson for lesson in known if name in (lesson, lesson.partition("_")[0])]
        if not meant:
            raise BadInput(f"no lesson {name!r} here; there are: {', '.join(known)}")
        found.add(meant[0])
    return [lesson for lesson in known if lesson in found]


def _withheld_by(catalogue: Catalogue, lessons: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the modules that lessons withhold, each with these lessons."""
    found: dict[str, tuple[str, ...]] = {}
    for lesson in lessons:
        for module in sorted({module for one in catalogue.of_lesson(lesson) for module in one.withheld}):
            found[module] = (*found.get(module, ()), lesson)
    return found


def _cannot_do_without(lesson: str, missing: str, withheld: Mapping[str, tuple[str, ...]]) -> BadInput:
    """Return an error for a lesson whose own cells import what another lesson withholds."""
    module = next(module for module in withheld if missing not in kept_modules([module]))
    others = [other for other in withheld[module] if other != lesson]
    via = "" if module == missing else f" (through {missing})"
    return BadInput(
        f"{lesson} uses {module}{via}, which {' and '.join(others)} withholds: close it with --closed "
        f"{' '.join(other.partition('_')[0] for other in others)}, or leave {lesson} for later"
    )


def publish(course: Course, folder: Path, plan: Plan, repository: str = "", revision: str = "main") -> list[Recorded]:
    """Write an edition. Build everything in a temporary folder first; leave other files in the folder, such as `.git`.

    Args:
        course: the course.
        folder: the target: a new or empty folder, or an earlier edition's.
        plan: what it contains.
        repository: where students will get it on GitHub, OWNER/NAME; empty if it is distributed as a folder.
        revision: a branch, tag or commit there.

    Returns:
        What was recorded for each exercise.

    Raises:
        BadInput: the folder contains something else, or an exercise cannot be recorded.
    """
    if repository and course.exercises.folder is not None:
        raise BadInput("notebooks of a course with its own exercises install nothing: leave --repository out")
    earlier = _earlier_files(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".katze-publish-", dir=folder.parent) as workshop:
        built = Path(workshop)
        home = replace(course, root=built, release=built / "notebooks", repository=repository, revision=revision)
        recorded = _build(course, home, plan)
        files = sorted(path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file())
        manifest = {
            "katze": course_lib.__version__,
            "course": course.course_id,
            "lessons": list(plan.lessons),
            "closed": list(plan.closed),
            "files": [*files, MANIFEST],
        }
        (built / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        for name in manifest["files"]:  # unchanged files keep their modification time
            source, target = built / name, folder / name
            if not (target.is_file() and target.read_bytes() == source.read_bytes()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        for name in set(earlier) - set(manifest["files"]):
            (folder / name).unlink(missing_ok=True)
    return recorded


def manifest_of(folder: Path) -> dict[str, list[str]]:
    """Return the contents of the edition in a folder: its "lessons", the "closed" ones among them, its "files".

    Raises:
        BadInput: there is none.
    """
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {name: [str(one) for one in found[name]] for name in ("lessons", "closed", "files")}
    except (OSError, ValueError, LookupError, TypeError):
        raise BadInput(f"there is no class edition in {folder}; write one with `katze publish`") from None


def _earlier_files(folder: Path) -> list[str]:
    """Return the files of the edition that is already there; [] if there is none."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is a file; name a folder")
    if not folder.exists() or all(path.name == ".git" for path in folder.iterdir()):
        return []
    if not (folder / MANIFEST).is_file():
        raise BadInput(f"{folder} holds something else than a class edition; name a new folder")
    inside = [name for name in manifest_of(folder)["files"] if ".." not in Path(name).parts]
    return [name for name in inside if not Path(name).is_absolute()]


def _build(course: Course, home: Course, plan: Plan) -> list[Recorded]:
    """Write an edition without its manifest into a folder laid out as its students' course."""
    target = home.root
    for lesson in plan.lessons:
        shutil.copytree(course.release / lesson, home.release / lesson, ignore=shutil.ignore_patterns(".*"))
        if course.exercises.folder is None:  # otherwise its notebooks install nothing
            _lead_here(home, lesson)
    recorded = []
    for lesson in plan.lessons:
        package = target.joinpath(*course.exercises.modules[lesson].split("."))
        package.mkdir(parents=True)
        text = _PACKAGE.format(lesson=lesson, moved=course.exercises.moved_in(lesson))
        if course.exercises.folder is not None:  # otherwise the library has titles and written tasks
            text += f"TITLE = {course.exercises.title(lesson)!r}\nWRITTEN = {course.exercises.written_in(lesson)!r}\n"
        (package / "__init__.py").write_text(text, encoding="utf-8")
        recorded += write_lesson(course.exercises.of_lesson(lesson), package)
    (target / ".gitignore").write_text(_MADE_BY_USE, encoding="utf-8")
    if course.exercises.folder is None:
        _write_library(course, target, plan)
        get = f"git clone https://github.com/{home.repository}\ncd {home.repository.partition('/')[2]}\n"
        begin = _INSTALL.format(get=get if home.repository else "")
    else:
        modules = {lesson: course.exercises.modules[lesson] for lesson in plan.lessons}
        (target / CONFIG_NAME).write_text(_CONFIG.format(setting=SETTING, modules=modules), encoding="utf-8")
        begin = "Work in this folder, where the checks find what they compare with. Katze has to be installed."
    (target / "README.md").write_text(_readme(course, plan, begin), encoding="utf-8")
    return recorded


def _write_library(course: Course, target: Path, plan: Plan) -> None:
    """Write the additional files for the course in `course_lib`: the library, and its installation."""
    copy_modules(plan.modules, target / "course_lib")
    write_absent(plan.withheld, target / "course_lib")
    for name in ("__init__.py", "catalogue.py"):
        shutil.copyfile(ROOT / "exercises" / name, target / "course_lib" / "exercises" / name)
    (target / "pyproject.toml").write_text(_pyproject(plan), encoding="utf-8")
    if (course.root / "LICENSE").is_file():
        shutil.copyfile(course.root / "LICENSE", target / "LICENSE")


def _lead_here(home: Course, lesson: str) -> None:
    """Make a notebook install the library from the edition instead of the full course."""
    path = home.release / lesson / f"{lesson}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    if home.repository:
        opening = {tag: cell for cell in opening_cells(home, lesson, code) for tag in cell.metadata["tags"]}
    else:  # a folder, two levels above the notebook
        opening = {INSTALL: install_cell("../..", code, home.exercises)}
    left_out = {BADGE, INSTALL} - opening.keys()
    notebook.cells = [cell for cell in notebook.cells if not left_out & set(cell.metadata.get("tags", ()))]
    for cell in notebook.cells:
        for tag in opening.keys() & set(cell.metadata.get("tags", ())):
            cell.source = opening[tag].source
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


_MADE_BY_USE = "build/\n*.egg-info/\n__pycache__/\n.ipynb_checkpoints/\n"
"""Files that installing an edition and working in it creates."""

_PACKAGE = '''"""The exercises of {lesson}, as data: see `course_lib/judging/recorded/reading.py`."""

from pathlib import Path

from course_lib.judging.recorded.reading import read_exercises

EXERCISES = read_exercises(Path(__file__).parent)

MOVED = {moved!r}
'''


_CONFIG = '''"""Where the checks of these lessons find what they compare with."""

c = get_config()
{setting} = {modules!r}
c.CourseDirectory.release_directory = "notebooks"
'''


def _readme(course: Course, plan: Plan, begin: str) -> str:
    listed = "\n".join(
        f"- [{lesson.partition('_')[0]} {course.exercises.title(lesson)}](notebooks/{lesson}/{lesson}.ipynb)"
        for lesson in plan.lessons
    )
    first = course.exercises.of_lesson(plan.lessons[0])[0]
    return f"""# {course.course_id.capitalize() or "The course"}: the lessons of this class

{listed}

{begin}

In a notebook, `check("{first.id}")` says whether an answer is right and, where it is
a known mistake, which one. `hint(...)` opens one more hint with each call, and `progress()` shows how far you are. This
edition knows what answers should return, but not how to compute it. So `solution(...)` shows nothing, and if a check
cannot judge an answer, it says so and leaves that to the grading.
"""


_INSTALL = """Python 3.11 or later is needed. Get the course, its library and Jupyter, and open a lesson:

```bash
{get}pip install .
jupyter lab notebooks
```

After `pip install .` has been run again, restart the notebooks' kernels."""


def _pyproject(plan: Plan) -> str:
    dependencies = "\n".join(f'    "{one}",' for one in needed_packages(plan.modules, ALWAYS))
    return f"""[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "katze"
version = "{course_lib.__version__}"
description = "The lessons of a class, with checks that run on recorded data."
requires-python = "{metadata("katze")["Requires-Python"]}"
dependencies = [
{dependencies}
]

[tool.setuptools.packages.find]
include = ["course_lib*"]
namespaces = false

[tool.setuptools.package-data]
course_lib = ["**/*"]
"""
