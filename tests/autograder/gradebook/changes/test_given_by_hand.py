"""Points by hand while cells come and go and their points change: never lost, never in the way, never worth less."""

from __future__ import annotations

import contextlib
import copy
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.gradebook import store
from autograder.gradebook.access import read_only
from autograder.gradebook.changes.adjustments import Adjustment, Adjustments
from autograder.gradebook.record import RunRecord
from autograder.gradebook.writer import Entry, GradebookWriter
from autograder.repair.release import exercise_of
from tests.autograder.gradebook.toy_lesson import (
    CHECK,
    LESSON,
    SCORES,
    WRITTEN,
    answered,
    points_of,
    recorded,
    release,
)

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


class Class:
    """A class of one, whose text changes: its answer to the check, and the one in words."""

    def __init__(self, path: Path, writer: GradebookWriter, cell: str, given: dict[str, float]) -> None:
        self.path, self.writer, self.cell, self.given = path, writer, cell, given
        self.run = writer.begin_run(RunRecord(LESSON, "host", "Linux", 1, "boxes", False, 1))
        self.adjustment: Adjustments = {}

    def play(self, step: str) -> None:
        match step:
            case "read":
                give(self.path, "eve", self.cell, **self.given)
            case "resolve":
                give(self.path, "eve", self.cell)
            case "force":
                self.writer.set_aside(self.run, LESSON, ["eve"], "forced")
            case "drop" | "undrop":
                self.adjustment = {exercise_of(self.cell): Adjustment(drop=True)} if step == "drop" else {}
                self.writer.ensure_assignment(LESSON, release(), self.adjustment)
                self.writer.apply_adjustments(self.run, LESSON)
            case "lost":
                self.record(None, {CHECK: None}, "")
            case text:
                notebook = answered()
                notebook["cells"][3]["source"] = text
                self.record(notebook, SCORES, text)

    def record(self, notebook: dict[str, Any] | None, scores: Mapping[str, float | None], text: str) -> None:
        record = recorded(LESSON, "eve")
        answers = tuple(replace(one, answer=text and f"sha256:{text}") for one in record.exercises)
        counted = {**scores, **({CHECK: 0.0} if exercise_of(CHECK) in self.adjustment else {})}
        entry = Entry(self.run, replace(record, exercises=answers))
        self.writer.record("eve", LESSON, notebook, counted, entry=entry)

    def is_changed(self) -> bool:
        with read_only(self.path) as connection:
            return any(cell.is_changed for cell in store.by_hand(connection, LESSON, "eve").get("eve", ()))


STORIES = {
    "A read A": False,
    "A read B": True,
    "A read B A": False,
    "A read B resolve B": False,
    "A read force B": True,
    "A read drop B undrop": True,
    "A read lost": True,
    "A read lost A": False,
}
OF_WORDS = {
    "A B read": False,
    "A read B C": True,
    "A read B resolve A": True,
    "A read force A": False,
    "A read B force B": True,
    "A read drop undrop": False,
    "A read drop B undrop B": True,
    "A read drop B A undrop": False,
}
"""What happens to an answer, and whether it waits in the end since it has changed."""


@pytest.mark.parametrize(
    ("cell", "given", "story", "is_changed"),
    [
        *((WRITTEN, {"manual_score": 1.0}, *told) for told in (STORIES | OF_WORDS).items()),
        *((CHECK, {"manual_score": 1.0}, *told) for told in STORIES.items()),
        *((CHECK, {"extra_credit": 0.5}, *told) for told in STORIES.items()),
    ],
)
def test_points_wait_again_where_their_text_has_changed(
    path: Path, writer: GradebookWriter, cell: str, given: dict[str, float], story: str, is_changed: bool
) -> None:
    told = Class(path, writer, cell, given)
    for step in story.split():
        told.play(step)
    assert told.is_changed() is is_changed
    with Gradebook(f"sqlite:///{path}") as book:
        grade = book.find_grade(cell, LESSON, LESSON, "eve")
        assert {name: getattr(grade, name) for name in given} == given
        assert grade.needs_manual_grade or not is_changed
