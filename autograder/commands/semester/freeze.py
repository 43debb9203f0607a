"""`katze freeze`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json, add_lesson, course_of
from autograder.commands.statuses import DONE
from autograder.commands.writing import tell
from autograder.errors import BadInput


def add(commands: Commands) -> None:
    freeze = commands.add(
        "freeze",
        _run,
        "let the grades of a finished lesson stand: nothing in it is graded until it is thawed",
        "katze freeze 01_ols",
        page="docs/changes.md",
    )
    add_lesson(freeze)
    add_json(freeze)


def _run(options: argparse.Namespace) -> int:
    from autograder.gradebook.access import open_gradebook
    from autograder.gradebook.changes.frozen import freeze

    course = course_of(options)
    with open_gradebook(course.gradebook, options.lesson) as book:
        if not freeze(book, options.lesson):
            course.release_notebook(options.lesson)  # a misspelt lesson is answered with those that there are
            raise BadInput(f"nothing of {options.lesson} has been graded yet; run `{course.grading(options.lesson)}`")
    stand = f"`katze grade` leaves its grades as they are until `katze thaw {options.lesson}`"
    told = {"lesson": options.lesson, "frozen": True, "notices": list(book.notices)}
    tell(options, told, [*book.notices, f"{options.lesson} is frozen: {stand}"])
    return DONE
