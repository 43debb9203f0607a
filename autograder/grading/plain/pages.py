"""Renders a graded submission: its notebooks for autograded/, and a page for each in feedback/."""

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Any

from autograder.gradebook.record import ExerciseRecord, Record
from autograder.grading.plain.assignment import MasterNotebook, PlainAssignment
from autograder.grading.plain.running import Ran
from autograder.intake import sanitise
from autograder.pages.feedback import lesson_title, outputs_html, render_feedback
from autograder.repair.cells import CellKind, Repaired
from autograder.words import count
from course_lib.ground.style_sheet import style_sheet
from course_lib.judging.observation import Outcome
from course_lib.judging.render import HEADINGS, with_code

_HEADINGS = {
    **HEADINGS,
    Outcome.PASSED: "Passed",
    Outcome.WRONG: "Not passed",
    Outcome.RAISED: "Not passed: an error",
    Outcome.NOT_ATTEMPTED: "Not passed: nothing written yet",
}


def graded_notebook(repaired: Repaired, ran: Ran) -> dict[str, Any]:
    """Return the notebook to write, with its outputs made safe to look at."""
    checks = {
        cell.exercise or "": sanitise.outputs(ran.outputs.get(place))
        for place, cell in enumerate(repaired.cells)
        if cell.kind is CellKind.CHECK
    }
    return repaired.notebook(ran.outputs, checks)


def problem_of(record: Record, notebook: str) -> str:
    """Return why a notebook could not be graded, from the record, where several reasons begin with their notebook's
    name.
    """
    lines = dict(line.partition(": ")[::2] for line in record.problem.split("\n"))
    return lines.get(f"{notebook}.ipynb", record.problem)


def feedback_page(
    assignment: PlainAssignment,
    record: Record,
    master: MasterNotebook,
    graded: Mapping[str, Any] | None,
    penalty: float,
) -> str:
    """Return the page for one notebook of a submission; see `Strategy.page`."""
    titles = {master.exercise(name): title for name, title in master.titles.items()}
    own = [one for one in record.exercises if one.exercise == master.exercise(one.cell)]
    here = replace(
        record,
        exercises=tuple(replace(one, exercise=titles.get(one.exercise, one.exercise)) for one in own),
        by_hand=tuple(cell for cell in record.by_hand if (cell.notebook or assignment.name) == master.name),
        lateness=replace(record.lateness, penalty=penalty),
        problem=problem_of(record, master.name) if graded is None else "",
        repairs=() if graded is None else tuple(graded["metadata"]["katze"]["repairs"]),
    )
    cells = [] if graded is None else [_titled(cell, titles) for cell in graded["cells"]]
    printed = {cell["metadata"].get("katze", {}).get("exercise"): _printed(cell) for cell in cells if _is_check(cell)}
    title = lesson_title({"cells": [{"cell_type": cell.kind, "source": cell.text} for cell in master.cells]})
    return render_feedback(
        None if graded is None else {**graded, "cells": cells},
        here,
        {
            one.exercise: _verdict(one, master.titles.get(one.cell, one.cell), printed.get(one.exercise, ""))
            for one in here.exercises
        },
        title=title or f"{assignment.name} · {master.name}",
        questions=[
            _titled(
                {"metadata": {"nbgrader": cell.nbgrader, "katze": {"exercise": master.exercise(cell.name)}}}, titles
            )
            for cell in master.cells
            if cell.role == "manual"
        ],
    )


def _titled(cell: Mapping[str, Any], titles: Mapping[str, str]) -> Mapping[str, Any]:
    """Return a cell under the name that people know it by."""
    katze = cell["metadata"].get("katze", {})
    if katze.get("exercise") not in titles:
        return cell
    return {**cell, "metadata": {**cell["metadata"], "katze": {**katze, "exercise": titles[katze["exercise"]]}}}


def _is_check(cell: Mapping[str, Any]) -> bool:
    return bool(cell["metadata"].get("katze", {}).get("kind") == CellKind.CHECK)


def _printed(cell: Mapping[str, Any]) -> str:
    """Return what a test printed and drew, as HTML, without its traceback, which shows lines of hidden tests."""
    return outputs_html([one for one in cell["outputs"] if one["output_type"] in ("stream", "display_data")])


def _verdict(one: ExerciseRecord, name: str, printed: str) -> str:
    """Return the verdict on a test cell as HTML in the style of all verdicts, with what the test printed."""
    state = "katze-pass" if one.outcome is Outcome.PASSED else "katze-part" if one.points else ""
    state = "katze-open" if one.points is None else state
    most = count(one.max_points, "point")
    score = f"no score (out of {one.max_points:g})" if one.points is None else f"{one.points:g} of {most}"
    lead = f'<p class="katze-lead">{with_code(one.note)}</p>' if one.note else ""
    return (
        f'{style_sheet("verdict")}<div class="katze-verdict {state}">'
        f'<p class="katze-head"><strong>{_HEADINGS[one.outcome]}</strong>'
        f'<code>{escape(name)}</code><span class="katze-score">{score}</span></p>{lead}{printed}</div>'
    )
