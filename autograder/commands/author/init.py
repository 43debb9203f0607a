"""Begin a course of your own: a lesson, its exercises, a class."""

import argparse
import shlex
from pathlib import Path

from autograder.commands.shared import tell

EXAMPLE = "katze init statistics"
PAGE = "docs/any_course.md"
COURSE = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="the course's folder: a new one, or an empty one")


def run(options: argparse.Namespace) -> None:
    from autograder.starter.new_course import write_course

    written = [str(options.folder / place) for place in write_course(options.folder)]
    following = f"\nNext: cd {shlex.quote(str(options.folder))}, then read README.md, and run `katze release`."
    tell(options, {"written": written}, [*written, following])
