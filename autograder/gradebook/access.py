"""A course's gradebook, wherever it is: opened for writing, looked at, checked. Begin here.

`file.py` is for one in a file, `server.py` for one in PostgreSQL, and `session.py` for what they have in common.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.orm import Session

from autograder.course.address import Address
from autograder.errors import BadInput
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.server import GradebookServer
from autograder.gradebook.session import GradebookSession


def open_gradebook(address: Address, lesson: str | None) -> GradebookSession:
    """A gradebook for one run over a lesson, to be entered. A file is the run's as a whole; of a server, the lesson
    alone, or all of it where no lesson is named.
    """
    return GradebookFile(address) if isinstance(address, Path) else GradebookServer(address, lesson)


def check_gradebook(address: Address) -> None:
    """Refuse a gradebook that cannot be used; one that is still to be made can be. Nothing is written.

    Raises:
        BadInput: it is not there, cannot be written, or is of another version of nbgrader or of Katze.
    """
    open_gradebook(address, None).check()


def is_new(address: Address) -> bool:
    """Whether a gradebook is still to be made: there is no file, an empty one, or a database without its tables."""
    return open_gradebook(address, None).is_new()


def look(address: Address) -> contextlib.AbstractContextManager[Session | None]:
    """Read a gradebook, even while another run writes it; None where it is still to be made. Nothing can be written.

    Raises:
        BadInput: it cannot be read, or is of another version of Katze.
    """
    return open_gradebook(address, None).looking()


@contextlib.contextmanager
def read_only(address: Address) -> Iterator[Session]:
    """The same for a gradebook that must be there.

    Raises:
        BadInput: there is none, it cannot be read, or is of another version of Katze.
    """
    with look(address) as session:
        if session is None:
            raise BadInput(
                f"there is no gradebook {address} yet; grade a lesson with `katze grade LESSON` (in a plain nbgrader "
                "course, `katze autograde ASSIGNMENT`)"
            )
        yield session
