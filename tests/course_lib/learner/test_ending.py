"""The page with what a learner has built."""

import json
from pathlib import Path
from typing import Any

import pytest

from course_lib import exercises
from course_lib.learner.borrowed import borrowed
from course_lib.learner.ending import NO_FIGURES
from course_lib.learner.progress_file import progress_file
from course_lib.mine import ending, keep_figure

ATTENTION = exercises.of_lesson("01_attention")


def test_a_learner_who_has_done_nothing_gets_the_whole_page() -> None:
    page = str(ending())
    points = sum(one.points for one in exercises.all())
    assert f"\n0 of {len(exercises.all())} exercises passed, 0 of {points} points.\n" in page
    assert NO_FIGURES in page
    headings = ["What you have built", "Your own figures", "What to read next", "What to build next", "How to show it"]
    assert [line.lstrip("# ") for line in page.splitlines() if line.startswith("#")] == headings


def test_the_page_counts_what_is_passed_and_says_when(folder: Path) -> None:
    first, second = ATTENTION[:2]
    did = {"did": "check", "mistake": ""}
    events = [
        {"at": 1793016000, **did, "exercise": first.id, "points": first.points, "passed": True},
        {"at": 1795003200, **did, "exercise": second.id, "points": 0, "passed": False},
        {"at": 1793534400, "did": "recall", "exercise": "01_attention", "missed": [2], "questions": 5},
    ]
    (folder / "progress.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    page = str(ending())
    assert f"| 01 Attention | `{first.name}` | 1 of {len(ATTENTION)} | {first.points} of " in page
    assert "4 of 5 questions that look back right at first, from 26 October 2026 to 18 November 2026." in page


def test_the_newest_of_a_lesson_s_figures_counts() -> None:
    keep_figure("07_gpt", "bits for a byte", "2.4")
    keep_figure("07_gpt", "bits for a byte", "2.1")
    keep_figure("00_words_in_a_bag", "reviews judged rightly", "83%")
    lines = str(ending()).splitlines()
    start = lines.index("## Your own figures")
    assert lines[start + 2 : start + 5] == [
        "- 00 Words in a bag: reviews judged rightly: **83%**",
        "- 07 GPT: bits for a byte: **2.1**",
        "",
    ]
    assert NO_FIGURES not in lines
    assert progress_file().news() == []


def test_a_figure_of_a_borrowed_answer_is_not_kept(folder: Path) -> None:
    notebook: dict[str, Any] = {"keep_figure": keep_figure}
    exec("def picture():\n    keep_figure('00_words_in_a_bag', 'one', f'{cosine_similarities}')", notebook)
    with borrowed(notebook["picture"]):
        notebook["picture"]()
    assert not (folder / "progress.jsonl").exists()
    notebook["cosine_similarities"] = 1
    with borrowed(notebook["picture"]):
        notebook["picture"]()
    assert "- 00 Words in a bag: one: **1**" in str(ending())


def test_where_grades_are_given_nothing_is_kept_or_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    monkeypatch.setattr("course_lib.mine.find_spec", lambda _name: None)
    keep_figure("07_gpt", "bits for a byte", "2.4")
    assert ending() is None
    assert capsys.readouterr().out == "There is no page to show here.\n"
    assert not list(folder.iterdir())
