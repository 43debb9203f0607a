"""`katze site`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.commands.adding import Commands, add_json, add_workers, course_of
from autograder.commands.statuses import DONE
from autograder.commands.writing import tell
from autograder.errors import of_extra


def add(commands: Commands) -> None:
    site = commands.add(
        "site",
        _run,
        "build the course as a website, to be read without a network",
        "katze site build/site",
        slow="running the lessons",
    )
    site.add_argument("folder", type=Path, metavar="DIR", help="where to, such as build/site")
    add_workers(site)
    add_json(site)


def _run(options: argparse.Namespace) -> int:
    with of_extra("a website", "site"):
        from autograder.site.build import build_site
    index, remarks = options.folder / "index.html", []
    for line in build_site(course_of(options), options.folder, options.workers):
        print(line, file=sys.stderr)
        remarks.append(line)
    tell(options, {"remarks": remarks, "written": [str(index)]}, [f"written: {index}"])
    return DONE
