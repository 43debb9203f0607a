"""Libraries that only some functions need: imported there, and asked for by name where they are missing.

Jupyter in the browser has torch but not every library of this course. A module of `course_lib` imports such a
library inside the function that uses it:

    with needed_for("BLEU", package="sacrebleu"):
        from sacrebleu.metrics import BLEU
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed_for(purpose: str, *, package: str) -> Iterator[None]:
    """Import within this block; a library that is missing is reported with the line that installs it.

    Raises:
        ModuleNotFoundError: the import within failed; the message says `%pip install package`.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{purpose} needs the package {package}, which is not installed here; run:  %pip install {package}",
            name=error.name,
        ) from None
