"""What the commands share: their exit statuses, the arguments of several, and how results are written and printed."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from autograder.cluster.connecting import PATIENCE_SECONDS
from autograder.console import output_console

if TYPE_CHECKING:
    from autograder.box.confinement.levels import Level
    from autograder.course.course import Course

DONE = 0
FAILED = 1
"""The grader or a check failed, or a student could not be graded because of a folder's name."""

MISUSED = 2
"""Wrong usage, or bad input."""

BUILT = "build"
"""The folder for commands' output. It and its subfolders are created when needed; all other folders must exist."""


def course_of(options: argparse.Namespace) -> Course:
    """Return the course that a command works on.

    Raises:
        BadInput: there is no course, or its settings cannot be used.
    """
    from autograder.course.course import Course

    return Course.find(options.course)


def add_completed(parser: argparse.ArgumentParser, name: str, names: Callable[[], list[str]], **options: Any) -> None:
    """Add an argument that a shell completes with these names."""
    added = parser.add_argument(name, **options)
    added.completer = lambda **_asked: names()  # type: ignore[attr-defined]


def add_lesson(
    parser: argparse.ArgumentParser, name: str = "lesson", metavar: str = "LESSON", help: str = "such as 01_ols"
) -> None:
    """Add the argument for a lesson."""
    add_completed(parser, name, known_lessons, metavar=metavar, help=help)


def known_lessons() -> list[str]:
    """Return the lessons of the course that the shell is in, for completion, without running the course's settings."""
    from course_lib.learner.current_catalogue import current_catalogue

    return list(current_catalogue(Path.cwd()).modules)


def known_exercises() -> list[str]:
    """Return the ids of the exercises in its notebooks, for completion: importing the exercises would take seconds."""
    from autograder.course.released import released_notebooks

    texts = (notebook.read_text(encoding="utf-8") for notebook in released_notebooks(Path.cwd()).values())
    return [name.replace("-", ".", 1) for text in texts for name in re.findall(r'"grade_id": "([\w-]+)-check"', text)]


def add_folder(parser: argparse.ArgumentParser, default: Path) -> None:
    """Add the argument for the folder that a command creates."""
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=default,
        metavar="DIR",
        help="the folder to write to (default: %(default)s)",
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add `--workers`: how many sandboxes run at once."""
    default = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument(
        "--workers", type=_positive, default=default, metavar="N", help="sandboxes at once (default: cores)"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    """Add `--scheduler` for a Dask cluster, `--scheduler-wait` and `--trust-scheduler`."""
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask cluster: its scheduler's address, or `local` to start one here"
    )
    parser.add_argument(
        "--scheduler-wait",
        type=_seconds,
        default=PATIENCE_SECONDS,
        metavar="SECONDS",
        help=f"how long to wait for the scheduler, and then for a worker (default: {PATIENCE_SECONDS:g})",
    )
    parser.add_argument(
        "--trust-scheduler",
        action="store_true",
        help="allow an unencrypted connection to a scheduler on another machine, where nobody else can reach it",
    )


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError("must be more than 0")
    return number


def add_level(parser: argparse.ArgumentParser) -> None:
    """Add `--min-level` and `--container`, which `weakest_level` reads."""
    levels = ("L0", "L1", "L2", "L3", "L4")
    parser.add_argument("--min-level", choices=levels, help="refuse to grade in weaker sandboxes than this")
    parser.add_argument(
        "--container", action="store_const", const="L4", dest="min_level", help="grade in a container: --min-level L4"
    )


def weakest_level(options: argparse.Namespace) -> Level | None:
    """Return the weakest acceptable sandbox level; None if no option sets one."""
    from autograder.box.confinement.levels import Level

    return Level[options.min_level] if options.min_level else None


def writable(name: str) -> str:
    """Return the name of a file, checked to be writable before the work is done rather than after.

    Raises:
        argparse.ArgumentTypeError: the file cannot be written.
    """
    path = Path(name)
    folder = path.parent
    while BUILT in folder.parts and not folder.exists():  # `make_folder` will create it
        folder = folder.parent
    if name != "-" and (path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK)):
        missing = "" if folder.exists() else f"there is no folder {folder}; "
        raise argparse.ArgumentTypeError(f"cannot write {name}: {missing}name a file in a folder that exists")
    return name


def make_folder(path: Path) -> None:
    """Create the folder of a file that is about to be written, if it is below `build`."""
    if BUILT in path.parent.parts:
        path.parent.mkdir(parents=True, exist_ok=True)


def tell(
    options: argparse.Namespace,
    data: Any,
    shown: Iterable[str] | Callable[[Console], object],
    remarks: Iterable[str] = (),
) -> None:
    """Report a command's results: as JSON to where `--json` says, and as text unless JSON goes to the terminal.

    Args:
        options: the command's options.
        data: the results as JSON data.
        shown: the lines for the terminal, or a function that prints to it.
        remarks: lines for standard error, printed first.
    """
    if options.json:
        write_content(options.json, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())
    if options.json == "-":
        return
    for remark in remarks:
        print(remark, file=sys.stderr)
    if callable(shown):
        shown(output_console())
    else:
        for line in shown:
            print(line)


def write_content(destination: str, content: bytes) -> None:
    """Write to a file, or to standard output if the destination is "-"."""
    if destination == "-":
        sys.stdout.write(content.decode().replace("\r\n", "\n"))
    else:
        make_folder(Path(destination))
        Path(destination).write_bytes(content)
