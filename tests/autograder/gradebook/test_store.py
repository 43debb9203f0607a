"""Records as they are written and read: what counts now, and everything that counted before."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from autograder.course.address import Address
from autograder.gradebook import store
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.record import CaseRecord, Change, Conditions, ExerciseRecord, Record, Standing
from course_lib.judging.observation import Outcome
from tests.autograder.gradebook.toy_lesson import run_of

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
def session(address: Address) -> Iterator[Session]:
    with open_gradebook(address, LESSON) as book:
        book.prepare()
        with book.begin() as begun:
            yield begun


def begin(session: Session) -> int:
    return store.begin_run(session, run_of(LESSON))


def read_grades(changes: tuple[Change, ...]) -> dict[str, tuple[object, object]]:
    return {change.exercise: (change.before, change.after) for change in changes}


def test_a_record_is_read_as_it_was_written(session: Session) -> None:
    store.save(session, begin(session), RECORD, ["not graded before"])
    read = store.records(session, LESSON)["ada"]
    without_cases = replace(RECORD, exercises=(SCORES, replace(SCALE, cases=())))
    assert read == without_cases
    assert store.cases(session, LESSON, "ada") == {"toy.scale": CASES}
    assert (read.points, read.max_points) == (2.0, 3)


def test_a_new_grade_tells_what_it_changed_also_where_an_exercise_comes_or_goes(session: Session) -> None:
    first, second, third = begin(session), begin(session), begin(session)
    assert len(store.save(session, first, replace(RECORD, exercises=(SCALE,)))) == 1
    right = replace(SCALE, outcome=Outcome.PASSED, points=1.0, misconception=None)
    changed = replace(RECORD, exercises=(SCORES, right), digest="d2")
    seen = [store.save(session, second, changed, ["handed in again"])]
    seen.append(store.save(session, third, replace(RECORD, exercises=(SCORES,))))
    wrong, passed = Standing(Outcome.WRONG, 0.0, "not_scaled"), Standing(Outcome.PASSED, 1.0)
    assert [read_grades(changes) for changes in seen] == [
        {"toy.scale": (wrong, passed), "toy.scores": (None, SCORES.standing)},
        {"toy.scale": (passed, None)},
    ]
    assert store.cases(session, LESSON, "ada") == {}
    [(one, none), *more] = store.history(session, LESSON, "ada")
    assert (one["run"], one["points"], one["digest"], none) == (first, 0.0, "d1", [])
    assert [(event["run"], event["points"], event["digest"], event["why"]) for event, _ in more] == [
        (second, 3.0, "d2", ["handed in again"]),
        (third, 2.0, "d1", []),
    ]
    assert [read_grades(tuple(changes)) for _, changes in more] == list(map(read_grades, seen))


def test_runs_lessons_and_students_are_kept_apart(session: Session) -> None:
    run, ended = begin(session), begin(session)
    store.end_run(session, ended)
    runs = store.runs(session)
    assert runs[run]["finished"] is None
    assert runs[ended]["finished"] >= runs[ended]["started"]
    assert (runs[ended]["host"], runs[ended]["workers"], runs[ended]["boxes"]) == ("host", 1, "sandboxes at level L2")
    store.save(session, run, RECORD)
    store.save(session, run, replace(RECORD, lesson="02_other", digest="other"))
    store.save(session, run, replace(RECORD, student="ben", digest="ben"))
    assert {name: one.digest for name, one in store.records(session, LESSON).items()} == {"ada": "d1", "ben": "ben"}
    assert list(store.records(session, LESSON, "ben")) == ["ben"]
    assert len(store.history(session, "02_other", "ada")) == 1
