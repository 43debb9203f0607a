"""Makes the bundled class's submissions from a release, and knows their expected results."""

from __future__ import annotations

from pathlib import Path

import nbformat

from autograder.box.confinement.levels import Level
from autograder.demo.student import Expected, Student
from autograder.demo.students import STUDENTS
from autograder.gradebook.results import ClassResult
from course_lib import exercises


def students(lesson: str, level: Level = Level.L2) -> list[Student]:
    """Return the students who submit a lesson.

    Args:
        lesson: its folder name.
        level: the level of the sandboxes to use; students whose code must not run in them are left out.
    """
    return [student for student in STUDENTS[lesson] if student.level <= level]


def make_class(release: Path, lesson: str, submitted: Path, level: Level = Level.L2) -> None:
    """Write all submissions of the class.

    Args:
        release: the released notebook.
        lesson: its folder name.
        submitted: the course's folder of submissions, which must not contain any `<student>/<lesson>/` yet.
        level: the level of the sandboxes to use.
    """
    notebook = nbformat.read(release, as_version=4)
    for student in students(lesson, level):
        folder = submitted / student.name / lesson
        folder.mkdir(parents=True)
        student.hand_in(notebook, lesson, folder / f"{lesson}.ipynb")


def expected(lesson: str, level: Level = Level.L2) -> dict[str, dict[str, Expected]]:
    """Return the expected result of every exercise of every student."""
    wanted = exercises.of_lesson(lesson)
    return {
        student.name: {exercise.id: student.expects(exercise) for exercise in wanted}
        for student in students(lesson, level)
    }


def surprises(graded: ClassResult, level: Level = Level.L2) -> dict[str, list[str]]:
    """Return each student's deviations from the expected results; empty if there are none."""
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
