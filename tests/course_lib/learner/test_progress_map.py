"""The learner's map."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from course_lib import exercises
from course_lib.learner.current_catalogue import current_catalogue
from course_lib.learner.progress_file import ProgressFile
from course_lib.learner.progress_map import progress_map

ROOT = Path(__file__).parents[3]
ATTENTION = exercises.of_lesson("01_attention")


@pytest.fixture
def kept(tmp_path: Path) -> ProgressFile:
    return ProgressFile(tmp_path / "progress.jsonl")


def test_at_first_nothing_is_done_and_the_first_exercise_is_next(kept: ProgressFile) -> None:
    shown = progress_map(kept=kept)
    assert [lesson.lesson for lesson in shown.lessons] == list(exercises.LESSONS)
    assert {lesson.done for lesson in shown.lessons} == {0}
    assert shown.detailed.lesson == "000_primer"
    assert shown.detailed.next is exercises.of_lesson("000_primer")[0]


def test_what_is_passed_counts_and_the_next_one_is_named(kept: ProgressFile) -> None:
    first, second, third = ATTENTION[:3]
    kept.note_check(first.id, first.points, True)
    kept.note_check(second.id, 1, False, "some_mistake")
    lesson = progress_map(kept=kept).detailed
    assert (lesson.lesson, lesson.done, lesson.points, lesson.next) == ("01_attention", 1, first.points + 1, second)
    whole = sum(exercise.points for exercise in ATTENTION)
    assert lesson.sentence() == (
        f"01 Attention: 1 of {len(ATTENTION)} exercises, {first.points + 1} of {whole} points, 0 of 1 "
        f"written answers compared. Next: {second.title} ({second.id})."
    )
    text = str(progress_map(kept=kept))
    assert f"✓ {first.id}" in text
    assert f"◐ {second.id}: {second.title} (1 points so far)" not in text, "one point is one point"
    assert f"○ {third.id}" in text


def test_a_lesson_that_is_done_says_so_and_what_follows(kept: ProgressFile) -> None:
    for exercise in ATTENTION:
        kept.note_check(exercise.id, exercise.points, True)
    shown, count, points = progress_map(kept=kept), len(ATTENTION), sum(one.points for one in ATTENTION)
    assert shown.detailed.sentence() == (
        f"01 Attention has all its checks passed: {count} of {count} exercises, {points} of {points} points, "
        "0 of 1 written answers compared. "
        'Is attention.why_scale written? Then solution("attention.why_scale") shows an answer to compare it with.'
    )
    assert "○ attention.why_scale: in your own words" in shown.text()
    assert (
        "\n\n  Your transformer: 3 of 14 pieces. To see it: from course_lib.mine import mine; mine()\n\n"
        in shown.text()
    )
    assert '<p class="katze-closing">Your transformer: 3 of 14 pieces. To see it: ' in shown.html()
    kept.note_solution("attention.why_scale")
    shown = progress_map(kept=kept)
    assert shown.detailed.sentence() == (
        f"01 Attention is complete: {count} of {count} exercises, {points} of {points} points, "
        "1 of 1 written answers compared."
    )
    assert "✓ attention.why_scale: in your own words, compared" in shown.text()
    assert "Next: lesson 000 Primer." in shown.text()


def test_more_points_than_there_are_now_count_as_all(kept: ProgressFile) -> None:
    kept.note_check(ATTENTION[0].id, 100, True)
    assert progress_map(kept=kept).detailed.points == ATTENTION[0].points


def test_a_seen_solution_is_told(kept: ProgressFile) -> None:
    kept.note_solution(ATTENTION[0].id)
    kept.note_check(ATTENTION[0].id, 2, True)
    kept.note_solution(ATTENTION[1].id)
    kept.note_check(ATTENTION[2].id, 0, False)
    kept.note_solution(ATTENTION[2].id)
    kept.note_check(ATTENTION[3].id, 3, True)
    kept.note_solution(ATTENTION[3].id)
    lines = progress_map(kept=kept).text().splitlines()
    told = ["(after its solution was shown)", "(solution seen)", "(not right yet, solution seen)", "(solution seen)"]
    for exercise, state in zip(ATTENTION, told, strict=False):
        assert [line for line in lines if f" {exercise.id}:" in line and line.endswith(state)]


def test_a_screen_reader_reads_its_signs_as_words(kept: ProgressFile) -> None:
    kept.note_check(ATTENTION[0].id, 2, True)
    kept.note_check(ATTENTION[1].id, 0, False)
    [written] = current_catalogue().written_in("01_attention")
    signs = BeautifulSoup(progress_map("01_attention", kept).html(), "html.parser").select("li [role=img]")
    assert [(sign.text, sign["aria-label"]) for sign in (*signs[:3], signs[-1])] == [
        ("✓", "passed"),
        ("◐", "begun"),
        ("○", "open"),
        ("○", "open"),
    ]
    kept.note_solution(written)
    page = BeautifulSoup(progress_map("01_attention", kept).html(), "html.parser")
    assert page.select("li [role=img]")[-1]["aria-label"] == "passed"


def test_the_page_links_the_notebooks_that_are_there(kept: ProgressFile, monkeypatch: pytest.MonkeyPatch) -> None:
    here = kept.path.parent / "01_attention"
    for lesson in ("01_attention", "02_masking"):
        (kept.path.parent / lesson).mkdir()
        (kept.path.parent / lesson / f"{lesson}.ipynb").touch()
    monkeypatch.chdir(here)
    page = BeautifulSoup(progress_map("02_masking", kept).html(), "html.parser")
    links = [link["href"] for link in page("a")]
    assert links == ["01_attention.ipynb", "../02_masking/02_masking.ipynb"]
    assert all((here / link).resolve().is_file() for link in links)
    assert len(page("progress")) == len(exercises.LESSONS)


def test_lessons_are_called_what_their_headings_say() -> None:
    for lesson in exercises.LESSONS:
        source = (ROOT / "solutions" / lesson / f"{lesson}.py").read_text(encoding="utf-8")
        assert f"\n# # Lesson {lesson.partition('_')[0]} · {exercises.TITLES[lesson]}\n" in source
