"""Lessons that are finished: nothing in them is graded until they are thawed."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, delete, insert, inspect, select

from autograder.gradebook import store
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.tables import FROZEN


def read_frozen(connection: Connection) -> dict[str, str]:
    """The frozen lessons, each with the time since when; none in a gradebook of an earlier version."""
    if not inspect(connection).has_table(FROZEN.name):
        return {}
    return {row.lesson: row.since for row in connection.execute(select(FROZEN).order_by(FROZEN.c.lesson))}


def freeze(file: GradebookFile, lesson: str) -> bool:
    """Freeze a lesson; whether anything of it has been graded, without which there is nothing to freeze."""
    if not file.has_records():
        return False
    file.prepare()
    with file.begin() as connection:
        if lesson not in store.graded_lessons(connection):
            return False
        since = datetime.now(UTC).isoformat(timespec="seconds")
        connection.execute(insert(FROZEN).prefix_with("OR IGNORE").values(lesson=lesson, since=since))
        return True


def thaw(file: GradebookFile, lesson: str) -> bool:
    """Thaw a lesson; whether it was frozen."""
    if not file.has_records():
        return False
    file.prepare()
    with file.begin() as connection:
        return bool(connection.execute(delete(FROZEN).where(FROZEN.c.lesson == lesson)).rowcount)
