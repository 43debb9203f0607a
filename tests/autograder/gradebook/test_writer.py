"""The gradebook as the grader writes it, and as nbgrader reads it.

Tests `scores.py`, `lesson.py`, `record.py` and `tables.py` as well.
"""

from __future__ import annotations

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

from autograder.errors import BadInput
from autograder.gradebook import file, scores
from autograder.gradebook.writer import GradebookWriter

pytestmark = pytest.mark.usefixtures("processes")


LESSON = "01_toy"


def meta(grade_id: str, **flags: object) -> dict[str, Any]:
    default = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {**default, "grade_id": grade_id, **flags}}


def code(identity: str, source: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    cell = {"cell_type": "code", "id": identity, "metadata": metadata or {}, "source": source}
    return {**cell, "outputs": [], "execution_count": None}


def source_notebook() -> dict[str, Any]:
    """What an instructor writes, with the solution in it."""
    why = meta("toy-why-written", grade=True, solution=True, points=2)
    cells = [
        code("imports", "import math"),
        code(
            "a",
            "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION",
            meta("toy-double-answer", solution=True),
        ),
        code("c", "assert double(2) == 4", meta("toy-double-check", grade=True, locked=True, points=3)),
        code("c2", "assert double(0) == 0", meta("toy-zero-check", grade=True, locked=True, points=1)),
        {"cell_type": "markdown", "id": "w", "metadata": why, "source": "Your answer."},
        {"cell_type": "markdown", "id": "l", "metadata": meta("toy-note", locked=True), "source": "Read this."},
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


WITH_SCRIPTS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
"""A PATH on which nbgrader finds its `alembic`."""


def settings(course: Path, **more: str) -> Config:
    return Config(CourseDirectory={"root": str(course), "course_id": "toy", **more})


def write(path: Path, notebook: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose lesson was released by nbgrader itself, with a gradebook of its making."""
    root = tmp_path_factory.mktemp("course")
    write(root / "source" / LESSON / f"{LESSON}.ipynb", source_notebook())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", WITH_SCRIPTS)
        GenerateAssignment(coursedir=CourseDirectory(config=settings(root, assignment_id=LESSON))).start()
    return root


def load(course: Path) -> dict[str, Any]:
    text = (course / "release" / LESSON / f"{LESSON}.ipynb").read_text()
    return json.loads(json.dumps(nbformat.reads(text, as_version=4)))


@pytest.fixture
def release(course: Path) -> dict[str, Any]:
    return load(course)


@pytest.fixture
def answered(release: dict[str, Any]) -> dict[str, Any]:
    """A graded notebook: the code and the question answered."""
    notebook = copy.deepcopy(release)
    cell(notebook, "toy-double-answer")["source"] = "def double(x):\n    return x + x"
    cell(notebook, "toy-why-written")["source"] = "Because twice is more."
    return notebook


def cell(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gradebook.db"


@pytest.fixture
def writer(path: Path, release: dict[str, Any]) -> Iterator[GradebookWriter]:
    with GradebookWriter(path, "toy") as opened:
        opened.ensure_assignment(LESSON, release)
        yield opened


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as connection:
        return sorted(connection.execute(query).fetchall())


def grades(path: Path, student: str = "ada") -> dict[str, tuple[float | None, float | None, bool]]:
    """For each cell of a student's submission: automatic points, points by hand, and whether it waits for a human."""
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        notebook = book.find_submission_notebook(LESSON, LESSON, student)
        return {g.name: (g.auto_score, g.manual_score, g.needs_manual_grade) for g in notebook.grades}


def give_by_hand(path: Path, points: float, cell: str = "toy-why-written") -> None:
    """Grade as formgrader does."""
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        grade = book.find_grade(cell, LESSON, LESSON, "ada")
        grade.manual_score = points
        grade.needs_manual_grade = False
        book.db.commit()


def totals(path: Path) -> dict[str, float]:
    """The points of each student, as nbgrader adds them up."""
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        return {one.student_id: one.score for one in book.assignment_submissions(LESSON)}


SCORES = {"toy-double-check": 2.5, "toy-zero-check": 0.0}


# --- what nbgrader sees


def test_nbgrader_reads_the_same_scores(path: Path, writer: GradebookWriter, answered: dict[str, Any]):
    writer.record("ada", LESSON, answered, SCORES, "2026-11-20 10:00:00 UTC")
    assert grades(path) == {
        "toy-double-check": (2.5, None, False),
        "toy-zero-check": (0.0, None, False),
        "toy-why-written": (None, None, True),
    }
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        submission = book.find_submission(LESSON, "ada")
        assert (submission.score, submission.max_score, submission.needs_manual_grade) == (2.5, 6.0, True)
        assert submission.timestamp.isoformat() == "2026-11-20T10:00:00"
        assert book.find_assignment(LESSON).course_id == "toy"
        assert book.find_comment("toy-double-answer", LESSON, LESSON, "ada").comment is None
    assert totals(path) == {"ada": 2.5}


CELLS = """
    SELECT b.name, b.type, g.max_score, g.cell_type FROM base_cell b LEFT JOIN grade_cells g ON g.id = b.id
    LEFT JOIN solution_cells s ON s.id = b.id
"""
SOURCES = "SELECT name, cell_type, locked, source, checksum FROM source_cell"
NOTEBOOKS = """
    SELECT a.name, a.course_id, a.duedate, n.name, json_extract(n.kernelspec, '$.name') FROM assignment a
    JOIN notebook n ON n.assignment_id = a.id
"""


def test_a_lesson_is_described_as_generate_assignment_describes_it(course: Path, path: Path):
    with GradebookWriter(path, "toy") as opened:
        opened.ensure_assignment(LESSON, load(course))
    for query in (CELLS, SOURCES, NOTEBOOKS, "SELECT version_num FROM alembic_version"):
        ours, theirs = rows(path, query), rows(course / "gradebook.db", query)
        assert ours == theirs
        assert ours


def test_tables_are_nbgrader_s_own(course: Path, path: Path, writer: GradebookWriter):
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'katze_%'"
    found = [rows(one, query) for one in (path, course / "gradebook.db")]
    ours, theirs = ([(name, "".join(str(sql).split())) for name, sql in tables] for tables in found)
    assert ours == theirs


def test_hidden_tests_that_generate_assignment_has_stored_stay(course: Path, path: Path):
    shutil.copy(course / "gradebook.db", path)
    hidden = "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(5) == 10\n### END HIDDEN TESTS"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE source_cell SET source = ? WHERE name = 'toy-double-check'", (hidden,))
    before = rows(path, SOURCES)
    with GradebookWriter(path, "toy") as opened:
        opened.ensure_assignment(LESSON, load(course))
    assert rows(path, SOURCES) == before


def test_nbgrader_goes_on_from_our_gradebook(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Feedback, export and autograde, all nbgrader's own, on a course that only our writer has touched."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    root = tmp_path / "course"
    shutil.copytree(course, root, ignore=shutil.ignore_patterns("gradebook.db"))
    release = load(root)
    submitted = copy.deepcopy(release)
    cell(submitted, "toy-double-answer")["source"] = "def double(x):\n    return 4"
    cell(submitted, "toy-why-written")["source"] = "So."
    for step in ("submitted", "autograded"):
        write(root / step / "ada" / LESSON / f"{LESSON}.ipynb", submitted)
    with GradebookWriter(root / "gradebook.db", "toy") as opened:
        opened.ensure_assignment(LESSON, release)
        opened.record("ada", LESSON, submitted, {"toy-double-check": 0.5, "toy-zero-check": 1.0})
    directory = CourseDirectory(config=settings(root, assignment_id=LESSON))

    GenerateFeedback(coursedir=directory).start()
    page = (root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text()
    assert "(Score: 1.5 / 6.0)" in " ".join(page.split())

    with Gradebook(directory.db_url, "toy") as book:
        CsvExportPlugin(to=str(root / "grades.csv")).export(book)
    with open(root / "grades.csv", newline="") as file:
        assert [(row["student_id"], row["score"], row["max_score"]) for row in csv.DictReader(file)] == [
            ("ada", "1.5", "6.0")
        ]

    Autograde(coursedir=directory, force=True).start()
    assert grades(root / "gradebook.db") == {
        "toy-double-check": (3.0, None, False),
        "toy-zero-check": (0.0, None, False),
        "toy-why-written": (None, None, True),
    }


# --- grading again


def test_recording_twice_changes_nothing(path: Path, writer: GradebookWriter, answered: dict[str, Any]):
    tables = ["student", "submitted_assignment", "submitted_notebook", "grade", "comment", "katze_answer"]
    writer.record("ada", LESSON, answered, SCORES, "2026-11-20 10:00:00 UTC")
    before = {table: rows(path, f"SELECT * FROM {table}") for table in tables}
    writer.record("ada", LESSON, answered, SCORES, "2026-11-20 10:00:00 UTC")
    assert {table: rows(path, f"SELECT * FROM {table}") for table in tables} == before


def test_a_new_result_replaces_the_old_one(path: Path, writer: GradebookWriter, answered: dict[str, Any]):
    writer.record("ada", LESSON, answered, {"toy-double-check": 3.0, "toy-zero-check": 1.0})
    writer.record("ada", LESSON, answered, {"toy-double-check": 0.0, "toy-zero-check": 1.0})
    assert grades(path)["toy-double-check"] == (0.0, None, False)
    assert totals(path) == {"ada": 1.0}


def test_what_could_not_be_graded_is_no_zero_and_no_stale_grade(
    path: Path, writer: GradebookWriter, answered: dict[str, Any]
):
    writer.record("ada", LESSON, answered, {"toy-double-check": 3.0, "toy-zero-check": 1.0})
    writer.record("ada", LESSON, None, {}, problem="The file is empty.")
    assert set(grades(path).values()) == {(None, None, True)}
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        assert book.find_submission(LESSON, "ada").needs_manual_grade
        assert book.find_comment("toy-double-answer", LESSON, LESSON, "ada").comment == "The file is empty."
    writer.record("ada", LESSON, answered, SCORES)
    assert grades(path)["toy-double-check"] == (2.5, None, False)
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        assert book.find_comment("toy-double-answer", LESSON, LESSON, "ada").comment is None


def test_one_exercise_without_a_score_waits_for_a_human(path: Path, writer: GradebookWriter, answered: dict[str, Any]):
    writer.record("ada", LESSON, answered, {"toy-double-check": None, "toy-zero-check": 1.0})
    assert grades(path)["toy-double-check"] == (None, None, True)
    assert grades(path)["toy-zero-check"] == (1.0, None, False)


def test_an_untouched_question_scores_zero_as_in_nbgrader(path: Path, writer: GradebookWriter, release: dict[str, Any]):
    writer.record("ada", LESSON, release, SCORES)
    assert grades(path)["toy-why-written"] == (0.0, None, False)
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        assert book.find_comment("toy-why-written", LESSON, LESSON, "ada").comment == "No response."


def test_points_given_by_hand_stay_and_need_no_second_look(
    path: Path, writer: GradebookWriter, answered: dict[str, Any]
):
    writer.record("ada", LESSON, answered, SCORES)
    give_by_hand(path, 1.5)
    give_by_hand(path, 1.0, "toy-zero-check")
    writer.record("ada", LESSON, answered, SCORES)
    assert grades(path)["toy-why-written"] == (None, 1.5, False)
    assert grades(path)["toy-zero-check"] == (0.0, 1.0, False)
    assert totals(path) == {"ada": 5.0}


def test_points_given_by_hand_are_reviewed_where_something_changed_under_them(
    path: Path, writer: GradebookWriter, answered: dict[str, Any]
):
    writer.record("ada", LESSON, answered, SCORES)
    give_by_hand(path, 1.5)
    give_by_hand(path, 1.0, "toy-zero-check")
    cell(answered, "toy-why-written")["source"] = "I have thought again."
    writer.record("ada", LESSON, answered, {**SCORES, "toy-zero-check": 1.0})
    assert grades(path)["toy-why-written"] == (None, 1.5, True)
    assert grades(path)["toy-zero-check"] == (1.0, 1.0, True)


def test_a_comment_by_hand_stays(path: Path, writer: GradebookWriter, answered: dict[str, Any]):
    writer.record("ada", LESSON, answered, SCORES)
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        book.find_comment("toy-why-written", LESSON, LESSON, "ada").manual_comment = "Nice."
        book.db.commit()
    writer.record("ada", LESSON, answered, SCORES, problem="Stopped.")
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        assert book.find_comment("toy-why-written", LESSON, LESSON, "ada").comment == "Nice."


@pytest.mark.parametrize(
    "timestamp",
    [
        "rubbish",
        "",
        None,
        "9999999999999999999",
        f"1:9{'0' * 40}am",
        f"2026-11-21{' ' * 500}",
        "+9999",
    ],
)
def test_what_is_no_time_takes_the_place_of_an_earlier_submission_s(
    path: Path, writer: GradebookWriter, answered: dict[str, Any], timestamp: str | None
):
    writer.record("ada", LESSON, answered, SCORES, "2026-11-20 12:00:00 +0200")
    writer.record("ada", LESSON, answered, SCORES, timestamp)
    assert rows(path, "SELECT timestamp FROM submitted_assignment") == [(None,)]


@pytest.mark.parametrize(
    "scores",
    [{"toy-double-check": 3.5}, {"toy-double-check": -1.0}, {"toy-double-check": float("nan")}, {"other": 1.0}],
)
def test_an_impossible_score_is_refused(
    path: Path, writer: GradebookWriter, answered: dict[str, Any], scores: dict[str, float]
):
    with pytest.raises(ValueError, match=next(iter(scores))):
        writer.record("ada", LESSON, answered, scores)
    assert rows(path, "SELECT * FROM grade") == []


def test_an_interrupted_record_leaves_nothing(
    path: Path, writer: GradebookWriter, answered: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    def fail(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(scores, "_write_comments", fail)
        with pytest.raises(KeyboardInterrupt):
            writer.record("ada", LESSON, answered, SCORES)
    assert rows(path, "SELECT * FROM student") == []
    writer.record("ada", LESSON, answered, SCORES)
    assert totals(path) == {"ada": 2.5}


# --- a release that changes


def test_changed_points_and_texts_are_brought_up_to_date(
    path: Path, writer: GradebookWriter, release: dict[str, Any], answered: dict[str, Any]
):
    writer.record("ada", LESSON, answered, SCORES)
    cell(release, "toy-double-check")["metadata"]["nbgrader"]["points"] = 10
    cell(release, "toy-double-check")["source"] = "assert double(3) == 6"
    writer.ensure_assignment(LESSON, release)
    writer.record("ada", LESSON, answered, {**SCORES, "toy-double-check": 9.0})
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        assert book.find_submission(LESSON, "ada").max_score == 13.0
        assert book.find_source_cell("toy-double-check", LESSON, LESSON).source == "assert double(3) == 6"


def test_new_cells_reach_students_graded_before(
    path: Path, writer: GradebookWriter, release: dict[str, Any], answered: dict[str, Any]
):
    writer.record("ada", LESSON, answered, SCORES)
    release["cells"].append(code("n", "assert True", meta("toy-new-check", grade=True, locked=True, points=1)))
    writer.ensure_assignment(LESSON, release)
    writer.record("ada", LESSON, answered, {**SCORES, "toy-new-check": 1.0})
    assert grades(path)["toy-new-check"] == (1.0, None, False)


def test_removed_cells_go(path: Path, writer: GradebookWriter, release: dict[str, Any], answered: dict[str, Any]):
    writer.record("ada", LESSON, answered, SCORES)
    release["cells"] = [c for c in release["cells"] if c["id"] not in ("c2",)]
    writer.ensure_assignment(LESSON, release)
    assert set(grades(path)) == {"toy-double-check", "toy-why-written"}


# --- another program


def test_writing_waits_for_another_program_then_says_so(
    path: Path, writer: GradebookWriter, answered: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(file, "WAIT_SECONDS", 0.05)
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BadInput, match="another program is writing it"):
            writer.record("ada", LESSON, answered, SCORES)
        other.execute("ROLLBACK")
    writer.record("ada", LESSON, answered, SCORES)
