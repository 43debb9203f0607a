"""`katze export`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.commands.adding import Commands, add_json, course_of
from autograder.commands.statuses import DONE, FAILED
from autograder.commands.writing import writable, write_content, write_json


def add(commands: Commands) -> None:
    export = commands.add(
        "export",
        _run,
        "write the grades as CSV, for a learning platform",
        "katze export --roster roster.csv --to grades.csv",
        page="docs/deadlines.md",
    )
    export.add_argument("lessons", nargs="*", metavar="LESSON", help="such as 01_ols (default: all that are graded)")
    export.add_argument("--to", type=writable, default="-", metavar="FILE.csv", help="where to (default: print it)")
    export.add_argument(
        "--roster", type=Path, metavar="FILE.csv", help="the platform's own export: its rows are filled in"
    )
    export.add_argument(
        "--student-column",
        default="student",
        metavar="NAME",
        help="the column of the students' ids (default: %(default)s)",
    )
    export.add_argument(
        "--lesson-column",
        action="append",
        type=_heading,
        default=[],
        metavar="LESSON=NAME",
        help="the column of a lesson's points (may be repeated)",
    )
    export.add_argument(
        "--add-columns", action="store_true", help="add the columns of lessons that the roster does not have"
    )
    export.add_argument(
        "--scale",
        action="store_true",
        help="where the roster gives another number of points at most, write the same share of those",
    )
    export.add_argument(
        "--total", action="store_true", help="add a column with the total in percent, by the weights of course.toml"
    )
    export.add_argument(
        "--total-column", default="total", metavar="NAME", help="the column of the totals (default: %(default)s)"
    )
    export.add_argument(
        "--deadlines", action="store_true", help="add when each lesson was due and handed in, and what being late costs"
    )
    export.add_argument(
        "--withdrawn", action="store_true", help="export submissions that are no longer there all the same"
    )
    add_json(export)


def _run(options: argparse.Namespace) -> int:
    from autograder.gradebook.grades import read_grades
    from autograder.pages.export import export
    from autograder.platforms.roster import ROSTER_NAME, who_is_who

    course = course_of(options)
    made = export(
        read_grades(course, options.lessons, withdrawn=True),
        options.roster,
        options.student_column,
        dict(options.lesson_column),
        semester=course.semester,
        total_heading=options.total_column if options.total else "",
        deadlines=options.deadlines,
        withdrawn=options.withdrawn,
        people=who_is_who(course)[0],
        scale=options.scale,
        add_columns=options.add_columns,
    )
    if not made.matches:
        print(*made.remarks, sep="\n", file=sys.stderr)
        print(
            f"nobody in column {options.student_column!r} of {options.roster} has a grade, so nothing was written: "
            f"choose another with --student-column, or say in {ROSTER_NAME} who is who",
            file=sys.stderr,
        )
        return FAILED
    is_data_printed = options.json == "-"
    if not (options.to == "-" and is_data_printed):
        write_content(options.to, made.table.content())
    if options.json:
        written = [options.to] if options.to != "-" else []
        write_json(
            options.json,
            {"headings": made.table.headings, "rows": made.table.rows, "remarks": made.remarks, "written": written},
        )
    if not is_data_printed:
        for remark in made.remarks:
            print(remark, file=sys.stderr)
        if options.to != "-":
            print(f"written: {options.to}")
    return DONE


def _heading(text: str) -> tuple[str, str]:
    lesson, equals, heading = text.partition("=")
    if not (lesson and equals and heading):
        raise argparse.ArgumentTypeError(f"{text!r} is not LESSON=NAME, such as 01_ols='Homework 1'")
    return lesson, heading
