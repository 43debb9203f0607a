"""Write a page about a graded class: points, exercises, mistakes, students."""

import argparse

from autograder.commands.shared import add_lesson, course_of, tell, writable, write_content

EXAMPLE = "katze report 01_ols build/report.html"
SLOW = "reading the gradebook"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_lesson(parser)
    parser.add_argument("file", type=writable, metavar="FILE.html", help="the file to write (-: print it)")


def run(options: argparse.Namespace) -> None:
    from autograder.pages.class_report import class_page, class_record

    course = course_of(options)
    if not options.file == options.json == "-":
        write_content(options.file, class_page(course, options.lesson).encode())
    record = class_record(course, options.lesson) if options.json else None
    tell(options, record, [f"written: {options.file}"] if options.file != "-" else [])
