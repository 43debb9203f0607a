import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import BadInput, Unreadable
from autograder.intake.submission import (
    check_student_id,
    list_submissions,
    read_notebook,
    read_submission,
    refused_submissions,
)
from tests.autograder.small_lesson import ANSWERS_IN, IN_ORDER, LESSON, by_id, cell, filled, mended, order


@pytest.mark.parametrize(
    ("lines", "are_whole"),
    [
        (["a = 1\r\n", "b = 2\r", "\r", "c = 3"], True),
        (["a = 1\n", "b = 2\n", "\n", "c = 3", None], True),
        (["a = 1", "b = 2", "", "c = 3"], False),
        (["a = 1", "b = 2", "\n", "c = 3"], False),  # only what was empty has one
        (["a = 1\n", 3, "b = 2", "", "c = 3"], False),
    ],
)
def test_lists_of_lines_are_read_with_any_line_ends_and_with_none(lines: list[object], are_whole: bool):
    notebook = filled()
    by_id(notebook, "imports")["source"] = lines
    read = read_notebook(json.dumps(notebook, indent=1).replace("\n", "\r\n").encode())
    assert read.cells[1].source == "a = 1\nb = 2\n\nc = 3"
    assert read.repairs == (
        () if are_whole else ("The lines of its cells had lost their line breaks; they were put back.",)
    )


@pytest.mark.parametrize(
    "junk",
    [None, 3, "cell", [], {}, {"cell_type": "code"}, {"source": 3}, {"source": None, "cell_type": "code"}],
)
def test_a_damaged_cell_costs_only_itself(junk: object):
    notebook = filled()
    notebook["cells"].insert(1, junk)
    repaired = mended(notebook)
    assert order(repaired) == IN_ORDER
    assert repaired.repairs == ("1 damaged cell could not be read.",)


@pytest.mark.parametrize(
    "junk",
    [
        {"metadata": None},
        {"metadata": {"nbgrader": 3, "tags": "demo"}},
        {"metadata": {"nbgrader": {"grade_id": ["a"], "grade": True}, "tags": [1, {}]}},
        {"outputs": "none", "id": 7, "attachments": []},
        {"cell_type": ["code"]},
        {"cell_type": "video"},
    ],
)
def test_cells_with_strange_fields_are_read(junk: dict[str, object]):
    notebook = filled()
    notebook["cells"].append({**cell("code", "odd", "1 + 1"), **junk})
    assert len(mended(notebook).cells) == 11


@given(st.binary(max_size=200))
def test_whatever_the_bytes_they_are_a_notebook_or_unreadable(content: bytes):
    with pytest.raises(Unreadable):
        read_notebook(content)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "submitted" / "ada" / LESSON
    made.mkdir(parents=True)
    (made / f"{LESSON}.ipynb").write_text(json.dumps(filled()))
    return made


@pytest.mark.parametrize("linked", ["file", "lesson", "student"])
def test_no_link_is_followed(folder: Path, tmp_path: Path, linked: str):
    place = {"file": folder / f"{LESSON}.ipynb", "lesson": folder, "student": folder.parent}[linked]
    target = tmp_path / "elsewhere"
    place.rename(target)
    place.symlink_to(target)
    with pytest.raises(Unreadable, match="is a link"):
        read_submission(folder, LESSON, ANSWERS_IN)


def test_a_folder_that_is_gone_is_unreadable(folder: Path):
    with pytest.raises(Unreadable, match="could not be opened"):
        read_submission(folder.parent / "03_other", LESSON, ANSWERS_IN)


def test_submissions_are_listed_by_student(folder: Path):
    submitted = folder.parent.parent
    for student in ("Ada Lovelace", "Zoe", "bob@example.org", "müller", "o'neill", "s123.4"):
        (submitted / student / LESSON).mkdir(parents=True)
    (submitted / "other" / "02_masking").mkdir(parents=True)
    (submitted / ".git" / LESSON).mkdir(parents=True)
    (submitted / "README").write_text("x")
    (submitted / "link").symlink_to(folder.parent)
    listed = list_submissions(submitted, LESSON)
    students = ["Ada Lovelace", "Zoe", "ada", "bob@example.org", "link", "müller", "o'neill", "s123.4"]
    assert [student for student, _ in listed] == students
    assert dict(listed)["ada"] == folder
    with pytest.raises(BadInput, match="no folder"):
        list_submissions(submitted / "nowhere", LESSON)


@pytest.mark.parametrize("student", ["..", "", " ", "a/b", "a\\b", ".hidden", "a\u202eb", "x" * 129, "<b>"])
def test_student_ids_that_could_be_something_else_are_refused(student: str):
    with pytest.raises(BadInput) as raised:
        check_student_id(student)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("student", "said"),
    [
        ("zed +é", "the student id 'zed +é' holds +; rename its folder"),
        ("a\nb", r"the student id 'a\nb' holds \n, which is not a printable character; rename its folder"),
        ("a\udcffb", r"the student id 'a\udcffb' holds \udcff, which is not a printable character; rename its folder"),
        ("a..b", "the student id 'a..b' holds ..; rename its folder"),
        ("-rf", "the student id '-rf' begins with -; rename its folder"),
        ("a ", "the student id 'a ' ends with a space; rename its folder"),
    ],
)
def test_a_bad_id_is_passed_over_and_told_with_what_is_wrong_in_it(folder: Path, student: str, said: str):
    submitted = folder.parent.parent
    (submitted / student / LESSON).mkdir(parents=True)
    (submitted / "b+c" / "02_other").mkdir(parents=True)
    assert [student for student, _ in list_submissions(submitted, LESSON)] == ["ada"]
    assert list(refused_submissions(submitted, LESSON).values()) == [said]
    [shown] = refused_submissions(submitted, LESSON)
    assert f"'{shown}'" in said
    assert shown.isprintable()
