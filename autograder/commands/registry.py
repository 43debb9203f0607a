"""Collects the commands of `katze`: every module in the folders here, a folder for each group.

A module's docstring says what its command does; `katze --help` and the table in `docs/instructors.md` show it. Its
`add_arguments` adds the command's arguments to a parser, `run` does the work and returns the exit status (None is 0),
and `EXAMPLE` shows its use. It may also define:

    PAGE      the page that explains it, relative to the repository
    SLOW      a line to print at once if the command takes a while, or a function from its options to that line
    COURSE    False if it does not work on a course's folder, and takes no `--course`
    JSON      False if it takes no `--json`

`python -m autograder.commands.registry docs/instructors.md` updates the table on that page.
"""

import argparse
import importlib
import pkgutil
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.commands.shared import writable
from course_lib import __version__

GROUPS = ("student", "semester", "author", "machine")


@dataclass(frozen=True)
class Command:
    """A command as listed by `katze --help` and the table.

    Attributes:
        parser: the parser for its arguments.
        summary: what it does, in a line.
        module: the module that defines it.
    """

    parser: argparse.ArgumentParser
    summary: str
    module: ModuleType

    @property
    def usage(self) -> str:
        """Its name with all arguments and with the options that it requires."""
        words = [self.parser.prog]
        for action in self.parser._get_positional_actions():
            metavar = str(action.metavar or action.dest.upper())
            words.append({"?": f"[{metavar}]", "*": f"[{metavar} ...]"}.get(str(action.nargs), metavar))
        for action in self.parser._get_optional_actions():
            if action.required:
                words += [action.option_strings[0], str(action.metavar or action.dest.upper())]
        return " ".join(words)

    def beginning(self, options: argparse.Namespace) -> str:
        """Return the line that it prints at once with these options; empty if it takes no time."""
        slow: str | Callable[[argparse.Namespace], str] = getattr(self.module, "SLOW", "")
        return slow if isinstance(slow, str) else slow(options)


def make_parser() -> tuple[argparse.ArgumentParser, dict[str, Command]]:
    """Build the command-line parser; return it and its commands by name."""
    parser = argparse.ArgumentParser(
        prog="katze",
        description="Release, grade and certify a course of notebooks.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"katze {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", help="as below; `katze COMMAND --help` says more")
    commands, listed = {}, []
    for group in GROUPS:
        package = importlib.import_module(f"autograder.commands.{group}")
        lines = [f"{package.__doc__}:"]
        for found in pkgutil.iter_modules(package.__path__):
            name = found.name.rstrip("_").replace("_", "-")
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            commands[name] = command = _add(subparsers, name, module)
            begins, indented = f"  {name:<16}", " " * 18
            lines.append(textwrap.fill(command.summary, 96, initial_indent=begins, subsequent_indent=indented))
        listed.append("\n".join(lines))
    parser.epilog = "\n\n".join(listed)
    return parser, commands


def _add(subparsers: Any, name: str, module: ModuleType) -> Command:
    sentence = (module.__doc__ or "").rstrip(".")
    summary = sentence[:1].lower() + sentence[1:]
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, description=summary, epilog=f"example: {module.EXAMPLE}"
    )
    parser.set_defaults(run=module.run, command=name)
    if getattr(module, "COURSE", True):
        parser.add_argument(
            "--course",
            type=Path,
            metavar="DIR",
            help="the course's folder (default: this one, or the nearest above it)",
        )
    parser.add_argument("-v", dest="verbose", action="count", default=0, help="log what is done; -vv: in full detail")
    parser.add_argument("--log", dest="log_file", type=writable, metavar="FILE", help="write a full log to FILE")
    module.add_arguments(parser)
    if getattr(module, "JSON", True):
        parser.add_argument(
            "--json", nargs="?", const="-", type=writable, metavar="FILE", help="write JSON to FILE (default: print it)"
        )
    return Command(parser, summary, module)


def table() -> str:
    """Return a Markdown table of all commands for a page in `docs/`."""
    rows = ["| command | what it does |", "|---|---|"]
    for command in make_parser()[1].values():
        page = getattr(command.module, "PAGE", "").removeprefix("docs/")
        rows.append(f"| `{command.usage}` | {command.summary}{page and f': [more]({page})'} |")
    return "\n".join(rows)


def with_table(page: str) -> str:
    """Return a Markdown page with its table of commands brought up to date."""
    return re.sub(r"^\| command \| what it does \|\n(?:\|.*\n)+", lambda _: f"{table()}\n", page, flags=re.M)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(with_table(Path(name).read_text(encoding="utf-8")), encoding="utf-8")
