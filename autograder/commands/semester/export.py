"""Write the grades as CSV, for a learning platform."""

import argparse
import sys
from pathlib import Path

from autograder.commands.shared import DONE, FAILED, course_of, tell, writable, write_content

EXAMPLE = "katze export --roster roster.csv --to grades.csv"
PAGE = "docs/deadlines.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="such as 01_ols (default: all that are graded)")
    parser.add_argument(
        "--to", type=writable, default="-", metavar="FILE.csv", help="the file to write (default: print it)"
    )
    parser.add_argument(
        "--roster", type=Path, metavar="FILE.csv", help="the platform's own export: its rows are filled in"
    )
    for option, default, said in (
        ("--student-column", "student", "the column of the students' ids (default: %(default)s)"),
        ("--total-column", "total", "the column of the totals (default: %(default)s)"),
    ):
        parser.add_argument(option, default=default, metavar="NAME", help=said)
    parser.add_argument(
        "--lesson-column",
        action="append",
        type=_heading,
        default=[],
        metavar="LESSON=NAME",
        help="the column of a lesson's points (may be repeated)",
    )
    for option, said in (
        ("--add-columns", "add the columns of lessons that the roster does not have"),
        ("--scale", "where the roster has another maximum, scale the points to it"),
        ("--total", "add a column with the total in percent, by the weights of course.toml"),
        ("--deadlines", "add when each lesson was due and handed in, and what being late costs"),
        ("--withdrawn", "also export grades whose submissions are no longer there"),
    ):
        parser.add_argument(option, action="store_true", help=said)


def run(options: argparse.Namespace) -> int:
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
            f"choose another with --student-column, or add the students' names there to {ROSTER_NAME}",
            file=sys.stderr,
        )
        return FAILED
    if not options.to == options.json == "-":
        write_content(options.to, made.table.content())
    written = [options.to] if options.to != "-" else []
    record = {"headings": made.table.headings, "rows": made.table.rows, "remarks": made.remarks, "written": written}
    tell(options, record, [f"written: {path}" for path in written], made.remarks)
    return DONE


def _heading(text: str) -> tuple[str, str]:
    lesson, equals, heading = text.partition("=")
    if not (lesson and equals and heading):
        raise argparse.ArgumentTypeError(f"{text!r} is not LESSON=NAME, such as 01_ols='Homework 1'")
    return lesson, heading
