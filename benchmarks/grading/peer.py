"""Runs the peer that we are compared with: plain nbgrader, in its own environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.course.course import Course
from autograder.demo.student import Group
from benchmarks.grading.commands import Cost, run
from benchmarks.grading.courses import LESSON, ROOT, Students
from course_lib import exercises

NBGRADER = "nbgrader==0.9.6"
"""The version that pip installs; the figures in the README are for this one."""

_COURSE_NEEDS = ("ipykernel", "torch", "matplotlib", "jaxtyping", "ipywidgets", "pillow")
"""The packages that the lessons need to run, in the versions that are installed here."""


def environment(folder: Path) -> Path:
    """Create nbgrader's environment, if it does not exist yet; return its folder of programs.

    It sees this repository, so that notebooks can import `course_lib`, but nothing of the environment in use here.

    Raises:
        RuntimeError: pip could not install it.
    """
    programs, done = folder / "bin", folder / "installed"
    wanted = " ".join([NBGRADER, *_COURSE_NEEDS, str(ROOT)])
    if done.exists() and done.read_text() == wanted:
        return programs
    print(f"installing {NBGRADER} in {folder} (some minutes, once)", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    run(programs, folder, "pip", "install", "--quiet", *constraints, NBGRADER, *_COURSE_NEEDS)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "katze.pth").write_text(f"{ROOT}\n")
    done.write_text(wanted)
    return programs


def nbgrader_cost(programs: Path, course: Course, students: Students) -> Cost:
    """Return the cost of plain `nbgrader autograde` on all submissions of a course.

    Raises:
        RuntimeError: it failed, or gave a right submission less than full marks.
    """
    run(programs, course.root, "nbgrader", "generate_assignment", LESSON, "--force", "--create")
    spent = run(programs, course.root, "nbgrader", "autograde", LESSON)
    wanted = float(sum(exercise.points for exercise in exercises.of_lesson(LESSON)))
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as gradebook:
        for name, student in students.items():
            score = gradebook.find_submission(LESSON, name).score
            if student.group is Group.RIGHT and score < wanted:
                raise RuntimeError(f"nbgrader gave {name} {score:g} of {wanted:g} points: it has not done its work")
    return spent
