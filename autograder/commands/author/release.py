"""Build the students' notebooks from the solutions."""

import argparse

from autograder.commands.shared import DONE, FAILED, course_of, tell
from autograder.words import count

EXAMPLE = "katze release 01_ols"
SLOW = "reading the solutions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "lessons",
        nargs="*",
        metavar="LESSON",
        help="such as 01_ols (default: all); those that have not changed are not built again",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the release is out of date")


def run(options: argparse.Namespace) -> int:
    from autograder.course.store.builds import changed_lessons, chosen_lessons, remember

    course = course_of(options)
    if options.check:
        from autograder.course.release import check_release

        drift = check_release(course, options.lessons or None)
        said = "the release is out of date: run `katze release`" if drift else "the release is up to date"
        tell(options, {"drift": drift, "written": [], "unchanged": []}, [said], drift)
        return FAILED if drift else DONE
    chosen = chosen_lessons(course, options.lessons)
    changed = changed_lessons(course, chosen)
    unchanged = [lesson for lesson in chosen if lesson not in changed]
    written: list[str] = []
    if changed:
        from autograder.course.release import release

        written = [str(path) for path in release(course, changed)]
        remember(course, changed)
    rest = [f"{count(len(unchanged), 'lesson')} unchanged since the last release"] if unchanged else []
    tell(options, {"drift": [], "written": written, "unchanged": unchanged}, [*written, *rest])
    return DONE
