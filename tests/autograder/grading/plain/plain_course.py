"""A plain nbgrader course of two notebooks, released by nbgrader's own command, and what students hand in to it."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import PyFileConfigLoader

from autograder.course.course import Course

NAME = "hw"
CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "stats"\nc.Execute.timeout = 1\n'

MEAN = "def mean(values):\n    return sum(values) / len(values)\n"
RIGHT = {
    "first": {"mean": MEAN, "why": "Because it balances."},
    "second": {"double": "def double(x):\n    return 2 * x\n"},
}
"""Answers that pass everything."""


def cell(kind: str, source: str, grade_id: str = "", points: float | None = None, **flags: bool) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    if grade_id:
        meta = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3, **flags}
        meta |= {"grade_id": grade_id} | ({} if points is None else {"points": points})
    made = {"cell_type": kind, "source": source, "metadata": {"nbgrader": meta} if meta else {}}
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def make_test(source: str, grade_id: str, points: float) -> dict[str, Any]:
    return cell("code", source, grade_id, points, grade=True, locked=True)


MEAN_SOURCE = """\
def mean(values):
    ### BEGIN SOLUTION
    return sum(values) / len(values)
    ### END SOLUTION
"""
MEAN_TEST = """\
assert mean([1, 3]) == 2, 'the mean of 1 and 3 is 2'
### BEGIN HIDDEN TESTS
assert mean([-7, 7, 30]) == 10
### END HIDDEN TESTS
"""
FIRST = [
    cell("markdown", "# Means"),
    cell("code", "import helper", "setup", locked=True),
    cell("code", MEAN_SOURCE, "mean", solution=True),
    make_test(MEAN_TEST, "same", 1),
    make_test("round(1.5 * sum(mean([x, x]) == x for x in helper.numbers()) / 3, 2)", "share", 1.5),
    cell("markdown", "Say why.", "why", 2, grade=True, solution=True),
]
SECOND = [
    cell("code", MEAN_SOURCE.replace("mean", "double"), "double", solution=True),
    make_test("assert double(2) == 4", "same", 1),
    make_test("assert double('ab') == 'abab'\nassert open('data.txt').read() == 'forty-two'", "texts", 0.5),
    cell("markdown", "Draw something.", "draw", 3, task=True, locked=True),
]


def notebook(cells: Sequence[Mapping[str, Any]], language: str = "python") -> str:
    kernel = {"display_name": language, "language": language, "name": "python3"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4})


def nbgrader(folder: Path, *arguments: str) -> None:
    """Run nbgrader's own command, which looks for programs beside its interpreter's."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def nbgrader_here(folder: Path) -> NbGraderAPI:
    """nbgrader itself, in this process: quicker than its commands, which import it each time."""
    os.environ.update(_environment())
    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def _environment() -> dict[str, str]:
    programs, path = str(Path(sys.executable).parent), os.environ["PATH"]
    return {**os.environ, "PATH": path if path.startswith(programs) else f"{programs}{os.pathsep}{path}"}


def release(root: Path, config: str, files: Mapping[str, str]) -> Path:
    """Release an assignment of these files; returns the course's folder."""
    (root / "nbgrader_config.py").write_text(config)
    source = root / "source" / NAME
    source.mkdir(parents=True)
    for name, text in files.items():
        (source / name).write_text(text)
    made = nbgrader_here(root).generate_assignment(NAME)
    assert made["success"], made
    return root


@functools.cache
def _released() -> Path:
    files = {"first.ipynb": notebook(FIRST), "second.ipynb": notebook(SECOND), "data.txt": "forty-two"}
    files["helper.py"] = "def numbers():\n    return [1, 2, 3]\n"
    return release(Path(tempfile.mkdtemp(dir=os.environ["KATZE_WORK"])), CONFIG, files)


def make_course(folder: Path, config: str = "") -> Course:
    """A released course without submissions, in a new folder."""
    shutil.copytree(_released(), folder)
    if config:
        (folder / "nbgrader_config.py").write_text(CONFIG + config)
    (folder / "submitted").mkdir()
    return Course.find(folder)


def submitted(course: Course, name: str, answers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A released notebook with answers in it, by grade_id."""
    made: dict[str, Any] = json.loads((course.release / NAME / f"{name}.ipynb").read_text())
    for one in made["cells"]:
        one["source"] = "".join(one["source"])
        grade_id = one["metadata"].get("nbgrader", {}).get("grade_id")
        if answers and grade_id in answers:
            one["source"] = answers[grade_id]
    return made


def hand_in(course: Course, student: str, answers: Mapping[str, Mapping[str, str]] = RIGHT) -> Path:
    """Hand in all notebooks; returns the folder."""
    folder = course.submitted / student / NAME
    folder.mkdir(parents=True, exist_ok=True)
    for path in (course.release / NAME).glob("*.ipynb"):
        write(folder, path.stem, submitted(course, path.stem, answers.get(path.stem)))
    return folder


def write(folder: Path, name: str, made: Mapping[str, Any]) -> None:
    (folder / f"{name}.ipynb").write_text(json.dumps(made))


GRADES = """
SELECT sa.student_id, n.name, c.name, c.type, g.auto_score, g.manual_score, g.needs_manual_grade
FROM grade g JOIN base_cell c ON c.id = g.cell_id JOIN submitted_notebook sn ON sn.id = g.notebook_id
JOIN submitted_assignment sa ON sa.id = sn.assignment_id JOIN notebook n ON n.id = sn.notebook_id ORDER BY 1, 2, 3, 4
"""
COMMENTS = """
SELECT sa.student_id, n.name, c.name, c.type, k.auto_comment
FROM comment k JOIN base_cell c ON c.id = k.cell_id JOIN submitted_notebook sn ON sn.id = k.notebook_id
JOIN submitted_assignment sa ON sa.id = sn.assignment_id JOIN notebook n ON n.id = sn.notebook_id ORDER BY 1, 2, 3, 4
"""
"""What nbgrader's autograde and ours write for each cell of each submission."""
