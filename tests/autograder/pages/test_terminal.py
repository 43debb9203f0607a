"""The tables of the terminal, at the narrow width of 80 columns."""

import io
from dataclasses import replace
from typing import Any

from autograder.console import output_console
from autograder.gradebook.record import Change, HandGrade, Record, Standing
from autograder.gradebook.results import ClassResult, Grading
from autograder.pages.terminal import exercise_records, print_class, print_exercises
from course_lib.exercises import COURSE
from course_lib.judging.observation import Outcome
from tests.autograder.records import exercise_record, record

PASSED = exercise_record("attention.scores", 2.0, 2, Outcome.PASSED)
NAMED = exercise_record("attention.scale", 0.0, 1, Outcome.WRONG, "divided_by_number_of_keys")
UNNAMED = exercise_record("attention.weights", 0.0, 1, Outcome.WRONG)
UNREADABLE = exercise_record("attention.scores", None, 2, Outcome.UNREADABLE)


FIRST = Grading(("not graded before",))


def printed(*submissions: Record, gradings: dict[str, Grading] | None = None, width: int = 80, **more: Any) -> str:
    """What is told of a run that has graded these for the first time, or in these ways."""
    out = io.StringIO()
    gradings = {one.student: FIRST for one in submissions} if gradings is None else gradings
    graded = ClassResult("01_attention", "sandboxes at level L2", submissions, 2.0, gradings, **more)
    print_class(graded, output_console(out, width))
    return out.getvalue()


def shown(*submissions: Record, **more: Any) -> str:
    """The same, as one line."""
    return " ".join(printed(*submissions, **more).split())


def test_what_did_not_pass_is_named_with_its_mistake() -> None:
    text = shown(record("ada", "01_attention", (PASSED, NAMED, UNNAMED)))
    assert "ada 2 / 4 1 passed; 2 wrong: scale (divided_by_number_of_keys), weights" in text
    assert "1 submission " in text
    assert "2.0 s; sandboxes at level L2" in text


def test_a_pace_is_told_of_a_class_and_not_of_a_few() -> None:
    class_of = [record(f"s{number}", "01_attention", (PASSED,)) for number in range(20)]
    assert "2.0 s, 600 submissions a minute; sandboxes at level L2" in shown(*class_of)
    assert "a minute" not in shown(*class_of[1:])


WRITTEN = HandGrade("attention-why-written", True, None, None, None, 2.0, waits=True)


def test_totals_are_those_of_nbgrader_and_what_waits_is_told_with_the_next_step() -> None:
    text = shown(
        record("ada", "01_attention", (PASSED,), by_hand=(WRITTEN,)),
        record("ben", "01_attention", (PASSED,), by_hand=(replace(WRITTEN, points=1.5, waits=False),)),
        record("eve", "01_attention", (PASSED,), by_hand=(replace(WRITTEN, automatic=0.0, waits=False),)),
        record("gus", "01_attention", (PASSED,), by_hand=(replace(WRITTEN, points=1.0, is_changed=True),)),
        record("zoe", "01_attention", (UNREADABLE,), by_hand=(WRITTEN,)),
    )
    assert "gus 3 / 4 1 given, 1 changed since" in text
    assert "1 answer has changed since a person gave points; its points count until it is read again" in text
    for row in ("ada 2 / 2 2 more wait", "ben 3.5 / 4 1.5 given", "eve 2 / 4 1 passed", "zoe no score 1 unreadable"):
        assert row in text
    assert "1 written answer waits for a person: grade it in formgrader (`jupyter lab`), then run `katze grade" in text


def test_pages_that_were_written_anew_are_told() -> None:
    one = record("ada", "01_attention", (PASSED,))
    text = shown(one, gradings={}, pages=("ada",), replaced_pages=("eve", "zoe"), stale_pages=("ben",))
    assert "points by hand, comments or decisions have changed: 1 feedback page rewritten (ada)" in text
    assert "pages were missing, or had been changed: 2 feedback pages rewritten (eve, zoe)" in text
    assert "run `katze grade 01_attention --student ben --force`" in text


def test_of_whom_this_run_has_graded_no_change_by_hand_is_told() -> None:
    gradings = {"ada": Grading(("graded again by --force",), first=False)}
    text = shown(record("ada", "01_attention", (PASSED,)), gradings=gradings, pages=("ada",))
    assert "by hand have changed" not in text


def test_no_score_is_not_zero_and_remarks_stand_below() -> None:
    broken = record("ben", "01_attention", (UNREADABLE,), problem="The file is empty.")
    mended = record("eve", "01_attention", (PASSED,), repairs=("One.", "Two."))
    text = shown(broken, mended)
    assert "ben no score 1 unreadable The file is empty." in text
    assert "2 repairs" in text


def test_who_was_passed_over_is_named_on_one_line() -> None:
    refusal = f"the student id '[b]{'x' * 90}' holds [; rename its folder"
    passed_over = record("[b]", "01_attention", (), problem=refusal)
    assert f"not graded: {refusal}\n" in printed(refused=(passed_over,))


def test_names_are_no_markup() -> None:
    assert "[red]eve[/red]" in shown(record("[red]eve[/red]", "01_attention", (PASSED,)))


def test_what_a_regrade_changed_is_told_student_by_student() -> None:
    was = Standing(Outcome.WRONG, 0.0, "keys_as_rows")
    change = Change("attention.scores", was, Standing(Outcome.PASSED, 2.0))
    text = shown(
        record("ada", "01_attention", (PASSED,)),
        record("ben", "01_attention", (PASSED,)),
        record("eve", "01_attention", (PASSED,)),
        gradings={
            "ada": Grading(("handed in again",), (change,), first=False),
            "ben": Grading(("attention.scores: its points 1 -> 2",), (), first=False),
        },
    )
    assert "graded again: 2 submissions, 1 of them with a different result" in text
    assert "ada handed in again attention.scores: wrong (keys_as_rows), 0 points -> passed, 2 points" in text
    assert "attention.scores: its points 1 -> 2: 1 submission" in text
    assert "1 submission unchanged, not graded again" in text


def test_no_name_breaks_and_what_fits_stands_beside() -> None:
    mistakes = ("root_of_the_first_dimension_of_k", "softmax_over_the_first_dimension", "theory_instead_of_measurement")
    wrong = tuple(exercise_record(f"attention.{'x' * 20}", 0.0, 1, Outcome.WRONG, mistake) for mistake in mistakes)
    students = ("ada", "hana_of_a_name_that_is_rather_long")
    class_of = [record(name, "01_attention", wrong, by_hand=(WRITTEN,)) for name in students]
    mended = record("zoe", "01_attention", (PASSED,), repairs=("One.",))
    for width in (80, 132):
        text = printed(*class_of, mended, width=width)
        assert all(text.count(mistake) == len(students) for mistake in mistakes)
        assert max(len(line.rstrip()) for line in text.splitlines()) <= width
        [row] = [line for line in text.splitlines() if line.startswith("zoe")]
        assert row.endswith("1 passed")
        below = text.splitlines()[text.splitlines().index(row) + 1]
        assert below.index("1 repair") == row.index("1 passed")


def test_changes_that_are_alike_are_told_once_and_the_exceptions_one_by_one() -> None:
    dearer = Change("attention.scale", Standing(Outcome.PASSED, 1.0), Standing(Outcome.PASSED, 3.0))
    other = Change("attention.scale", Standing(Outcome.WRONG, 0.5, "x"), Standing(Outcome.WRONG, 1.5, "x"))
    lost = Change("attention.scale", Standing(Outcome.PASSED, 1.0), Standing(Outcome.UNGRADED, None))
    why = ("attention.scale: its points 1 -> 3",)
    names = [f"s{number:02}" for number in range(36)]
    gradings = {name: Grading(why, (dearer,), first=False) for name in names}
    gradings |= {"eve": Grading(why, (other,), first=False), "ben": Grading(why, (lost,), first=False)}
    class_of = [record(name, "01_attention", (PASSED,)) for name in gradings]
    text = shown(*class_of, gradings=gradings)
    assert (
        "38 of them with a different result attention.scale: its points 1 -> 3: 38 submissions "
        "36 students attention.scale: passed, 1 -> 3 points "
        "ben attention.scale: passed, 1 point -> ungraded, no score "
        "eve attention.scale: wrong (x), 0.5 -> 1.5 points" in text
    )
    few = {name: gradings[name] for name in names[:3]}
    assert "s00, s01, s02 attention.scale: passed, 1 -> 3 points" in shown(*class_of[:3], gradings=few)


def test_every_exercise_is_listed() -> None:
    out = io.StringIO()
    records = exercise_records(COURSE, None)
    print_exercises(records, output_console(out, 80))
    for one in records:
        assert str(one["id"]) in out.getvalue()
