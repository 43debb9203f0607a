"""Points by hand while cells come and go and their points change: never lost, never in the way, never worth less."""

from __future__ import annotations

import contextlib
import copy
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.gradebook import store
from autograder.gradebook.access import read_only
from autograder.gradebook.writer import GradebookWriter
from tests.autograder.gradebook.toy_lesson import CHECK, LESSON, SCORES, WRITTEN, answered, points_of, release

GIVEN = {"ada": 1.5, "ben": 2.0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gradebook.db"


@pytest.fixture
def writer(path: Path) -> Iterator[GradebookWriter]:
    """A lesson with a question worth 2, which a person has read for two students."""
    with GradebookWriter(path, "toy") as opened:
        opened.ensure_assignment(LESSON, release())
        for student in GIVEN:
            opened.record(student, LESSON, answered(), SCORES)
        for student, points in GIVEN.items():
            give(path, student, manual_score=points, comment="Read.")
        yield opened


def give(path: Path, student: str, cell: str = WRITTEN, comment: str = "", **values: float | None) -> None:
    """What formgrader writes."""
    with Gradebook(f"sqlite:///{path}") as book:
        grade = book.find_grade(cell, LESSON, LESSON, student)
        for name, value in values.items():
            setattr(grade, name, value)
        grade.needs_manual_grade = False
        if comment:
            book.find_comment(cell, LESSON, LESSON, student).manual_comment = comment
        book.db.commit()


def scores(path: Path) -> dict[str, float]:
    """What nbgrader adds up."""
    with Gradebook(f"sqlite:///{path}") as book:
        return {one.student.id: one.score for one in book.assignment_submissions(LESSON)}


def maximum(path: Path) -> float:
    with Gradebook(f"sqlite:///{path}") as book:
        return float(book.find_assignment(LESSON).max_score)


def shared(path: Path) -> dict[str, tuple[float, float] | None]:
    """What was really given, and out of what, as records have it."""
    with read_only(path) as connection:
        found = store.by_hand(connection, LESSON)
    return {student: next(one.shared for one in cells if one.cell == WRITTEN) for student, cells in found.items()}


def without(cell: str) -> dict[str, Any]:
    notebook = release()
    notebook["cells"] = [
        one for one in notebook["cells"] if one["metadata"].get("nbgrader", {}).get("grade_id") != cell
    ]
    return notebook


def worth(points: float, cell: str = WRITTEN) -> dict[str, Any]:
    notebook = copy.deepcopy(release())
    points_of(notebook, cell)["points"] = points
    return notebook


def test_a_cell_that_goes_locks_nothing_and_its_points_come_back_with_it(path: Path, writer: GradebookWriter) -> None:
    before = scores(path)
    [told] = writer.ensure_assignment(LESSON, without(WRITTEN))
    assert told == (
        f"{WRITTEN} does not count any more: what 2 students got for it by hand is kept, and comes back with it"
    )
    assert scores(path) == {student: before[student] - points for student, points in GIVEN.items()}
    assert writer.ensure_assignment(LESSON, without(WRITTEN)) == []
    [told] = writer.ensure_assignment(LESSON, release())
    assert told == f"{WRITTEN} counts again: what 2 students got for it by hand is back"
    assert scores(path) == before
    for student in GIVEN:  # graded again, it waits for nobody: the answer is the one that was read
        writer.record(student, LESSON, answered(), SCORES)
    with Gradebook(f"sqlite:///{path}") as book:
        for student in GIVEN:
            assert not book.find_grade(WRITTEN, LESSON, LESSON, student).needs_manual_grade
            assert book.find_comment(WRITTEN, LESSON, LESSON, student).manual_comment == "Read."
    assert scores(path) == before
    assert writer.ensure_assignment(LESSON, release()) == []


def test_points_by_hand_in_place_of_a_check_s_come_back_too(path: Path, writer: GradebookWriter) -> None:
    give(path, "ada", CHECK, manual_score=1.0, extra_credit=0.5)
    before = scores(path)
    writer.ensure_assignment(LESSON, without(CHECK))
    writer.ensure_assignment(LESSON, release())
    for student in GIVEN:
        writer.record(student, LESSON, answered(), SCORES)
    assert scores(path) == before


def test_whoever_has_left_the_gradebook_gets_nothing_back_and_is_no_failure(
    path: Path, writer: GradebookWriter
) -> None:
    writer.ensure_assignment(LESSON, without(WRITTEN))
    with Gradebook(f"sqlite:///{path}") as book:
        book.remove_student("ben")
    [told] = writer.ensure_assignment(LESSON, release())
    assert "1 student got" in told
    assert set(scores(path)) == {"ada"}


def test_points_by_hand_keep_their_share_of_what_a_cell_gives(path: Path, writer: GradebookWriter) -> None:
    before = scores(path)
    [told] = writer.ensure_assignment(LESSON, worth(6))
    assert told == (
        f"{WRITTEN} gives 6 points where it gave 2: what 2 students got for it by hand counts in the same share, so "
        "that 2 of 2 are 6 of 6"
    )
    assert scores(path) == {student: before[student] + 2 * points for student, points in GIVEN.items()}
    assert shared(path) == {"ada": (1.5, 2.0), "ben": (2.0, 2.0)}
    assert writer.ensure_assignment(LESSON, worth(6)) == []
    writer.ensure_assignment(LESSON, worth(0.3))
    writer.ensure_assignment(LESSON, worth(2))
    assert scores(path) == before  # to the last digit: it is counted from what was given
    assert shared(path) == {"ada": None, "ben": None}


def test_what_a_person_gives_after_a_change_is_out_of_the_new_points(path: Path, writer: GradebookWriter) -> None:
    writer.ensure_assignment(LESSON, worth(6))
    give(path, "ada", manual_score=5.0)
    writer.ensure_assignment(LESSON, worth(3))
    with Gradebook(f"sqlite:///{path}") as book:
        assert book.find_grade(WRITTEN, LESSON, LESSON, "ada").manual_score == 2.5
        assert book.find_grade(WRITTEN, LESSON, LESSON, "ben").manual_score == 3.0


def test_a_cell_that_comes_back_with_other_points_shares_them_out(path: Path, writer: GradebookWriter) -> None:
    writer.ensure_assignment(LESSON, without(WRITTEN))
    writer.ensure_assignment(LESSON, worth(4))
    with Gradebook(f"sqlite:///{path}") as book:
        assert book.find_grade(WRITTEN, LESSON, LESSON, "ada").manual_score == 3.0
    writer.ensure_assignment(LESSON, worth(2))
    with Gradebook(f"sqlite:///{path}") as book:
        assert book.find_grade(WRITTEN, LESSON, LESSON, "ada").manual_score == 1.5


def test_points_that_a_gradebook_of_nbgrader_s_own_knows_count_as_those_before(
    path: Path, writer: GradebookWriter
) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as book:
        book.execute("DELETE FROM katze_worth")
    [told] = writer.ensure_assignment(LESSON, worth(4))
    assert "gives 4 points where it gave 2" in told
    assert maximum(path) == 3 + 1 + 4
