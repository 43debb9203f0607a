"""Sets up logging: none by default, to standard error with `-v`, to a file with `--log FILE`. Modules just use
`logging`.
"""

import logging
import os
import sys

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def begin_logging(verbose: int, file: str | None) -> None:
    """Start logging.

    Args:
        verbose: 0 shows nothing, 1 what is being done, 2 or more everything.
        file: appends everything to this file, readable only by its owner, because it names students.
    """
    logger = logging.getLogger("autograder")
    logger.propagate = False
    for old in list(logger.handlers):
        logger.removeHandler(old)
        old.close()
    handlers: list[logging.Handler] = [logging.NullHandler()]
    if verbose:
        shown = logging.StreamHandler(sys.stderr)
        shown.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
        handlers.append(shown)
    if file:
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        handlers.append(logging.StreamHandler(os.fdopen(opened, "a", encoding="utf-8")))
    for handler in handlers:
        handler.setFormatter(logging.Formatter(FORMAT))
        logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if file or verbose > 1 else logging.INFO if verbose else logging.WARNING)
