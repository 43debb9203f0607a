"""Opens a gradebook for a run, in a file (`file.py`) or on a server (`server.py`)."""

from __future__ import annotations

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
    """nbgrader's database: to be looked at, or entered, and then one run's alone.

        with open_gradebook(course.gradebook, lesson) as book:
            ...                             # if it is there, our tables in it are up to date
            book.prepare()                  # make it where there is none
            with book.begin() as session:   # one transaction
                ...

    The process may fork between two transactions: the lock stays with the process that took it.

    Attributes:
        name: what its owner calls it.
        notices: what its owner should know of what was done with it, a line each.
    """

    def __init__(self, name: str) -> None:
        """Nothing happens before it is entered."""
        self.name = name
        self.notices: list[str] = []
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Take the lock; check the gradebook if there is one, and bring our tables in it up to date.

        Raises:
            BadInput: another run has it, it cannot be used, or the disk is full; it is as it was.
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
        """Give the gradebook back."""
        self._resources.close()

    @abstractmethod
    def _take(self, resources: contextlib.ExitStack) -> None:
        """Take the lock, and check; what is put into `resources` is closed when the gradebook is given back."""

    @abstractmethod
    def check(self) -> None:
        """Refuse a gradebook that cannot be used; one that is still to be made can be. Nothing is written.

        Raises:
            BadInput: it may not be written, is damaged, or of another version of nbgrader or of Katze.
        """

    @abstractmethod
    def is_new(self) -> bool:
        """Whether it is still to be made."""

    @contextlib.contextmanager
    def looking(self) -> Iterator[Session | None]:
        """Read it, entered or not, even while another run writes it; None where it is still to be made.

        Tables of an earlier version are read as if they had been brought up to date.

        Raises:
            BadInput: it cannot be read, or is of another version.
        """
        if self.is_new():
            yield None
            return
        with self.telling(), self._reading() as connection, Session(connection) as session:
            yield session

    @abstractmethod
    def _reading(self) -> contextlib.AbstractContextManager[Connection]:
        """A connection through which nothing can be written, to tables of the latest version."""

    @abstractmethod
    def making(self) -> contextlib.AbstractContextManager[Session]:
        """Make the gradebook where there is none, with what is written in this session: all of it, or nothing.

        Raises:
            BadInput: it cannot be written; there is still none.
        """

    @contextlib.contextmanager
    def begin(self) -> Iterator[Session]:
        """One transaction; its failures become messages of one line."""
        with self.telling(), Session(self._bind()) as session, session.begin():
            yield session

    @abstractmethod
    def _bind(self) -> Engine | Connection:
        """What transactions of this run go through."""

    @abstractmethod
    def _keep_copy(self) -> str:
        """Copy the gradebook before its tables are changed; returns where it is as it was before, in words."""

    @abstractmethod
    def telling(self) -> contextlib.AbstractContextManager[None]:
        """A failure of the database becomes a message of one line."""

    def prepare(self) -> None:
        """Make the gradebook where there is none.

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
    """Leave a lock, or the connection that has it, to this process alone: were it open in a fork as well, it would not
    end with this process.
    """
    _own.add(descriptor)
    try:
        yield
    finally:
        _own.discard(descriptor)


_own: set[int] = set()


def _let_go_in_child() -> None:
    """Put nothing in their place, so that no child says good-bye to a server in its parent's name."""
    if _own:
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for descriptor in _own:
            os.dup2(nothing, descriptor, inheritable=False)
        os.close(nothing)
    _own.clear()


os.register_at_fork(after_in_child=_let_go_in_child)
