"""Check one answer from a Python file, in a sandbox."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.adding import add_completed, add_level, known_exercises, weakest_level
from autograder.commands.statuses import DONE, FAILED
from autograder.commands.writing import tell

if TYPE_CHECKING:
    from autograder.grading.single import Checked
    from course_lib.judging.verdict import Verdict

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

    level = weakest_level(options)
    checked = check_file(current_catalogue(), options.exercise, options.file, options.visible_only, level)
    verdict = _counted(checked, Path(options.file))
    tell(options, {**verdict.record(), "level": checked.level.name}, [verdict.text()])
    return DONE if verdict.passed else FAILED


def _counted(checked: Checked, file: Path) -> Verdict:
    """Return the verdict, and count it as progress if the file is in a working folder, such as one by `katze learn`."""
    from course_lib.learner.folder import work_in
    from course_lib.learner.noting import noted

    if not file.is_file() or not work_in(file.parent):
        return checked.verdict
    return noted(checked.verdict, checked.cells)
