"""Measures the processor time of each lesson's notebook, with all answers filled in, on one core or more.

    python -m benchmarks.lessons [LESSON ...] [--json FILE]

It counts what the kernel and its child processes compute, without waiting, with one thread each and no network. A
lesson may take 90 seconds, and all of them ten minutes.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.course.course import Course
from autograder.site.executed import SETTINGS, execute_notebook, read_solution
from benchmarks.grading.commands import processor_seconds
from benchmarks.table import Row, arguments, report
from course_lib import exercises

ONE, ALL = 90.0, 600.0
"""The most processor seconds for one lesson, and for all together."""


def main() -> None:
    """Run the lessons one after another, and report their times."""
    parser = arguments(__doc__)
    parser.add_argument("lessons", nargs="*", metavar="LESSON")
    options = parser.parse_args()
    report("processor time of a lesson's notebook", _measured(options.lessons), options.json)


def _measured(lessons: list[str]) -> Iterator[Row]:
    course, total = Course.find(Path(__file__).parent), 0.0
    for lesson in lessons or exercises.LESSONS:
        with tempfile.TemporaryDirectory(prefix="katze-lesson-") as folder:
            before = processor_seconds()
            environment = {**os.environ, "KATZE_WORK": folder, **SETTINGS}
            execute_notebook(read_solution(course, lesson), Path(folder), environment)
            taken = processor_seconds() - before
        total += taken
        yield Row.of(lesson, taken, ONE, "s", more=False, goal=1.0)
    if not lessons:
        yield Row.of("all lessons", total, ALL, "s", more=False, goal=1.0)


if __name__ == "__main__":
    main()
