"""Judges a test cell's outputs: nbgrader's own rule gives the points, and a sentence says why.

What the sandbox refused to a cell is read from the text that the cell leaves: Python wraps refusals in many ways.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.utils import determine_grade

from autograder.box.endings import BoxLost
from autograder.box.protocol import CellResult
from autograder.grading.plain.assignment import MasterCell
from autograder.words import count, some
from course_lib.judging.observation import Outcome, Raised

BEGIN, END = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"
"""Matches the parts of a test that nbgrader hides from students."""

_CHARACTERS = 400
_CHARACTERS_REFUSED = 200
_HIDDEN = "A hidden test failed"

_DENIED = re.compile(r"Operation not permitted|Permission denied|\[Errno 38\] Function not implemented")
_PATH = re.compile(r"(?P<why>Permission denied|No such file or directory): '(?P<path>[^'\n]+)'")
_NETWORK = re.compile(r"gaierror|Name or service not known|Temporary failure in name resolution|Network is unreachable")
_SQLITE = re.compile(
    r"sqlite3\.\w+: (?:access permission denied|unable to open database file|disk I/O error|locking protocol"
    r"|database is locked)"
)


@dataclass(frozen=True)
class Judged:
    """The result of one test cell of a submission.

    Attributes:
        outcome: its outcome.
        points: the points earned; None if it could not be graded.
        note: what the student reads; empty if it passed.
    """

    outcome: Outcome
    points: float | None
    note: str = ""


def judge(
    test: MasterCell,
    ended: CellResult | BoxLost | str,
    ignored: re.Pattern[str] | None = None,
    refused: Sequence[str] = (),
) -> Judged:
    """Return the verdict on a test cell.

    Args:
        test: the cell.
        ended: the result of running it, or that it ended its sandbox, or why it never ran.
        ignored: what may be written to stderr, from nbgrader's `IgnorePattern`.
        refused: what the sandbox refused to the test or to cells that it needs. Then only full marks count as a
            verdict, and not even those if a program that it asked for was refused.
    """
    judged = _judge(test, ended, ignored)
    asked = isinstance(ended, CellResult) and ended.programs
    if asked or (refused and judged.outcome is not Outcome.PASSED):
        return Judged(
            Outcome.UNGRADED,
            None,
            f"This could not be graded: the sandbox refused {some(list(dict.fromkeys(refused)))}.",
        )
    return judged


def _judge(test: MasterCell, ended: CellResult | BoxLost | str, ignored: re.Pattern[str] | None) -> Judged:
    """Return the verdict that nbgrader would give."""
    if isinstance(ended, str):
        return Judged(Outcome.TIMED_OUT, 0.0, f"It was not run: {ended}.")
    if isinstance(ended, BoxLost):
        return Judged(ended.outcome, 0.0, f"It was stopped: {ended.for_student}.")
    if ended.raised is not None:  # whatever its outputs show: what a student's code does to them is not asked
        outcome = Outcome.WRONG if ended.raised.type_name == "AssertionError" else ended.failure or Outcome.RAISED
        return Judged(outcome, 0.0, _what_failed(test, ended.raised))
    outputs = [one for one in ended.outputs if ignored is None or not _is_stderr(one) or not ignored.search(_text(one))]
    if ended.number is not None:
        outputs = [one for one in outputs if one["output_type"] != "execute_result"]
        outputs.append({"output_type": "execute_result", "data": {"text/plain": f"{ended.number!r}"}})
    try:
        points, most = determine_grade(_node(test, outputs))
    except (KeyError, ValueError) as error:  # nbgrader's autograde would end here
        return Judged(Outcome.UNGRADED, None, _unusable(test, outputs, error))
    if points == most:
        return Judged(Outcome.PASSED, points)
    stderr = next((_text(output).strip()[:_CHARACTERS] for output in outputs if _is_stderr(output)), None)
    if stderr is not None:
        return Judged(Outcome.WRONG, points, f"It wrote to stderr, which counts as a failure: {stderr}")
    return Judged(Outcome.WRONG, points, f"Partial credit: {points:g} of {count(most, 'point')}.")


def _node(test: MasterCell, outputs: Sequence[Mapping[str, Any]]) -> nbformat.NotebookNode:
    """Return the cell in the form that nbgrader's rule takes."""
    cell = {"cell_type": "code", "source": test.source, "metadata": {"nbgrader": test.nbgrader}, "outputs": outputs}
    node: nbformat.NotebookNode = nbformat.from_dict(cell)
    return node


def _unusable(test: MasterCell, outputs: Sequence[Mapping[str, Any]], error: Exception) -> str:
    results = [output["data"].get("text/plain", "") for output in outputs if output["output_type"] == "execute_result"]
    text = str(results[0])[:40] if results else ""
    what = (
        f"gives {float(text):g} points, but is worth {test.points:g}"
        if text and isinstance(error, ValueError)
        else "shows no number"
    )
    return f"This could not be graded: the test {test.name} {what}. An instructor has to fix it."


def _what_failed(test: MasterCell, raised: Raised) -> str:
    """Return an assertion's message, or the error, without any text of a hidden test."""
    code, said = raised.code.strip(), raised.message.strip()[:_CHARACTERS]
    lines = {line.strip() for line in test.source.split("\n")}  # of the test itself, not of what it calls
    is_hidden = bool(code) and code in lines - _visible(test.source)
    if raised.type_name != "AssertionError":
        said = f"{raised.type_name}: {said}" if said else raised.type_name
    if is_hidden:
        return f"{_HIDDEN}: {said}" if said else f"{_HIDDEN}."
    return said or (f"`{code}` failed." if code else "An assertion failed.")


def _visible(source: str) -> set[str]:
    """Return the lines of a test that students got."""
    lines, hidden = set(), False
    for line in source.split("\n"):
        hidden = (hidden or BEGIN in line) and END not in line
        if not hidden:
            lines.add(line.strip())
    return lines


def _is_stderr(output: Mapping[str, Any]) -> bool:
    return bool(output["output_type"] == "stream" and output["name"] == "stderr")


def _text(output: Mapping[str, Any]) -> str:
    return str(output["text"])


# --- what the sandbox refused


def refusals(result: CellResult, folder: Path) -> list[str]:
    """Return what was refused while a cell ran, each once.

    Args:
        result: the cell's result.
        folder: where nbgrader would run the cell, and could have read files.
    """
    found = [f"to start the program `{program}`" for program in result.programs]
    found += [one for line in _lines(result) for one in _refused_in(line, folder)]
    return list(dict.fromkeys(found))


def _lines(result: CellResult) -> Iterator[str]:
    """Yield the lines of tracebacks, chained exceptions included, and of stderr."""
    for output in result.outputs:
        if output["output_type"] == "error":
            yield from (line for part in output["traceback"] for line in part.split("\n"))
        elif _is_stderr(output):
            yield from output["text"].split("\n")


def _refused_in(line: str, folder: Path) -> Iterator[str]:
    said, path = f"({line.strip()[:_CHARACTERS_REFUSED]})", _PATH.search(line)
    if _SQLITE.search(line):
        yield f"what SQLite asked for {said}"
    elif _NETWORK.search(line):
        yield "a connection to the network"
    elif path is not None and (path["why"] == "Permission denied" or _is_elsewhere(folder, path["path"])):
        yield f"access to {path['path'][:_CHARACTERS_REFUSED]}"
    elif _DENIED.search(line):
        yield f"a system call {said}"


def _is_elsewhere(folder: Path, name: str) -> bool:
    """Return whether a file that the sandbox cannot see exists outside the submission."""
    path = os.path.normpath(folder / name)
    return "\0" not in path and not Path(path).is_relative_to(folder) and os.path.lexists(path)
