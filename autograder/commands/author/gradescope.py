"""Write a lesson's autograder for Gradescope."""

import argparse
from pathlib import Path

from autograder.commands.shared import add_lesson, course_of, make_folder, tell, writable
from autograder.errors import BadInput
from autograder.limits import size
from autograder.words import count

EXAMPLE = "katze gradescope 01_ols --to build/autograder.zip"
SLOW = "reading the lesson"
PAGE = "docs/gradescope.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_lesson(parser)
    parser.add_argument(
        "--to",
        type=writable,
        default="autograder.zip",
        metavar="FILE",
        help="the file to write (default: autograder.zip)",
    )


def run(options: argparse.Namespace) -> None:
    from autograder.hosts.gradescope.bundle import write_bundle

    if options.to == "-":
        raise BadInput("an archive cannot be printed; name a file with --to")
    course, target = course_of(options), Path(options.to)
    make_folder(target)
    bundled = write_bundle(course, options.lesson, target)
    lines = [
        f"{target}: {options.lesson}, {count(bundled.exercises, 'exercise')}",
        f"on Gradescope: {count(bundled.points, 'autograder point')}, and at least {size(bundled.memory)} of memory",
    ]
    if bundled.by_hand:
        lines.append(f"a person gives {count(bundled.by_hand, 'more point')} there, for written answers")
    lines.append("It holds answers, and the secret of its hidden inputs: upload it, and do not share it.")
    counts = {"exercises": bundled.exercises, "points": bundled.points, "points_by_hand": bundled.by_hand}
    tell(options, {"lesson": options.lesson, **counts, "written": [str(target)]}, lines)
