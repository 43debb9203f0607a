"""Check one answer from a Python file, in a box."""

from __future__ import annotations

import argparse

from autograder.commands.adding import add_completed, add_level, known_exercises, weakest_level
from autograder.commands.statuses import DONE, FAILED
from autograder.commands.writing import tell

EXAMPLE = "katze check ols.fit answer.py"
SLOW = "starting a box"
COURSE = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_completed(parser, "exercise", known_exercises, metavar="EXERCISE_ID", help="such as ols.fit")
    parser.add_argument("file", metavar="FILE.py[:NAME]", help="the answer, and its name if it has another")
    parser.add_argument("--visible-only", action="store_true", help="only the cases that students see")
    add_level(parser)


def run(options: argparse.Namespace) -> int:
    from autograder.grading.single import check_file
    from course_lib.learner.current_catalogue import current_catalogue

    level = weakest_level(options)
    verdict, level = check_file(current_catalogue(), options.exercise, options.file, options.visible_only, level)
    tell(options, {**verdict.record(), "level": level.name}, [verdict.text()])
    return DONE if verdict.passed else FAILED
