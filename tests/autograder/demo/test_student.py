"""One submission: the right text in the right cell, and everything else that happens to a notebook."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from autograder.demo.student import (
    ANSWERS,
    Group,
    Notebook,
    Student,
    delete_check,
    forge_points,
    graded_cell,
    read_answers,
    strip_metadata,
    write_garbage,
    write_link_to,
    write_with_byte_order_mark,
)
from autograder.demo.students import CLASS, EXPECTED, STUDENTS
from course_lib import exercises
from tests.autograder.answered_lesson import LESSON, RELEASED

SCORES = "attention.scores"


@pytest.fixture
def released() -> Notebook:
    content: Notebook = nbformat.read(RELEASED, as_version=4)
    return content


def handed_in(student: Student, released: Notebook, folder: Path) -> Notebook:
    path = folder / f"{LESSON}.ipynb"
    student.hand_in(released, LESSON, path)
    content: Notebook = nbformat.v4.reads(path.read_text(encoding="utf-8-sig"))
    return content


def student(*answers: str, **options: object) -> Student:
    return Student("someone", Group.RIGHT, "something", answers, **options)  # type: ignore[arg-type]


def source(notebook: Notebook, exercise: str, role: str) -> str:
    return str(notebook["cells"][graded_cell(notebook, exercise, role)]["source"])


def test_other_cells_go_where_their_headings_say(released: Notebook, tmp_path: Path) -> None:
    notebook = handed_in(student("batched_matmul"), released, tmp_path)
    [place] = [n for n, cell in enumerate(notebook["cells"]) if cell["source"].startswith("def as_batch")]
    assert place < graded_cell(notebook, "attention.contextual_embedding", "answer")
    assert len(notebook["cells"]) == len(released["cells"]) + 1
    notebook = handed_in(student("reference", "draft_and_copy", "helper_in_demo_cell"), released, tmp_path)
    place = graded_cell(notebook, "attention.weights", "answer")
    draft, answer = notebook["cells"][place : place + 2]
    assert (draft["metadata"], draft["id"]) == (answer["metadata"], answer["id"])
    assert draft["source"] != answer["source"]
    before, after = (
        next(cell["source"] for cell in one["cells"] if cell["metadata"].get("tags") == ["demo"])
        for one in (released, notebook)
    )
    assert after.startswith(before)
    assert after.endswith("root = math.sqrt")


def test_what_else_happens_to_a_notebook(released: Notebook, tmp_path: Path) -> None:
    first = "attention.contextual_embedding"
    assert len(handed_in(student(edit=delete_check), released, tmp_path)["cells"]) == len(released["cells"]) - 1
    with pytest.raises(LookupError):
        graded_cell(handed_in(student(edit=delete_check), released, tmp_path), first, "check")
    notebook = handed_in(student(edit=strip_metadata), released, tmp_path)
    assert notebook["nbformat_minor"] == 4
    assert all(not cell["metadata"] and "id" not in cell for cell in notebook["cells"])
    notebook = handed_in(student(edit=forge_points), released, tmp_path)
    graded = [cell["metadata"]["nbgrader"] for cell in notebook["cells"] if "nbgrader" in cell["metadata"]]
    assert {cell["points"] for cell in graded if cell["grade"]} == {100}
    assert source(notebook, first, "check") == f"# katze: {first} check\n100"


def test_the_three_ways_to_hand_in_a_strange_file(released: Notebook, tmp_path: Path) -> None:
    path = tmp_path / f"{LESSON}.ipynb"
    student(write=write_with_byte_order_mark).hand_in(released, LESSON, path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf{")
    student(write=write_garbage).hand_in(released, LESSON, path)
    with pytest.raises(ValueError):
        json.loads(path.read_bytes().decode("latin-1"))
    neighbour, linked = (tmp_path / name / LESSON for name in ("ada", "zora"))
    for folder in (neighbour, linked):
        folder.mkdir(parents=True)
    (neighbour / path.name).write_text("{}")
    student(write=write_link_to("ada")).hand_in(released, LESSON, linked / path.name)
    assert (linked / path.name).is_symlink()
    assert (linked / path.name).read_text() == "{}"


@pytest.mark.parametrize("lesson", STUDENTS)
def test_every_answer_file_is_used_and_every_name_is_known(lesson: str) -> None:
    known = {exercise.id for exercise in exercises.of_lesson(lesson)}
    known |= {"attention.why_scale", "masking.why_decoder", "own", "demo"}
    assert EXPECTED[lesson].keys() <= {student.name for student in CLASS}
    assert all(student.expected.keys() <= known for student in STUDENTS[lesson])
    files = {path.stem: read_answers(path) for path in (ANSWERS / lesson).glob("*.py")}
    assert files.keys() == {name for student in STUDENTS[lesson] for name in student.answers}
    assert {heading.removeprefix("draft ") for cells in files.values() for heading in cells} <= known
