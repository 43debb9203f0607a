"""Finds the released notebooks: in a course's folder, in a clone of the repository, or next to the package."""

import sysconfig
from pathlib import Path

from autograder.course.course import Course
from autograder.errors import BadInput

REPOSITORY = Path(__file__).resolve().parents[2]


def data_folder(packages: Path) -> Path:
    """Return the folder for a package's data, given the folder of packages where pip has installed it.

    It differs between `pip install`, `pip install --user` and `pip install --target`.
    """
    for scheme in sysconfig.get_scheme_names():
        if Path(sysconfig.get_path("purelib", scheme)).resolve() == packages.resolve():
            return Path(sysconfig.get_path("data", scheme))
    return packages  # `--target` puts both into one folder


INSTALLED = data_folder(REPOSITORY) / "share" / "katze" / "notebooks"
"""The folder of the released notebooks of an installed package."""


def released_notebooks(*places: Path) -> dict[str, Path]:
    """Return the released notebooks, by lesson, from the first place that has some: a folder in or below a course, then
    this repository, then the installed package.

    Raises:
        BadInput: no place has any.
    """
    for place in (*places, REPOSITORY):
        try:
            course = Course.find(place)
        except BadInput:
            continue
        if course.lessons():
            return {lesson: course.release_notebook(lesson) for lesson in course.lessons()}
    installed = sorted(path for path in INSTALLED.glob("*.ipynb"))
    if not installed:
        raise BadInput("the released notebooks were not found in a course's folder, nor next to the package")
    return {path.stem: path for path in installed}
