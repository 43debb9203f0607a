"""Runs the command `katze`: all parts of the harness, under one name.

`commands/` has a file for each command. This file has what they share: how a command is chosen, how it reports bad
input, and how it ends. Exit status: 0 done; 1 the grader or a check failed, or a folder's name made it impossible to
grade somebody; 2 wrong use or bad input.
"""

import atexit
import difflib
import errno
import gc
import io
import logging
import os
import shlex
import sys
from collections.abc import Collection, Sequence

from autograder.commands.registry import make_parser
from autograder.commands.shared import DONE, MISUSED
from autograder.errors import DISK_FULL, BadInput
from autograder.logging_setup import begin_logging
from course_lib import __version__
from course_lib.judging.errors import UnusableExercises

logger = logging.getLogger(__name__)

_ROOM, _RIGHT = "make room, then run this again", "get permission to write there, then run this again"
DISK = dict.fromkeys((*DISK_FULL, errno.EFBIG), _ROOM) | dict.fromkeys((errno.EROFS, errno.EACCES), _RIGHT)
"""Errors of a full or read-only disk, each with the next step."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `katze` with these arguments, by default those of the command line; return the exit status."""
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"  # before torch is imported: workers are forks, and threads do not survive a fork
    # else jsonschema, which nbformat imports, spends a second on a grammar of web addresses that no notebook needs.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    atexit.register(gc.freeze)  # else the garbage collector traverses all of torch at exit, for a second
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console with few characters, such as cp1252, shows "?" for others
    parser, commands = make_parser()
    if "_ARGCOMPLETE" in os.environ:  # the shell asks for completions; see `katze completion`
        import argcomplete

        argcomplete.autocomplete(parser)
    typed = sys.argv[1:] if arguments is None else arguments
    mistyped = _unknown_command(typed, commands)
    if mistyped:
        print(mistyped, file=sys.stderr)
        return MISUSED
    options = parser.parse_args(arguments)
    if "run" not in options:
        parser.print_help(sys.stderr)
        return MISUSED
    begin_logging(options.verbose, options.log_file)
    logger.info("katze %s %s", __version__, " ".join(map(shlex.quote, typed)))
    beginning = commands[options.command].beginning(options)
    if beginning and sys.stderr.isatty():  # importing torch takes seconds, so say why nothing happens yet
        print(f"katze: {beginning} ...", file=sys.stderr)
    try:
        status: int = options.run(options) or DONE
    except (BadInput, UnusableExercises) as problem:
        logger.debug("bad input", exc_info=True)
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
        print(f"katze: {str(stopped) or 'stopped; what has been recorded is kept'}", file=sys.stderr)
        return 130
    logger.info("done: exit status %s", status)
    return status


def _unknown_command(arguments: Sequence[str], commands: Collection[str]) -> str:
    """Return a message that there is no such command, with the most similar one; "" if there is, or none is given."""
    named = next((word for word in arguments if not word.startswith("-")), None)
    if named is None or named in commands:
        return ""
    near = difflib.get_close_matches(named, commands, 1)
    meant = f"did you mean `katze {near[0]}`?" if near else "`katze --help` lists what there is."
    return f"katze: there is no command {named!r}; {meant}"
