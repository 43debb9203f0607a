"""A course's gradebook, wherever it is: opened for writing, or only read. Begin here.

`file.py` is for one in a file, `server.py` for one in PostgreSQL, and `session.py` for what they have in common.
"""

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
    """Return the gradebook at this address, to look at, or to enter for one run over a lesson. The run locks a whole
    file; on a server it locks the lesson, or everything where no lesson is named.
    """
    return GradebookFile(address) if isinstance(address, Path) else GradebookServer(address, lesson)


@contextlib.contextmanager
def read_only(address: Address) -> Iterator[Session]:
    """Open an existing gradebook for reading only, even while another run writes it.

    Raises:
        BadInput: it does not exist, cannot be read, or belongs to another version of Katze.
    """
    with open_gradebook(address).looking() as session:
        if session is None:
            raise BadInput(
                f"there is no gradebook {address} yet; grade a lesson with `katze grade LESSON` (in a plain nbgrader "
                "course, `katze autograde ASSIGNMENT`)"
            )
        yield session
