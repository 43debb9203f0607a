"""Lessons that are finished: nothing in them is graded until they are thawed."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, delete, inspect, select

from autograder.gradebook import store
from autograder.gradebook.held import HeldGradebook
from autograder.gradebook.tables import FROZEN, inserting


def read_frozen(connection: Connection) -> dict[str, str]:
    """The frozen lessons, each with the time since when; none in a gradebook of an earlier version."""
    if not inspect(connection).has_table(FROZEN.name):
        return {}
    return {row.lesson: row.since for row in connection.execute(select(FROZEN).order_by(FROZEN.c.lesson))}


def freeze(book: HeldGradebook, lesson: str) -> bool:
    """Freeze a lesson; whether anything of it has been graded, without which there is nothing to freeze."""
    if not book.has_records():
        return False
    book.prepare()
    with book.begin() as connection:
        if lesson not in store.graded_lessons(connection):
            return False
        since = datetime.now(UTC).isoformat(timespec="seconds")
        connection.execute(inserting(connection, FROZEN).values(lesson=lesson, since=since).on_conflict_do_nothing())
        return True


def thaw(book: HeldGradebook, lesson: str) -> bool:
    """Thaw a lesson; whether it was frozen."""
    if not book.has_records():
        return False
    book.prepare()
    with book.begin() as connection:
        return bool(connection.execute(delete(FROZEN).where(FROZEN.c.lesson == lesson)).rowcount)
