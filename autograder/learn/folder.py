"""Makes the working folder: a copy of each lesson to write in, and the data for renewing it without touching
answers.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course.course import Course
from autograder.course.notebook_definitions import answered_cells
from autograder.errors import BadInput
from autograder.learn.newer import renewed
from course_lib.ground.files import put_in_place
from course_lib.learner.folder import PROGRESS

KEPT = ".katze"
"""The folder in the working folder that keeps each lesson as it was copied."""


@dataclass(frozen=True)
class Copied:
    """What happened to the lessons.

    Attributes:
        new: lessons that were not there before.
        renewed: lessons with a new version, each with the file that keeps the old one.
        foreign: lessons with a copy from elsewhere, which was left alone.
    """

    new: tuple[str, ...]
    renewed: Mapping[str, Path]
    foreign: tuple[str, ...]


def copy_lessons(released: Mapping[str, Path], folder: Path) -> Copied:
    """Copy all lessons to a working folder. Everything written in it stays.

    Args:
        released: the released notebooks, by lesson.
        folder: the working folder; made if necessary.

    Raises:
        BadInput: the folder contains the released notebooks, or cannot be used.
    """
    for lesson, notebook in released.items():
        if folder.resolve() in (notebook.resolve().parents[1], notebook.resolve().parent):
            raise BadInput(f"{folder} holds the released notebooks; name a folder of your own, such as `work`")
        if (folder / lesson).is_file():
            raise BadInput(f"{folder / lesson} is a file; remove it, or name another folder")
    make_folder(folder)
    new, changed, foreign = [], {}, []
    for lesson, notebook in released.items():
        target, kept = folder / lesson / notebook.name, folder / KEPT / notebook.name
        if not target.exists():
            _copy_all(notebook.parent, target.parent)
            new.append(lesson)
        elif kept.is_file() and kept.read_bytes() == target.read_bytes():
            _copy_all(notebook.parent, target.parent)  # the learner has not written or run anything in it
        elif kept.is_file() and kept.read_bytes() != notebook.read_bytes():
            changed[lesson] = _renew(target, kept, notebook)
        elif not kept.is_file() and not _is_version(target, notebook):
            foreign.append(lesson)
            continue
        kept.parent.mkdir(exist_ok=True)
        shutil.copyfile(notebook, kept)
    return Copied(tuple(new), changed, tuple(foreign))


def make_folder(folder: Path) -> None:
    """Make a working folder, if necessary, with the file in which all its lessons record progress.

    Raises:
        BadInput: it is a file.
    """
    if folder.is_file():
        raise BadInput(f"{folder} is a file; name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PROGRESS).touch()


def move_answers(course: Course, lesson: str, folder: Path) -> Path:
    """Move a released notebook with answers to the working folder, and restore the release.

    Args:
        course: the course with the release.
        lesson: the lesson.
        folder: the working folder.

    Returns:
        The new place of the answers.

    Raises:
        BadInput: there are none, or the working folder contains other answers.
    """
    from autograder.course.release import fresh_release  # imports nbgrader, which takes longer than copying the lessons

    edited = course.release_notebook(lesson)
    target = folder / lesson / edited.name
    fresh = fresh_release(course, lesson)
    if not answered_cells(edited, fresh):
        raise BadInput(f"{edited} holds no answers: there is nothing to move")
    if target.exists() and answered_cells(target, fresh):
        raise BadInput(f"{target} holds answers already; rename that file, then run this again")
    _copy_all(edited.parent, target.parent)
    (folder / PROGRESS).touch()
    (folder / KEPT).mkdir(exist_ok=True)
    (folder / KEPT / edited.name).write_bytes(fresh)
    with put_in_place(edited) as unfinished:
        unfinished.write_bytes(fresh)
    return target


def _renew(target: Path, kept: Path, notebook: Path) -> Path:
    """Replace a lesson's old version by its new one; return the file that keeps the old one."""
    made = renewed(_read(target), _read(kept), _read(notebook))
    before = _free(target.with_name(f"{target.stem} until {date.today()}.ipynb"))
    shutil.copyfile(target, before)
    _copy_all(notebook.parent, target.parent, but=notebook.name)
    with put_in_place(target) as unfinished:
        nbformat.write(made, unfinished)
    return before


def _free(path: Path) -> Path:
    numbered = (path.with_name(f"{path.stem} ({number}){path.suffix}") for number in range(2, 1000))
    return path if not path.exists() else next(other for other in numbered if not other.exists())


def _is_version(target: Path, notebook: Path) -> bool:
    """Return whether a notebook is this version of the lesson, answered or not: it has all its cells."""
    try:
        mine, released = _read(target), _read(notebook)
    except BadInput:
        return False
    return {cell.id for cell in released.cells} <= {cell.get("id") for cell in mine.cells}


def _read(path: Path) -> NotebookNode:
    try:
        read: NotebookNode = nbformat.read(path, as_version=4)
        return read
    except Exception as error:  # nbformat may raise anything for a file that is not a notebook
        raise BadInput(f"{path} is not a notebook ({type(error).__name__}); rename it, then run this again") from error


def _copy_all(source: Path, target: Path, but: str = "") -> None:
    """Copy a lesson's files, except hidden ones and one with the given name."""
    left_out = shutil.ignore_patterns(".*", but)
    shutil.copytree(source, target, ignore=left_out, copy_function=shutil.copyfile, dirs_exist_ok=True)
