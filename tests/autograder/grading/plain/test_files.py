"""The files beside the notebooks: the course's for everyone, a student's own in no place but its sandboxes."""

import os
from pathlib import Path

import pytest

from autograder.course.course import Course
from autograder.grading.plain import files
from autograder.limits import Limits
from tests.autograder.grading.plain.plain_course import NAME, hand_in, make_course

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path / "course")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


def there(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_course_s_own_without_notebooks_and_rubbish(course: Course) -> None:
    source = course.source / NAME
    for name in (".ipynb_checkpoints/first.ipynb", "__pycache__/helper.pyc", "more/table.csv"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text("1")
    assert list(files.of_course(course, NAME)) == ["data.txt", "helper.py", "more/table.csv"]


def test_the_course_s_replace_the_student_s(course: Course, target: Path) -> None:
    folder = hand_in(course, "ada")
    (folder / "helper.py").write_text("mine")
    (folder / "data.txt").mkdir()
    (folder / "data.txt" / "mine").write_text("mine")
    (folder / "own.csv").write_text("1,2")
    assert files.copy_student_files(course, folder, target, Limits()) == []
    files.copy_course_files(files.of_course(course, NAME), target)
    assert there(target) == {
        "helper.py": "def numbers():\n    return [1, 2, 3]\n", "data.txt": "forty-two", "own.csv": "1,2",
    }  # fmt: skip


def test_what_students_may_change_stays_theirs(tmp_path: Path, target: Path) -> None:
    course = make_course(tmp_path / "other", f'c.Autograde.exclude_overwriting = {{"{NAME}": ["helper.py"]}}\n')
    (target / "helper.py").write_text("mine")
    files.copy_course_files(files.of_course(course, NAME), target, files.exclude_overwriting(course, NAME))
    assert there(target) == {"helper.py": "mine", "data.txt": "forty-two"}


def test_no_link_is_followed_and_no_pipe_opened(course: Course, target: Path, tmp_path: Path) -> None:
    folder = hand_in(course, "ada")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret" / "key")
    (folder / "folder").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe")
    (folder / "real.txt").write_text("real")
    told = files.copy_student_files(course, folder, target, Limits())
    assert there(target) == {"real.txt": "real"}
    assert len(told) == 2
    assert told[0] == "link was left out: it is a link, and links are not followed."


def test_too_much_is_left_out_and_told(course: Course, target: Path) -> None:
    folder = hand_in(course, "ada")
    deep = folder.joinpath(*["d"] * (files.DEEPEST + 3))
    deep.mkdir(parents=True)
    (deep / "deep.txt").write_text("1")
    (folder / "a.txt").write_text("x" * 100)
    (folder / "b.txt").write_text("x" * 5)
    (folder / "c.txt").write_text("x")
    told = files.copy_student_files(course, folder, target, Limits(folder_bytes=50, files=2))
    assert there(target) == {"b.txt": "xxxxx"}
    assert told[0] == "a.txt was left out: it holds more than the limit of 50 bytes."
    assert told[1] == "There are more than 2 files; the others were left out."
