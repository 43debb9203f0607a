"""The page about a class: what it counts, what it says, and that nothing of a student's becomes markup."""

from collections.abc import Sequence
from dataclasses import replace

from bs4 import BeautifulSoup, Tag

from autograder.gradebook.changes.adjustments import Adjustment, adjusted
from autograder.gradebook.record import ExerciseRecord, HandGrade, Record
from autograder.pages.class_report import render_class
from course_lib import exercises
from course_lib.judging.observation import Outcome
from tests.autograder.records import exercise_record, record, text

SCALE = "attention.scale"
MISTAKE = exercises.find(SCALE).misconceptions[0]
WRITTEN = HandGrade("attention-why-written", True, None, None, None, 2.0, waits=True)


def submission(student: str, scores: float | None, scale: ExerciseRecord) -> Record:
    outcome = Outcome.UNREADABLE if scores is None else Outcome.PASSED if scores == 2 else Outcome.WRONG
    return record(student, "01_attention", (exercise_record("attention.scores", scores, 2, outcome), scale))


RIGHT = exercise_record(SCALE, 1.0, 1, Outcome.PASSED)
NAMED = exercise_record(SCALE, 0.0, 1, Outcome.WRONG, MISTAKE.id)
DIED = exercise_record(SCALE, 0.0, 1, Outcome.DIED)
LOST = exercise_record(SCALE, None, 1, Outcome.UNREADABLE)


def page(results: Sequence[Record]) -> BeautifulSoup:
    return BeautifulSoup(render_class("Lesson 01 · Attention", results, exercises.COURSE), "html.parser")


def row(soup: BeautifulSoup, beginning: str) -> str:
    [found] = [said for said in map(text, soup.select("tbody tr")) if beginning in said]
    return found


def test_it_counts_who_is_right_and_names_mistakes_first() -> None:
    soup = page(
        [
            submission("ada", 2.0, RIGHT),
            submission("ben", 0.0, DIED),
            submission("eve", 0.0, DIED),
            submission("fay", 2.0, NAMED),
            replace(submission("zoe", None, LOST), problem="The notebook is an empty file: save it."),
        ]
    )
    assert text(soup.select_one(".facts")) == "submissions 5 without a score 1 median 33% mean 42%"
    said = row(soup, SCALE)
    rated = "4 minutes · difficulty 1/5 · importance 5/5"
    assert said.startswith(f"Scaling {SCALE} {rated} 1 of 4 25% of 1 3 of 4 not right: 1 × {MISTAKE.id} ")
    assert said.endswith("2 × died")
    assert row(soup, "zoe") == "zoe no score The notebook is an empty file: save it."
    assert row(soup, "ada") == "ada 3 of 3"
    assert row(soup, "fay") == f"fay 2 of 3 scale ({MISTAKE.id})"
    assert "tells apart" not in text(soup)  # too few to say so
    gus = record("gus", "01_attention", (exercise_record("attention.scores", 0.0, 2, Outcome.DIED), DIED))
    assert row(page([gus]), "gus") == "gus 0 of 3 everything (died)"


def test_every_failure_is_in_a_row_and_the_table_says_out_of_how_many() -> None:
    named = [one.id for one in exercises.find("attention.weights").misconceptions[:5]]
    unnamed = (Outcome.WRONG, Outcome.RAISED, Outcome.NOT_ATTEMPTED, Outcome.NEVER_DEFINED, Outcome.TIMED_OUT)
    failed = {(Outcome.WRONG, name): times for times, name in enumerate(named, start=1)}
    failed |= {(outcome, None): times for times, outcome in enumerate(unnamed, start=2)}
    ended = [*(how for how, times in failed.items() for _ in range(times)), (Outcome.PASSED, None)]
    results = [
        record(
            f"s{number}",
            "01_attention",
            (RIGHT, exercise_record("attention.weights", 3.0 * (how is Outcome.PASSED), 3, how, name)),
        )
        for number, (how, name) in enumerate(ended)
    ]
    lost = [(RIGHT, exercise_record("attention.weights", None, 3, Outcome.UNGRADED))]
    said = row(page([*results, *(record("lost", "01_attention", one) for one in lost)]), "attention.weights")
    assert "importance 5/5 1 of 36 1 without a score" in said
    assert "35 of 36 not right:" in said
    rows = {name or str(outcome): times for (outcome, name), times in failed.items()}
    rows["wrong in another way"] = rows.pop("wrong")
    assert all(f"{times} × {name}" in said for name, times in rows.items())
    assert said.count(" × ") == len(rows)
    assert sum(rows.values()) == 35


def test_answers_to_look_at_are_listed_with_line_and_reason() -> None:
    place = "cell 7, line 3: <b>exec(text)</b> [turns text into code]"
    seen = replace(RIGHT, worth_a_look=f"{place}\ncell 8: [is too long]")
    soup = page([submission("ada", 2.0, seen), submission("ben", 2.0, RIGHT)])
    assert [text(one) for one in soup.select(".looks tbody tr")] == [f"ada {SCALE} {place} cell 8: [is too long]"]
    assert not soup.select(".looks b")
    assert "Nobody has lost a point" in text(soup)
    assert "Answers to look at" not in text(page([submission("ben", 2.0, RIGHT)]))


def test_decisions_are_told_once_and_shares_with_both_numbers() -> None:
    adjustments = {
        SCALE: Adjustment(extra_credit=True, never_lower=True),
        "attention.why": Adjustment(full_credit=True),
    }
    given = replace(WRITTEN, points=2.0, waits=False, shared=(1.0, 1.0))
    graded = [replace(submission(name, 2.0, RIGHT), by_hand=(given,)) for name in ("ada", "ben")]
    soup = page([adjusted(one, adjustments) for one in graded])
    assert [text(note) for note in soup.select("section")[0].select(".note")] == [
        "01_attention: attention.scale: extra credit, never lower.",
        "01_attention: attention.why: full credit for everyone.",
        "01_attention: points given by hand to 2 students for attention-why-written, out of 1, are scaled to 2.",
    ]


def test_extra_credit_and_deductions_stay_in_the_picture() -> None:
    bonus = replace(WRITTEN, points=2.0, extra_credit=5.0, waits=False)
    malus = replace(WRITTEN, points=-9.0, waits=False)
    soup = page(
        [
            replace(submission("ada", 2.0, RIGHT), by_hand=(bonus,)),
            replace(submission("ben", 2.0, RIGHT), by_hand=(malus,)),
        ]
    )
    assert [text(bar) for bar in soup.select(".columns b")] == ["1", *[""] * 8, "1"]


def test_of_many_students_it_says_how_well_an_exercise_tells_them_apart() -> None:
    strong = [submission(f"a{number}", 2.0, RIGHT) for number in range(6)]
    weak = [submission(f"b{number}", 0.0, NAMED) for number in range(6)]
    assert "50% of 1 1.00 6 of 12 not right: 6 ×" in row(page([*strong, *weak]), SCALE)
    crossed = [submission(f"c{number}", 0.0, RIGHT) for number in range(6)]
    assert "1 of 2" not in row(page([*crossed, *weak]), "attention.scores")
    assert "0% of 2 –" in row(page([*crossed, *weak]), "attention.scores")  # no differences, nothing to compare
    upside_down = [submission(f"d{number}", 2.0, NAMED) for number in range(6)]
    assert "−1.00" in row(page([*crossed, *upside_down]), SCALE)


def test_what_waits_for_a_person_is_told() -> None:
    changed = replace(WRITTEN, points=1.0, is_changed=True)
    lost = replace(exercise_record(SCALE, None, 1, Outcome.UNGRADED), note="It uses gensim.")
    soup = page(
        [
            replace(submission("ada", 2.0, RIGHT), by_hand=(WRITTEN,)),
            replace(submission("ben", 2.0, RIGHT), by_hand=(changed,)),
            submission("cem", 2.0, lost),
        ]
    )
    facts = text(soup.select_one(".facts"))
    assert "written answers wait for a person 1" in facts
    assert "answers changed since they were read 1" in facts
    assert "exercises that could not be graded 1" in facts
    assert "gave points, which count until the answer is read again: ben." in text(soup)
    assert "attention.scale has no score for cem. It uses gensim." in text(soup)
    assert "the lesson gives 5." in text(soup)


def test_a_class_without_any_score_has_a_page() -> None:
    soup = page([submission("zoe", None, LOST)])
    assert text(soup.select_one(".facts")) == "submissions 1 without a score 1"
    assert "0 of 0" in row(soup, SCALE)


def test_nothing_of_a_student_s_becomes_markup() -> None:
    evil = "<script>alert(1)</script>{{ 7 * 7 }}"
    soup = page([replace(submission(evil, None, LOST), problem=evil)])
    assert soup.find("script") is None
    assert soup.find(src=True) is None
    assert row(soup, "alert").count(evil) == 2
    policy = soup.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert isinstance(policy, Tag)
    assert str(policy["content"]).startswith("default-src 'none'")


def test_many_exercises_that_are_not_right_are_folded_in_their_row() -> None:
    failed = [exercise_record(f"attention.{name}", 0.0, 1, Outcome(how)) for name, how in zip("abc", ENDS, strict=True)]
    few, many = (page([record("ada", "01_attention", failed[:number])]) for number in (2, 3))
    assert not few.select(".students details")
    assert text(many.select_one(".students details")) == "3 exercises a (wrong), b (raised), c (died)"


ENDS = (Outcome.WRONG, Outcome.RAISED, Outcome.DIED)
