"""`katze report`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json, add_lesson, course_of
from autograder.commands.statuses import DONE
from autograder.commands.writing import writable, write_content, write_json


def add(commands: Commands) -> None:
    report = commands.add(
        "report",
        _run,
        "write a page about a graded class: points, exercises, mistakes, students",
        "katze report 01_ols build/report.html",
        slow="reading the gradebook",
    )
    add_lesson(report)
    report.add_argument("file", type=writable, metavar="FILE.html", help="where to (-: print it)")
    add_json(report)


def _run(options: argparse.Namespace) -> int:
    from autograder.pages.class_report import class_page, class_record

    course, is_data_printed = course_of(options), options.json == "-"
    if not (options.file == "-" and is_data_printed):
        write_content(options.file, class_page(course, options.lesson).encode())
    if options.json:
        write_json(options.json, class_record(course, options.lesson))
    if options.file != "-" and not is_data_printed:
        print(f"written: {options.file}")
    return DONE
