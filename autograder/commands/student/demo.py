"""Train a small translator, build the release, and grade the bundled class."""

import argparse
from pathlib import Path

from autograder.commands.shared import add_folder, add_workers

EXAMPLE = "katze demo build/demo"
SLOW = "the demo begins"
COURSE = JSON = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser, Path("build/demo"))
    add_workers(parser)


def run(options: argparse.Namespace) -> int:
    from autograder.demo.run import run_demo

    return run_demo(options.folder, workers=options.workers)
