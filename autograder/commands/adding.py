"""Adds and reads the arguments that several commands share."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.cluster.connecting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from autograder.box.confinement.levels import Level
    from autograder.course.course import Course


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
    return [name.replace("-", ".", 1) for text in texts for name in _CHECKED.findall(text)]


_CHECKED = re.compile(r'"grade_id": "([\w-]+)-check"')


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
