"""Points by hand while cells come and go and their points change: never lost, never in the way, never worth less."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.gradebook import store
from autograder.gradebook.access import read_only
from autograder.gradebook.changes.adjustments import Adjustment, Adjustments
from autograder.repair.release import exercise_of
from tests.autograder.gradebook.earlier import change
from tests.autograder.gradebook.toy_lesson import (
    CHECK,
    LESSON,
    SCORES,
    WRITTEN,
    ToyRun,
    answered,
    comment,
    give,
    grades,
    release,
    running,
    totals,
)

GIVEN = {"ada": 1.5, "ben": 2.0}


@pytest.fixture
def run(path: Path) -> Iterator[ToyRun]:
    """A lesson with a question worth 2, which a person has read for two students."""
    with running(path) as run:
        for student, points in GIVEN.items():
            run.record(student, answered())
            give(path, student, manual_score=points, comment="Read.")
        yield run


def by_hand(path: Path) -> dict[str, float | None]:
    """The points that each student has for the question."""
    return {student: grades(path, student)[WRITTEN][1] for student in GIVEN}


def shared(path: Path) -> dict[str, tuple[float, float] | None]:
    """What was really given, and out of what, as records have it."""
    with read_only(path) as session:
        found = store.by_hand(session, LESSON)
    return {student: next(one.shared for one in cells if one.cell == WRITTEN) for student, cells in found.items()}


def test_a_cell_that_goes_locks_nothing_and_its_points_come_back_with_it(path: Path, run: ToyRun) -> None:
    give(path, "ada", CHECK, manual_score=1.0, extra_credit=0.5)
    before = totals(path)
    told = run.writer.ensure_assignment(release(why=None, double=None))
    assert sorted(told) == [
        f"{cell} no longer counts; the points given by hand to {who} are kept in case it counts again"
        for cell, who in ((CHECK, "1 student"), (WRITTEN, "2 students"))
    ]
    assert totals(path) == {"ada": 0.0, "ben": 0.0}
    assert run.writer.ensure_assignment(release(why=None, double=None)) == []
    assert sorted(run.writer.ensure_assignment(release())) == [
        f"{cell} counts again, with the points given by hand to {who}"
        for cell, who in ((CHECK, "1 student"), (WRITTEN, "2 students"))
    ]
    for student in GIVEN:  # graded again, it waits for nobody: the answer is the one that was read
        run.record(student, answered())
        assert grades(path, student)[WRITTEN] == (None, GIVEN[student], False)
        assert comment(path, WRITTEN, student) == "Read."
    assert totals(path) == before
    assert run.writer.ensure_assignment(release()) == []


def test_whoever_has_left_the_gradebook_gets_nothing_back_and_is_no_failure(path: Path, run: ToyRun) -> None:
    run.writer.ensure_assignment(release(why=None))
    with Gradebook(f"sqlite:///{path}") as book:
        book.remove_student("ben")
    [told] = run.writer.ensure_assignment(release())
    assert "given by hand to 1 student" in told
    assert set(totals(path)) == {"ada"}


def test_points_by_hand_keep_their_share_of_what_a_cell_gives(path: Path, run: ToyRun) -> None:
    [told] = run.writer.ensure_assignment(release(why=6))
    assert told == (
        f"{WRITTEN} is now worth 6 points, not 2; points given by hand to 2 students are scaled: 2 of 2 become 6 of 6"
    )
    assert by_hand(path) == {"ada": 4.5, "ben": 6.0}
    assert shared(path) == {"ada": (1.5, 2.0), "ben": (2.0, 2.0)}
    assert run.writer.ensure_assignment(release(why=6)) == []
    run.writer.ensure_assignment(release(why=0.3))
    run.writer.ensure_assignment(release())
    assert by_hand(path) == GIVEN  # to the last digit: it is counted from what was given
    assert shared(path) == {"ada": None, "ben": None}


def test_what_a_person_gives_after_a_change_is_out_of_the_new_points(path: Path, run: ToyRun) -> None:
    run.writer.ensure_assignment(release(why=6))
    give(path, "ada", manual_score=5.0)
    run.writer.ensure_assignment(release(why=3))
    assert by_hand(path) == {"ada": 2.5, "ben": 3.0}


def test_a_cell_that_comes_back_with_other_points_shares_them_out(path: Path, run: ToyRun) -> None:
    for points, those in ((None, {}), (4, {"ada": 3.0, "ben": 4.0}), (2, GIVEN)):
        run.writer.ensure_assignment(release(why=points))
        assert points is None or by_hand(path) == those


def test_points_that_a_gradebook_of_nbgrader_s_own_knows_count_as_those_before(path: Path, run: ToyRun) -> None:
    change(path, "DELETE FROM katze_worth")
    [told] = run.writer.ensure_assignment(release(why=4))
    assert "is now worth 4 points, not 2" in told
    with Gradebook(f"sqlite:///{path}") as book:
        assert book.find_assignment(LESSON).max_score == 3 + 1 + 4


def play(path: Path, run: ToyRun, cell: str, given: dict[str, float], story: str) -> None:
    """What happens, a word each, to a student whose text changes: the answer to the check, and the one in words."""
    adjustments: Adjustments = {}
    for step in story.split():
        match step:
            case "read":
                give(path, "eve", cell, **given)
            case "resolve":
                give(path, "eve", cell)
            case "force":
                run.writer.set_aside(run.number, ["eve"], "forced")
            case "drop" | "undrop":
                adjustments = {exercise_of(cell): Adjustment(drop=True)} if step == "drop" else {}
                run.writer.ensure_assignment(release(), adjustments)
                run.writer.apply_adjustments(run.number)
            case "lost":
                run.record("eve", None, {CHECK: None})
            case text:
                run.record("eve", answered(text), SCORES, answer=f"sha256:{text}")


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
    ("cell", "given", "stories"),
    [
        (WRITTEN, {"manual_score": 1.0}, STORIES | OF_WORDS),
        (CHECK, {"manual_score": 1.0}, STORIES),
        (CHECK, {"extra_credit": 0.5}, STORIES),
    ],
)
def test_points_wait_again_where_their_text_has_changed(
    tmp_path: Path, cell: str, given: dict[str, float], stories: dict[str, bool]
) -> None:
    for story, is_changed in stories.items():
        path = tmp_path / f"{story}.db"
        with running(path) as run:
            play(path, run, cell, given, story)
        with read_only(path) as session:
            cells = store.by_hand(session, LESSON, "eve").get("eve", ())
        assert any(one.is_changed for one in cells) is is_changed, story
        with Gradebook(f"sqlite:///{path}") as book:
            grade = book.find_grade(cell, LESSON, LESSON, "eve")
            assert {name: getattr(grade, name) for name in given} == given, story
            assert grade.needs_manual_grade or not is_changed, story
