"""`katze thaw`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json, add_lesson, course_of
from autograder.commands.statuses import DONE
from autograder.commands.writing import tell
from autograder.errors import BadInput


def add(commands: Commands) -> None:
    thaw = commands.add("thaw", _run, "let a frozen lesson be graded again", "katze thaw 01_ols")
    add_lesson(thaw)
    add_json(thaw)


def _run(options: argparse.Namespace) -> int:
    from autograder.gradebook.access import open_gradebook
    from autograder.gradebook.changes.frozen import thaw

    course = course_of(options)
    with open_gradebook(course.gradebook, options.lesson) as book:
        if not thaw(book, options.lesson):
            raise BadInput(f"{options.lesson} is not frozen")
    thawed = f"{options.lesson} is thawed: `katze grade {options.lesson}` grades what has changed"
    told = {"lesson": options.lesson, "frozen": False, "notices": list(book.notices)}
    tell(options, told, [*book.notices, thawed])
    return DONE
