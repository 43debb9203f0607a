"""Solutions with their reasons, shown to whoever has tried, or asks twice.

They are pages in the folder `solved`, which `katze release` writes, and stand nowhere else in the package: a course
that turns solutions off (`c.Katze.solutions = False`) leaves the folder out.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.judging.recorded.reading import RecordedExercise
from course_lib.judging.render import TEXT_WIDTH
from course_lib.learner.panel import HelpPanel, Section
from course_lib.learner.progress_file import progress_file

if TYPE_CHECKING:
    from course_lib.judging.exercise import Exercise

SOLVED = Path(__file__).parent / "solved"
"""The folder with a page for each exercise."""

_CODE, _END = "```python\n", "```\n"


@dataclass(frozen=True)
class Solution:
    """How an exercise is solved.

    Attributes:
        reason: why it is done so, and what the usual mistake costs; paragraphs with an empty line between them.
        code: the whole answer.
    """

    reason: str
    code: str

    def page(self) -> str:
        """It as a page in Markdown."""
        reason = f"{self.reason}\n\n" if self.reason else ""
        return f"{reason}{_CODE}{self.code}\n{_END}"

    @classmethod
    def read(cls, page: str) -> Solution:
        """What a page says."""
        reason, _, code = page.partition(_CODE)
        return cls(reason.strip(), code.removesuffix(_END).rstrip())


def solution_of(exercise_id: str) -> Solution | None:
    """The solution of an exercise; None where the course shows none."""
    try:
        return Solution.read((SOLVED / f"{exercise_id}.md").read_text(encoding="utf-8"))
    except OSError:
        return None


def shown_solution(exercise: Exercise) -> HelpPanel | None:
    """The solution of an exercise, for whoever has had an answer checked, or asks for the second time.

    Returns:
        None where it is not shown; a printed sentence says why.
    """
    kept = progress_file()
    found, history = solution_of(exercise.id), kept.of(exercise.id)
    if found is None and isinstance(exercise, RecordedExercise):
        print("No solution is shown: this is the class edition of the course, which holds no solutions.")
        return None
    if found is None:
        why = f"has none for {exercise.id}" if any(SOLVED.glob("*.md")) else "has turned solutions off"
        print(f"No solution is shown: this course {why}.")
        return None
    if not history.attempted and not history.asked:
        kept.note_asked(exercise.id)
        left = {hint.depth for hint in exercise.hints} - set(history.hints)
        advice = f'take a hint with hint("{exercise.id}"), or ' if left else ""
        said = (
            f"You have not had an answer to {exercise.id} checked yet, and a solution teaches most after a try of "
            f"your own: write one, {advice}ask again and it is shown."
        )
        print(textwrap.fill(said, TEXT_WIDTH))
        return None
    kept.note_solution(exercise.id)
    again = "" if history.passed else f"Now close it, and write {exercise.name} yourself: it is yours once you can."
    paragraphs = tuple(" ".join(paragraph.split()) for paragraph in found.reason.split("\n\n") if paragraph)
    return HelpPanel(
        heading="Solution",
        detail=exercise.title,
        exercise_id=exercise.id,
        sections=(Section(paragraphs=paragraphs, code=found.code),),
        closing=tuple(filter(None, [again, *kept.news()])),
    )
