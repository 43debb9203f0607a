"""`katze check`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json, add_level, known_exercises, weakest_level
from autograder.commands.statuses import DONE, FAILED
from autograder.commands.writing import tell


def add(commands: Commands) -> None:
    check = commands.add(
        "check",
        _run,
        "check one answer from a Python file, in a box",
        "katze check ols.fit answer.py",
        course=False,
        slow="starting a box",
    )
    named = check.add_argument("exercise", metavar="EXERCISE_ID", help="such as ols.fit")
    named.completer = lambda **_asked: known_exercises()  # type: ignore[attr-defined]
    check.add_argument("file", metavar="FILE.py[:NAME]", help="the answer, and its name if it has another")
    check.add_argument("--visible-only", action="store_true", help="only the cases that students see")
    add_level(check)
    add_json(check)


def _run(options: argparse.Namespace) -> int:
    from autograder.grading.single import check_file
    from course_lib.learner.current_catalogue import current_catalogue

    level = weakest_level(options)
    verdict, level = check_file(current_catalogue(), options.exercise, options.file, options.visible_only, level)
    tell(options, {**verdict.record(), "level": level.name}, [verdict.text()])
    return DONE if verdict.passed else FAILED
