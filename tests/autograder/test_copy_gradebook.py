"""`katze copy-gradebook`: a course moves to a server in the middle of a semester, and back, and grades on.

Tests `copy_gradebook.py` as well.
"""

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.gradebook.copying import copy_to_file
from tests.autograder.plain_rows import plain_rows
from tests.autograder.small_class import LESSON, hand_in
from tests.postgres import PASSWORD, Cluster

Told = Callable[..., str]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """What a command about a course says."""

    def tell(status: int, course: Course, *arguments: str) -> str:
        capsys.readouterr()
        assert main([*arguments, "--course", str(course.root)]) == status
        said = capsys.readouterr()
        assert PASSWORD not in said.out + said.err
        return said.out + said.err

    return tell


def set_url(course: Course, url: str) -> Course:
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
    return Course.find(course.root)


@pytest.mark.usefixtures("steady_versions")
def test_a_course_moves_and_grades_on(
    course: Course, cluster: Cluster, database: str, told: Told, tmp_path: Path
) -> None:
    shutil.copytree(course.root, tmp_path / "stays")
    stays = Course.find(tmp_path / "stays")
    everybody = len(list(course.submitted.iterdir()))
    for number, url in enumerate((cluster.url(database), "sqlite:///kept.db")):
        exported = told(0, course, "export", "--total")
        said = told(0, course, "copy-gradebook", url)
        before, course = course.gradebook, set_url(course, url)
        assert said.splitlines()[0].endswith(f"copied and compared, from {before} to {course.gradebook}")
        assert told(0, course, "export", "--total") == exported
        assert f"{everybody + number} submissions unchanged" in told(0, course, "grade", LESSON)
        for own in (course, stays):
            hand_in(own, f"new_{number}")
            assert f"{everybody + number} submissions unchanged" in told(0, own, "grade", LESSON)
        copy_to_file(course.gradebook, tmp_path / f"{number}.db")
        assert plain_rows(tmp_path / f"{number}.db") == plain_rows(stays.root / "gradebook.db")
        assert f"new_{number}" in told(0, course, "log", f"new_{number}", LESSON)


def test_it_says_what_to_set_without_the_password(course: Course, cluster: Cluster, database: str, told: Told) -> None:
    with contextlib.closing(sqlite3.connect(course.root / "gradebook.db")) as book:
        book.execute("CREATE TABLE notes (a)")
        book.execute("UPDATE katze_exercise SET note = char(0) WHERE exercise = 'attention.scale'")
        book.commit()
    before = (course.root / "gradebook.db").read_bytes()
    url = cluster.url(database)
    planned = told(0, course, "copy-gradebook", url, "--dry-run").splitlines()
    data = json.loads(told(0, course, "copy-gradebook", url, "--dry-run", "--json"))
    said = told(0, course, "copy-gradebook", url).splitlines()
    address = str(cluster.server(database))
    rows = sum(data["rows"].values())
    assert planned[0] == f"{rows:,} rows of 27 tables would be copied, from {course.gradebook} to {address}"
    assert said[0] == f"{rows:,} rows of 27 tables copied and compared, from {course.gradebook} to {address}"
    assert said[1:-1] == planned[1:]
    assert planned[1:] == [
        "not copied, because neither nbgrader nor Katze made it: notes",
        "PostgreSQL keeps no NUL characters; \ufffd is in their place: in 4 texts",
    ]
    hidden = url.replace(url.split(":")[2].partition("@")[0], "***")
    told_to_set = f'now set in nbgrader_config.py: c.CourseDirectory.db_url = "{hidden}" (*** is the password)'
    assert said[-1] == told_to_set
    assert {**data, "rows": rows} == {
        "from": str(course.gradebook),
        "to": address,
        "db_url": hidden,
        "copied": False,
        "rows": rows,
        "left": ["notes"],
        "changed_texts": 4,
    }
    assert (course.root / "gradebook.db").read_bytes() == before


def test_what_cannot_be_done_is_told_in_a_line(course: Course, told: Told, cluster: Cluster) -> None:
    before = sorted(course.root.rglob("*"))
    for address, reason in (
        ("grades.db", "ADDRESS must be sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE, not 'grades.db'"),
        (cluster.url("nowhere"), f"cannot use the gradebook {cluster.server('nowhere')}: there is no such database"),
    ):
        said = told(2, course, "copy-gradebook", address)
        assert said.startswith(f"katze: {reason}")
        assert said.count("\n") == 1
    assert sorted(course.root.rglob("*")) == before
