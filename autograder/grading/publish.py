"""Writes and removes the files of a graded submission, for nbgrader and for the student."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.gradebook.record import Record
from autograder.grading.strategy import Strategy

Notebooks = Mapping[str, Mapping[str, Any]]
"""A submission's graded notebooks, by name, in nbformat 4.5."""

Files = dict[str, tuple[str, int]]
"""The SHA-256 and size in bytes of each file written, by name."""

NO_PENALTIES: Mapping[str, float] = {}


def write_graded(strategy: Strategy, record: Record, notebooks: Notebooks) -> Files:
    """Write the graded notebooks and the feedback pages; remove an earlier run's other files."""
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
    """Rewrite the feedback pages from the record, without grading anything.

    Returns:
        None if a notebook that they show is gone or has been changed.
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
    """Read the autograded notebook that was written with a record; None if it is gone or has been changed."""
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
    """Remove an earlier run's files, so that no stale grade is shown."""
    for path in strategy.written_files(student).values():
        path.unlink(missing_ok=True)


def _write_feedback(strategy: Strategy, record: Record, notebooks: Notebooks, penalties: Mapping[str, float]) -> Files:
    """Write a page for each notebook; without feedback, remove earlier pages, since they show another grade."""
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
    """Write a file, whole or not at all; return its SHA-256 and size."""
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
