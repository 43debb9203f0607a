"""Measures what a class costs, from Canvas's zip to returned feedback and a filled gradebook file.

    python -m benchmarks.semester [--students 300] [--workers 2] [--json FILE]

Makes a course with the download and the gradebook of a class in Canvas's formats: ordinary submissions of lesson 01
from a seed, one in ten marked LATE. Then it runs what an instructor types, one command per step: collect, grade,
return, export. It does the same with a third of the class first: if memory use is flat, the whole class needs no more.
"""

import csv
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from autograder.box.confinement.selftest import choose_level
from autograder.course.course import Course
from benchmarks.grading.commands import OURS, Cost, run
from benchmarks.grading.courses import LESSON, make_course, ordinary, submission
from benchmarks.table import Row, arguments, report

MINUTES = 10.0
"""The time in which two cores should be done with a class of 300."""

_ASSIGNMENT = f"{LESSON} (4711)"
"""Canvas's name for the lesson's column."""

_DOWNLOAD, _GRADES, _BACK, _FILLED = "submissions.zip", "canvas.csv", "back.zip", "filled.csv"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--students", type=int, default=300, help="of the class (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    title = f"{options.students} students, {options.workers} workers, sandboxes at {choose_level().name}"
    with tempfile.TemporaryDirectory(prefix="katze-benchmark-") as name:
        third = _semester(Path(name) / "third", options.students // 3, options.workers, options.seed)
        whole = _semester(Path(name) / "class", options.students, options.workers, options.seed)
    report(title, _rows(third, whole, options.students), options.json)


def _rows(third: dict[str, Cost], whole: dict[str, Cost], students: int) -> Iterator[Row]:
    for step, cost in whole.items():
        yield Row.of(f"{step}, from start to end", cost.wall, None, "s", more=False)
        yield Row.of(f"{step}, processor time", cost.processor, None, "s", more=False)
        peak, smaller = max(cost.memory), max(third[step].memory)
        yield Row.of(f"{step}, memory at its peak, against {students // 3}", peak, smaller, "MB", more=False, goal=0.9)
    total = sum(cost.wall for cost in whole.values()) / 60
    yield Row.of(f"all of it, {students} students", total, MINUTES, "min", more=False, goal=1.0)
    yield Row.of(
        "all of it, processor time", sum(cost.processor for cost in whole.values()) / 60, None, "min", more=False
    )


def _semester(folder: Path, students: int, workers: int, seed: int) -> dict[str, Cost]:
    """Run a class through all steps, and return what each one cost, by name.

    Raises:
        RuntimeError: a step failed, or a page or points are missing.
    """
    course = make_course(folder, ordinary(students, seed), keep_demos=True)
    _deliver(course)
    columns = ("--student-column", "SIS Login ID", "--lesson-column", f"{LESSON}={_ASSIGNMENT}")
    steps = {
        "collect": ("collect", _DOWNLOAD, "--roster", _GRADES),
        "grade": ("grade", LESSON, "--workers", str(workers)),
        "return": ("return", LESSON, "--for", "canvas", "--to", _BACK),
        "export": ("export", "--roster", _GRADES, *columns, "--scale", "--to", _FILLED),
    }
    taken = {}
    for name, typed in steps.items():
        taken[name] = run(OURS, folder, "katze", *typed)
    _require_all(folder, students)
    return taken


def _deliver(course: Course) -> None:
    """Move the submissions out of `submitted/` into a zip like Canvas's, with Canvas's gradebook next to it."""
    names = sorted(path.name for path in course.submitted.iterdir())
    with zipfile.ZipFile(course.root / _DOWNLOAD, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, name in enumerate(names, 1000):
            late = "_LATE" if number % 10 == 0 else ""
            letters = "".join(filter(str.isalnum, name))
            archive.write(submission(course, name), f"{letters}{late}_{number}_{number + 50_000}_{LESSON}-1.ipynb")
    course.submitted.rename(course.root / "handed_in")
    headings = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", _ASSIGNMENT]
    rows = [[f"Student, {name}", number, f"S{number}", name, "A", ""] for number, name in enumerate(names, 1000)]
    with (course.root / _GRADES).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([headings, ["    Points Possible", "", "", "", "", "20"], *rows])


def _require_all(folder: Path, students: int) -> None:
    with zipfile.ZipFile(folder / _BACK) as archive:
        pages = len(archive.namelist())
    with (folder / _FILLED).open(newline="", encoding="utf-8-sig") as file:
        filled = sum(row["ID"] != "" and row[_ASSIGNMENT] != "" for row in csv.DictReader(file))
    if (pages, filled) != (students, students):
        raise RuntimeError(f"of {students} students {pages} got a page back, and {filled} points")


if __name__ == "__main__":
    main()
