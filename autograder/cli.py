"""The command `katze`: what each part of the harness does, under one name.

What each command takes and does stands in `commands/`; here is what they have in common: how they are chosen, how
bad input is told, and how they end. Exit status: 0 done, 1 the grader or a check failed, or somebody could not be
graded because of a folder's name, 2 wrong use or bad input.
"""

from __future__ import annotations

import argparse
import atexit
import difflib
import errno
import gc
import io
import os
import sys
from collections.abc import Sequence

import argcomplete

from autograder.commands.adding import Commands
from autograder.commands.authoring import certify, exercises, gradescope, init, publish, release, site
from autograder.commands.learning import check, demo, learn, preflight
from autograder.commands.machine import completion, doctor
from autograder.commands.semester import (
    autograde,
    collect,
    copy_gradebook,
    export,
    freeze,
    give_back,
    grade,
    log,
    report,
    status,
    thaw,
)
from autograder.commands.statuses import DONE, MISUSED
from autograder.errors import DISK_FULL, BadInput
from course_lib import __version__
from course_lib.exercises.catalogue import UnusableExercises

COMMANDS = (
    demo,
    learn,
    init,
    release,
    status,
    collect,
    grade,
    autograde,
    preflight,
    freeze,
    thaw,
    log,
    export,
    give_back,
    report,
    copy_gradebook,
    check,
    exercises,
    site,
    publish,
    gradescope,
    doctor,
    completion,
    certify,
)
"""In the order in which `katze --help` lists them."""

_ROOM, _RIGHT = "make room, then run this again", "get permission to write there, then run this again"
DISK = dict.fromkeys((*DISK_FULL, errno.EFBIG), _ROOM) | dict.fromkeys((errno.EROFS, errno.EACCES), _RIGHT)
"""What a disk may refuse, and the next step."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `katze` with these arguments, by default those of the command line; returns the exit status."""
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"  # before torch is imported: workers are forks, and threads do not survive one
    # else jsonschema, which nbformat imports, builds a grammar of web addresses: a second, and no notebook needs it.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    atexit.register(gc.freeze)  # else the collector looks through all of torch once more at the end: a second
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console of few characters, such as cp1252, shows "?" for others
    parser, commands = make_parser()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks, by `katze completion`
        argcomplete.autocomplete(parser)
    mistyped = _told_if_unknown(sys.argv[1:] if arguments is None else arguments, commands)
    if mistyped:
        print(mistyped, file=sys.stderr)
        return MISUSED
    options = parser.parse_args(arguments)
    if "run" not in options:
        parser.print_help(sys.stderr)
        return MISUSED
    if options.command in commands.slow and sys.stderr.isatty():  # importing torch takes seconds: nobody should wonder
        slow = commands.slow[options.command]
        print(f"katze: {slow if isinstance(slow, str) else slow(options)} ...", file=sys.stderr)
    try:
        status: int = options.run(options)
    except (BadInput, UnusableExercises) as problem:
        end = "" if str(problem).endswith((".", "?")) else "."
        print(f"katze: {problem}{end}", file=sys.stderr)
        return MISUSED
    except BrokenPipeError:
        return DONE
    except OSError as problem:
        if problem.errno not in DISK or problem.filename is None:
            raise
        print(f"katze: cannot write {problem.filename}: {problem.strerror}; {DISK[problem.errno]}.", file=sys.stderr)
        return MISUSED
    except KeyboardInterrupt as stopped:
        print(f"katze: {str(stopped) or 'stopped; what was recorded stays recorded'}", file=sys.stderr)
        return 130
    return status


def make_parser() -> tuple[argparse.ArgumentParser, Commands]:
    """What reads the command line, and the commands that it knows."""
    parser = argparse.ArgumentParser(prog="katze", description="Release, grade and certify a course of notebooks.")
    parser.add_argument("--version", action="version", version=f"katze {__version__}")
    commands = Commands(parser)
    for module in COMMANDS:
        module.add(commands)
    return parser, commands


def _told_if_unknown(arguments: Sequence[str], commands: Commands) -> str:
    """That there is no such command, with the one that was probably meant; empty where there is, or none was named."""
    named = next((word for word in arguments if not word.startswith("-")), None)
    if named is None or named in commands.examples:
        return ""
    near = difflib.get_close_matches(named, commands.examples, 1)
    meant = f"did you mean `katze {near[0]}`?" if near else "`katze --help` lists what there is."
    return f"katze: there is no command {named!r}; {meant}"


if __name__ == "__main__":
    sys.exit(main())
