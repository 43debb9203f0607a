"""Errors for the caller to fix."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a full disk, after which no submission could be written."""


class BadInput(Exception):
    """Wrong use or unusable input: one line that says what is wrong and what to do. Exit status 2.

    Raised before anything is written.
    """

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: only the line."""
        return [str(self)]


def lacks_extra(what: str, extra: str) -> BadInput:
    """Return the error for an extra that is not installed. Katze is not on PyPI: its extras come from its clone."""
    return BadInput(f"{what}; in a clone of Katze, get it with: pip install --editable '.[{extra}]'")


@contextmanager
def of_extra(what: str, extra: str) -> Iterator[None]:
    """Raise a helpful error if the block's imports need an extra that is missing.

    Raises:
        BadInput: it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        raise lacks_extra(f"{what} needs {missing.name}, which is not installed", extra) from None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with one line that says what was done and how to go on. Exit status 130."""


class Unreadable(Exception):
    """A submission that cannot be used: outcome `unreadable`, no score.

    Attributes:
        reason: one sentence to the student that says what to do.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: only the sentence."""
        return [self.reason]
