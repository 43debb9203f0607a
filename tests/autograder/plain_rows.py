"""All that a gradebook holds as plain data, so that one can be compared with another."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

BY_CLOCK = {"started", "finished", "graded", "at", "since", "seconds", "files"}
"""Columns that are different each time; `files` has a digest of pages that say when they were made."""

NAMED = {"student", "course"}
"""Tables whose ids are names."""


def plain_rows(path: Path) -> dict[str, list[Any]]:
    """The rows of each table in a file, in order: without times, and with the row itself in place of its id."""
    with contextlib.closing(sqlite3.connect(path)) as book:
        book.row_factory = sqlite3.Row
        names = [row["name"] for row in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: [dict(row) for row in book.execute(f"SELECT * FROM {name}")] for name in names}
        refers = {
            name: {row["from"]: row["table"] for row in book.execute(f"PRAGMA foreign_key_list({name})")}
            for name in names
        }
    for name in {"katze_answer", "katze_share", "katze_kept"} & refers.keys():
        refers[name]["grade_id"] = "grade"
    by_id = {(name, row["id"]): row for name in names for row in rows[name] if "id" in row}

    def spelt(name: str, row: dict[str, Any]) -> tuple[Any, ...]:
        kept = []
        for column, value in row.items():
            if column in refers[name]:
                other = refers[name][column]
                found = by_id.get((other, value))
                value = found and spelt(other, found)  # nothing, where it has gone with its cell
            elif column in BY_CLOCK or (column == "id" and name not in NAMED):
                continue
            kept.append((column, value))
        return tuple(kept)

    return {name: sorted((spelt(name, row) for row in rows[name]), key=repr) for name in names}
