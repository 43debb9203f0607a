"""Lessons that are finished: nothing in them is graded until they are thawed."""

from datetime import UTC, datetime

from autograder.gradebook import store
from autograder.gradebook.models import Frozen, add_new
from autograder.gradebook.session import GradebookSession


def freeze(book: GradebookSession, lesson: str) -> bool:
    """Freeze a lesson; return False, and freeze nothing, if none of it has been graded."""
    if book.is_new():
        return False
    with book.begin() as session:
        if lesson not in store.graded_lessons(session):
            return False
        add_new(session, Frozen, lesson=lesson, since=datetime.now(UTC).isoformat(timespec="seconds"))
        return True


def thaw(book: GradebookSession, lesson: str) -> bool:
    """Thaw a lesson; return whether it was frozen."""
    if book.is_new():
        return False
    with book.begin() as session:
        frozen = session.get(Frozen, lesson)
        if frozen is not None:
            session.delete(frozen)
        return frozen is not None
