"""Prove that every check accepts right answers and names wrong ones."""

import argparse

from autograder.commands.shared import DONE, FAILED, course_of, tell
from autograder.errors import BadInput

EXAMPLE = "katze certify 01_ols"
SLOW = "trying every answer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="lessons, or exercises such as ols.fit (default: all)")


def run(options: argparse.Namespace) -> int:
    from autograder.certify import certify, print_table
    from autograder.course.notebook_definitions import released_stubs
    from course_lib.exercises.catalogue import NO_EXERCISES, UnknownName

    course = course_of(options)
    if not course.exercises.modules:
        raise BadInput(NO_EXERCISES)
    stubs = released_stubs(course.release_notebook(lesson) for lesson in course.lessons())
    try:
        exercises = course.exercises.named(options.names) if options.names else course.exercises.all()
    except UnknownName as problem:
        raise BadInput(str(problem)) from None
    certificates = certify(exercises, stubs)
    records = [certificate.record() for certificate in certificates]
    tell(options, records, lambda console: print_table(certificates, console))
    return DONE if all(certificate.holds for certificate in certificates) else FAILED
