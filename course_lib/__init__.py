"""Katze's library: the transformer, from its one equation to trained, published and measured models.

`course_lib/README.md` says where things are. Read it in the order of the lessons, and start with
`course_lib.attention`. This file imports nothing of it, so that a lesson can withhold the modules that its students
write.
"""

import re
import sys
from importlib.util import find_spec

from course_lib.ground.optional import install_command

__version__ = "0.2.0"


class Unusable(ImportError):
    """The library cannot be used here; the message says what to do."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: only the message."""
        return [str(self)]


class TooOld(Unusable):
    """The library is older than the notebook that uses it."""


def require_torch() -> None:
    """Refuse a Python that has this library but no torch; a notebook's first cell calls this, and so do its checks.

    Raises:
        Unusable: torch is not installed.
    """
    if find_spec("torch") is None:
        raise Unusable(
            f"{sys.executable} has no torch. Is this the course's kernel? If not, choose that one (JupyterLab: Kernel "
            f"> Change Kernel; VS Code: Select Kernel, top right); if it is, run:  {install_command('torch')}  Then "
            "restart the kernel, and run the cells from the top.",
            name="torch",
        ) from None


def require_version(version: str) -> None:
    """Refuse a notebook that is newer than this library; its first cell calls this.

    Args:
        version: the version of the library that the notebook was released with.

    Raises:
        TooOld: this library is older.
        Unusable: torch is not installed.
    """
    require_torch()
    if _numbers(version) > _numbers(__version__):
        raise TooOld(
            f"This notebook needs katze {version}, and {__version__} is installed here. Update it as you installed it "
            "(in a clone: git pull, then make setup), restart the kernel, and run this cell again."
        )


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]
