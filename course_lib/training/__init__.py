"""Training: the one loop, and its parts."""

from typing import Any

from course_lib.ground import moved


def __getattr__(name: str) -> Any:
    """Look up a name of the module `course_lib.training`, which lessons used to import from."""
    return moved.attribute(__name__, f"{__name__}.loop", name)
