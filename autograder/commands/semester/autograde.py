"""The same as `katze grade`, under the name that nbgrader uses."""

from autograder.commands.semester.grade import SLOW, add_arguments, run

EXAMPLE = "katze autograde ps1 --workers 4"
PAGE = "docs/plain_nbgrader.md"

__all__ = ["EXAMPLE", "PAGE", "SLOW", "add_arguments", "run"]
