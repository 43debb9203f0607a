"""Look at a notebook the way grading will, before you submit it."""

import argparse
import sys
from pathlib import Path

from autograder.commands.shared import make_folder, tell

EXAMPLE = "katze preflight 01_ols.ipynb --run"
COURSE = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, metavar="FILE.ipynb", help="the notebook, or a folder, that you want to submit"
    )
    parser.add_argument("--lesson", help="the lesson that it is meant for (default: found from its cells)")
    parser.add_argument(
        "--release", type=Path, metavar="FILE.ipynb", help="the notebook as you were given it (default: found)"
    )
    parser.add_argument(
        "--run", dest="in_box", action="store_true", help="run it in a sandbox, and check what students can check"
    )
    parser.add_argument("--write", type=Path, metavar="OUT.ipynb", help="write a repaired copy")


def run(options: argparse.Namespace) -> int:
    from autograder.errors import Unreadable
    from autograder.preflight import UNREADABLE, preflight, print_preflight, write_mended

    try:
        found = preflight(options.file, options.lesson, options.release, options.in_box)
    except Unreadable as problem:
        print(f"{options.file}: {problem.reason}", file=sys.stderr)
        return UNREADABLE
    if options.write:
        make_folder(options.write)
        write_mended(found, options.write)
    tell(options, found.record(), lambda console: print_preflight(found, console))
    if options.write and options.json != "-":
        print(f"written: {options.write}")
    return found.status
