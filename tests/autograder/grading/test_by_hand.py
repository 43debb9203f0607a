"""Points and comments given by hand: on the page, in the totals, and as nbgrader adds them up."""

import os
import shutil

import pytest

from autograder.box.fork_server.client import ForkServer
from autograder.course.course import Course
from autograder.gradebook.changes.frozen import freeze
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.results import ClassResult
from autograder.grading import exercise_strategy
from autograder.grading.batch import grade_assignment
from tests.autograder.gradebook.earlier import bring_back
from tests.autograder.small_class import CHECKED, LESSON, MOST, answer, by_student, give, nbgrader_s, page

ADA, HANA, ZORA = "ada_reference", "hana_slides_numbers", "zora_not_a_notebook"

pytestmark = pytest.mark.usefixtures("steady_versions", "no_sandboxes")


def assert_agree_with_nbgrader(course: Course, graded: ClassResult) -> None:
    totals = {one.student: one.total or 0.0 for one in graded.submissions}
    in_json = {record["student"]: record["total"]["points"] or 0.0 for record in graded.records()}
    assert totals == in_json == nbgrader_s(course)


def test_what_waits_is_counted_and_is_no_zero(course: Course) -> None:
    graded = grade_assignment(course, LESSON)
    ada = by_student(graded)[ADA]
    assert (ada.total, ada.max_total, [cell.max_points for cell in ada.waiting]) == (17, CHECKED, [2])
    assert by_student(graded)[ZORA].waiting == ()
    assert "Up to 2 more points can be given by a person" in page(course, ADA)
    assert f"<strong>No score</strong> <span>out of {MOST}" in page(course, ZORA)
    assert_agree_with_nbgrader(course, graded)


def test_points_by_hand_come_to_the_page_without_grading(course: Course) -> None:
    others = page(course, HANA)
    give(course, ADA, manual_score=1.5, comment="Well <i>said</i>.")
    graded = grade_assignment(course, LESSON)
    assert (graded.gradings, graded.pages) == ({}, (ADA,))
    written = page(course, ADA)
    for part in (f"<strong>18.5</strong> <span>of {MOST} points", "1.5 / 2", "1.5 of 2 points, given by a person."):
        assert part in written
    assert "Well &lt;i&gt;said&lt;/i&gt;." in written
    assert page(course, HANA) == others
    assert by_student(graded)[ADA].waiting == ()
    assert_agree_with_nbgrader(course, graded)

    before = course.gradebook.read_bytes()
    assert grade_assignment(course, LESSON).pages == ()
    assert course.gradebook.read_bytes() == before


def test_points_in_place_of_automatic_ones_and_extra_credit_count_as_in_nbgrader(course: Course) -> None:
    give(course, ADA, "attention-scores-check", manual_score=0.0, extra_credit=0.5)
    give(course, ADA, "attention-scale-answer", comment="A comment on an answer.")
    give(course, ZORA, "attention-weights-check", manual_score=2.0)
    graded = grade_assignment(course, LESSON)
    assert graded.pages == (ADA, ZORA)
    assert "<strong>2</strong>" in page(course, ZORA)
    assert by_student(graded)[ADA].total == 16.5
    assert "A comment on an answer." in page(course, ADA)
    assert_agree_with_nbgrader(course, graded)
    give(course, ADA, "attention-scores-check", manual_score=None, extra_credit=None)
    graded = grade_assignment(course, LESSON)
    assert graded.pages == (ADA,)
    assert_agree_with_nbgrader(course, graded)


def test_points_survive_grading_again_and_are_on_the_new_page(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    give(course, ADA, manual_score=2.0)
    monkeypatch.setattr(exercise_strategy, "ForkServer", ForkServer)
    graded = grade_assignment(course, LESSON, students=[ADA], force=True)
    assert graded.pages == (ADA,)
    assert f"<strong>19</strong> <span>of {MOST} points" in page(course, ADA)
    assert "Changed since it was read" not in page(course, ADA)

    give(course, ADA, "attention-scale-check", manual_score=0.5)
    answer(course, ADA, {"attention-why_scale-written": "Something else."})
    again = by_student(grade_assignment(course, LESSON, students=[ADA]))[ADA]
    assert {one.cell for one in again.changed} == {"attention-why_scale-written", "attention-scale-check"}
    assert again.total == 2.5
    assert page(course, ADA).count("Changed since it was read") == 2
    give(course, ADA)  # Resolve
    give(course, ADA, "attention-scale-check", manual_score=0.0)
    resolved = grade_assignment(course, LESSON)
    assert resolved.pages == (ADA,)
    assert "Changed since it was read" not in page(course, ADA)


def test_a_page_in_whose_place_nbgrader_has_put_its_own_is_written_anew(course: Course) -> None:
    before = {name: page(course, name) for name in (ADA, HANA, ZORA)}
    assert grade_assignment(course, LESSON).replaced_pages == ()
    for name in (HANA, ZORA):
        (course.feedback / name / LESSON / f"{LESSON}.html").write_text("nbgrader's own page")
    graded = grade_assignment(course, LESSON, feedback=False)
    assert graded.replaced_pages == ()
    graded = grade_assignment(course, LESSON)
    assert (graded.gradings, graded.pages, graded.replaced_pages) == ({}, (), (HANA, ZORA))
    assert {name: page(course, name) for name in before} == before
    assert grade_assignment(course, LESSON).replaced_pages == ()
    give(course, ADA, manual_score=2.0)
    for pages in (((ADA,), ()), ((), (ADA,))):  # with the points, whichever made it necessary
        (course.feedback / ADA / LESSON / f"{LESSON}.html").write_text("nbgrader's own page")
        graded = grade_assignment(course, LESSON)
        assert (graded.pages, graded.replaced_pages) == pages
        assert f"<strong>19</strong> <span>of {MOST} points" in page(course, ADA)


def test_in_a_frozen_lesson_what_is_missing_or_changed_is_written_anew_and_nothing_is_graded(course: Course) -> None:
    before = {name: page(course, name) for name in (ADA, HANA, ZORA)}
    with GradebookFile(course.gradebook) as file:
        freeze(file, LESSON)
    assert grade_assignment(course, LESSON).replaced_pages == ()
    shutil.rmtree(course.feedback / ADA)  # as after --no-feedback
    (course.feedback / HANA / LESSON / f"{LESSON}.html").unlink()
    (course.feedback / ZORA / LESSON / f"{LESSON}.html").write_text("another page")
    graded = grade_assignment(course, LESSON)
    assert (graded.gradings, graded.pages, graded.replaced_pages) == ({}, (), (ADA, HANA, ZORA))
    assert {name: page(course, name) for name in before} == before


def test_a_page_of_the_same_size_is_compared_by_its_bytes_where_it_is_newer(course: Course) -> None:
    path = course.feedback / ADA / LESSON / f"{LESSON}.html"
    before = path.read_bytes()
    later = path.stat().st_mtime + 60
    os.utime(path, (later, later))
    assert grade_assignment(course, LESSON).replaced_pages == ()
    path.write_bytes(before.replace(b"17", b"19"))
    os.utime(path, (later, later))
    assert grade_assignment(course, LESSON).replaced_pages == (ADA,)
    assert path.read_bytes() == before


def test_a_page_whose_notebook_was_edited_is_told(course: Course) -> None:
    path = course.autograded / ADA / LESSON / f"{LESSON}.ipynb"
    path.write_text(path.read_text().replace("Right,", "Rigth,"))  # of the same size
    give(course, ADA, manual_score=2.0)
    before = page(course, ADA)
    graded = grade_assignment(course, LESSON)
    assert (graded.pages, graded.stale_pages) == ((), (ADA,))
    assert page(course, ADA) == before


def test_records_of_the_version_before_are_read_and_not_graded_again(course: Course) -> None:
    bring_back(course.gradebook, 5)
    assert grade_assignment(course, LESSON).gradings == {}
    give(course, ADA, manual_score=2.0)
    graded = grade_assignment(course, LESSON)
    assert (graded.gradings, graded.pages) == ({}, (ADA,))
    assert grade_assignment(course, LESSON).pages == ()
