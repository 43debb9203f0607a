"""What a student and nbgrader see of a graded submission: the autograded notebook, and the feedback page."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder.gradebook.record import Record
from autograder.grading.assignment import Assignment
from autograder.grading.plan import Task, written_files
from autograder.grading.submission import Graded
from autograder.pages.feedback import lesson_title, render_feedback
from autograder.repair import Repaired
from course_lib.checking import Verdict

Files = dict[str, tuple[str, int]]
"""For each file that was written, its SHA-256 and its size in bytes."""

Shown = Mapping[str, list[dict[str, Any]]]
"""For each exercise, the outputs of its check cell: the verdict, in nbformat 4."""


def show_verdicts(verdicts: Mapping[str, Verdict]) -> dict[str, list[dict[str, Any]]]:
    """Verdicts as the outputs of their check cells."""
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


def read_shown(assignment: Assignment, task: Task) -> dict[str, list[dict[str, Any]]] | None:
    """The verdicts on the exercises that are not judged anew, from the notebook that was written with them.

    Returns:
        None where that notebook is gone or is not what was written: then there is nothing to keep.
    """
    kept = assignment.fingerprints.keys() - task.judged
    if task.earlier is None or not kept:
        return None if kept else {}
    notebook = _read_written(assignment, task.earlier)
    if notebook is None:
        return None
    shown = _verdicts(assignment, notebook, kept)
    return shown if all(shown.values()) else None


def _read_written(assignment: Assignment, record: Record) -> dict[str, Any] | None:
    """The autograded notebook that was written with a record; None where it is gone, or is another."""
    try:
        content = written_files(assignment, record.student)["autograded"].read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content).hexdigest() != record.files.get("autograded", ("", 0))[0]:
        return None
    notebook: dict[str, Any] = json.loads(content)
    return notebook


def _verdicts(
    assignment: Assignment, notebook: Mapping[str, Any], exercises: Iterable[str]
) -> dict[str, list[dict[str, Any]]]:
    """The outputs of the check cells of these exercises in an autograded notebook."""
    outputs = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["outputs"]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and "nbgrader" in cell["metadata"]
    }
    return {exercise: outputs.get(assignment.cells[exercise], []) for exercise in exercises}


def rewrite_feedback(assignment: Assignment, record: Record) -> Files | None:
    """Write a feedback page anew, from what was recorded; nothing is run.

    Returns:
        None where the notebook that it shows is gone or is not what was written.
    """
    if "autograded" not in record.files:  # it could not be read
        return write_feedback(assignment, record, None, {})
    notebook = _read_written(assignment, record)
    if notebook is None:
        return None
    shown = _verdicts(assignment, notebook, assignment.fingerprints)
    return write_feedback(assignment, record, notebook, {name: outputs for name, outputs in shown.items() if outputs})


def write_graded(
    assignment: Assignment, record: Record, repaired: Repaired, graded: Graded, shown: Shown
) -> tuple[dict[str, Any], Files]:
    """Write the autograded notebook and the feedback page; returns the notebook, and what was written.

    Args:
        assignment: the lesson.
        record: how the submission came out.
        repaired: its notebook.
        graded: what its cells put out.
        shown: the verdicts.
    """
    notebook = repaired.notebook(_outputs(graded), shown)
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    files = {"autograded": write_whole(written_files(assignment, record.student)["autograded"], text)}
    return notebook, files | write_feedback(assignment, record, notebook, shown)


def write_feedback(assignment: Assignment, record: Record, notebook: Mapping[str, Any] | None, shown: Shown) -> Files:
    """Write the feedback page; where none is wanted, an earlier one goes, since it tells of another grade."""
    path = written_files(assignment, record.student)["feedback"]
    if not assignment.feedback:
        path.unlink(missing_ok=True)
        return {}
    page = render_feedback(
        notebook,
        record,
        {exercise: outputs[0]["data"]["text/html"] for exercise, outputs in shown.items()},
        title=lesson_title(assignment.release.notebook),
        questions=[
            {"metadata": {"nbgrader": slot.nbgrader, "katze": {"exercise": slot.exercise}}}
            for slot in assignment.release.slots
        ],
    )
    return {"feedback": write_whole(path, page)}


def list_in_formgrader(assignment: Assignment) -> None:
    """Let formgrader list the lesson: it shows those with a folder in nbgrader's source, which a clone lacks."""
    (assignment.course.source / assignment.lesson).mkdir(parents=True, exist_ok=True)


def discard(assignment: Assignment, student: str) -> None:
    """Remove what an earlier run left, so that no stale grade is shown."""
    for path in written_files(assignment, student).values():
        path.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> tuple[str, int]:
    """Write a file, whole or not at all; returns its SHA-256 and its size."""
    content = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")  # one name: what a killed run left, the next one overwrites
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    return hashlib.sha256(content).hexdigest(), len(content)


def _outputs(graded: Graded) -> dict[int, list[dict[str, Any]]]:
    """What the cells put out, and below it a notice where one has hit a limit."""
    outputs = dict(graded.outputs)
    for place, notice in graded.notices.items():
        said = {"output_type": "stream", "name": "stderr", "text": f"[katze] {notice}\n"}
        outputs[place] = [*outputs.get(place, []), said]
    return outputs
