"""Errors that are the caller's to mend."""

import errno

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system says when there is no room left: errors after which no submission could be written."""


class BadInput(Exception):
    """Wrong use or unusable input: one line that says what is wrong and what to do. Exit status 2.

    Raised before anything is written.
    """


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
