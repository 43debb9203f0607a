"""`katze thaw`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_lesson
from autograder.commands.statuses import DONE
from autograder.errors import BadInput


def add(commands: Commands) -> None:
    """Add `katze thaw`."""
    add_lesson(commands.add("thaw", _run, "let a frozen lesson be graded again", "katze thaw 01_attention"))


def _run(options: argparse.Namespace) -> int:
    from autograder.course.course import Course
    from autograder.gradebook.changes.frozen import thaw
    from autograder.gradebook.file import GradebookFile

    course = Course.find(options.course)
    with GradebookFile(course.gradebook) as file:
        if not thaw(file, options.lesson):
            raise BadInput(f"{options.lesson} is not frozen")
    for notice in file.notices:
        print(notice)
    print(f"{options.lesson} is thawed: `katze grade {options.lesson}` grades what has changed")
    return DONE
