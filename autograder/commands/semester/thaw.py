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
    from autograder.gradebook.access import hold
    from autograder.gradebook.changes.frozen import thaw

    course = Course.find(options.course)
    with hold(course.gradebook, options.lesson) as book:
        if not thaw(book, options.lesson):
            raise BadInput(f"{options.lesson} is not frozen")
    for notice in book.notices:
        print(notice)
    print(f"{options.lesson} is thawed: `katze grade {options.lesson}` grades what has changed")
    return DONE
