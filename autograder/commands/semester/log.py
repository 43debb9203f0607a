"""`katze log`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json, add_lesson, course_of
from autograder.commands.statuses import DONE
from autograder.commands.writing import tell


def add(commands: Commands) -> None:
    log = commands.add(
        "log",
        _run,
        "tell the story of one grade: how it came about, and everything that changed it",
        "katze log ada 01_ols",
    )
    log.add_argument("student", metavar="STUDENT", help="the student's id")
    add_lesson(log)
    log.add_argument("--all", action="store_true", dest="every_case", help="every case, with its time")
    add_json(log)


def _run(options: argparse.Namespace) -> int:
    from autograder.log import print_story, story_of

    story = story_of(course_of(options), options.student, options.lesson)
    tell(options, story, lambda: print_story(story, every_case=options.every_case))
    return DONE
