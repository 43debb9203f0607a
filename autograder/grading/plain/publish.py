"""What a person sees of a graded submission: its notebooks in autograded/, and a page for each of them in feedback/."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from autograder.gradebook.record import ExerciseRecord, Record
from autograder.grading.plain import files
from autograder.grading.plain.assignment import MasterNotebook, PlainAssignment
from autograder.grading.plain.running import Ran
from autograder.grading.publish import write_whole
from autograder.intake import sanitise
from autograder.pages.feedback import lesson_title, outputs_html, render_feedback
from autograder.repair.cells import CellKind, Repaired
from autograder.words import count
from course_lib.checking import Outcome
from course_lib.checking.render import HEADINGS, STYLE, with_code

Files = dict[str, tuple[str, int]]
"""For each file that was written, its SHA-256 and its size in bytes."""

NO_PENALTIES: Mapping[str, float] = {}

_HEADINGS = {
    **HEADINGS,
    Outcome.PASSED: "Passed",
    Outcome.WRONG: "Not passed",
    Outcome.RAISED: "Not passed: an error",
    Outcome.NOT_ATTEMPTED: "Not passed: nothing written yet",
}


def written_files(assignment: PlainAssignment, student: str) -> dict[str, Path]:
    """Where the files of a graded submission go, in nbgrader's layout."""
    course, name = assignment.course, assignment.name
    found = {}
    for notebook in assignment.notebooks:
        found[f"autograded/{notebook.name}"] = course.autograded / student / name / f"{notebook.name}.ipynb"
        found[f"feedback/{notebook.name}"] = course.feedback / student / name / f"{notebook.name}.html"
    return found


@dataclass(frozen=True)
class GradedNotebook:
    """A notebook of a submission that was graded.

    Attributes:
        content: in nbformat 4.5.
        repairs: what was mended, a sentence each.
    """

    content: Mapping[str, Any]
    repairs: tuple[str, ...]


def graded_notebook(master: MasterNotebook, repaired: Repaired, ran: Ran) -> GradedNotebook:
    """The notebook as it is written: what its cells put out, made safe to look at."""
    shown = dict(ran.outputs)
    for place, lost in ran.lost.items():
        if place not in ran.results:
            said = {"output_type": "stream", "name": "stderr", "text": f"[katze] It was stopped: {lost.told}.\n"}
            shown[place] = [said]
    checks = {
        cell.exercise or "": sanitise.outputs(list(shown.get(place, ())))
        for place, cell in enumerate(repaired.cells)
        if cell.kind is CellKind.CHECK
    }
    return GradedNotebook(repaired.notebook(shown, checks), repaired.repairs)


def write_graded(
    assignment: PlainAssignment,
    record: Record,
    graded: Mapping[str, GradedNotebook],
    problems: Mapping[str, str],
    course_files: dict[str, Path],
) -> Files:
    """Write all files of a graded submission. Its folder in autograded/ gets the course's other files."""
    places, written = written_files(assignment, record.student), Files()
    for name, notebook in graded.items():
        text = json.dumps(notebook.content, indent=1, ensure_ascii=False) + "\n"
        written[f"autograded/{name}"] = write_whole(places[f"autograded/{name}"], text)
    for name in problems:
        places[f"autograded/{name}"].unlink(missing_ok=True)
    if graded:
        files.copy_course_files(course_files, assignment.course.autograded / record.student / assignment.name)
    return written | write_feedback(assignment, record, graded, problems)


def write_feedback(
    assignment: PlainAssignment,
    record: Record,
    graded: Mapping[str, GradedNotebook],
    problems: Mapping[str, str],
    penalties: Mapping[str, float] = NO_PENALTIES,
) -> Files:
    """Write a page for each notebook; where none is wanted, earlier ones go, since they tell of another grade."""
    written, places = Files(), written_files(assignment, record.student)
    for master in assignment.notebooks:
        path = places[f"feedback/{master.name}"]
        if assignment.feedback:
            late = replace(record.lateness, penalty=penalties.get(master.name, 0.0))
            here = replace(record, lateness=late, problem=problems.get(master.name, ""))
            page = _page(assignment, here, master, graded.get(master.name))
            written[f"feedback/{master.name}"] = write_whole(path, page)
        else:
            path.unlink(missing_ok=True)
    return written


def rewrite_feedback(assignment: PlainAssignment, record: Record, penalties: Mapping[str, float]) -> Files | None:
    """Write the pages anew, from what was recorded, with what was given by hand and what being late costs in each
    notebook; nothing is run.

    Returns:
        None where a notebook that they show is gone or is not what was written.
    """
    graded, problems = {}, {}
    for master in assignment.notebooks:
        key = f"autograded/{master.name}"
        if key not in record.files:
            problems[master.name] = problem_of(record, master.name)
            continue
        try:
            content = written_files(assignment, record.student)[key].read_bytes()
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest() != record.files[key][0]:
            return None
        notebook = json.loads(content)
        graded[master.name] = GradedNotebook(notebook, tuple(notebook["metadata"]["katze"]["repairs"]))
    return write_feedback(assignment, record, graded, problems, penalties)


def discard(assignment: PlainAssignment, student: str) -> None:
    """Remove what an earlier run left, so that no stale grade is shown."""
    for path in written_files(assignment, student).values():
        path.unlink(missing_ok=True)


def problem_of(record: Record, notebook: str) -> str:
    """Why a notebook could not be graded, as its record says it: each of several begins with its name."""
    lines = dict(line.partition(": ")[::2] for line in record.problem.split("\n"))
    return lines.get(f"{notebook}.ipynb", record.problem)


def _page(assignment: PlainAssignment, record: Record, master: MasterNotebook, graded: GradedNotebook | None) -> str:
    """The page on one notebook of a submission."""
    titles = {master.exercise(name): title for name, title in master.titles.items()}
    own = [one for one in record.exercises if one.exercise == master.exercise(one.cell)]
    here = replace(
        record,
        exercises=tuple(replace(one, exercise=titles.get(one.exercise, one.exercise)) for one in own),
        by_hand=tuple(cell for cell in record.by_hand if (cell.notebook or assignment.name) == master.name),
        repairs=graded.repairs if graded is not None else (),
    )
    cells = [] if graded is None else [_titled(cell, titles) for cell in graded.content["cells"]]
    printed = {cell["metadata"].get("katze", {}).get("exercise"): _printed(cell) for cell in cells if _is_check(cell)}
    title = lesson_title({"cells": [{"cell_type": cell.kind, "source": cell.text} for cell in master.cells]})
    return render_feedback(
        None if graded is None else {**graded.content, "cells": cells},
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
    """A cell under the name by which people know it."""
    katze = cell["metadata"].get("katze", {})
    if katze.get("exercise") not in titles:
        return cell
    return {**cell, "metadata": {**cell["metadata"], "katze": {**katze, "exercise": titles[katze["exercise"]]}}}


def _is_check(cell: Mapping[str, Any]) -> bool:
    return bool(cell["metadata"].get("katze", {}).get("kind") == CellKind.CHECK)


def _printed(cell: Mapping[str, Any]) -> str:
    """What a test has printed and drawn, as HTML: not its traceback, which shows lines of hidden tests."""
    return outputs_html([one for one in cell["outputs"] if one["output_type"] in ("stream", "display_data")])


def _verdict(one: ExerciseRecord, name: str, printed: str) -> str:
    """The verdict on a test cell, as HTML in the style of all verdicts, and what the test has printed."""
    state = "katze-pass" if one.outcome is Outcome.PASSED else "katze-part" if one.points else ""
    state = "katze-open" if one.points is None else state
    most = count(one.max_points, "point")
    score = f"no score (out of {one.max_points:g})" if one.points is None else f"{one.points:g} of {most}"
    lead = f'<p class="katze-lead">{with_code(one.note)}</p>' if one.note else ""
    return (
        f'{STYLE}<div class="katze-verdict {state}"><p class="katze-head"><strong>{_HEADINGS[one.outcome]}</strong>'
        f'<code>{escape(name)}</code><span class="katze-score">{score}</span></p>{lead}{printed}</div>'
    )
