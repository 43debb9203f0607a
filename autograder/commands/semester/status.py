"""Say how far each lesson has come, and what comes next."""

import argparse

from autograder.commands.shared import course_of, tell

EXAMPLE = "katze status"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="such as 01_ols (default: all)")


def run(options: argparse.Namespace) -> None:
    from autograder.course.address import Server
    from autograder.status import print_status, status_of

    course = course_of(options)
    found = status_of(course, options.lessons)
    plain = f"; `katze log` and `katze export` tell about {', '.join(course.assignments())}"
    nothing = f"{course.root} has no lessons with exercises{plain if course.assignments() else ''}"
    show = (lambda console: print_status(found, console)) if found else [nothing]
    tell(options, [lesson.record() for lesson in found], show)
    if isinstance(course.gradebook, Server) and options.json != "-":
        print(f"gradebook: {course.gradebook}")
