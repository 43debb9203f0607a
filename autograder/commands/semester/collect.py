"""Sort a download from a learning platform into submitted/."""

import argparse
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from autograder.commands.shared import DONE, FAILED, add_lesson, course_of, tell
from autograder.platforms.registry import PLATFORMS

EXAMPLE = "katze collect submissions.zip --roster canvas.csv --dry-run"
PAGE = "docs/collecting.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="PATH", help="an archive, a folder or a mailbox, as downloaded")
    parser.add_argument(
        "--from",
        dest="platform",
        choices=[platform.name for platform in PLATFORMS],
        help="the platform that it comes from (default: found from the file names)",
    )
    add_lesson(parser, "--lesson", help="such as 01_ols (default: found from the file names)")
    parser.add_argument(
        "--roster",
        type=Path,
        action="append",
        default=[],
        metavar="FILE.csv",
        help="the students' ids and names: your own table or a platform's (may be repeated; roster.csv is always read)",
    )
    parser.add_argument(
        "--timezone",
        type=_zone,
        metavar="NAME",
        help="the time zone of times that state none, such as Europe/Berlin (default: this machine's)",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be collected, and write nothing")


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise argparse.ArgumentTypeError(f"there is no time zone {name!r}; write one such as Europe/Berlin") from None


def run(options: argparse.Namespace) -> int:
    from autograder.delivery.collect import collect
    from autograder.delivery.report import print_collection

    course = course_of(options)
    collection = collect(
        course,
        options.path,
        platform=options.platform,
        lesson=options.lesson,
        rosters=options.roster,
        zone=options.timezone,
        dry_run=options.dry_run,
    )
    tell(options, collection.record(), lambda console: print_collection(collection, course, console))
    return DONE if collection.is_complete else FAILED
