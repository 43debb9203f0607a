"""The commands of `katze`: every module in the folders here, a folder for each group.

A module's docstring says what its command is for, as `katze --help` and the table in `docs/instructors.md` have it. Its
`add_arguments` adds to a parser what it takes, `run` does it and returns its exit status (None is 0), and `EXAMPLE`
shows its use. It may have more to say:

    PAGE      what explains it, relative to the repository
    SLOW      what it says at once if it takes a while before it has something to tell; or a function of its options
    COURSE    False if it is not about a course's folder, and takes no `--course`
    JSON      False if it takes no `--json`

`python -m autograder.commands.registry docs/instructors.md` writes their table into it anew.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.commands.writing import writable
from course_lib import __version__

GROUPS = ("student", "semester", "author", "machine")


@dataclass(frozen=True)
class Command:
    """A command, as `katze --help` and the table list it.

    Attributes:
        parser: what reads its arguments.
        group: a sentence about those in whose midst it is listed.
        summary: what it is for, in a line.
        module: where it is defined.
    """

    parser: argparse.ArgumentParser
    group: str
    summary: str
    module: ModuleType

    @property
    def usage(self) -> str:
        """Its name with the arguments and options that it must be given, and with arguments that it may be."""
        words = [self.parser.prog]
        for action in self.parser._get_positional_actions():
            metavar = str(action.metavar or action.dest.upper())
            words.append({"?": f"[{metavar}]", "*": f"[{metavar} ...]"}.get(str(action.nargs), metavar))
        for action in self.parser._get_optional_actions():
            if action.required:
                words += [action.option_strings[0], str(action.metavar or action.dest.upper())]
        return " ".join(words)

    def beginning(self, options: argparse.Namespace) -> str:
        """What it says at once with these options; empty if it takes no time."""
        slow: str | Callable[[argparse.Namespace], str] = getattr(self.module, "SLOW", "")
        return slow if isinstance(slow, str) else slow(options)


def make_parser() -> tuple[argparse.ArgumentParser, dict[str, Command]]:
    """What reads the command line, and the commands that it knows, by name."""
    parser = argparse.ArgumentParser(
        prog="katze",
        description="Release, grade and certify a course of notebooks.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"katze {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", help="as below; `katze COMMAND --help` says more")
    commands = {}
    for group in GROUPS:
        package = importlib.import_module(f"autograder.commands.{group}")
        for found in pkgutil.iter_modules(package.__path__):
            name = found.name.rstrip("_").replace("_", "-")
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            commands[name] = _add(subparsers, name, package.__doc__ or "", module)
    groups = dict.fromkeys(command.group for command in commands.values())
    parser.epilog = "\n\n".join(_listed(commands, group) for group in groups)
    return parser, commands


def _add(subparsers: Any, name: str, group: str, module: ModuleType) -> Command:
    said = (module.__doc__ or "").rstrip(".")
    summary = said[:1].lower() + said[1:]
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
    return Command(parser, group, summary, module)


def _listed(commands: Mapping[str, Command], group: str) -> str:
    """A group of commands, for a terminal."""
    lines = [
        textwrap.fill(command.summary, 96, initial_indent=f"  {name:<16}", subsequent_indent=" " * 18)
        for name, command in commands.items()
        if command.group == group
    ]
    return "\n".join([f"{group}:", *lines])


def table() -> str:
    """All commands, as a table in Markdown for a page in `docs/`."""
    rows = ["| command | what it does |", "|---|---|"]
    for command in make_parser()[1].values():
        page = getattr(command.module, "PAGE", "").removeprefix("docs/")
        rows.append(f"| `{command.usage}` | {command.summary}{page and f': [more]({page})'} |")
    return "\n".join(rows)


def with_table(page: str) -> str:
    """A page of Markdown with the table of all commands as it should be, in place of the one that it has."""
    return re.sub(r"^\| command \| what it does \|\n(?:\|.*\n)+", lambda _: f"{table()}\n", page, flags=re.M)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(with_table(Path(name).read_text(encoding="utf-8")), encoding="utf-8")
