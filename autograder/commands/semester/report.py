"""`katze report`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_lesson
from autograder.commands.statuses import DONE
from autograder.commands.writing import writable, write


def add(commands: Commands) -> None:
    """Add `katze report`."""
    report = commands.add(
        "report",
        _run,
        "write a page about a graded class: points, exercises, mistakes, students",
        "katze report 01_attention build/report.html",
        slow="reading the gradebook",
    )
    add_lesson(report)
    report.add_argument("file", type=writable, metavar="FILE.html", help="where to (-: print it)")


def _run(options: argparse.Namespace) -> int:
    from autograder.course.course import Course
    from autograder.pages.class_report import class_page

    write(options.file, class_page(Course.find(options.course), options.lesson).encode())
    if options.file != "-":
        print(f"written: {options.file}")
    return DONE
