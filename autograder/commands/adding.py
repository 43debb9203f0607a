"""How a command is added to `katze`, and the arguments that several commands take."""

from __future__ import annotations

import argparse
import os
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cluster.connecting import PATIENCE_SECONDS
from autograder.commands.writing import writable

if TYPE_CHECKING:
    from autograder.box.confinement.levels import Level
    from autograder.course.course import Course

Run = Callable[[argparse.Namespace], int]
"""What a command does; returns its exit status (`statuses.py`)."""

Slow = str | Callable[[argparse.Namespace], str]
"""What a command says at once, or what it says by its options."""


@dataclass(frozen=True)
class Command:
    """A command, as `katze --help` and the README list it.

    Attributes:
        parser: what its arguments were added to.
        group: a sentence about those in whose midst it is listed.
        summary: what it is for, in a line.
        example: a line that shows its use.
        slow: what is said at once by one that needs a while before it has something to tell; it may depend on options.
        page: what explains it, relative to the repository; empty where nothing does.
    """

    parser: argparse.ArgumentParser
    group: str
    summary: str
    example: str
    slow: Slow
    page: str

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


class Commands:
    """The commands of `katze`, as they are added.

    Attributes:
        known: they, by name.
    """

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._added = parser.add_subparsers(metavar="COMMAND", help="as below; `katze COMMAND --help` says more")
        self._group = ""
        self.known: dict[str, Command] = {}

    def begin_group(self, said: str) -> None:
        """Let what is added from here on be listed under a sentence."""
        self._group = said

    def listed(self) -> Iterator[str]:
        """Each group of commands, for a terminal."""
        for group in dict.fromkeys(command.group for command in self.known.values()):
            lines = [
                textwrap.fill(command.summary, 96, initial_indent=f"  {name:<16}", subsequent_indent=" " * 18)
                for name, command in self.known.items()
                if command.group == group
            ]
            yield "\n".join([f"{group}:", *lines])

    def table(self) -> str:
        """All of them, as the table in the README."""
        rows = ["| command | what it does |", "|---|---|"]
        for command in self.known.values():
            more = f": [more]({command.page})" if command.page else ""
            rows.append(f"| `{command.usage}` | {command.summary}{more} |")
        return "\n".join(rows)

    def add(
        self,
        name: str,
        run: Run,
        summary: str,
        example: str,
        *,
        course: bool = True,
        slow: Slow = "",
        page: str = "",
    ) -> argparse.ArgumentParser:
        """Add a command; returns what its own arguments are added to.

        Args:
            name: what it is called by.
            run: what it does.
            course: whether it is about a course's folder, and takes `--course`.
            summary, example, slow, page: see `Command`.
        """
        made = self._added.add_parser(name, description=summary, epilog=f"example: {example}")
        made.set_defaults(run=run, command=name)
        if course:
            made.add_argument(
                "--course", type=Path, metavar="DIR", help="the course's folder (default: found from here)"
            )
        made.add_argument("-v", dest="verbose", action="count", default=0, help="say what is done; -vv: all of it")
        made.add_argument(
            "--log", dest="log_file", type=writable, metavar="FILE", help="write all that is done to FILE"
        )
        self.known[name] = Command(made, self._group, summary, example, slow, page)
        return made


def course_of(options: argparse.Namespace) -> Course:
    """The course that a command is about.

    Raises:
        BadInput: there is none, or its settings cannot be used.
    """
    from autograder.course.course import Course

    return Course.find(options.course)


def add_lesson(parser: argparse.ArgumentParser) -> None:
    """The lesson that it is about."""
    lesson = parser.add_argument("lesson", metavar="LESSON", help="such as 01_ols")
    lesson.completer = lambda **_asked: known_lessons()  # type: ignore[attr-defined]


def known_lessons() -> list[str]:
    """The lessons of the course that the shell is in, for completion: its settings are not run."""
    from course_lib.learner.current_catalogue import current_catalogue

    return list(current_catalogue(Path.cwd()).modules)


def known_exercises() -> list[str]:
    """The ids of the exercises in its notebooks, for completion: importing the exercises would take seconds."""
    from autograder.course.released import released_notebooks

    texts = (notebook.read_text(encoding="utf-8") for notebook in released_notebooks(Path.cwd()).values())
    return [name.replace("-", ".", 1) for text in texts for name in _CHECKED.findall(text)]


_CHECKED = re.compile(r'"grade_id": "([\w-]+)-check"')


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`: what it has to tell as data."""
    parser.add_argument(
        "--json", nargs="?", const="-", type=writable, metavar="FILE", help="write JSON to FILE (default: print it)"
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """`--workers`: boxes at once."""
    default = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument(
        "--workers", type=_positive, default=default, metavar="N", help="boxes at once (default: cores)"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    """`--scheduler`: a cluster of Dask's, `--scheduler-wait`: how long to wait, and `--trust-scheduler`."""
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
        help="let the way to a scheduler on another machine be unencrypted: nobody else can reach it",
    )


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError("must be more than 0")
    return number


def add_level(parser: argparse.ArgumentParser) -> None:
    """`--min-level` and `--container`: the weakest boxes that will do, which `weakest_level` reads."""
    levels = ("L0", "L1", "L2", "L3", "L4")
    parser.add_argument("--min-level", choices=levels, help="refuse to grade in weaker boxes than this")
    parser.add_argument(
        "--container", action="store_const", const="L4", dest="min_level", help="grade in a container: --min-level L4"
    )


def weakest_level(options: argparse.Namespace) -> Level | None:
    """The weakest boxes that will do; None where nothing was asked for."""
    from autograder.box.confinement.levels import Level

    return Level[options.min_level] if options.min_level else None
