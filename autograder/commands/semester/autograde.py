"""`katze autograde`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json, add_level, add_workers, weakest_level
from autograder.commands.semester.grade import conclude_run


def add(commands: Commands) -> None:
    """Add `katze autograde`."""
    autograde = commands.add(
        "autograde",
        _run,
        "grade an assignment of a plain nbgrader course, in boxes",
        "katze autograde ps1 --workers 4",
        slow="starting the boxes",
    )
    autograde.add_argument("assignment", metavar="ASSIGNMENT", help="its folder's name, such as ps1")
    autograde.add_argument("--student", action="append", metavar="ID", help="only this student (may be repeated)")
    autograde.add_argument("--no-feedback", action="store_true", help="write no feedback pages")
    autograde.add_argument("--force", action="store_true", help="grade everything again, changed or not")
    add_workers(autograde)
    add_level(autograde)
    add_json(autograde)


def _run(options: argparse.Namespace) -> int:
    from autograder.course.course import Course
    from autograder.pages.terminal import print_class
    from autograder.plain.batch import grade_assignment

    course = Course.find(options.course)
    run = grade_assignment(
        course,
        options.assignment,
        students=options.student,
        workers=options.workers,
        min_level=weakest_level(options),
        feedback=not options.no_feedback,
        force=options.force,
    )
    if options.json != "-":
        print_class(run)
    return conclude_run(course, run, options)
