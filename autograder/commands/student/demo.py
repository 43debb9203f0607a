"""`katze demo`."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.commands.adding import Commands, add_workers


def add(commands: Commands) -> None:
    demo = commands.add(
        "demo",
        _run,
        "train a small translator, build the release, and grade the bundled class",
        "katze demo build/demo",
        course=False,
        slow="the demo begins",
    )
    demo.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path("build/demo"),
        metavar="DIR",
        help="where to (default: %(default)s)",
    )
    add_workers(demo)


def _run(options: argparse.Namespace) -> int:
    from autograder.demo import run_demo

    return run_demo(options.folder, workers=options.workers)
