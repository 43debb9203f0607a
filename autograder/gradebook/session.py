"""What a run does with its gradebook, wherever that is: in a file (`file.py`) or on a server (`server.py`)."""

from __future__ import annotations

import contextlib
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
        notices: what its owner should know of what was done with it, a line each.
    """

    def __init__(self) -> None:
        """Nothing happens before it is entered."""
        self.notices: list[str] = []
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Take the lock; check the gradebook if there is one, and bring our tables in it up to date.

        Raises:
            BadInput: another run has it, it cannot be used, or the disk is full; it is as it was.
        """
        with contextlib.ExitStack() as resources:
            self._take(resources)
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the gradebook back."""
        self._resources.close()

    @abstractmethod
    def _take(self, resources: contextlib.ExitStack) -> None:
        """Enter; what is put into `resources` is closed when the gradebook is given back."""

    @abstractmethod
    def check(self) -> None:
        """Refuse a gradebook that cannot be used; one that is still to be made can be. Nothing is written.

        Raises:
            BadInput: why not.
        """

    @abstractmethod
    def looking(self) -> contextlib.AbstractContextManager[Session | None]:
        """Read it, entered or not, even while another run writes it; None where it is still to be made.

        Tables of an earlier version are read as if they had been brought up to date.

        Raises:
            BadInput: it cannot be read, or is of another version.
        """

    @abstractmethod
    def making(self) -> contextlib.AbstractContextManager[Session]:
        """Make the gradebook where there is none, with what is written in this session: all of it, or nothing.

        Raises:
            BadInput: it cannot be written; there is still none.
        """

    @contextlib.contextmanager
    def begin(self) -> Iterator[Session]:
        """One transaction, whose failures are told in one line."""
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
        """What the database says of a failure is told in one line."""

    def is_new(self) -> bool:
        """Whether it is still to be made."""
        with self.looking() as session:
            return session is None

    def prepare(self) -> None:
        """Make the gradebook where there is none.

        Raises:
            BadInput: it cannot be written; there is still none.
        """
        if self.is_new():
            with self.making():
                pass

    def _bring_up_to_date(self, name: str) -> None:
        """Bring our tables up to date, in a gradebook of this name."""
        with self.begin() as session:
            found = migrations.version(session.connection())
        if found == migrations.LATEST:
            return
        before = self._keep_copy()
        with self.begin() as session:
            migrations.migrate(session.connection())
        if found == migrations.NO_TABLES:
            done = f"was nbgrader's alone and has version {migrations.LATEST} of Katze's tables now"
        else:
            done = f"was brought from version {found} of Katze's tables to version {migrations.LATEST}"
        self.notices.append(f"the gradebook {name} {done}; {before}")
