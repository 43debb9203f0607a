"""The programs we are measured against, each from its own package in an environment of its own.

Both grade one submission after another, as they do for their users. Otter gets the same assignment in its own
format: the same cells, its checks in place of ours, and test files made from the same visible and hidden cases.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.course.course import Course
from autograder.demo.student import Group
from benchmarks.grading.commands import Cost, cost, run
from benchmarks.grading.courses import LESSON, ROOT, Notebook, Students, read, submission
from course_lib import exercises
from course_lib.checking import Exercise

PEERS = {"nbgrader": "nbgrader==0.9.6", "otter": "otter-grader==7.0.0"}
"""By name, what pip installs. The versions are those that the figures in the README are for."""

_COURSE_NEEDS = ("ipykernel", "torch", "matplotlib", "jaxtyping", "ipywidgets", "pillow")
"""What the lessons need to run, in the version that is installed here."""


def environments(folder: Path) -> dict[str, Path]:
    """Make the environments that are not there yet; for each peer its folder of programs.

    They see this repository, so that the notebooks find `course_lib`, and nothing of the environment this runs in.

    Raises:
        RuntimeError: pip could not install one of them.
    """
    return {name: _environment(folder / name, package) for name, package in PEERS.items()}


def _environment(folder: Path, package: str) -> Path:
    programs, done = folder / "bin", folder / "installed"
    wanted = " ".join([package, *_COURSE_NEEDS, str(ROOT)])
    if done.exists() and done.read_text() == wanted:
        return programs
    print(f"installing {package} in {folder} (some minutes, once)")
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    run(programs, folder, "pip", "install", "--quiet", *constraints, package, *_COURSE_NEEDS)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "katze.pth").write_text(f"{ROOT}\n")
    done.write_text(wanted)
    return programs


def nbgrader_cost(programs: Path, course: Course, students: Students) -> Cost:
    """Plain `nbgrader autograde` of all submissions of a course.

    Raises:
        RuntimeError: it failed, or gave a right submission less than full marks.
    """
    run(programs, course.root, "nbgrader", "generate_assignment", LESSON, "--force", "--create")
    spent = cost(len(students), programs, course.root, ["nbgrader", "autograde", LESSON])
    _require_full_marks(course, students)
    return spent


def _require_full_marks(course: Course, students: Students) -> None:
    from nbgrader.api import Gradebook

    wanted = float(sum(exercise.points for exercise in exercises.of_lesson(LESSON)))
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as gradebook:
        for name, student in students.items():
            score = gradebook.find_submission(LESSON, name).score
            if student.group is Group.RIGHT and score < wanted:
                raise RuntimeError(f"nbgrader gave {name} {score:g} of {wanted:g} points: it has not done its work")


def otter_cost(programs: Path, course: Course, students: Students, folder: Path) -> Cost:
    """`otter run` on each submission of a course, in Otter's format.

    Raises:
        RuntimeError: it failed, or gave a right submission less than full marks.
    """
    wanted = exercises.of_lesson(LESSON)
    (folder / "tests").mkdir(parents=True)
    for exercise in wanted:
        (folder / "tests" / f"{_question(exercise)}.py").write_text(_TEST_FILE.format(**_fields(exercise)))
    run(programs, folder, "otter", "generate", "--tests-dir", "tests", "--no-environment", "--output-path", "made.zip")
    commands = []
    for name in students:
        (folder / name).mkdir()
        notebook = folder / name / f"{LESSON}.ipynb"
        notebook.write_text(json.dumps(_in_otters_format(read(submission(course, name)), wanted)))
        commands.append(["otter", "run", str(notebook), "--autograder", "made.zip", "--output-dir", name, "--no-logo"])
    spent = cost(len(students), programs, folder, *commands)
    for name, student in students.items():
        results = json.loads((folder / name / "results.json").read_text())
        got = {test["name"]: test.get("score", 0.0) for test in results["tests"]}
        points = sum(score for test, score in got.items() if test.startswith("attention_"))
        if student.group is Group.RIGHT and points < sum(exercise.points for exercise in wanted):
            raise RuntimeError(f"Otter gave {name} {points:g} points: it has not done its work: {got}")
    return spent


_TEST_FILE = '''"""{title}: the same cases as Katze's, in Otter's format."""

from otter.test_files import test_case

from course_lib import exercises
from course_lib.checking import AnswerKey, observe
from course_lib.checking.compare import difference
from course_lib.checking.notebook import PUBLIC_SEED

OK_FORMAT = False
name = "{question}"
points = {points}
key = AnswerKey(exercises.find("{id}"), PUBLIC_SEED)


def compare(answer, first, last):
    for case, expected in zip(key.cases[first:last], key.expected[first:last]):
        seen = observe(answer, case, key.exercise.forbidden_names)
        assert seen.returned, seen.raised
        found = difference(case, expected, seen, key.exercise.parameters)
        assert found is None, found.message


@test_case(points={visible_points})
def test_visible({name}):
    compare({name}, 0, len(key.visible))


@test_case(points={hidden_points}, hidden=True)
def test_hidden({name}):
    compare({name}, len(key.visible), None)
'''


def _fields(exercise: Exercise) -> dict[str, object]:
    half = exercise.points / 2
    return {
        "title": exercise.title,
        "question": _question(exercise),
        "points": exercise.points,
        "id": exercise.id,
        "name": exercise.name,
        "visible_points": half,
        "hidden_points": half,
    }


def _question(exercise: Exercise) -> str:
    return exercise.id.replace(".", "_")


def _in_otters_format(notebook: Notebook, wanted: list[Exercise]) -> Notebook:
    """The notebook with Otter's setup in front, and its checks where ours are."""
    questions = {f"{exercise.id.replace('.', '-')}-check": _question(exercise) for exercise in wanted}
    setup = {**_code("import otter\ngrader = otter.Notebook()"), "id": "otter-setup"}
    cells = [setup]
    for cell in notebook["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in questions:
            cell = {**_code(f'grader.check("{questions[grade_id]}")'), "id": cell["id"]}
        cells.append({**cell, "metadata": {}})
    return {**notebook, "cells": cells}


def _code(source: str) -> Notebook:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
