"""`katze autograde`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from autograder.commands.adding import Commands, add_json, add_level, add_workers, course_of, weakest_level
from autograder.commands.semester.grade import conclude_run, tell_preview


def add(commands: Commands) -> None:
    autograde = commands.add(
        "autograde",
        _run,
        "grade an assignment of a plain nbgrader course, in boxes",
        "katze autograde ps1 --workers 4",
        slow=lambda options: "comparing" if options.dry_run else "starting the boxes",
        page="docs/plain_nbgrader.md",
    )
    autograde.add_argument("assignment", metavar="ASSIGNMENT", help="its folder's name, such as ps1")
    autograde.add_argument("--student", action="append", metavar="ID", help="only this student (may be repeated)")
    autograde.add_argument(
        "--solution",
        type=Path,
        metavar="FOLDER",
        help="the course's own solution, tried first (default: nbgrader's source)",
    )
    autograde.add_argument("--no-feedback", action="store_true", help="write no feedback pages")
    autograde.add_argument("--force", action="store_true", help="grade everything again, changed or not")
    autograde.add_argument("--dry-run", action="store_true", help="say who would be graded, and why; write nothing")
    add_workers(autograde)
    add_level(autograde)
    add_json(autograde)


def _run(options: argparse.Namespace) -> int:
    from autograder.grading.plain.batch import grade_assignment
    from autograder.grading.plain.preview import preview_assignment
    from autograder.pages.terminal import print_class

    course = course_of(options)
    wanted: dict[str, Any] = {
        "students": options.student,
        "min_level": weakest_level(options),
        "feedback": not options.no_feedback,
        "force": options.force,
    }
    if options.dry_run:
        return tell_preview(preview_assignment(course, options.assignment, **wanted), options)
    run = grade_assignment(course, options.assignment, workers=options.workers, solution=options.solution, **wanted)
    if options.json != "-":
        print_class(run)
    return conclude_run(course, run, options)
