"""Errors that are the caller's to mend."""


class BadInput(Exception):
    """Wrong use or unusable input: one line that says what is wrong and what to do. Exit status 2.

    Raised before anything is written.
    """
