"""Solutions with their reasons, shown after a try, or if asked twice.

They are pages in the folder `solved`, which `katze release` writes, and are nowhere else in the package: a course that
turns solutions off (`c.Katze.solutions = False`) leaves the folder out. A question to answer in words also has a page:
an answer, and what earns its points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.judging.recorded.reading import RecordedExercise
from course_lib.judging.render import say
from course_lib.learner.panel import HelpPanel, Section
from course_lib.learner.progress_file import progress_file

if TYPE_CHECKING:
    from course_lib.judging.exercise import Exercise

SOLVED = Path(__file__).parent / "solved"
"""The folder with a page for each exercise."""

_CODE, _END = "```python\n", "```\n"


@dataclass(frozen=True)
class Solution:
    """The solution of an exercise.

    Attributes:
        reason: why to do it this way, and what the usual mistake costs; paragraphs separated by empty lines.
        code: the whole answer.
    """

    reason: str
    code: str

    def page(self) -> str:
        """Return the solution as a page in Markdown."""
        reason = f"{self.reason}\n\n" if self.reason else ""
        return f"{reason}{_CODE}{self.code}\n{_END}"

    @classmethod
    def read(cls, page: str) -> Solution:
        """Read a page."""
        reason, _, code = page.partition(_CODE)
        return cls(reason.strip(), code.removesuffix(_END).rstrip())


def solution_of(exercise_id: str) -> Solution | None:
    """Return the solution of an exercise; None if the course shows none."""
    try:
        return Solution.read((SOLVED / f"{exercise_id}.md").read_text(encoding="utf-8"))
    except OSError:
        return None


def shown_solution(exercise: Exercise) -> HelpPanel | None:
    """Return the solution of an exercise after an answer was checked, or at the second request.

    Returns:
        The solution; None if it is not shown (a printed sentence says why).
    """
    kept = progress_file()
    found, history = solution_of(exercise.id), kept.of(exercise.id)
    if found is None:
        _say_why_none(exercise.id, isinstance(exercise, RecordedExercise))
        return None
    if not history.attempted and not history.asked:
        left = {hint.depth for hint in exercise.hints} - set(history.hints)
        advice = f'take a hint with hint("{exercise.id}"), ' if left else ""
        _decline(
            exercise.id,
            f"You have not checked an answer to {exercise.id} yet, and a solution teaches most after you have tried: "
            f"write one, {advice}or ask again and it is shown.",
        )
        return None
    kept.note_solution(exercise.id)
    again = "" if history.passed else f"Now close it, and write {exercise.name} yourself: it is yours once you can."
    return HelpPanel(
        heading="Solution",
        detail=exercise.title,
        exercise_id=exercise.id,
        sections=(Section(paragraphs=_paragraphs(found.reason), code=found.code),),
        closing=tuple(filter(None, [again, *kept.news()])),
    )


def model_answer(task: str) -> HelpPanel | None:
    """Return an answer in words with what earns its points, once a learner has written one and asks again.

    Args:
        task: the id of a question, such as "attention.why_scale".

    Returns:
        The solution; None if it is not shown (a printed sentence says why).
    """
    kept = progress_file()
    found, history = solution_of(task), kept.of(task)
    if found is None:
        _say_why_none(task, edition=False)
        return None
    if not history.asked:
        _decline(
            task, f"Have you written your own answer to {task}? Then run this again to compare it with a good one."
        )
        return None
    kept.note_solution(task)
    answer, _, scheme = found.reason.rpartition("*(")
    points = [" ".join(point.split()) for point in _POINT.split(scheme.removesuffix(")*")) if point.strip()]
    return HelpPanel(
        heading="One good answer",
        detail="in words",
        exercise_id=task,
        sections=(
            Section(paragraphs=_paragraphs(answer)),
            Section(
                title="A point for each of these", steps=tuple(f"{point[0].upper()}{point[1:]}" for point in points)
            ),
        ),
        closing=("Tick what your answer says, in whatever words, and add what it lacks.", *kept.news()),
    )


_POINT = re.compile(r"\bOne\s+point(?::|\s+for)\s+")


def _say_why_none(name: str, edition: bool) -> None:
    if edition:
        print("No solution is shown: this is the class edition of the course, which holds no solutions.")
    else:
        why = f"has none for {name}" if any(SOLVED.glob("*.md")) else "has turned solutions off"
        print(f"No solution is shown: this course {why}.")


def _decline(name: str, why: str) -> None:
    progress_file().note_asked(name)
    say(why)


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip())
