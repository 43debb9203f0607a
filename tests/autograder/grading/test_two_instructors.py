"""Two instructors, each with a clone of the course, grade two lessons at the same time into one PostgreSQL."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.demo.students import STUDENTS
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.copying import copy_to_file
from tests.autograder.plain_rows import plain_rows
from tests.autograder.small_class import hand_in, make_course
from tests.postgres import PASSWORD, Cluster

LESSONS = ("01_attention", "02_masking")
HANDED_IN = {"zoe": ("ada_reference", "ada_reference"), "gus": ("gus_untouched", "fay_half_done")}
"""Whose submissions theirs are, in each lesson."""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """The course before anything was graded, with its gradebook in a file."""
    root = tmp_path / "file"
    root.mkdir()
    course = make_course(root)
    for student, names in HANDED_IN.items():
        for lesson, name in zip(LESSONS, names, strict=True):
            [found] = (one for one in STUDENTS[lesson] if one.name == name)
            hand_in(course, student, found, lesson)
    course.secret()
    return course


def clone(course: Course, name: str, url: str) -> Course:
    """The course of an instructor who shares the gradebook."""
    root = course.root.with_name(name)
    shutil.copytree(course.root, root)
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
    return Course.find(root)


def grading(course: Course, lesson: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "katze", "grade", lesson, "--course", str(course.root)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def told(capsys: pytest.CaptureFixture[str], status: int, *command: str) -> str:
    capsys.readouterr()
    assert main(list(command)) == status
    said = capsys.readouterr()
    assert PASSWORD not in said.out + said.err
    return said.out + said.err


def test_they_have_what_one_would_have_in_a_file(
    course: Course, cluster: Cluster, database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clones = [clone(course, user, cluster.url(database, user)) for user in ("ada", "ben")]
    runs = [grading(own, lesson) for own, lesson in zip(clones, LESSONS, strict=True)]
    for lesson in LESSONS:
        assert main(["grade", lesson, "--course", str(course.root)]) == 0
    for run in runs:
        assert run.wait() == 0, run.communicate()
    gradebook = clones[0].gradebook
    copy_to_file(gradebook, tmp_path / "copy.db")
    assert plain_rows(tmp_path / "copy.db") == plain_rows(course.root / "gradebook.db")

    ada, ben = (str(own.root) for own in clones)
    assert f"{LESSONS[0]}: 2 submissions unchanged" in told(capsys, 0, "grade", LESSONS[0], "--course", ada)
    assert told(capsys, 0, "log", "gus", LESSONS[0], "--course", ben).startswith("gus  01_attention  0 of")
    assert f"gradebook: {gradebook}" in told(capsys, 0, "status", "--course", ada)
    again = ("grade", LESSONS[1], "--course", ada, "--dry-run")
    assert "is missing" in told(capsys, 0, *again)  # ben has the graded notebooks of this lesson
    told(capsys, 0, "freeze", LESSONS[1], "--course", ada)
    assert "frozen" in told(capsys, 0, *again)
    assert "is frozen since" in told(capsys, 0, *again, "--run")
    with open_gradebook(clones[1].gradebook, LESSONS[0]):
        assert f"another run is grading {LESSONS[0]} into" in told(capsys, 2, "grade", LESSONS[0], "--course", ada)
        told(capsys, 0, "thaw", LESSONS[1], "--course", ada)
