"""Check one answer from a Python file, in a sandbox."""

import argparse
from pathlib import Path

from autograder.commands.shared import DONE, FAILED, add_completed, add_level, known_exercises, tell, weakest_level

EXAMPLE = "katze check ols.fit answer.py"
SLOW = "starting a sandbox"
COURSE = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_completed(parser, "exercise", known_exercises, metavar="EXERCISE_ID", help="such as ols.fit")
    parser.add_argument(
        "file", metavar="FILE.py[:NAME]", help="the file, and the answer's name if it isn't the exercise's"
    )
    parser.add_argument("--visible-only", action="store_true", help="only the cases that students see")
    add_level(parser)


def run(options: argparse.Namespace) -> int:
    from autograder.grading.single import check_file
    from course_lib.learner.current_catalogue import current_catalogue
    from course_lib.learner.folder import work_in
    from course_lib.learner.noting import noted

    level = weakest_level(options)
    checked = check_file(current_catalogue(), options.exercise, options.file, options.visible_only, level)
    verdict, file = checked.verdict, Path(options.file)
    if file.is_file() and work_in(file.parent):  # in a working folder, such as one by `katze learn`, it is progress
        verdict = noted(verdict, checked.cells)
    tell(options, {**verdict.record(), "level": checked.level.name}, [verdict.text()])
    return DONE if verdict.passed else FAILED
