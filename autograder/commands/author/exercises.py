"""`katze exercises`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json
from autograder.commands.statuses import DONE
from autograder.commands.writing import tell
from autograder.errors import BadInput


def add(commands: Commands) -> None:
    listed = commands.add("exercises", _run, "list the exercises", "katze exercises --lesson 01_ols", course=False)
    listed.add_argument("--lesson", help="only those of this lesson")
    add_json(listed)


def _run(options: argparse.Namespace) -> int:
    from autograder.pages.terminal import exercise_records, print_exercises
    from course_lib.exercises.catalogue import NO_EXERCISES
    from course_lib.learner.current_catalogue import current_catalogue

    catalogue = current_catalogue()
    if not catalogue.modules:
        raise BadInput(NO_EXERCISES)
    records = exercise_records(catalogue, options.lesson)
    tell(options, records, lambda: print_exercises(records))
    return DONE
