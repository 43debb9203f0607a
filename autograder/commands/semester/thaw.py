"""Let a frozen lesson be graded again."""

import argparse
from shlex import quote

from autograder.commands.shared import add_lesson, course_of, tell
from autograder.errors import BadInput

EXAMPLE = "katze thaw 01_ols"
add_arguments = add_lesson


def run(options: argparse.Namespace) -> None:
    from autograder.gradebook.access import open_gradebook
    from autograder.gradebook.changes.frozen import thaw

    course, lesson = course_of(options), options.lesson
    with open_gradebook(course.gradebook, lesson) as book:
        if not thaw(book, lesson):
            raise BadInput(f"{lesson} is not frozen")
    said = f"{lesson} is thawed: `katze grade {quote(lesson)}` grades what has changed"
    tell(options, {"lesson": lesson, "frozen": False, "notices": list(book.notices)}, [*book.notices, said])
