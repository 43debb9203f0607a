"""`katze init`."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from autograder.commands.adding import Commands, add_json
from autograder.commands.statuses import DONE
from autograder.commands.writing import tell


def add(commands: Commands) -> None:
    init = commands.add(
        "init",
        _run,
        "begin a course of your own: a lesson, its exercises, a class",
        "katze init statistics",
        course=False,
        page="docs/any_course.md",
    )
    init.add_argument("folder", type=Path, metavar="DIR", help="where to: a new folder, or an empty one")
    add_json(init)


def _run(options: argparse.Namespace) -> int:
    from autograder.starter.new_course import write_course

    written = [str(options.folder / place) for place in write_course(options.folder)]
    following = f"\nNext: cd {shlex.quote(str(options.folder))}, then read README.md, and run `katze release`."
    tell(options, {"written": written}, [*written, following])
    return DONE
