"""Gradebooks that earlier versions of Katze have left: copied, then brought up to date, with all that is in them."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.errors import BadInput
from autograder.gradebook import schema, store
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.record import Conditions, ExerciseRecord, Record, RunRecord
from autograder.gradebook.writer import Entry, GradebookWriter
from course_lib.checking import Outcome
from tests.autograder.gradebook.earlier import UNDONE, bring_back
from tests.autograder.gradebook.toy_lesson import CHECK, LESSON, SCORES, WRITTEN, ZERO, answered, release

RELEASED = {1: "9f0c9205", 2: "989a33b9", 3: "2dcdab0c", 4: "e74c6295", 5: "4b4f7ae9", 6: "8a4f5284", 7: "223224df"}
"""The digest of each step: what a step does is in somebody's gradebook, and never changes."""

RECORD = Record(
    student="ada",
    lesson=LESSON,
    digest="d",
    notebook="n",
    handed_in="",
    slot=3,
    conditions=Conditions("r", "s", {"torch": "2.13"}, {}),
    exercises=(
        ExerciseRecord("toy.double", CHECK, "f", 1, "L2", Outcome.PASSED, 3.0, 3, answer="sha256:a"),
        ExerciseRecord("toy.zero", ZERO, "f", 1, "L2", Outcome.WRONG, 0.0, 1, "always_one", answer="sha256:b"),
    ),
)


@pytest.fixture
def latest(tmp_path: Path) -> Path:
    """A gradebook with a graded submission, and points by hand."""
    path = tmp_path / "gradebook.db"
    with GradebookWriter(path, "toy") as writer:
        writer.ensure_assignment(LESSON, release())
        run = writer.begin_run(RunRecord(LESSON, "host", "Linux", 1, "boxes", False, 1))
        writer.record("ada", LESSON, answered(), SCORES, entry=Entry(run, RECORD, ("not graded before",)))
    with Gradebook(f"sqlite:///{path}") as book:
        grade = book.find_grade(WRITTEN, LESSON, LESSON, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.db.commit()
    return path


def dump(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as book:
        return sorted(book.iterdump())


def prepare(path: Path) -> list[str]:
    with GradebookFile(path) as file:
        file.prepare()
        return file.notices


def rows_without(tables: Sequence[str], lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.startswith("INSERT") and not any(name in line for name in tables)]


@pytest.mark.parametrize(("version", "is_known"), [(1, False), (4, False), (5, True)])
def test_points_by_hand_of_before_wait_where_the_text_that_they_were_for_is_known(
    latest: Path, version: int, is_known: bool
) -> None:
    with Gradebook(f"sqlite:///{latest}") as book:
        grade = book.find_grade(CHECK, LESSON, LESSON, "ada")
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        book.db.commit()
    bring_back(latest, version)
    notebook = answered()
    notebook["cells"][3]["source"] = "Something else."
    anew = replace(RECORD, exercises=tuple(replace(one, answer="sha256:c") for one in RECORD.exercises))
    with GradebookWriter(latest, "toy") as writer:
        writer.ensure_assignment(LESSON, release())
        run = writer.begin_run(RunRecord(LESSON, "host", "Linux", 1, "boxes", False, 1))
        writer.record("ada", LESSON, notebook, SCORES, entry=Entry(run, anew))
    with GradebookFile(latest) as file, file.begin() as connection:
        cells = store.by_hand(connection, LESSON)["ada"]
    assert {one.cell for one in cells if one.is_changed} == {WRITTEN, *([CHECK] if is_known else [])}
    assert {one.cell: one.points for one in cells} == {CHECK: 2.0, WRITTEN: 1.5}


@pytest.mark.parametrize("version", range(schema.LATEST))
def test_it_is_copied_and_brought_up_to_date_and_that_is_told(latest: Path, version: int) -> None:
    whole = dump(latest)
    bring_back(latest, version)
    before = dump(latest)
    latest.chmod(0o600)
    [told] = prepare(latest)
    copy = latest.with_name(f"gradebook.db.before-{schema.LATEST}")
    assert told == (
        f"the gradebook gradebook.db was brought from version {version} of Katze's tables to version "
        f"{schema.LATEST}; as it was before, it is in {copy.name}"
    )
    assert dump(copy) == before
    assert copy.stat().st_mode & 0o777 == 0o600
    with Gradebook(f"sqlite:///{latest}") as book:
        assert book.find_submission(LESSON, "ada").score == 4.5
    with GradebookFile(latest) as file, file.begin() as connection:
        assert schema.version(connection) == schema.LATEST
        found = store.records(connection, LESSON)
    without_answers = tuple(replace(one, answer="") for one in RECORD.exercises)
    expected = RECORD if version >= 5 else replace(RECORD, exercises=without_answers)
    assert found == ({"ada": expected} if version >= schema.WITH_RECORDS else {})
    if version >= 4:
        new = ("katze_worth", *(["katze_answer", "katze_exercise"] if version < 5 else []))
        assert rows_without(new, dump(latest)) == rows_without(new, whole)
    assert prepare(latest) == []
    assert sorted(path.name for path in latest.parent.glob("gradebook.db*")) == ["gradebook.db", copy.name]


def test_an_earlier_copy_is_not_overwritten(latest: Path) -> None:
    first = latest.with_name(f"gradebook.db.before-{schema.LATEST}")
    first.write_text("somebody's")
    bring_back(latest, 3)
    [told] = prepare(latest)
    assert told.endswith(f"it is in {first.name}.2")
    assert first.read_text() == "somebody's"


def test_where_it_cannot_be_copied_it_is_left_as_it_is(latest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring_back(latest, 3)
    before = dump(latest)

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autograder.gradebook.file.os.replace", full)
    with pytest.raises(BadInput, match="cannot copy the gradebook .* before it is changed: .*No space left") as refused:
        prepare(latest)
    assert "\n" not in str(refused.value)
    assert dump(latest) == before
    assert [path.name for path in latest.parent.glob("*.copy")] == []


def test_a_new_gradebook_is_not_copied(tmp_path: Path) -> None:
    assert prepare(tmp_path / "gradebook.db") == []
    assert [path.name for path in tmp_path.glob("gradebook.db*")] == ["gradebook.db"]


def test_a_step_that_was_released_never_changes() -> None:
    steps = {
        number: hashlib.sha256("\n".join(statements).encode()).hexdigest()[:8]
        for number, statements in enumerate(schema.MIGRATIONS, 1)
    }
    assert steps == RELEASED
    assert set(UNDONE) == set(RELEASED), "a new step: say in earlier.py how a gradebook without it looks"
