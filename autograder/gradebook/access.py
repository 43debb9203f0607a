"""A course's gradebook, wherever it is: opened for writing, or only read. Begin here.

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


def open_gradebook(address: Address, lesson: str | None = None) -> GradebookSession:
    """A gradebook, to be looked at, or to be entered for one run over a lesson. A file is the run's as a whole; of a
    server, the lesson alone, or all of it where no lesson is named.
    """
    return GradebookFile(address) if isinstance(address, Path) else GradebookServer(address, lesson)


@contextlib.contextmanager
def read_only(address: Address) -> Iterator[Session]:
    """Read a gradebook that must be there, even while another run writes it. Nothing can be written.

    Raises:
        BadInput: there is none, it cannot be read, or is of another version of Katze.
    """
    with open_gradebook(address).looking() as session:
        if session is None:
            raise BadInput(
                f"there is no gradebook {address} yet; grade a lesson with `katze grade LESSON` (in a plain nbgrader "
                "course, `katze autograde ASSIGNMENT`)"
            )
        yield session
