"""Renders a graded submission to a lesson: the verdicts in its notebook, and the feedback page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from autograder.gradebook.record import Record
from autograder.grading.assignment import Assignment
from autograder.pages.feedback import lesson_title, render_feedback
from course_lib.judging.verdict import Verdict


def show_verdicts(verdicts: Mapping[str, Verdict]) -> dict[str, list[dict[str, Any]]]:
    """Return verdicts as the outputs of their check cells."""
    return {
        exercise: [
            {
                "output_type": "display_data",
                "data": {"text/html": verdict.html(), "text/plain": verdict.text()},
                "metadata": {},
            }
        ]
        for exercise, verdict in verdicts.items()
    }


def shown_in(
    assignment: Assignment, notebook: Mapping[str, Any], exercises: Iterable[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the verdicts on these exercises as an autograded notebook shows them: the outputs of their check cells."""
    outputs = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["outputs"]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and "nbgrader" in cell["metadata"]
    }
    return {exercise: outputs.get(assignment.cells[exercise], []) for exercise in exercises}


def feedback_page(assignment: Assignment, record: Record, notebook: Mapping[str, Any] | None) -> str:
    """Return the feedback page as HTML; without a notebook it says why there is none."""
    shown = {} if notebook is None else shown_in(assignment, notebook, assignment.fingerprints)
    return render_feedback(
        notebook,
        record,
        {exercise: outputs[0]["data"]["text/html"] for exercise, outputs in shown.items() if outputs},
        title=lesson_title(assignment.release.notebook),
        questions=[
            {"metadata": {"nbgrader": slot.nbgrader, "katze": {"exercise": slot.exercise}}}
            for slot in assignment.release.slots
        ],
    )
