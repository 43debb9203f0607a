"""A page to keep at the end of the course: what a learner has built, their own results, and what comes next."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from course_lib.learner.progress_map import LessonProgress, progress_map

PAGE = "my_course.md"
"""The name of the page, beside the learner's transformer."""

NEXT = Path(__file__).with_name("ending.md")
"""What to read and build next, and how to show it."""

NO_FIGURES = "None yet: the last cells of a lesson keep some of what they measure with your answers."


@dataclass(frozen=True)
class Ending:
    """A learner's page. In a notebook it shows itself; `print` gives its Markdown.

    Attributes:
        lessons: the progress in each lesson.
    """

    lessons: tuple[LessonProgress, ...]

    def markdown(self) -> str:
        """Return the page."""
        return "\n".join(
            [
                *("# What you have built", "", self._counted(), ""),
                *("| lesson | you wrote | exercises | points |", "|---|---|---|---|", *self._rows(), ""),
                *("## Your own figures", "", *(self._figures() or [NO_FIGURES]), ""),
                NEXT.read_text(encoding="utf-8"),
            ]
        )

    def _counted(self) -> str:
        exercises = [lesson.of(one) for lesson in self.lessons for one in lesson.exercises]
        points = sum(lesson.points for lesson in self.lessons), sum(lesson.max_points for lesson in self.lessons)
        passed = sum(one.passed for one in exercises)
        line = f"{passed} of {len(exercises)} exercises passed, {points[0]:g} of {points[1]} points"
        asked = sum(lesson.recall.questions for lesson in self.lessons)
        if asked:
            recalled = sum(lesson.recall.recalled for lesson in self.lessons)
            line += f", {recalled} of {asked} questions that look back right at first"
        done = [history for history in self.lessons[0].histories.values() if history.last]  # includes all lessons
        if done:
            moments = min(history.first for history in done), max(history.last for history in done)
            first, last = (f"{day.day} {day:%B %Y}" for day in map(date.fromtimestamp, moments))
            line += f", on {first}" if first == last else f", from {first} to {last}"
        return f"{line}."

    def _rows(self) -> Iterator[str]:
        for lesson in self.lessons:
            written = ", ".join(f"`{one.name}`" for one in lesson.exercises if lesson.of(one).passed)
            done = f"{lesson.done} of {len(lesson.exercises)} | {lesson.points:g} of {lesson.max_points}"
            yield f"| {lesson.title} | {written} | {done} |"

    def _figures(self) -> list[str]:
        return [
            f"- {lesson.title}: {what}: **{value}**"
            for lesson in self.lessons
            for what, value in lesson.recall.figures.items()
        ]

    __repr__ = _repr_markdown_ = markdown


def ending_page() -> Ending:
    """Return the learner's page as it is now."""
    return Ending(progress_map().lessons)
