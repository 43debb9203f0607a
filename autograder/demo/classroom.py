"""The bundled class: makes its submissions from a release, and knows how each should come out."""

from __future__ import annotations

from pathlib import Path

import nbformat

from autograder.box.confinement.levels import Level
from autograder.demo.student import Expected, Student
from autograder.demo.students import STUDENTS
from autograder.gradebook.results import ClassResult
from course_lib import exercises


def students(lesson: str, level: Level = Level.L2) -> list[Student]:
    """Who hands in a lesson.

    Args:
        lesson: its folder name.
        level: of the sandboxes that will be used; students whose code must not run in them are left out.
    """
    return [student for student in STUDENTS[lesson] if student.level <= level]


def make_class(release: Path, lesson: str, submitted: Path, level: Level = Level.L2) -> None:
    """Write everyone's submission.

    Args:
        release: the released notebook.
        lesson: its folder name.
        submitted: the course's folder of submissions; `<student>/<lesson>/` must not exist in it yet.
        level: of the sandboxes that will be used.
    """
    notebook = nbformat.read(release, as_version=4)
    for student in students(lesson, level):
        folder = submitted / student.name / lesson
        folder.mkdir(parents=True)
        student.hand_in(notebook, lesson, folder / f"{lesson}.ipynb")


def expected(lesson: str, level: Level = Level.L2) -> dict[str, dict[str, Expected]]:
    """How every exercise of every student should come out."""
    wanted = exercises.of_lesson(lesson)
    return {
        student.name: {exercise.id: student.expects(exercise) for exercise in wanted}
        for student in students(lesson, level)
    }


def surprises(graded: ClassResult, level: Level = Level.L2) -> dict[str, list[str]]:
    """For each student of a graded class, what did not come out as expected; empty if everything did."""
    wanted = expected(graded.lesson, level)
    came = {
        record.student: {one.exercise: Expected(one.outcome, one.points, one.misconception) for one in record.exercises}
        for record in graded.submissions
    }
    found = {}
    for student in sorted(wanted.keys() | came.keys()):
        if student not in came:
            found[student] = ["was not graded"]
        elif student not in wanted:
            found[student] = ["is not in the class"]
        elif came[student] != wanted[student]:
            pairs = {one: (wanted[student].get(one), came[student].get(one)) for one in wanted[student] | came[student]}
            found[student] = [
                f"{exercise}: expected {_shown(was)}, got {_shown(got)}"
                for exercise, (was, got) in pairs.items()
                if was != got
            ]
    return found


def _shown(entry: Expected | None) -> str:
    if entry is None:
        return "nothing"
    points = "no score" if entry.points is None else f"{entry.points:g} points"
    return ", ".join(filter(None, [entry.outcome, points, entry.misconception]))
