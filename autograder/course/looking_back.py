"""Makes the opening of a released lesson: its questions about earlier lessons, and a cell that counts right answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import TYPE_CHECKING

from autograder.course.course import Course
from autograder.course.folding import DEMO
from course_lib.learner.recall import questions_of

if TYPE_CHECKING:
    from nbformat import NotebookNode

RECALL = "katze-recall"
"""Tag of both cells, and id of the questions. The counting cell is also a demo, so that sandboxes leave it out."""

COUNT = f"{RECALL}-count"
"""The id of the counting cell."""

_SOURCE = """\
# Your letters in order, such as "b d a - c": how many are right at first is counted in progress()
from course_lib.checking import recall

recall("{lesson}", "")"""

_CHOICE = re.compile(r"^<details><summary>(.*?)</summary>.*$", re.M)


def recall_cells(course: Course, lesson: str) -> Iterator[NotebookNode]:
    """Yield the two cells; yield nothing if the lesson has no questions.

    Raises:
        UnusableExercises: its questions cannot be used.
    """
    import nbformat  # Colab lacks it, and a check there only needs the function below

    asked = questions_of(course.exercises, lesson)
    if asked is not None:
        yield nbformat.v4.new_markdown_cell(asked.markdown(), id=RECALL, metadata={"tags": [RECALL]})
        count, tags = _SOURCE.format(lesson=lesson), [RECALL, DEMO]
        yield nbformat.v4.new_code_cell(count, id=COUNT, metadata={"tags": tags})


def without_reasons(source: str) -> str:
    """Return questions for places that cannot fold text: without the reasons of the choices, which `recall` prints."""
    return unescape(re.sub("</?em>", "*", re.sub("</?code>", "`", _CHOICE.sub(r"- \1", source))))
