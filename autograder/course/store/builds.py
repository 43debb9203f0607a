"""Finds the lessons that `katze release` has to build: those that have changed since the last build.

For each lesson, `.katze/builds.json` keeps one digest of everything that its build reads or writes: the source, the
exercises' files, the settings, the versions, the builder's own code, the built files. Finding changes imports nothing
from the course.
"""

import hashlib
import importlib.metadata
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

import course_lib
from autograder.course.course import Course
from autograder.errors import BadInput
from course_lib.exercises.catalogue import CONFIG_NAME
from course_lib.ground.files import put_in_place, sha256_of
from course_lib.learner.recall import page_of

INSTRUCTORS_PAGE = "README.md"
"""The instructors' page next to a lesson's source, with the answers to written questions."""

NOT_ASSETS = (INSTRUCTORS_PAGE, "__pycache__", "*.pyc", ".*")
"""Files in a lesson's folder that are not copied."""

REFERENCE_LIST = "reference_list.py"
"""A file next to `references.py` in a course's own library: the function or class that implements each exercise."""

_LIBRARY = Path(course_lib.__file__).parent
_BUILDER = (Path(__file__).parents[1], _LIBRARY / "checking", _LIBRARY / "judging", _LIBRARY / "learner")
_PACKAGES = ("jupytext", "nbconvert", "nbformat", "nbgrader")
_ANSWER = re.compile(r'"grade_id": "(\w+)-(\w+)-answer"')


def solution_lessons(course: Course) -> list[str]:
    """Return the lessons that can be released, sorted: the folders of `solutions` that contain a `.py` of the same
    name.
    """
    return sorted(path.parent.name for path in course.solutions.glob("*/*.py") if path.stem == path.parent.name)


def chosen_lessons(course: Course, lessons: Sequence[str] | None) -> list[str]:
    """Return these lessons without duplicates, or all that can be released.

    Raises:
        BadInput: one of them does not exist, or there are none.
    """
    known = solution_lessons(course)
    if not known:
        raise BadInput(f"no lessons in {course.solutions}; a lesson is a file <lesson>/<lesson>.py there")
    for lesson in lessons or ():
        if lesson not in known:
            raise BadInput(f"no lesson {lesson!r} in {course.solutions}; there are: {', '.join(known)}")
    return list(dict.fromkeys(lessons)) if lessons else known


def changed_lessons(course: Course, lessons: Iterable[str]) -> list[str]:
    """Return the lessons to build: they, or their built files, have changed since `remember`."""
    known = _remembered(course)
    if known.get(REFERENCE_LIST, "") != _of_references(course):
        return list(lessons)
    return [lesson for lesson in lessons if known.get(lesson) != _digest(course, lesson)]


def remember(course: Course, lessons: Iterable[str]) -> None:
    """Record that these lessons have just been built."""
    builds = {**_remembered(course), **{lesson: _digest(course, lesson) for lesson in lessons}}
    builds[REFERENCE_LIST] = _of_references(course)
    path = _path(course)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with put_in_place(path) as draft:
        draft.write_text(json.dumps(builds, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def files_in(folder: Path, ignored: Sequence[str] = (".*",)) -> list[Path]:
    """Return all files under a folder, as sorted relative paths, except those in or below ignored names."""
    paths = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return [path for path in paths if not any(fnmatch(part, pattern) for part in path.parts for pattern in ignored)]


def _path(course: Course) -> Path:
    return course.root / ".katze" / "builds.json"


def _remembered(course: Course) -> Mapping[str, str]:
    """Return the digests by lesson; {} if the file is missing or damaged, so that everything is built again."""
    try:
        builds = json.loads(_path(course).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return builds if isinstance(builds, dict) else {}


def _digest(course: Course, lesson: str) -> str:
    digest = hashlib.sha256(_settings(course, lesson).encode())
    for path in _files(course, lesson):
        digest.update(f"\n{path} ".encode())
        digest.update(bytes.fromhex(sha256_of(path)))
    return digest.hexdigest()


def _of_references(course: Course) -> str:
    """Return the digest of the reference list; empty if the course has none."""
    place = None if course.solved is None else course.solved.parent / REFERENCE_LIST
    return sha256_of(place) if place is not None and place.is_file() else ""


def _settings(course: Course, lesson: str) -> str:
    exercises = course.exercises
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES} | {"katze": course_lib.__version__}
    settings = (course.repository, course.revision, course.shows_solutions, course.shows_slides, course.config)
    own = (exercises.seconds.get(lesson), exercises.modules.get(lesson), exercises.lacking)
    return repr((versions, settings, own))


def _files(course: Course, lesson: str) -> Iterator[Path]:
    """Yield a lesson's inputs, the builder's files, and the built files."""
    source = course.solutions / lesson
    yield course.root / CONFIG_NAME
    yield from (source / path for path in files_in(source, NOT_ASSETS))
    yield from filter(Path.is_file, [page_of(course.exercises, lesson)])
    yield from _exercise_files(course, lesson)
    for folder in _BUILDER:
        yield from sorted(folder.glob("*.py"))
    for built in (course.source / lesson, course.release / lesson):
        yield from (built / path for path in files_in(built))
    notebook = course.release / lesson / f"{lesson}.ipynb"
    if course.solved is not None and notebook.is_file():
        pages = (f"{module}.{task}.md" for module, task in _ANSWER.findall(notebook.read_text(encoding="utf-8")))
        yield from (course.solved / page for page in pages if (course.solved / page).is_file())


def _exercise_files(course: Course, lesson: str) -> Iterator[Path]:
    """Yield the module or package of a lesson's exercises, and for a course's own exercises also the modules next to
    it.
    """
    exercises = course.exercises
    root = exercises.folder or _LIBRARY.parent
    place = root.joinpath(*exercises.modules.get(lesson, "").split("."))
    if exercises.folder is not None:
        yield from sorted(root.glob("*.py"))
    if place != root:
        yield from sorted([*place.rglob("*.py"), *place.parent.glob(f"{place.name}.py")])
