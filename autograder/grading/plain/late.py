"""What being late costs in a plain course: what nbgrader's plugin says, by nbgrader's own due date."""

from __future__ import annotations

from collections.abc import Collection

from nbgrader.api import Gradebook

from autograder.course.address import url_of
from autograder.course.course import Course
from autograder.gradebook.deadlines.plugin import plugin_of


def write_penalties(course: Course, assignment: str, students: Collection[str]) -> None:
    """Write the penalties of these students, whose submissions have been recorded, as `nbgrader autograde` does.

    Raises:
        BadInput: the course's plugin cannot be used; the grades are recorded, without its penalties.
    """
    plugin = plugin_of(course)
    with Gradebook(url_of(course.gradebook), course.course_id or "default_course") as gradebook:
        if gradebook.find_assignment(assignment).duedate is None:
            return
        for student in students:
            submission = gradebook.find_submission(assignment, student)
            late = submission.total_seconds_late
            for notebook in submission.notebooks:
                lost = plugin(student, notebook.score, late) if late > 0 else 0.0
                notebook.late_submission_penalty = min(max(lost, 0.0), notebook.score)
        gradebook.db.commit()
