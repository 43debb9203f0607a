"""Opens a gradebook for a run, in a file (`file.py`) or on a server (`server.py`)."""

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from autograder.gradebook import migrations


class GradebookSession(ABC):
    """nbgrader's database, to look at, or to enter for one run, which then has it to itself. Only entering opens it.

        with open_gradebook(course.gradebook, lesson) as book:
            ...                             # our tables, if any, are now up to date
            book.prepare()                  # create it if it does not exist
            with book.begin() as session:   # one transaction
                ...

    The process may fork between transactions: the lock stays with the process that took it.

    Attributes:
        name: its address, in the instructor's words.
        notices: what the instructor should know about upgrades, a line each.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.notices: list[str] = []
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Take the lock; check an existing gradebook, and bring our tables in it up to date.

        Raises:
            BadInput: another run has it, it cannot be used, or the disk is full; it has not changed.
        """
        with contextlib.ExitStack() as resources:
            self._take(resources)
            if not self.is_new():
                self._bring_up_to_date()
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the gradebook."""
        self._resources.close()

    @abstractmethod
    def _take(self, resources: contextlib.ExitStack) -> None:
        """Take the lock, and check the gradebook. Leaving it closes whatever is in `resources`."""

    @abstractmethod
    def check(self) -> None:
        """Refuse a gradebook that cannot be used; one that does not exist yet can. Write nothing.

        Raises:
            BadInput: it is not writable, damaged, or of another version of nbgrader or Katze.
        """

    @abstractmethod
    def is_new(self) -> bool:
        """Return whether it does not exist yet."""

    @contextlib.contextmanager
    def looking(self) -> Iterator[Session | None]:
        """Yield a session for reading, entered or not, even while another run writes; None if it does not exist yet.

        Tables of an earlier version read as if they were up to date.

        Raises:
            BadInput: it cannot be read, or its version does not fit.
        """
        if self.is_new():
            yield None
            return
        with self.telling(), self._reading() as connection, Session(connection) as session:
            yield session

    @abstractmethod
    def _reading(self) -> contextlib.AbstractContextManager[Connection]:
        """Return a read-only connection to tables of the latest version."""

    @abstractmethod
    def making(self) -> contextlib.AbstractContextManager[Session]:
        """Create the gradebook with whatever is written in this session: all of it, or nothing.

        Raises:
            BadInput: it cannot be written; there is still none.
        """

    @contextlib.contextmanager
    def begin(self) -> Iterator[Session]:
        """Begin a transaction; database errors become one-line messages."""
        with self.telling(), Session(self._bind()) as session, session.begin():
            yield session

    @abstractmethod
    def _bind(self) -> Engine | Connection:
        """Return the engine or connection for this run's transactions."""

    @abstractmethod
    def _keep_copy(self) -> str:
        """Copy the gradebook before its tables change; return a clause that says where the copy is."""

    @abstractmethod
    def telling(self) -> contextlib.AbstractContextManager[None]:
        """Turn a database error into a one-line message."""

    def prepare(self) -> None:
        """Create the gradebook if it does not exist.

        Raises:
            BadInput: it cannot be written; there is still none.
        """
        if self.is_new():
            with self.making():
                pass

    def _bring_up_to_date(self) -> None:
        with self.begin() as session:
            found = migrations.version(session.connection())
        if found == migrations.LATEST:
            return
        before = self._keep_copy()
        with self.begin() as session:
            migrations.migrate(session.connection())
        if found == migrations.NO_TABLES:
            done = f"was nbgrader's own and now has version {migrations.LATEST} of Katze's tables"
        else:
            done = f"was brought from version {found} of Katze's tables to version {migrations.LATEST}"
        self.notices.append(f"the gradebook {self.name} {done}; {before}")


@contextlib.contextmanager
def left_to_this_process(descriptor: int) -> Iterator[None]:
    """Keep a lock's file descriptor, or its connection's, out of forks: a fork that had it open would keep the lock
    alive after this process ends.
    """
    _own.add(descriptor)
    try:
        yield
    finally:
        _own.discard(descriptor)


_own: set[int] = set()


def _let_go_in_child() -> None:
    """Replace these descriptors with /dev/null, so that no child closes its parent's connection to a server."""
    if _own:
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for descriptor in _own:
            os.dup2(nothing, descriptor, inheritable=False)
        os.close(nothing)
    _own.clear()


os.register_at_fork(after_in_child=_let_go_in_child)
