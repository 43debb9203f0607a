"""A deadline that is set, moved and taken out: pages, penalties and nbgrader's tables follow, and nothing is graded."""

from collections.abc import Iterator

import pytest
from nbgrader.api import Gradebook

from autograder.course.course import Course
from autograder.gradebook.changes.frozen import freeze, thaw
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.grades import read_grades
from autograder.gradebook.results import ClassResult
from autograder.grading import assignment, exercise_strategy
from autograder.grading.batch import grade_assignment
from tests.autograder.small_class import BY_NAME, LESSON, MOST, by_student, hand_in, make_course, nbgrader_s, page, why
from tests.autograder.small_gradebook import set_terms

LINEAR = f'[late]\npolicy = "linear"\nper_day = 10\n[lessons.{LESSON}]\ndue = '
DUE, LATER = "2026-11-20T18:00:00+01:00\n", "2026-11-21T18:00:00+01:00\n"
LOST = round(2 * MOST / 10, 2)
LATE = 17 - LOST
"""For two days begun."""


@pytest.fixture(scope="module")
def graded(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """A class graded before there were deadlines, which nobody can grade any more: there are no sandboxes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "_versions", lambda withheld: {"Katze": "1"})
        course = make_course(tmp_path_factory.mktemp("course"))
        times = {"ada": "2026-11-20 16:50:00 UTC", "ben": "2026-11-21 18:00:00 UTC", "zora": "2026-11-21 18:00:00 UTC"}
        for name, time in times.items():
            path = hand_in(course, name, BY_NAME["zora_not_a_notebook" if name == "zora" else "ada_reference"])
            (path.parent / "timestamp.txt").write_text(time)
        hand_in(course, "gus", BY_NAME["gus_untouched"])
        grade_assignment(course, LESSON, workers=2)
        patch.setattr(exercise_strategy, "ForkServer", None)
        yield course


def regrade(course: Course, terms: str, **more: bool) -> ClassResult:
    return grade_assignment(set_terms(course, terms), LESSON, **more)


def test_a_deadline_comes_to_pages_and_totals_without_grading(graded: Course) -> None:
    regrade(graded, "")
    before = page(graded, "ada")
    run = regrade(graded, LINEAR + DUE)
    assert (why(run), run.pages, run.due_pages) == ({}, (), ("ada", "ben", "gus", "zora"))
    assert {name: one.total for name, one in by_student(run).items()} == {
        "ada": 17,
        "ben": LATE,
        "gus": 0,
        "zora": None,
    }
    assert nbgrader_s(graded) == {"ada": 17, "ben": LATE, "gus": 0, "zora": 0}
    assert f"<strong>{LATE:g}</strong>" in page(graded, "ben")
    assert "1 day 1 hour late." in page(graded, "ben")
    assert "on time." in page(graded, "ada")
    assert "counts as on time." in page(graded, "gus")
    assert "<strong>No score</strong>" in page(graded, "zora")
    assert "Being late costs" not in page(graded, "zora")
    assert "1 day 1 hour late" in page(graded, "zora")
    [record] = [one for one in run.records() if one["student"] == "ben" and one["exercise"] == "attention.scores"]
    assert record["total"]["late_penalty"] == LOST

    written = graded.gradebook.read_bytes()
    again = regrade(graded, LINEAR + DUE)
    assert (again.due_pages, graded.gradebook.read_bytes() == written) == ((), True)
    assert regrade(graded, "").due_pages == ("ada", "ben", "gus", "zora")
    assert page(graded, "ada") == before


def test_one_that_moves_is_known_at_once_and_brought_to_those_it_concerns(graded: Course) -> None:
    regrade(graded, LINEAR + DUE)
    moved = set_terms(graded, LINEAR + LATER)
    [_, ben, _, _] = read_grades(moved, [LESSON])[LESSON]
    assert (ben.total, ben.lateness.is_written) == (17 - MOST / 10, False)
    run = grade_assignment(moved, LESSON, students=["ben"])
    assert run.due_pages == ("ben",)
    assert {one.student: one.lateness.is_written for one in read_grades(moved, [LESSON])[LESSON]} == {
        "ada": False,
        "ben": True,
        "gus": False,
        "zora": False,
    }
    assert grade_assignment(moved, LESSON).due_pages == ("ada", "gus", "zora")


def test_how_a_lesson_counts_in_the_total_comes_to_the_pages_when_it_changes(graded: Course) -> None:
    regrade(graded, "")
    before = page(graded, "ada")
    run = regrade(graded, f"drop_lowest = 1\n[lessons.{LESSON}]\nweight = 2\n")
    assert (why(run), run.due_pages) == ({}, ("ada", "ben", "gus", "zora"))
    assert "Its weight in the total is 2, and your lowest lesson is left out of the total." in page(graded, "ada")
    assert "It does not count in the total." not in page(graded, "ada")
    regrade(graded, f"drop_lowest = 1\n[lessons.{LESSON}]\nweight = 0\n")
    assert "It does not count in the total." in page(graded, "ada")
    regrade(graded, "")
    assert page(graded, "ada") == before


def test_an_extension_changes_one_page(graded: Course) -> None:
    regrade(graded, LINEAR + DUE)
    extended = f"{LINEAR}{DUE}[lessons.{LESSON}.extensions]\nben = {LATER}benn = {LATER}"
    run = regrade(graded, extended)
    assert run.due_pages == ("ben",)
    assert "which is your own extension" in page(graded, "ben")
    assert run.notices == (
        f"course.toml: {LESSON} has an extension for benn, who has handed in nothing: did you mean ben?",
    )


def test_without_feedback_the_penalties_are_written_all_the_same(graded: Course) -> None:
    regrade(graded, "")
    before = page(graded, "gus")
    run = regrade(graded, LINEAR + DUE, feedback=False)
    assert (run.due_pages, page(graded, "gus")) == ((), before)
    with Gradebook(f"sqlite:///{graded.gradebook}") as book:
        assert book.find_submission_notebook(LESSON, LESSON, "ben").late_submission_penalty == LOST
    assert regrade(graded, LINEAR + DUE).due_pages == ("ada", "ben", "gus", "zora")


def test_in_a_frozen_lesson_neither_page_nor_penalty_follows(graded: Course) -> None:
    regrade(graded, LINEAR + DUE)
    before = page(graded, "ben")
    with GradebookFile(graded.gradebook) as file:
        freeze(file, LESSON)
    run = regrade(graded, LINEAR + LATER)
    assert (run.due_pages, page(graded, "ben")) == ((), before)
    assert any("its deadline in course.toml has changed, but the lesson is frozen" in line for line in run.notices)
    with GradebookFile(graded.gradebook) as file:
        thaw(file, LESSON)
    assert regrade(graded, LINEAR + LATER).due_pages == ("ada", "ben", "gus", "zora")
