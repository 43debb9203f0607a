"""A class that several test files look at, graded once for all of them."""

from __future__ import annotations

import fcntl
import os

import pytest

from autograder.course.course import Course
from autograder.grading import assignment
from autograder.grading.batch import grade_lesson
from tests.autograder.small_class import BY_NAME, LESSON, NEARLY_SCALED, answer, hand_in, make_course


@pytest.fixture
def steady_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is graded again because the code of this checkout has changed, as it does while somebody works on it."""
    monkeypatch.setattr(assignment, "_versions", lambda _assignment: {"Katze": "1"})


@pytest.fixture(scope="session")
def graded_class(tmp_path_factory: pytest.TempPathFactory, processes: None) -> Course:
    """The class of `small_class.py`: to be copied, not changed. Test processes that run side by side grade it once."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    place = shared / "graded_class"
    with (shared / "graded_class.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "graded").exists():
            place.mkdir()
            course = make_course(place)
            for name in ("ada_reference", "hana_slides_numbers", "zora_not_a_notebook"):
                hand_in(course, name, BY_NAME[name])
            written = {"attention-scale-answer": NEARLY_SCALED, "attention-why_scale-written": "So that it learns."}
            answer(course, "ben", written)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(assignment, "_versions", lambda _assignment: {"Katze": "1"})
                grade_lesson(course, LESSON, workers=2)
            (place / "graded").touch()
    return Course.find(place)
