"""Finds what the sandbox refused to a cell, in words. Python wraps refusals in many ways, but all leave text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.box.protocol import CellResult
from autograder.words import some

REFUSED = "This could not be graded: the sandbox refused"
"""Start of a verdict that says what was refused."""

_DENIED = re.compile(r"Operation not permitted|Permission denied|\[Errno 38\] Function not implemented")
_PATH = re.compile(r"(?P<why>Permission denied|No such file or directory): '(?P<path>[^'\n]+)'")
_NETWORK = re.compile(r"gaierror|Name or service not known|Temporary failure in name resolution|Network is unreachable")
_SQLITE = re.compile(
    r"sqlite3\.\w+: (?:access permission denied|unable to open database file|disk I/O error|locking protocol"
    r"|database is locked)"
)
_CHARACTERS = 200


def refusals(result: CellResult, folder: Path) -> list[str]:
    """Return what was refused while a cell ran, each once.

    Args:
        result: the cell's result.
        folder: where nbgrader would run the cell, and could have read files.
    """
    found = [f"to start the program `{program}`" for program in result.programs]
    found += [one for line in _lines(result) for one in _refused_in(line, folder)]
    return list(dict.fromkeys(found))


def could_not(refused: Sequence[str]) -> str:
    """Return the message of a test that was refused something."""
    return f"{REFUSED} {some(list(dict.fromkeys(refused)))}."


def _lines(result: CellResult) -> Iterator[str]:
    """Yield the lines of tracebacks, chained exceptions included, and of stderr."""
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
    """Return whether a file that the sandbox cannot see exists outside the submission."""
    path = os.path.normpath(folder / name)
    return "\0" not in path and not Path(path).is_relative_to(folder) and os.path.lexists(path)
