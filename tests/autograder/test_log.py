"""The story of one grade, as an instructor reads it."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.console import output_console
from autograder.course.course import Course
from autograder.course.store.collected import Delivery, OlderDelivery, write_collected
from autograder.errors import BadInput
from autograder.grading import assignment
from autograder.grading.batch import grade_assignment
from autograder.log import print_story, story_of
from course_lib import exercises
from tests.autograder import small_gradebook
from tests.autograder.answered_lesson import filled
from tests.autograder.gradebook.earlier import change
from tests.autograder.small_class import BY_NAME, CHECKED, LESSON, MOST, answer, give, hand_in, make_course, rows

COLOURED = "def dot_product_scores(q, k):\n    raise ValueError('\\x1b[31mred\\x1b[0m [bold]not[/bold]')\n"


@pytest.fixture(scope="module")
def course(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A class in which one student handed in twice, and an instructor gave points by hand."""
    course = make_course(tmp_path_factory.mktemp("course"))
    hand_in(course, "hana", BY_NAME["hana_slides_numbers"])
    hand_in(course, "zoe", BY_NAME["zoe_stripped_metadata"])
    hand_in(course, "zora", BY_NAME["zora_not_a_notebook"])
    answer(course, "carl", {"attention-scores-answer": COLOURED})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "_versions", lambda withheld: {"Katze": "1.2.3"})
        grade_assignment(course, LESSON)
        path = hand_in(course, "hana", BY_NAME["ada_reference"])
        (path.parent / "timestamp.txt").write_text("2026-11-20 10:00:00 UTC\n")
        hand_in(course, "ada").write_text(json.dumps(filled()))
        grade_assignment(course, LESSON)
    give(course, "hana", manual_score=2.0)
    return course


def printed(course: Course, student: str) -> str:
    out = io.StringIO()
    print_story(story_of(course, student, LESSON), output_console(out, 100))
    return out.getvalue()


def test_the_story_holds_everything_that_was_recorded(course: Course) -> None:
    told: dict[str, Any] = json.loads(json.dumps(story_of(course, "hana", LESSON)))
    assert (told["points"], told["max_points"], told["counts"]) == (19, MOST, True)  # two by hand
    assert (told["automatic_points"], told["waiting_by_hand"]) == (17, 0)
    assert told["handed_in"] == "2026-11-20 10:00:00 UTC"
    assert told["versions"] == {"Katze": "1.2.3"}
    first, second = told["history"]
    assert (first["kind"], first["points"], first["changes"]) == ("graded", 11, [])
    assert second["why"] == ["handed in again"]
    assert first["digest"] != second["digest"] == told["digest"]
    by_id = {change["exercise"]: change for change in second["changes"]}
    assert by_id["attention.scale"] == {
        "exercise": "attention.scale",
        "before": {"outcome": "wrong", "points": 0, "misconception": "divided_by_number_of_keys"},
        "after": {"outcome": "passed", "points": 1, "misconception": None},
    }
    [scale] = [one for one in told["exercises"] if one["exercise"] == "attention.scale"]
    assert {case["hidden"] for case in scale["cases"]} == {True, False}
    assert {case["outcome"] for case in scale["cases"]} == {"passed"}


def test_hidden_inputs_are_named_and_not_shown(course: Course) -> None:
    told = story_of(course, "hana", LESSON)
    assert 0 <= told["hidden_inputs"]["slot"] < told["hidden_inputs"]["slots"] == 32
    seeds = [str(seed) for (seed,) in rows(course, "SELECT DISTINCT seed FROM katze_exercise")]
    assert len(seeds) > 1
    assert not any(seed in json.dumps(told) for seed in seeds)
    assert f"set {told['hidden_inputs']['slot']} of 32" in printed(course, "hana")


def test_it_reads_as_a_story(course: Course) -> None:
    text = " ".join(printed(course, "hana").split())
    for part in (
        f"hana 01_attention 19 of {MOST} points",
        "handed in 2026-11-20 10:00:00 UTC",
        "by run 2 on",
        "sandboxes level L",
        "attention.scale 1 of 1 point passed",
        "cases right, ",
        "attention-why_scale-written 2 points given, where none were automatic",
        f"graded, 11 of {CHECKED} points not graded before",
        "attention.scale: wrong (divided_by_number_of_keys), 0 points -> passed, 1 point",
    ):
        assert part in text


def test_a_clean_grade_is_short_and_a_mistake_is_told_as_the_student_reads_it(course: Course) -> None:
    lines = printed(course, "ada").splitlines()
    assert len(lines) < 45
    assert "worked example A" not in "\n".join(lines)
    [(sha,)] = rows(course, "SELECT notebook FROM katze_submission WHERE student = 'ada'")
    assert f"SHA-256 {sha[:12]}…" in "\n".join(lines)
    mistaken = exercises.find("attention.scale").misconceptions
    made = "UPDATE katze_exercise SET misconception = {} WHERE exercise = 'attention.scale' AND outcome = 'passed'"
    change(course.gradebook, made.format(f"'{mistaken[0].id}'"))
    story_told = printed(course, "hana")
    change(course.gradebook, made.format("NULL"))
    assert mistaken[0].message in " ".join(story_told.split())
    assert mistaken[0].id in map(str.strip, story_told.splitlines())


def test_a_failure_is_told_in_full_and_once(course: Course) -> None:
    text = printed(course, "carl")
    assert text.count("Your answer raised ValueError: ") == 1
    assert text.count("FAIL") > 2


def test_what_was_set_aside_shows_no_points_as_standing(course: Course) -> None:
    change(course.gradebook, "UPDATE katze_submission SET void = 'set aside by --force' WHERE student = 'hana'")
    told, text = story_of(course, "hana", LESSON), printed(course, "hana")
    change(course.gradebook, "UPDATE katze_submission SET void = '' WHERE student = 'hana'")
    assert told["points"] is None
    assert text.splitlines()[0].split(None, 2)[2] == "set aside: to be graded again"
    assert "Exercises, as they were before" in text


def test_a_student_s_words_do_nothing_to_the_terminal(course: Course) -> None:
    text = printed(course, "carl")
    assert "[bold]not[/bold]" in text
    assert "\x1b" not in text


def test_who_is_not_there_is_told(course: Course, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="did you mean hana"):
        story_of(course, "hanna", LESSON)
    with pytest.raises(BadInput, match="did you mean hana"):
        story_of(course, "H", LESSON)
    with pytest.raises(BadInput, match="nothing of 02_masking has been graded yet"):
        story_of(course, "hana", "02_masking")
    with pytest.raises(BadInput, match="no lesson '03_foo' .*there are: .*01_attention, 02_masking"):
        story_of(course, "hana", "03_foo")
    with pytest.raises(BadInput, match="no gradebook .* yet; grade a lesson"):
        story_of(make_course(tmp_path), "hana", LESSON)


def test_the_command_prints_it_or_gives_json(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--course", str(course.root)]
    assert main(["log", "hana", LESSON, *where]) == 0
    assert f"19 of {MOST}" in capsys.readouterr().out
    assert main(["log", "hana", LESSON, "--all", *where]) == 0
    assert "worked example A" in capsys.readouterr().out
    assert main(["log", "hana", LESSON, "--json", *where]) == 0
    assert json.loads(capsys.readouterr().out)["student"] == "hana"
    assert main(["log", "nobody", LESSON, *where]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_it_tells_where_a_submission_came_from_and_which_others_do_not_count(course: Course) -> None:
    assert "collected" not in printed(course, "zoe")
    others = (OlderDelivery("zoe_1_2_\x1b[31mx.ipynb", "2026-11-19T10:00:00+00:00"), OlderDelivery("", kept=".katze/y"))
    zoe = Delivery("zoe", "canvas", "s.zip", ("zoe_1_3_x-1.ipynb",), id="zoe+1", others=others)
    write_collected(course, LESSON, {"zoe": zoe})
    told = printed(course, "zoe")
    assert "collected      zoe_1_3_x-1.ipynb, from canvas (s.zip)" in told
    assert "the folder zoe stands for zoe+1" in told
    assert "does not count: zoe_1_2_\ufffd[31mx.ipynb, 2026-11-19 10:00:00 UTC" in told
    assert "does not count: what was there before; kept in .katze/y" in told
    assert story_of(course, "zoe", LESSON)["collected"]["source"] == "s.zip"


@pytest.mark.usefixtures("processes")
def test_the_deadline_its_penalty_and_who_withdrew_are_in_the_story(tmp_path: Path) -> None:
    late = small_gradebook.make_course(tmp_path, small_gradebook.LINEAR_TERMS)
    small_gradebook.grade(late, {"ben": 18}, at=small_gradebook.LATE)
    shown = " ".join(printed(late, "ben").split())
    assert "This is not on the feedback page yet: run `katze grade 01_attention`." in shown
    small_gradebook.bring_up_to_date(late)
    (late.submitted / "ben").rename(late.submitted / "cem")  # where nothing is handed in, nobody could tell
    told = story_of(late, "ben", LESSON)
    assert (told["points"], told["late_penalty"], told["seconds_late"]) == (14, 4, 90000)
    assert (told["due"], told["is_withdrawn"]) == (small_gradebook.DUE, True)
    shown = " ".join(printed(late, "ben").split())
    assert "deadline Due Friday, 20 November 2026, 18:00 (UTC+01:00). Handed in Saturday" in shown
    assert "late penalty, 14 of 18 points 0 -> 4 points off; due 2026-11-20T18:00:00+01:00" in shown
    assert "withdrawn the submission is no longer there: it is not exported" in shown
    assert "not on the feedback page yet" not in shown
