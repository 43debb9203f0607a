"""The commands of `katze`: every module in the folders here, a folder for each group.

`python -m autograder.commands.registry README.md` writes their table into the README anew.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import sys
from pathlib import Path

from autograder.commands.adding import Commands
from course_lib import __version__

GROUPS = ("student", "semester", "author", "machine")


def make_parser() -> tuple[argparse.ArgumentParser, Commands]:
    """What reads the command line, and the commands that it knows."""
    parser = argparse.ArgumentParser(
        prog="katze",
        description="Release, grade and certify a course of notebooks.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"katze {__version__}")
    commands = Commands(parser)
    for group in GROUPS:
        package = importlib.import_module(f"autograder.commands.{group}")
        commands.begin_group(package.__doc__ or "")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}").add(commands)
    parser.epilog = "\n\n".join(commands.listed())
    return parser, commands


def with_table(page: str) -> str:
    """A page of Markdown with the table of all commands as it should be, in place of the one that it has."""
    _, commands = make_parser()
    return re.sub(r"^\| command \| what it does \|\n(?:\|.*\n)+", lambda _: f"{commands.table()}\n", page, flags=re.M)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(with_table(Path(name).read_text(encoding="utf-8")), encoding="utf-8")
