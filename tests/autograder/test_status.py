"""`katze status`: what it counts at each stage of a lesson, and the command that it names next."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.course.store.collected import Delivery, write_collected
from autograder.delivery.history import ReturnedPage, digest_of, page_of, write_returned
from autograder.gradebook.grades import read_grades
from autograder.grading.batch import grade_assignment
from autograder.status import LessonStatus, status_of
from course_lib import exercises
from course_lib.exercises.catalogue import Catalogue
from tests.autograder import small_gradebook
from tests.autograder.small_class import BY_NAME, LESSON, hand_in, make_course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path)


def of(course: Course) -> LessonStatus:
    [found] = status_of(course, [LESSON])
    return found


@pytest.mark.usefixtures("processes")
def test_each_stage_of_a_lesson_names_the_command_that_comes_next(course: Course) -> None:
    fresh = of(course)
    assert (fresh.stage, fresh.next) == ("released", f"katze collect DOWNLOAD --lesson {LESSON}")

    for name, student in (("ada", "ada_reference"), ("gus", "gus_untouched")):
        hand_in(course, name, BY_NAME[student])
    (course.submitted / "loose.ipynb").write_text("{}")
    (course.submitted / "bad+id" / LESSON).mkdir(parents=True)
    collected = of(course)
    assert (collected.stage, collected.next) == ("collected", f"katze grade {LESSON}")
    assert (collected.collected, collected.graded, collected.to_grade) == (2, 0, ("ada", "gus"))
    assert collected.not_looked_at == ("loose.ipynb",)
    assert "holds +" in collected.refused[0]

    broken = course.submitted / "eve" / LESSON / f"{LESSON}.ipynb"
    broken.parent.mkdir(parents=True)
    broken.write_text("no notebook")
    grade_assignment(course, LESSON, workers=2)
    graded = of(course)
    assert (graded.stage, graded.graded, graded.to_grade, graded.no_score) == ("graded", 2, (), ("eve",))
    assert (graded.by_hand, graded.next) == (("ada",), "jupyter lab (Nbgrader > Formgrader)")
    for waits in ({"changed_since_read": ("gus",)}, {"ungraded": ("gus",)}):
        assert replace(graded, by_hand=(), **waits).next == graded.next
    read = replace(graded, by_hand=())
    assert read.next == f"katze return {LESSON} --for folder"
    assert replace(read, returned=2).next == f"katze log eve {LESSON}"

    hand_in(course, "eve", BY_NAME["ada_reference"])
    assert (of(course).to_grade, of(course).next) == (("eve",), f"katze grade {LESSON}")


def test_a_lesson_that_is_not_released_yet_is_listed_with_the_command_that_does_it(course: Course) -> None:
    (course.solutions / "99_more").mkdir(parents=True)
    (course.solutions / "99_more" / "99_more.py").write_text("# %%\n")
    found = status_of(course)
    assert [one.lesson for one in found][-1] == "99_more"
    assert (found[-1].stage, found[-1].next) == ("not released", "katze release 99_more")


def test_what_is_graded_goes_back_to_where_it_came_from() -> None:
    spaced = LessonStatus("ps 1", released=True, collected=2, no_score=("o'neil",))
    assert spaced.next == """katze log 'o'"'"'neil' 'ps 1'"""
    assert replace(spaced, to_grade=("ada",), is_plain=True).next == "katze autograde 'ps 1'"
    graded = LessonStatus(LESSON, released=True, collected=2, graded=2, back_to="canvas")
    assert (graded.stage, graded.next) == ("graded", f"katze return {LESSON} --for canvas")
    returned = replace(graded, returned=2)
    assert (returned.stage, returned.next) == ("returned", "")
    changed = replace(returned, changed_since=("ada",))
    assert changed.next == f"katze return {LESSON} --for canvas --changed"


def test_a_frozen_lesson_is_not_told_to_be_graded() -> None:
    frozen = LessonStatus(LESSON, True, collected=3, graded=2, returned=2, to_grade=("eve",), frozen="2026-11-20")
    assert (frozen.stage, frozen.next) == ("frozen", "")


def test_pages_given_back_are_counted_and_those_that_have_changed_since_are_named(
    graded_class: Course, tmp_path: Path
) -> None:
    course = Course.find(shutil.copytree(graded_class.root, tmp_path / "class"))
    page = ReturnedPage("folder", digest_of(page_of(course, LESSON, "ben")), "2026-11-20T18:00:00+00:00")
    stale = ReturnedPage("folder", "0" * 64, "2026-11-20T18:00:00+00:00")
    write_returned(course, LESSON, {"ben": page, "hana_slides_numbers": stale})
    assert (of(course).returned, of(course).changed_since) == (2, ("hana_slides_numbers",))


@pytest.fixture
def due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A class that was graded before there was a deadline; nothing has been handed in again."""
    monkeypatch.setattr("autograder.grading.digests.fingerprints.of_submission", lambda _folder: "d")
    course = small_gradebook.make_course(tmp_path)
    small_gradebook.grade(course, {"ada": 18, "ben": 18}, at=small_gradebook.LATE)
    small_gradebook.grade(course, {"cem": 18, "dov": 18, "eve": 18}, at="")
    return course


def test_penalties_that_a_deadline_has_made_stale_are_counted_until_they_are_written(
    due: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    assert of(due).stale == ()
    course = small_gradebook.set_terms(due, small_gradebook.LINEAR_TERMS)
    stale = replace(of(course), by_hand=())
    assert (stale.stale, stale.next) == (("ada", "ben", "cem", "dov", "eve"), f"katze grade {LESSON}")
    assert main(["status", LESSON, "--course", str(course.root)]) == 0
    assert f"not up to date for ada, ben, cem, dov, eve; `katze grade {LESSON}` brings" in capsys.readouterr().out
    small_gradebook.bring_up_to_date(course)
    assert of(course).stale == ()


def test_one_that_a_platform_calls_late_is_named_until_somebody_says_how_late(due: Course) -> None:
    late = Delivery("ada", "canvas", "s.zip", ("x_LATE_1_2_x.ipynb",), late=True)
    came = {name: replace(late, student=name) for name in ("ada", "cem", "dov")}
    came |= {"eve": Delivery("eve", "canvas", "s.zip", ("e_3_4_x.ipynb",), late=False)}
    write_collected(due, LESSON, came)
    assert of(due).marked_late == ()  # nothing is due
    course = small_gradebook.set_terms(due, small_gradebook.LINEAR_TERMS)
    assert of(course).marked_late == ("cem", "dov")
    unknown = {one.student: one.lateness.is_unknown for one in read_grades(course, [LESSON])[LESSON]}
    assert unknown == {"ada": False, "ben": False, "cem": True, "dov": True, "eve": False}
    more = f"[lessons.{LESSON}.handed_in]\ncem = {small_gradebook.DUE}\n"
    more += f"[lessons.{LESSON}.extensions]\ndov = {small_gradebook.DUE}\n"
    assert of(small_gradebook.set_terms(course, small_gradebook.LINEAR_TERMS + more)).marked_late == ()


def test_exercises_that_the_lesson_no_longer_has_are_named(
    due: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [one for one in exercises.of_lesson(LESSON) if one.id != "attention.scores"]
    monkeypatch.setattr(Catalogue, "of_lesson", lambda _catalogue, _lesson: left)
    assert of(due).moved == {"attention.scores": ""}
    monkeypatch.setattr(Catalogue, "moved_in", lambda *_: {"attention.scores": "attention.scale", "attention.old": ""})
    assert of(due).moved == {"attention.scores": "attention.scale"}
    assert main(["status", LESSON, "--course", str(due.root)]) == 0
    said = "grades are for exercises that the lesson no longer has: attention.scores (now attention.scale). They count"
    rest = f", but not in nbgrader's own totals; `katze freeze {LESSON}` keeps them when it is graded again."
    assert f"{LESSON}: {said}{rest}" in capsys.readouterr().out


def test_what_was_withdrawn_is_counted(due: Course, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(due.submitted / "ben" / LESSON)
    assert (of(due).withdrawn, of(due).collected) == (("ben",), 4)
    assert main(["status", LESSON, "--course", str(due.root)]) == 0
    assert f"{LESSON}: 1 submission withdrawn: ben; `katze export` leaves them out" in capsys.readouterr().out
