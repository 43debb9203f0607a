"""`katze status`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json, course_of
from autograder.commands.statuses import DONE
from autograder.commands.writing import tell
from autograder.console import output_console


def add(commands: Commands) -> None:
    status = commands.add("status", _run, "say how far each lesson has come, and what comes next", "katze status")
    status.add_argument("lessons", nargs="*", metavar="LESSON", help="such as 01_ols (default: all)")
    add_json(status)


def _run(options: argparse.Namespace) -> int:
    from autograder.course.address import Server
    from autograder.status import print_status, status_of

    course = course_of(options)
    found = status_of(course, options.lessons)
    tell(options, [one.record() for one in found], lambda: print_status(found, output_console()))
    if isinstance(course.gradebook, Server) and options.json != "-":
        print(f"gradebook: {course.gradebook}")
    return DONE
