"""`katze autograde`: `katze grade`, by the name that users of nbgrader look for."""

from __future__ import annotations

from autograder.commands.adding import Commands
from autograder.commands.semester.grade import add_grading


def add(commands: Commands) -> None:
    """Add `katze autograde`."""
    summary = "the same as `katze grade`, by the name that it has in nbgrader"
    add_grading(commands, "autograde", summary, "katze autograde ps1 --workers 4", "docs/plain_nbgrader.md")
