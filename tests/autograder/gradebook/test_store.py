"""Records as they are written and read: what counts now, and everything that counted before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection

from autograder.gradebook import store
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.record import CaseRecord, Change, Conditions, ExerciseRecord, Record, RunRecord, Standing
from course_lib.checking import Outcome

LESSON = "01_toy"
CASES = (
    CaseRecord("worked example", "values", False, Outcome.PASSED, "", 0.25),
    CaseRecord("one sequence", "values", True, Outcome.WRONG, "The inputs are not shown.", 0.5),
)
SCALE = ExerciseRecord(
    "toy.scale", "toy-scale-check", "aa", 2**62 + 1, "L2", Outcome.WRONG, 0.0, 1, "not_scaled", "A note.", CASES
)
SCORES = ExerciseRecord("toy.scores", "toy-scores-check", "bb", 7, "L2", Outcome.PASSED, 2.0, 2)
RECORD = Record(
    student="ada",
    lesson=LESSON,
    digest="d1",
    notebook="n1",
    handed_in="2026-11-20 10:00:00 UTC",
    slot=17,
    conditions=Conditions("r", "s", {"torch": "2.13"}, {"limits": {"cell_seconds": 10.0}}),
    exercises=(SCORES, SCALE),
    repairs=("A check was put back.",),
    seconds=0.5,
    files={"autograded": ("f1", 100)},
)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[GradebookFile]:
    with GradebookFile(tmp_path / "gradebook.db") as opened:
        opened.prepare()
        yield opened


@pytest.fixture
def connection(file: GradebookFile) -> Iterator[Connection]:
    with file.begin() as begun:
        yield begun


def begin(connection: Connection) -> int:
    return store.begin_run(connection, RunRecord(LESSON, "host", "Linux", 2, "boxes at level L2", False, 3))


def standings(changes: tuple[Change, ...]) -> dict[str, tuple[object, object]]:
    return {change.exercise: (change.before, change.after) for change in changes}


def test_a_record_is_read_as_it_was_written(connection: Connection) -> None:
    store.save(connection, begin(connection), RECORD, ["not graded before"])
    read = store.records(connection, LESSON)["ada"]
    without_cases = replace(RECORD, exercises=(SCORES, replace(SCALE, cases=())))
    assert read == without_cases
    assert store.cases(connection, LESSON, "ada") == {"toy.scale": CASES}
    assert (read.points, read.max_points) == (2.0, 3)


def test_the_first_grade_changes_nothing_and_a_new_one_tells_what_it_changed(connection: Connection) -> None:
    first, second = begin(connection), begin(connection)
    assert len(store.save(connection, first, RECORD)) == 2
    right = replace(SCALE, outcome=Outcome.PASSED, points=1.0, misconception=None)
    changes = store.save(
        connection, second, replace(RECORD, exercises=(SCORES, right), digest="d2"), ["handed in again"]
    )
    wrong, passed = Standing(Outcome.WRONG, 0.0, "not_scaled"), Standing(Outcome.PASSED, 1.0)
    assert standings(changes) == {"toy.scale": (wrong, passed)}
    [(one, none), (two, some)] = store.history(connection, LESSON, "ada")
    assert (one["run"], one["points"], one["digest"], none) == (first, 2.0, "d1", [])
    assert (two["run"], two["points"], two["digest"], two["why"]) == (second, 3.0, "d2", ["handed in again"])
    assert standings(tuple(some)) == standings(changes)


def test_an_exercise_that_comes_or_goes_is_a_change(connection: Connection) -> None:
    store.save(connection, begin(connection), replace(RECORD, exercises=(SCALE,)))
    changes = store.save(connection, begin(connection), replace(RECORD, exercises=(SCORES,)))
    assert standings(changes) == {"toy.scores": (None, SCORES.standing), "toy.scale": (SCALE.standing, None)}
    assert list(store.cases(connection, LESSON, "ada")) == []


def test_what_is_kept_stays_as_it_is(connection: Connection) -> None:
    first = begin(connection)
    store.save(connection, first, RECORD)
    second = begin(connection)
    forged = replace(SCALE, fingerprint="zz", outcome=Outcome.PASSED, points=1.0, cases=())
    store.save(connection, second, replace(RECORD, exercises=(forged, SCORES)), kept={"toy.scale"})
    exercises = {one.exercise: one for one in store.records(connection, LESSON)["ada"].exercises}
    assert list(exercises) == ["toy.scale", "toy.scores"]
    assert exercises["toy.scale"] == replace(SCALE, cases=())
    assert store.cases(connection, LESSON, "ada") == {"toy.scale": CASES}
    assert store.graded_by(connection, LESSON, "ada")[1:] == (second, {"toy.scale": first, "toy.scores": second})


def test_what_is_set_aside_no_longer_counts_and_is_not_forgotten(connection: Connection) -> None:
    store.save(connection, begin(connection), RECORD)
    store.save(connection, begin(connection), replace(RECORD, student="ben"))
    run = begin(connection)
    for _ in range(2):
        store.set_aside(connection, run, LESSON, {"ada", "nobody"}, "set aside")
    voids = {student: record.void for student, record in store.records(connection, LESSON).items()}
    assert voids == {"ada": "set aside", "ben": ""}
    assert [event["kind"] for event, _ in store.history(connection, LESSON, "ada")] == ["graded", "set aside"]
    failed = tuple(replace(one, outcome=Outcome.UNGRADED, points=None, misconception=None) for one in RECORD.exercises)
    changes = store.save(connection, run, replace(RECORD, exercises=failed))
    assert standings(changes)["toy.scores"] == (SCORES.standing, Standing(Outcome.UNGRADED, None))
    assert store.records(connection, LESSON)["ada"].void == ""


def test_a_run_says_whether_it_came_to_its_end(connection: Connection) -> None:
    stopped, ended = begin(connection), begin(connection)
    store.end_run(connection, ended)
    runs = store.runs(connection)
    assert runs[stopped]["finished"] is None
    assert runs[ended]["finished"] >= runs[ended]["started"]
    assert (runs[ended]["host"], runs[ended]["workers"], runs[ended]["boxes"]) == ("host", 2, "boxes at level L2")


def test_lessons_and_students_are_kept_apart(connection: Connection) -> None:
    run = begin(connection)
    store.save(connection, run, RECORD)
    store.save(connection, run, replace(RECORD, lesson="02_other", digest="other"))
    store.save(connection, run, replace(RECORD, student="ben", digest="ben"))
    assert {name: one.digest for name, one in store.records(connection, LESSON).items()} == {"ada": "d1", "ben": "ben"}
    assert list(store.records(connection, LESSON, "ben")) == ["ben"]
    assert len(store.history(connection, "02_other", "ada")) == 1


def test_a_transaction_that_fails_leaves_nothing(file: GradebookFile) -> None:
    def interrupted() -> None:
        with file.begin() as connection:
            store.save(connection, begin(connection), RECORD)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with file.begin() as connection:
        assert store.records(connection, LESSON) == {}
        assert store.runs(connection) == {}
