"""A lesson as it is graded: its release fits its exercises, and all that decides a grade is in its conditions."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.grading.assignment import _GRADING, Assignment
from autograder.grading.digests.sources import code_of
from course_lib.judging import ready_made
from tests.autograder.small_class import LESSON, ROOT, make_course, replace_exercise


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path)


def load(course: Course) -> Assignment:
    return Assignment.load(course, LESSON, skip_demos=True, feedback=True)


def test_the_conditions_name_versions_limits_and_no_secret(course: Course) -> None:
    conditions = load(course).conditions
    assert {"Katze", "Python", "torch", "checks", "library"} <= set(conditions.versions)
    assert course.secret().hex() not in repr(conditions)
    assert conditions.settings["withheld modules"] == list(load(course).withheld)
    assert conditions.settings["limits"]["system_calls"] == "allow-list"


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        ({"needs": (ready_made.SOFTMAX,)}, "needs"),
        ({"needs": (ready_made.COSINE,), "allowed": ("norm",)}, "needs and allowed"),
    ],
)
def test_what_nothing_uses_any_more_is_accepted_and_named_in_a_line(
    course: Course, monkeypatch: pytest.MonkeyPatch, sets: dict[str, Any], told: str
) -> None:
    assert load(course).outdated == []
    with open(course.root / "nbgrader_config.py", "a") as file:
        file.write('c.Katze.packages = ["no-such-package"]\n')
    replace_exercise(monkeypatch, "attention.scale", lambda one: dataclasses.replace(one, **sets))
    packages, scale = load(Course.find(course.root)).outdated
    assert packages.startswith("c.Katze.packages in nbgrader_config.py: no longer used")
    assert scale.startswith(f"attention.scale: {told} can be deleted")


def test_the_code_that_grades_is_found_with_all_it_imports() -> None:
    found = {str(path.relative_to(ROOT)) for path in code_of(_GRADING)}
    assert {
        "autograder/grading/notebook_runner.py",
        "autograder/intake/submission.py",
        "autograder/box/inside/child.py",
        "autograder/box/confinement/seccomp.py",
        "course_lib/judging/compare.py",
        "course_lib/judging/judge.py",
    } <= found
    assert not {"autograder/cli.py", "autograder/pages/feedback.py", "autograder/pages/terminal.py"} & found


def check_cell(release: dict[str, Any]) -> dict[str, Any]:
    return next(cell for cell in release["cells"] if cell["metadata"].get("nbgrader", {}).get("grade"))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda release: release["cells"].clear(), "has no place in the release and 2 points in the exercise"),
        (lambda release: check_cell(release)["metadata"]["nbgrader"].update(points=7), "has 7 points in the release"),
        (lambda release: check_cell(release)["metadata"].clear(), "another version of the course"),
        (lambda release: release.pop("cells"), "cannot be read .KeyError.; run `katze release`"),
    ],
)
def test_a_release_that_does_not_fit_is_refused(course: Course, change: Any, match: str) -> None:
    path = course.release_notebook(LESSON)
    release = json.loads(path.read_text())
    change(release)
    path.write_text(json.dumps(release))
    with pytest.raises(BadInput, match=match) as refused:
        load(course)
    assert "\n" not in str(refused.value)
    assert "katze release" in str(refused.value)


def test_a_lesson_that_this_version_lacks_is_refused(course: Course) -> None:
    folder = course.release / "99_later"
    folder.mkdir()
    (folder / "99_later.ipynb").write_text(course.release_notebook(LESSON).read_text())
    with pytest.raises(
        BadInput,
        match="has no exercises for 99_later; it has exercises for 000_primer, 00_words_in_a_bag, 01_attention",
    ):
        Assignment.load(course, "99_later", skip_demos=True, feedback=True)
