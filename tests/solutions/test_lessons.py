"""What every lesson has for its readers: hints, a glossary, and a page for the instructor."""

from __future__ import annotations

import re

import pytest
from nbformat import NotebookNode

from course_lib import exercises
from tests.solutions.reading import ROOT


def tasks(notebook: NotebookNode) -> dict[str, str]:
    """Each exercise's task, hints included: from its line of points to the end of its cell."""
    found = {}
    for cell in notebook.cells:
        for part in cell.source.split("### Exercise ")[1:]:
            named = re.search(r"^`([\w.]+)` · \d+ points?", part, flags=re.M)
            assert named, part[:60]
            found[named[1]] = part
    return found


def test_each_exercise_has_one_to_three_hints_that_open_on_request(lesson: str, notebook: NotebookNode) -> None:
    found = tasks(notebook)
    for exercise in exercises.of_lesson(lesson):
        hints = re.findall(r"<details><summary>Hint", found[exercise.id])
        assert 1 <= len(hints) <= 3, f"{exercise.id} has {len(hints)} hints"
        assert found[exercise.id].count("<details>") == found[exercise.id].count("</details>") >= len(hints)


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
