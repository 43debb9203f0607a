"""The gradebook as the grader writes it, and as nbgrader reads it.

Tests `scores.py`, `lesson.py`, `record.py` and `models.py` as well.
"""

import copy
import csv
import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from traitlets.config import Config

from autograder.gradebook import scores
from tests.autograder.gradebook.toy_lesson import (
    CHECK,
    LESSON,
    WRITTEN,
    ZERO,
    ToyRun,
    answered,
    code,
    comment,
    give,
    grades,
    meta,
    release,
    running,
    totals,
)

pytestmark = pytest.mark.usefixtures("processes")

WITH_SCRIPTS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
"""A PATH on which nbgrader finds its `alembic`."""

SCORES = {CHECK: 2.5, ZERO: 0.0}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose lesson was released by nbgrader itself, with a gradebook of its making."""
    root = tmp_path_factory.mktemp("course")
    source = release()
    solution = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    source["cells"][0]["source"] = solution
    source["cells"].append({"cell_type": "markdown", "metadata": meta("toy-note", locked=True), "source": "Read this."})
    for number, cell in enumerate(source["cells"]):
        cell["id"] = f"cell-{number}"
    write(root / "source" / LESSON / f"{LESSON}.ipynb", source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", WITH_SCRIPTS)
        GenerateAssignment(coursedir=CourseDirectory(config=settings(root, assignment_id=LESSON))).start()
    return root


def settings(course: Path, **more: str) -> Config:
    return Config(CourseDirectory={"root": str(course), "course_id": "toy", **more})


def write(path: Path, notebook: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook))


def released(course: Path) -> dict[str, Any]:
    """The lesson as nbgrader has released it."""
    text = (course / "release" / LESSON / f"{LESSON}.ipynb").read_text()
    return json.loads(json.dumps(nbformat.reads(text, as_version=4)))


@pytest.fixture
def run(path: Path) -> Iterator[ToyRun]:
    with running(path) as run:
        yield run


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as connection:
        return sorted(connection.execute(query).fetchall(), key=repr)


# --- what nbgrader sees


CELLS = """
    SELECT b.name, b.type, g.max_score, g.cell_type FROM base_cell b LEFT JOIN grade_cells g ON g.id = b.id
    LEFT JOIN solution_cells s ON s.id = b.id
"""
SOURCES = "SELECT name, cell_type, locked, source, checksum FROM source_cell"
NOTEBOOKS = """
    SELECT a.name, a.course_id, a.duedate, n.name, json_extract(n.kernelspec, '$.name') FROM assignment a
    JOIN notebook n ON n.assignment_id = a.id
"""
TABLES = """
    SELECT name, replace(replace(replace(sql, ' ', ''), char(9), ''), char(10), '') FROM sqlite_master
    WHERE type = 'table' AND name NOT LIKE 'katze_%'
"""


def test_a_lesson_is_described_as_generate_assignment_describes_it(course: Path, path: Path, run: ToyRun) -> None:
    run.writer.ensure_assignment(released(course))
    for query in (CELLS, SOURCES, NOTEBOOKS, TABLES, "SELECT version_num FROM alembic_version"):
        assert rows(path, query) == rows(course / "gradebook.db", query) != []


def test_hidden_tests_that_generate_assignment_has_stored_stay(course: Path, path: Path) -> None:
    shutil.copy(course / "gradebook.db", path)
    hidden = "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(5) == 10\n### END HIDDEN TESTS"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE source_cell SET source = ? WHERE name = ?", (hidden, CHECK))
    before = rows(path, SOURCES)
    with running(path, notebook=released(course)):
        assert rows(path, SOURCES) == before


def test_nbgrader_goes_on_from_our_gradebook(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Feedback, export and autograde, all nbgrader's own, on a course that only our writer has touched."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    root = tmp_path / "course"
    shutil.copytree(course, root, ignore=shutil.ignore_patterns("gradebook.db"))
    submitted = released(root)
    for cell in submitted["cells"]:
        text = {"toy-double-answer": "def double(x):\n    return 4", WRITTEN: "So."}
        cell["source"] = text.get(cell["metadata"]["nbgrader"]["grade_id"], cell["source"])
    for step in ("submitted", "autograded"):
        write(root / step / "ada" / LESSON / f"{LESSON}.ipynb", submitted)
    with running(root / "gradebook.db", notebook=released(root)) as run:
        run.record("ada", submitted, {CHECK: 0.5, ZERO: 1.0})
    directory = CourseDirectory(config=settings(root, assignment_id=LESSON))

    GenerateFeedback(coursedir=directory).start()
    page = (root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text()
    assert "(Score: 1.5 / 6.0)" in " ".join(page.split())

    with Gradebook(directory.db_url, "toy") as book:
        CsvExportPlugin(to=str(root / "grades.csv")).export(book)
    with open(root / "grades.csv", newline="") as exported:
        [row] = csv.DictReader(exported)
    assert (row["student_id"], row["score"], row["max_score"]) == ("ada", "1.5", "6.0")

    Autograde(coursedir=directory, force=True).start()
    right, wrong, open_ = (3.0, None, False), (0.0, None, False), (None, None, True)
    assert grades(root / "gradebook.db") == {CHECK: right, ZERO: wrong, WRITTEN: open_}


# --- grading again


def test_recording_twice_changes_nothing(path: Path, run: ToyRun) -> None:
    tables = ["student", "submitted_assignment", "submitted_notebook", "grade", "comment", "katze_answer"]
    before = None
    for _ in range(2):
        run.record("ada", answered(), SCORES, handed_in="2026-11-20 10:00:00 UTC")
        now = {table: rows(path, f"SELECT * FROM {table}") for table in tables}
        assert now == (before or now)
        before = now


def test_what_could_not_be_graded_is_no_zero_and_no_stale_grade(path: Path, run: ToyRun) -> None:
    run.record("ada", answered(), {CHECK: 3.0, ZERO: 1.0})
    run.record("ada", None, {}, problem="The file is empty.")
    assert set(grades(path).values()) == {(None, None, True)}
    assert comment(path, "toy-double-answer") == "The file is empty."
    run.record("ada", answered(), {CHECK: None, ZERO: 1.0})
    assert (grades(path)[CHECK], grades(path)[ZERO]) == ((None, None, True), (1.0, None, False))
    assert comment(path, "toy-double-answer") == "No."
    run.record("ada", answered(), SCORES)
    assert grades(path)[CHECK] == (2.5, None, False)
    assert comment(path, "toy-double-answer") is None
    assert totals(path) == {"ada": 2.5}


def test_an_untouched_question_scores_zero_as_in_nbgrader(path: Path, run: ToyRun) -> None:
    run.record("ada", release(), SCORES)
    assert grades(path)[WRITTEN] == (0.0, None, False)
    assert comment(path, WRITTEN) == "No response."


def test_points_given_by_hand_stay_and_are_reviewed_where_something_changed_under_them(path: Path, run: ToyRun) -> None:
    run.record("ada", answered(), SCORES)
    give(path, "ada", manual_score=1.5, comment="Nice.")
    give(path, "ada", ZERO, manual_score=1.0)
    run.record("ada", answered(), SCORES)
    assert (grades(path)[WRITTEN], grades(path)[ZERO]) == ((None, 1.5, False), (0.0, 1.0, False))
    assert totals(path) == {"ada": 5.0}
    run.record("ada", answered("I have thought again."), SCORES | {ZERO: 1.0}, problem="Stopped.")
    assert (grades(path)[WRITTEN], grades(path)[ZERO]) == ((None, 1.5, True), (1.0, 1.0, True))
    assert comment(path, WRITTEN) == "Nice."


@pytest.mark.parametrize(
    "timestamp", ["rubbish", "", "9999999999999999999", f"1:9{'0' * 40}am", f"2026-11-21{' ' * 500}", "+9999"]
)
def test_what_is_no_time_takes_the_place_of_an_earlier_submission_s(path: Path, run: ToyRun, timestamp: str) -> None:
    for handed_in in ("2026-11-20 12:00:00 +0200", timestamp):
        run.record("ada", answered(), SCORES, handed_in=handed_in)
    assert rows(path, "SELECT timestamp FROM submitted_assignment") == [(None,)]


@pytest.mark.parametrize("impossible", [{CHECK: 3.5}, {CHECK: -1.0}, {CHECK: float("nan")}, {"other": 1.0}])
def test_an_impossible_score_is_refused(path: Path, run: ToyRun, impossible: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(impossible))):
        run.record("ada", answered(), impossible)
    assert rows(path, "SELECT * FROM grade") == []


def test_an_interrupted_record_leaves_nothing(path: Path, run: ToyRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(scores, "_write_comments", fail)
        with pytest.raises(KeyboardInterrupt):
            run.record("ada", answered(), SCORES)
    assert rows(path, "SELECT * FROM student") == []
    run.record("ada", answered(), SCORES)
    assert totals(path) == {"ada": 2.5}


# --- a release that changes


def test_cells_change_come_and_go(path: Path, run: ToyRun) -> None:
    run.record("ada", answered(), SCORES)
    changed = release(double=10, zero=None)
    changed["cells"][1]["source"] = "assert double(3) == 6"
    changed["cells"].append(code("assert True", meta("toy-new-check", grade=True, locked=True, points=1)))
    run.writer.ensure_assignment(changed)
    assert set(grades(path)) == {CHECK, WRITTEN}
    run.record("ada", copy.deepcopy(changed), {CHECK: 9.0, "toy-new-check": 1.0})
    assert (grades(path)[CHECK], grades(path)["toy-new-check"]) == ((9.0, None, False), (1.0, None, False))
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        assert book.find_submission(LESSON, "ada").max_score == 13.0
        assert book.find_source_cell(CHECK, LESSON, LESSON).source == "assert double(3) == 6"
