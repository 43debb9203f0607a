"""The one writer of the gradebook: nbgrader's own tables, and our records beside them.

`writer.py` is what the grader uses. `lesson.py` and `grades.py` write rows of the tables that `tables.py` names.
"""

from autograder.gradebook.writer import GradebookWriter

__all__ = ["GradebookWriter"]
