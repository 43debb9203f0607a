"""The working folder: what is copied, what is renewed, and what is never touched."""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.course.course import Course
from autograder.course.released import REPOSITORY
from autograder.errors import BadInput
from autograder.learn.folder import copy_lessons, move_answers

LESSON = "01_attention"
ANSWER = "attention-scores-answer"


@pytest.fixture
def released(tmp_path: Path) -> dict[str, Path]:
    """Two lessons, in a folder that tests may change."""
    shutil.copytree(REPOSITORY / "notebooks" / LESSON, tmp_path / "release" / LESSON)
    shutil.copytree(REPOSITORY / "notebooks" / "02_masking", tmp_path / "release" / "02_masking")
    return {path.stem: path for path in sorted((tmp_path / "release").glob("*/*.ipynb"))}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def read(path: Path) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    return notebook


def change(path: Path, cell_id: str, source: str) -> None:
    notebook = read(path)
    for cell in notebook.cells:
        if cell.id == cell_id:
            cell.source = source
    nbformat.write(notebook, path)


def source(path: Path, cell_id: str) -> str:
    return next(str(cell.source) for cell in read(path).cells if cell.id == cell_id)


def test_every_lesson_is_copied_once(released: dict[str, Path], work: Path) -> None:
    assert copy_lessons(released, work).new == (LESSON, "02_masking")
    assert (work / LESSON / f"{LESSON}.ipynb").read_bytes() == released[LESSON].read_bytes()
    assert (work / "progress.jsonl").is_file()
    change(work / LESSON / f"{LESSON}.ipynb", ANSWER, "mine")
    again = copy_lessons(released, work)
    assert (again.new, again.renewed, again.foreign) == ((), {}, ())
    assert source(work / LESSON / f"{LESSON}.ipynb", ANSWER) == "mine"


def test_a_new_version_comes_without_touching_answers(released: dict[str, Path], work: Path) -> None:
    copy_lessons(released, work)
    mine = work / LESSON / f"{LESSON}.ipynb"
    change(mine, ANSWER, "mine")
    text = next(cell.id for cell in read(mine).cells if cell.cell_type == "markdown" and "## 1." in cell.source)
    change(released[LESSON], text, "## 1. Said better")
    untouched = next(cell.id for cell in read(released["02_masking"]).cells if cell.cell_type == "markdown")
    change(released["02_masking"], untouched, "# Masks")
    [before] = copy_lessons(released, work).renewed.values()
    assert source(mine, ANSWER) == "mine"
    assert source(mine, text) == "## 1. Said better"
    assert source(before, ANSWER) == "mine"
    assert source(before, text) != "## 1. Said better"
    assert [file.name for file in (work / "02_masking").iterdir()] == ["02_masking.ipynb"], "nothing of theirs to keep"
    assert source(work / "02_masking" / "02_masking.ipynb", untouched) == "# Masks"
    assert copy_lessons(released, work).renewed == {}
    change(released[LESSON], text, "## 1. Said even better")
    [second] = copy_lessons(released, work).renewed.values()
    assert second != before


def test_a_copy_made_by_hand_is_known_by_its_cells_and_others_are_left_alone(
    released: dict[str, Path], work: Path
) -> None:
    shutil.copytree(released[LESSON].parent, work / LESSON)
    change(work / LESSON / f"{LESSON}.ipynb", ANSWER, "mine")
    (work / "02_masking").mkdir(parents=True)
    (work / "02_masking" / "02_masking.ipynb").write_text("not a notebook")
    for _time in range(2):
        copied = copy_lessons(released, work)
        assert (copied.new, copied.foreign) == ((), ("02_masking",))
    assert (work / "02_masking" / "02_masking.ipynb").read_text() == "not a notebook"


def test_what_cannot_be_used_is_named_and_left(released: dict[str, Path], work: Path, tmp_path: Path) -> None:
    copy_lessons(released, work)
    (work / LESSON / f"{LESSON}.ipynb").write_text("{")
    change(released[LESSON], ANSWER, "another stub")
    with pytest.raises(BadInput, match="is not a notebook"):
        copy_lessons(released, work)
    assert (work / LESSON / f"{LESSON}.ipynb").read_text() == "{"
    with pytest.raises(BadInput, match="name a folder of your own"):
        copy_lessons(released, tmp_path / "release")
    with pytest.raises(BadInput, match="is a file"):
        copy_lessons(released, work / LESSON / f"{LESSON}.ipynb")


def test_answers_are_moved_out_of_the_release(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nbgrader_config.py").write_text(
        'c.CourseDirectory.release_directory = "notebooks"\nc.Katze.repository = "a/b"\n'
    )
    shutil.copytree(REPOSITORY / "notebooks" / LESSON, tmp_path / "notebooks" / LESSON)
    course = Course.find(tmp_path)
    released = course.release_notebook(LESSON)
    fresh = released.read_bytes()
    monkeypatch.setattr("autograder.course.release.fresh_release", lambda _course, _lesson: fresh)
    change(released, ANSWER, "mine")
    moved = move_answers(course, LESSON, work)
    assert source(moved, ANSWER) == "mine"
    assert released.read_bytes() == fresh
    with pytest.raises(BadInput, match="holds no answers"):
        move_answers(course, LESSON, work)
    change(released, ANSWER, "also mine")
    with pytest.raises(BadInput, match="holds answers already"):
        move_answers(course, LESSON, work)
    assert source(released, ANSWER) == "also mine"
    assert source(moved, ANSWER) == "mine"
