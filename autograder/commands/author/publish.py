"""Write the class edition: lessons and library without their answers."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.shared import DONE, FAILED, course_of, tell
from autograder.errors import BadInput
from autograder.words import count

if TYPE_CHECKING:
    from autograder.course.course import Course
    from autograder.edition.publish import Plan
    from autograder.edition.recording import Recorded

EXAMPLE = "katze publish ../class --lessons 00 01 --closed 00"
SLOW = "reading the exercises"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="the edition's folder: a new one, or that of an earlier edition"
    )
    for option, said in (
        ("--lessons", "such as 00, or 01_ols"),
        ("--closed", "the lessons among them whose answers students may read"),
        ("--withhold", "leave out the answers of these lessons, too"),
    ):
        parser.add_argument(option, nargs="+", default=[], metavar="LESSON", help=said)
    parser.add_argument(
        "--repository",
        default="",
        metavar="OWNER/NAME",
        help="where on GitHub students will find it (default: nowhere)",
    )
    parser.add_argument("--revision", default="main", help="a branch, tag or commit there (default: main)")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; compare every verdict, and search DIR for answers"
    )


def run(options: argparse.Namespace) -> int:
    from autograder.edition.publish import plan_edition, publish

    course = course_of(options)
    if options.check:
        return _check(course, options)
    if not options.lessons:
        raise BadInput("name the lessons that go into the edition: --lessons 00 01")
    plan = plan_edition(course, options.lessons, options.closed, options.withhold)
    recorded = publish(course, options.folder.absolute(), plan, options.repository, options.revision)
    remarks = list(_remarks(plan, recorded))
    exercises = [one.exercise for one in recorded]
    record = {"lessons": plan.lessons, "exercises": exercises, "remarks": remarks, "written": [str(options.folder)]}
    written = f"{options.folder}: {count(len(plan.lessons), 'lesson')}, {count(len(recorded), 'exercise')}"
    tell(options, record, [written, *remarks])
    return DONE


def _remarks(plan: Plan, recorded: list[Recorded]) -> Iterator[str]:
    """Yield remarks about what was written, a line each."""
    for module, lessons in plan.withheld.items():
        yield f"left out: {module}, for {' and '.join(lessons)}"
    for lesson, modules in plan.without.items():
        yield f"demos of {lesson} that use {', '.join(modules)} say what is missing"
    others: dict[str, list[str]] = {}
    for module, lessons in plan.open.items():
        others.setdefault(lessons[0], []).append(module)
    for lesson, names in others.items():
        number = lesson.partition("_")[0]
        yield f"students can still read {', '.join(names)}, although {lesson} asks for it (--withhold {number})"
    for one in recorded:
        for name, calls in one.calls.items():
            known = f"{count(calls, 'call')} of {name} recorded; others are checked only in the full course"
            yield f"{one.exercise}: {known}"
        for name in one.left_out:
            yield f"{one.exercise}: {name!r} is the same for every seed, so it cannot confirm a mistake here"


def _check(course: Course, options: argparse.Namespace) -> int:
    from autograder.course.notebook_definitions import released_stubs
    from autograder.edition.leaks import find_leaks
    from autograder.edition.publish import manifest_of
    from autograder.edition.verdicts import compare_lesson, summary

    folder: Path = options.folder
    edition = manifest_of(folder)
    lessons = edition["lessons"]
    released = {lesson: course.release_notebook(lesson) for lesson in lessons}
    stubs = released_stubs(released.values())
    compared = [one for lesson in lessons for one in compare_lesson(folder, course.exercises, lesson, stubs)]
    leaks = find_leaks(folder, course.exercises, released, secrets.randbits(64), edition["closed"])
    record = {"lessons": lessons, "verdicts": summary(compared), "findings": leaks, "written": []}
    searched = f"searched for answers, solutions and hidden cases: {count(len(leaks), 'finding')}"
    tell(options, record, [*summary(compared), *leaks, searched])
    return FAILED if leaks or any(one.other for one in compared) else DONE
