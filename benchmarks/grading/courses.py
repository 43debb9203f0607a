"""Makes courses to grade, with ordinary submissions of lesson 01 from a seed."""

import itertools
import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.course.release import release
from autograder.demo.student import Group, Student
from autograder.demo.students import STUDENTS

Notebook = dict[str, Any]
Students = Mapping[str, Student]

LESSON = "01_attention"
ORDINARY = (Group.RIGHT, Group.UNFINISHED, Group.MISTAKEN)
KINDS = [student for student in STUDENTS[LESSON] if student.group in ORDINARY]
ROOT = Path(__file__).resolve().parents[2]


def ordinary(count: int, seed: int) -> Students:
    """Return ordinary students under unique names, in an order drawn from the seed, with equal shares of all kinds."""
    chosen = list(itertools.islice(itertools.cycle(KINDS), count))
    random.Random(seed).shuffle(chosen)
    return {f"{number:04d}_{student.name}": student for number, student in enumerate(chosen)}


def make_course(folder: Path, students: Students, *, keep_demos: bool) -> Course:
    """Make a course, released by nbgrader's pipeline, with these submissions."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copytree(ROOT / "solutions", folder / "solutions")
    course = Course.find(folder)
    release(course, [LESSON])
    paths = [course.release_notebook(LESSON), course.source / LESSON / f"{LESSON}.ipynb"]
    if not keep_demos:
        for path in paths:
            path.write_text(json.dumps(without_demos(read(path))), encoding="utf-8")
    released = read(paths[0])
    for name, student in students.items():
        target = course.submitted / name / LESSON
        target.mkdir(parents=True)
        student.hand_in(released, LESSON, target / f"{LESSON}.ipynb")
    return course


def submission(course: Course, student: str) -> Path:
    """Return the path of a student's submitted notebook."""
    return course.submitted / student / LESSON / f"{LESSON}.ipynb"


def read(path: Path) -> Notebook:
    """Read a notebook file as JSON."""
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def without_demos(notebook: Notebook) -> Notebook:
    """Return the notebook without the cells that only draw or measure."""
    cells = [cell for cell in notebook["cells"] if "demo" not in cell["metadata"].get("tags", [])]
    return {**notebook, "cells": cells}
