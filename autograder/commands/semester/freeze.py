"""Keep the grades of a finished lesson as they are: nothing in it is graded until you thaw it."""

import argparse
from shlex import quote

from autograder.commands.shared import add_lesson, course_of, tell
from autograder.errors import BadInput

EXAMPLE = "katze freeze 01_ols"
PAGE = "docs/changes.md"
add_arguments = add_lesson


def run(options: argparse.Namespace) -> None:
    from autograder.gradebook.access import open_gradebook
    from autograder.gradebook.changes.frozen import freeze

    course, lesson = course_of(options), options.lesson
    with open_gradebook(course.gradebook, lesson) as book:
        if not freeze(book, lesson):
            course.release_notebook(lesson)  # for a misspelled lesson, its error lists the existing ones
            raise BadInput(f"nothing of {lesson} has been graded yet; run `{course.grading(lesson)}`")
    said = f"{lesson} is frozen: `katze grade` leaves its grades as they are until `katze thaw {quote(lesson)}`"
    tell(options, {"lesson": lesson, "frozen": True, "notices": list(book.notices)}, [*book.notices, said])
