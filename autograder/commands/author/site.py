"""Build the course as a website that can be read offline."""

import argparse
import sys
from pathlib import Path

from autograder.commands.shared import add_workers, course_of, tell
from autograder.errors import of_extra

EXAMPLE = "katze site build/site"
SLOW = "running the lessons"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder to write, such as build/site")
    add_workers(parser)


def run(options: argparse.Namespace) -> None:
    with of_extra("a website", "site"):
        from autograder.site.build import build_site
    index, remarks = options.folder / "index.html", []
    for line in build_site(course_of(options), options.folder, options.workers):
        print(line, file=sys.stderr)
        remarks.append(line)
    tell(options, {"remarks": remarks, "written": [str(index)]}, [f"written: {index}"])
