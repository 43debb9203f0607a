"""List the exercises."""

import argparse

from autograder.commands.shared import tell
from autograder.errors import BadInput

EXAMPLE = "katze exercises --lesson 01_ols"
COURSE = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lesson", help="only those of this lesson")


def run(options: argparse.Namespace) -> None:
    from autograder.pages.terminal import exercise_records, print_exercises
    from course_lib.exercises.catalogue import NO_EXERCISES
    from course_lib.learner.current_catalogue import current_catalogue

    catalogue = current_catalogue()
    if not catalogue.modules:
        raise BadInput(NO_EXERCISES)
    records = exercise_records(catalogue, options.lesson)
    tell(options, records, lambda console: print_exercises(records, console))
