"""Writes the files of a graded submission, for nbgrader and for the student, and removes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.gradebook.record import Record
from autograder.grading.strategy import Strategy

Notebooks = Mapping[str, Mapping[str, Any]]
"""The notebooks of a submission that were graded, by name, in nbformat 4.5."""

Files = dict[str, tuple[str, int]]
"""For each file that was written, its SHA-256 and its size in bytes."""

NO_PENALTIES: Mapping[str, float] = {}


def write_graded(strategy: Strategy, record: Record, notebooks: Notebooks) -> Files:
    """Write the notebooks that were graded, and the feedback pages; what an earlier run left of the others goes."""
    places, written = strategy.written_files(record.student), Files()
    for ending, name in strategy.notebooks.items():
        file = f"autograded{ending}"
        if name in notebooks:
            text = json.dumps(notebooks[name], indent=1, ensure_ascii=False) + "\n"
            written[file] = write_whole(places[file], text)
        else:
            places[file].unlink(missing_ok=True)
    return written | _write_feedback(strategy, record, notebooks, NO_PENALTIES)


def rewrite_feedback(strategy: Strategy, record: Record, penalties: Mapping[str, float]) -> Files | None:
    """Write the feedback pages anew, from what was recorded; nothing is run.

    Returns:
        None where a notebook that they show is gone or is not what was written.
    """
    notebooks = {}
    for ending, name in strategy.notebooks.items():
        if f"autograded{ending}" in record.files:  # else it could not be read
            notebook = read_written(strategy, record, ending)
            if notebook is None:
                return None
            notebooks[name] = notebook
    return _write_feedback(strategy, record, notebooks, penalties)


def read_written(strategy: Strategy, record: Record, ending: str = "") -> dict[str, Any] | None:
    """An autograded notebook as it was written with a record; None where it is gone, or is another."""
    file = f"autograded{ending}"
    try:
        content = strategy.written_files(record.student)[file].read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content).hexdigest() != record.files.get(file, ("", 0))[0]:
        return None
    notebook: dict[str, Any] = json.loads(content)
    return notebook


def discard(strategy: Strategy, student: str) -> None:
    """Remove what an earlier run left, so that no stale grade is shown."""
    for path in strategy.written_files(student).values():
        path.unlink(missing_ok=True)


def _write_feedback(strategy: Strategy, record: Record, notebooks: Notebooks, penalties: Mapping[str, float]) -> Files:
    """Write a page for each notebook; where none is wanted, earlier ones go, since they tell of another grade."""
    written, places = Files(), strategy.written_files(record.student)
    for ending, name in strategy.notebooks.items():
        file = f"feedback{ending}"
        if strategy.feedback:
            page = strategy.page(record, name, notebooks.get(name), penalties.get(name, 0.0))
            written[file] = write_whole(places[file], page)
        else:
            places[file].unlink(missing_ok=True)
    return written


def write_whole(path: Path, text: str) -> tuple[str, int]:
    """Write a file, whole or not at all; returns its SHA-256 and its size."""
    content = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")  # one name: what a killed run left, the next one overwrites
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    return hashlib.sha256(content).hexdigest(), len(content)
