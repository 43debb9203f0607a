"""What every lesson has for its readers: a word on where help is, a glossary, and a page for the instructor."""

from __future__ import annotations

import re

import pytest
from nbformat import NotebookNode

from autograder.course.solved import is_reason
from course_lib import exercises
from tests.solutions.reading import ROOT


def test_a_lesson_says_where_help_is_and_holds_none_itself(lesson: str, prose: str) -> None:
    first = exercises.of_lesson(lesson)[0].id
    for call in (f'`hint("{first}")`', "`solution(", "`progress()`"):
        assert call in prose
    assert "<summary>Hint" not in prose


def test_each_answer_has_its_reason_in_a_few_sentences(notebook: NotebookNode) -> None:
    reasons = [cell.source for cell in notebook.cells if is_reason(cell)]
    answers = [cell for cell in notebook.cells if "### BEGIN SOLUTION" in cell.source and cell.cell_type == "code"]
    assert len(reasons) == len(answers)
    for reason in reasons:
        assert 40 <= len(reason.split()) <= 180, reason
        assert 2 <= len(re.findall(r"[.?!](?:\s|$)", reason)) <= 9, reason
        assert reason.endswith((".", "?", '".')), reason
        assert reason.count("`") % 2 == 0
        assert "$" not in reason, "a terminal shows it as well"


def test_a_lesson_ends_with_a_glossary(prose: str) -> None:
    headings = re.findall(r"^## (.*)$", prose, flags=re.M)
    assert any("Glossary" in heading for heading in headings[-2:])


@pytest.mark.parametrize("part", ["**Goals.**", "| part |", "Common misconceptions", "**Short of time?**"])
def test_an_instructors_page_has_its_parts(lesson: str, part: str) -> None:
    page = (ROOT / "solutions" / lesson / "README.md").read_text(encoding="utf-8")
    assert re.match(rf"# Lesson {lesson[:2]} · .*: for instructors\n", page)
    assert part in page


def test_there_are_enough_exercises_and_each_knows_its_mistakes() -> None:
    """At least forty-five to write, of which some only ask to predict, and three questions that a person reads."""
    assert len(exercises.all()) >= 45
    for exercise in exercises.all():
        assert len(exercise.misconceptions) >= 5, exercise.id
