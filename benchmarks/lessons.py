"""How much processor time each lesson's notebook takes, with all its answers, on as few as one core.

    python -m benchmarks.lessons [LESSON ...] [--json FILE]

Counted is what its kernel and that kernel's own processes compute, waiting left out, with one thread each and without a
network. A lesson may take two minutes, and all of them fifteen.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
from pathlib import Path

from autograder.course.course import Course
from autograder.site.executed import SETTINGS, execute_notebook, read_solution
from benchmarks.table import Row, report
from course_lib import exercises

ONE, ALL = 120.0, 900.0
"""The most processor seconds that one lesson and all together may take."""


def main() -> None:
    """Run the lessons one after another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*", metavar="LESSON")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    course, taken = Course.find(Path(__file__).parent), {}
    for lesson in arguments.lessons or exercises.LESSONS:
        with tempfile.TemporaryDirectory(prefix="katze-lesson-") as folder:
            before = _computed()
            environment = {**os.environ, "KATZE_WORK": folder, **SETTINGS}
            execute_notebook(read_solution(course, lesson), Path(folder), environment)
            taken[lesson] = _computed() - before
    rows = [Row.of(lesson, seconds, ONE, "s", more=False, goal=1.0) for lesson, seconds in taken.items()]
    if not arguments.lessons:
        rows.append(Row.of("all lessons", sum(taken.values()), ALL, "s", more=False, goal=1.0))
    report("processor time of a lesson's notebook", rows, arguments.json)


def _computed() -> float:
    """Processor seconds of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
