"""A gradebook as an earlier version of Katze would have left it: what each step of the schema adds is taken away."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

UNDONE = {
    7: ("ALTER TABLE katze_exercise DROP COLUMN worth_a_look",),
    6: (
        "ALTER TABLE katze_answer DROP COLUMN given_for",
        "DELETE FROM katze_answer WHERE checksum LIKE 'sha256:%' OR checksum = ''",
    ),
    5: (
        "ALTER TABLE katze_submission DROP COLUMN imports",
        "ALTER TABLE katze_exercise DROP COLUMN answer",
        "ALTER TABLE katze_exercise DROP COLUMN stood",
        *(f"DROP TABLE katze_{name}" for name in ("ruling", "frozen", "kept", "worth", "share")),
    ),
    4: ("DROP TABLE katze_terms",),
    3: (
        "ALTER TABLE katze_submission DROP COLUMN remarks",
        "ALTER TABLE katze_submission DROP COLUMN by_hand",
    ),
    2: tuple(
        f"DROP TABLE katze_{name}"
        for name in ("change", "event", "case", "exercise", "submission", "conditions", "run")
    ),
    1: ("DROP TABLE katze_schema",),
}
"""By version, how what its step has added is taken away."""


def bring_back(path: Path, version: int) -> None:
    """Make a gradebook of the latest version one of an earlier version."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as book:
        for step in sorted(UNDONE, reverse=True):
            if step > version:
                for statement in UNDONE[step]:
                    book.execute(statement)
        if version:
            book.execute("UPDATE katze_schema SET version = ?", (version,))
