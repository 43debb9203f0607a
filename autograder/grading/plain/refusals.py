"""Finds what the sandbox has refused to a cell, in words. Python wraps a refusal in many ways: all leave text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.box.protocol import CellResult
from autograder.words import some

REFUSED = "This could not be graded: the sandbox refused"
"""How a verdict begins that says what was refused."""

_DENIED = re.compile(r"Operation not permitted|Permission denied|\[Errno 38\] Function not implemented")
_PATH = re.compile(r"(?P<why>Permission denied|No such file or directory): '(?P<path>[^'\n]+)'")
_NETWORK = re.compile(r"gaierror|Name or service not known|Temporary failure in name resolution|Network is unreachable")
_SQLITE = re.compile(
    r"sqlite3\.\w+: (?:access permission denied|unable to open database file|disk I/O error|locking protocol"
    r"|database is locked)"
)
_CHARACTERS = 200


def refusals(result: CellResult, folder: Path) -> list[str]:
    """What was refused while a cell ran, each once.

    Args:
        result: what the cell gave.
        folder: where nbgrader would run it: what is there, or leads there from here, could have been read.
    """
    found = [f"to start the program `{program}`" for program in result.programs]
    found += [one for line in _lines(result) for one in _refused_in(line, folder)]
    return list(dict.fromkeys(found))


def could_not(refused: Sequence[str]) -> str:
    """The message of a test that was refused something."""
    return f"{REFUSED} {some(list(dict.fromkeys(refused)))}."


def _lines(result: CellResult) -> Iterator[str]:
    """Tracebacks, with the exceptions that others were raised from, and what was written to stderr."""
    for output in result.outputs:
        if output["output_type"] == "error":
            yield from (line for part in output["traceback"] for line in part.split("\n"))
        elif output["output_type"] == "stream" and output["name"] == "stderr":
            yield from output["text"].split("\n")


def _refused_in(line: str, folder: Path) -> Iterator[str]:
    said, path = f"({line.strip()[:_CHARACTERS]})", _PATH.search(line)
    if _SQLITE.search(line):
        yield f"what SQLite asked for {said}"
    elif _NETWORK.search(line):
        yield "a connection to the network"
    elif path is not None and (path["why"] == "Permission denied" or _is_elsewhere(folder, path["path"])):
        yield f"access to {path['path'][:_CHARACTERS]}"
    elif _DENIED.search(line):
        yield f"a system call {said}"


def _is_elsewhere(folder: Path, name: str) -> bool:
    """Whether a file that a sandbox does not see is there, outside the submission."""
    path = os.path.normpath(folder / name)
    return "\0" not in path and not Path(path).is_relative_to(folder) and os.path.lexists(path)
