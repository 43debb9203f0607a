"""The file that says when a submission was handed in: a student may have written it, and nbgrader trusts it."""

import importlib.util
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.course.course import Course
from autograder.grading.batch import grade_assignment
from autograder.intake import timestamps
from tests.autograder.small_class import BY_NAME, LESSON, by_student, hand_in, make_course

TO_DO = "write one there, such as 2026-11-20 17:50:00 UTC, or remove the file"


def nbgrader_s_own() -> Callable[..., Any]:
    """What `mend_formgrader` replaces, from the module's file: here it may have been replaced already."""
    spec = importlib.util.find_spec("nbgrader.apps.api")
    assert spec is not None
    assert spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    found: Callable[..., Any] = fresh.NbGraderAPI.get_submitted_timestamp
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "ada" / LESSON
    made.mkdir(parents=True)
    return made


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-20 10:00:00 UTC", datetime(2026, 11, 20, 10)),
        ("2026-11-20 12:00:00 +0200", datetime(2026, 11, 20, 10)),
        ("2026-11-20 10:00:00.250000 UTC", datetime(2026, 11, 20, 10, 0, 0, 250000)),
        (datetime(2026, 11, 20, 10, tzinfo=UTC), datetime(2026, 11, 20, 10)),
        ("yesterday", None),
        ("99999-99-99 99:99:99 Mars", None),
        ("", None),
        (None, None),
    ],
)
def test_a_time_is_kept_in_utc_and_what_is_none_is_none(text: str | datetime | None, time: datetime | None) -> None:
    assert timestamps.moment(text) == time


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda path: None, ""),
        (lambda path: path.write_text("2026-11-20 10:00:00 UTC\n"), ""),
        (lambda path: path.write_text("yesterday\n"), f"timestamp.txt says 'yesterday', which is not a time: {TO_DO}"),
        (lambda path: path.write_text("\x1b[2J<b>"), f"timestamp.txt says '?[2J?b?', which is not a time: {TO_DO}"),
        (lambda path: path.write_text(""), f"timestamp.txt holds no time: {TO_DO}"),
        (lambda path: path.write_text("1" * 2000), f"timestamp.txt holds no time: {TO_DO}"),
        (Path.mkdir, f"timestamp.txt holds no time: {TO_DO}"),
        (os.mkfifo, f"timestamp.txt holds no time: {TO_DO}"),
        (lambda path: path.symlink_to("/dev/zero"), f"timestamp.txt holds no time: {TO_DO}"),
    ],
)
def test_a_file_that_holds_no_time_is_told_with_what_to_do(
    folder: Path, write: Callable[[Path], object], told: str
) -> None:
    write(folder / "timestamp.txt")
    assert timestamps.fault(folder) == told


def test_a_folder_that_is_gone_or_a_link_has_no_fault_of_its_own(folder: Path) -> None:
    (folder / "timestamp.txt").write_text("yesterday")
    link = folder.with_name("link")
    link.symlink_to(folder)
    assert timestamps.fault(link) == timestamps.fault(folder / "gone") == ""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A graded class in which one says "yesterday" and another, whose notebook is none, "soon"."""
    course = make_course(tmp_path_factory.mktemp("course"))
    for name, text in {
        "ada_reference": "yesterday",
        "ben": "2026-11-20 12:00:00 +0200",
        "cy": "",
        "di": "soon",
    }.items():
        path = hand_in(course, name, BY_NAME["zora_not_a_notebook" if name == "di" else "ada_reference"])
        if text:
            (path.parent / "timestamp.txt").write_text(text)
    return course


def submissions(course: Course) -> dict[str, dict[str, Any]]:
    """What formgrader's page of the lesson shows."""
    config = Config(CourseDirectory={"root": str(course.root), "db_url": f"sqlite:///{course.gradebook}"})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course.root)
        found = NbGraderAPI(CourseDirectory(config=config), config=config).get_submissions(LESSON)
    return {one["student"]: one for one in found}


@pytest.mark.usefixtures("processes")
def test_the_instructor_reads_whose_it_is_and_formgrader_s_page_opens(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded = by_student(grade_assignment(course, LESSON, workers=2))
    assert graded["ada_reference"].remarks == (f"timestamp.txt says 'yesterday', which is not a time: {TO_DO}",)
    assert graded["di"].remarks == (f"timestamp.txt says 'soon', which is not a time: {TO_DO}",)
    assert graded["ben"].remarks == graded["cy"].remarks == ()
    assert (course.submitted / "ada_reference" / LESSON / "timestamp.txt").read_text() == "yesterday"

    monkeypatch.setattr(NbGraderAPI, "get_submitted_timestamp", nbgrader_s_own())
    with pytest.raises(ValueError, match="yesterday"):
        submissions(course)
    Course.find(course.root)  # reads the course's settings, as nbgrader does
    shown = submissions(course)
    assert {name: one["autograded"] for name, one in shown.items()} == {
        "ada_reference": True, "ben": True, "cy": True, "di": False,
    }  # fmt: skip
    assert shown["ada_reference"]["timestamp"] is None
    assert shown["ben"]["timestamp"] == "2026-11-20T10:00:00"
