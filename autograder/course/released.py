"""Finds the released notebooks: in a course's folder, in a clone of the repository, or next to the package."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from autograder.course.course import Course
from autograder.errors import BadInput

REPOSITORY = Path(__file__).resolve().parents[2]


def data_folder(packages: Path) -> Path:
    """Where pip puts the data of a package, by the folder that it puts the package in.

    That is not the same for `pip install`, `pip install --user` and `pip install --target`.

    Args:
        packages: such as ".../lib/python3.12/site-packages".
    """
    for scheme in sysconfig.get_scheme_names():
        if Path(sysconfig.get_path("purelib", scheme)).resolve() == packages.resolve():
            return Path(sysconfig.get_path("data", scheme))
    return packages  # with `--target` both are in one folder


INSTALLED = data_folder(REPOSITORY) / "share" / "katze" / "notebooks"
"""Where the released notebooks are beside an installed package."""


def released_notebooks(*places: Path) -> dict[str, Path]:
    """The released notebooks, by lesson, of the first place that has some.

    Args:
        places: folders in or below which a course may be; this repository and the installed package come after them.

    Raises:
        BadInput: there are none anywhere.
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
