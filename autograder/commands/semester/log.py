"""Tell the story of one grade: how it came about, and everything that changed it."""

import argparse

from autograder.commands.shared import add_lesson, course_of, tell

EXAMPLE = "katze log ada 01_ols"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("student", metavar="STUDENT", help="the student's id")
    add_lesson(parser)
    parser.add_argument("--all", action="store_true", dest="every_case", help="show every case, with its time")


def run(options: argparse.Namespace) -> None:
    from autograder.log import print_story, story_of

    story = story_of(course_of(options), options.student, options.lesson)
    tell(options, story, lambda console: print_story(story, console, every_case=options.every_case))
