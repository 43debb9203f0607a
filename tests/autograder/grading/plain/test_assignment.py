"""A plain assignment, read: what is refused, in a sentence that says what to do, before anything runs."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.grading.batch import grade_assignment
from autograder.grading.plain.assignment import MasterCell, PlainAssignment
from tests.autograder.grading.plain.plain_course import NAME, hand_in, make_course, notebook

pytestmark = pytest.mark.usefixtures("processes")


def load(course: Course) -> PlainAssignment:
    return PlainAssignment.load(course, NAME, True)


def change(course: Course, edit: Callable[[dict[str, Any]], object], name: str = "first") -> None:
    path = course.release / NAME / f"{name}.ipynb"
    made = json.loads(path.read_text())
    edit(made)
    path.write_text(json.dumps(made))


@pytest.mark.parametrize(
    ("config", "cell", "notebook"),
    [
        ("", 1, 60),
        ("c.Execute.timeout = 45\n", 45, 450),
        ("c.Execute.timeout = None\n", 600, 6000),
        ('c.Katze.limits = {"cell_seconds": 3, "submission_seconds": 7}\n', 3, 7),
    ],
)
def test_cells_get_nbgrader_s_own_time_unless_the_course_says_more(
    tmp_path: Path, config: str, cell: float, notebook: float
) -> None:
    limits = load(make_course(tmp_path / "course", config)).course.limits
    assert (limits.cell_seconds, limits.submission_seconds) == (cell, notebook)
    assert limits.processor_seconds >= notebook or "Katze" in config


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (
            lambda made: made["metadata"].update(kernelspec={"language": "R", "name": "ir"}),
            "a kernel for r, and sandboxes",
        ),
        (lambda made: made["cells"].append(made["cells"][3]), "the grade_id 'same' is on 2 cells; give each its own"),
        (lambda made: made["cells"].pop(3), "the cell same of first.ipynb is in only one of them; run `nbgrader"),
        (
            lambda made: made.clear(),
            r"first.ipynb cannot be read \(\w+\); run `nbgrader generate_assignment hw --force`",
        ),
    ],
)
def test_a_release_that_cannot_be_graded_is_refused(
    tmp_path: Path, edit: Callable[[dict[str, Any]], object], told: str
) -> None:
    course = make_course(tmp_path / "course")
    change(course, edit)
    with pytest.raises(BadInput, match=told):
        load(course)


def test_an_assignment_that_was_never_released_is_refused(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course")
    hand_in(course, "ada")
    for name in ("first", "second"):
        (course.release / NAME / f"{name}.ipynb").unlink()
    with pytest.raises(BadInput, match="hw has not been released yet; run `nbgrader generate_assignment hw`"):
        grade_assignment(course, NAME)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (
            'c.CourseDirectory.directory_structure = "{student_id}/{nbgrader_step}"\n',
            "directory_structure must keep",
        ),
        ('c.IgnorePattern.pattern = "("\n', "c.IgnorePattern.pattern is not a regular expression"),
    ],
)
def test_settings_that_are_not_followed_are_refused(tmp_path: Path, config: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        load(make_course(tmp_path / "course", config))


def test_what_the_course_says_elsewhere_is_refused(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course")
    (course.release / NAME / "third.ipynb").write_text(notebook([]))
    with pytest.raises(BadInput, match="do not match: third.ipynb is in only one of them"):
        load(course)
    (course.root / "course.toml").write_text(f"[lessons.{NAME}]\ndue = 2026-11-20T18:00:00+01:00\n")
    with pytest.raises(BadInput, match="goes by nbgrader's own due dates; set it in formgrader"):
        load(Course.find(course.root))


@pytest.mark.parametrize(
    ("above", "grade_id", "title"),
    [
        (["# Sums"], "cell-938593c4a215c6cc", "Sums"),
        (["# Sums", "## Part B ##\nSay why."], "cell-938593c4a215c6cc", "Part B"),
        (["# Sums", "```\n# no heading\n```"], "5d41402a-bc4b-2a76-b971-9d911017c592", "Sums"),
        (["plain text"], "cell-938593c4a215c6cc", "first"),
        (["# Sums"], "facade", None),
    ],
)
def test_a_cell_whose_id_says_nothing_is_called_like_its_section(
    tmp_path: Path, above: list[str], grade_id: str, title: str | None
) -> None:
    master = load(make_course(tmp_path / "course")).notebooks[0]
    same = master.cells[master.named["same"]]
    assert same.row is not None
    test = replace(same, row=replace(same.row, name=grade_id))
    texts = [MasterCell("markdown", text, {}, None, {}) for text in above]
    other = replace(master, cells=(*texts, test, replace(test, row=replace(same.row, name=f"{grade_id[:-1]}0"))))
    assert other.titles.get(grade_id) == title
    assert other.titles.get(f"{grade_id[:-1]}0") == (title and f"{title} (2)")
