"""`progress`: the learner's map, with what is done in each lesson and what comes next."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.ground.style_sheet import style_sheet
from course_lib.judging.render import mark_html
from course_lib.learner.current_catalogue import current_catalogue
from course_lib.learner.progress_file import History, ProgressFile, progress_file
from course_lib.learner.transformer_pieces import PIECES

if TYPE_CHECKING:
    from course_lib.judging.exercise import Exercise

_BAR = 10
"""The length of a lesson's bar in a terminal, in characters."""


@dataclass(frozen=True)
class LessonProgress:
    """A learner's progress in a lesson.

    Attributes:
        lesson: the lesson's folder.
        exercises: its exercises, in order.
        histories: the history of each exercise, by id.
        notebook: the path of its notebook from here; None if the learner's folder has none.
    """

    lesson: str
    exercises: tuple[Exercise, ...]
    histories: Mapping[str, History]
    notebook: str | None = None

    @property
    def title(self) -> str:
        """The lesson's title, with its number."""
        return title_of(self.lesson)

    @property
    def done(self) -> int:
        """The number of exercises passed."""
        return sum(self.of(exercise).passed for exercise in self.exercises)

    @property
    def points(self) -> float:
        """The sum of the best checks' points."""
        return sum(min(self.of(exercise).points, exercise.points) for exercise in self.exercises)

    @property
    def max_points(self) -> int:
        """The most points that the lesson gives."""
        return sum(exercise.points for exercise in self.exercises)

    @property
    def written(self) -> dict[str, bool]:
        """The questions to answer in words, and whether an answer to each was compared with the course's."""
        return {
            task: self.histories.get(task, History()).seen_solution
            for task in current_catalogue().written_in(self.lesson)
        }

    @property
    def open_tasks(self) -> list[str]:
        """The questions whose answers have not been compared yet."""
        return [task for task, compared in self.written.items() if not compared]

    @property
    def recall(self) -> History:
        """The history of its questions that look back."""
        return self.histories.get(self.lesson, History())

    @property
    def next(self) -> Exercise | None:
        """The first exercise that has not passed; None if all have."""
        return next((exercise for exercise in self.exercises if not self.of(exercise).passed), None)

    @property
    def last(self) -> float:
        """The time of the last event in the lesson."""
        return max([self.recall.last, *(self.of(exercise).last for exercise in self.exercises)])

    def of(self, exercise: Exercise) -> History:
        """Return the history of one of its exercises."""
        return self.histories.get(exercise.id, History())

    def sentence(self) -> str:
        """Return the progress in a line, as at the end of every verdict."""
        if self.next is None:
            done = "is complete" if all(self.written.values()) else "has all its checks passed"
            return " ".join([f"{self.title} {done}: {_counts(self)}.", *map(_compare, self.open_tasks)])
        return f"{self.title}: {_counts(self)}. Next: {self.next.title} ({self.next.id})."


@dataclass(frozen=True)
class ProgressMap:
    """A learner's progress in the course. In a notebook it shows itself; `print` gives plain text.

    Attributes:
        lessons: all lessons, in order.
        detailed: the lesson whose exercises are listed.
        problem: what is wrong with the progress file; empty if nothing is.
    """

    lessons: tuple[LessonProgress, ...]
    detailed: LessonProgress
    problem: str = ""

    def text(self) -> str:
        """Return the map for a terminal."""
        width = max(len(lesson.title) for lesson in self.lessons)
        lines = [f"  {lesson.title:{width}}  {_bar(lesson)}  {_counts(lesson)}" for lesson in self.lessons]
        lines += [*(f"\n  {sentence}" for sentence in self._transformer()), "", f"  {self.detailed.title}"]
        lines += [f"    {mark} {id_}: {title}{state}" for mark, id_, title, state in self._items("in your own words")]
        return "\n".join([*lines, *filter(None, ["", self._advice(), self.problem])])

    def html(self) -> str:
        """Return the map as self-contained HTML."""
        rows = "".join(
            f"<tr><td>{_link(lesson)}</td><td>{_counts(lesson)}</td>"
            f'<td><progress max="{len(lesson.exercises)}" value="{lesson.done}" '
            f'aria-label="{escape(lesson.title)}"></progress></td></tr>'
            for lesson in self.lessons
        )
        items = "".join(
            f"<li>{mark_html(mark, _MARKS[mark])} {escape(title)} <code>{escape(id_)}</code>{state}</li>"
            for mark, id_, title, state in self._items("In your own words")
        )
        sentences = "".join(
            f'<p class="katze-closing">{escape(sentence)}</p>'
            for sentence in (*self._transformer(), self._advice(), self.problem)
            if sentence
        )
        return (
            f'<div class="katze-verdict katze-open">{style_sheet("verdict")}'
            f'<p class="katze-head"><strong>Your progress</strong></p>'
            f'<table>{rows}</table><p class="katze-closing">{escape(self.detailed.title)}</p>'
            f"<ul>{items}</ul>{sentences}</div>"
        )

    def _items(self, written: str) -> Iterator[tuple[str, str, str, str]]:
        """Yield the mark, the id, the title and the state of each exercise, and of each question to answer in words."""
        for exercise in self.detailed.exercises:
            mark, state = _state(self.detailed.of(exercise))
            yield mark, exercise.id, exercise.title, f" ({state})" if state else ""
        for task, compared in self.detailed.written.items():
            yield "✓" if compared else "○", task, written, ", compared" if compared else ""

    def _transformer(self) -> list[str]:
        """Say how far the learner's transformer has grown; nothing if the course has none."""
        passed = [lesson.of(one).passed for lesson in self.lessons for one in lesson.exercises if one.id in PIECES]
        seen = "To see it: from course_lib.mine import mine; mine()"
        return [f"Your transformer: {sum(passed)} of {len(passed)} pieces. {seen}"] if passed else []

    def _advice(self) -> str:
        following = self.detailed.next
        if following is not None:
            return f"Next: {following.title}, in the section “{following.section}”."
        later = next((lesson for lesson in self.lessons if lesson.next is not None), None)
        after = f"Next: lesson {later.title}." if later is not None else "That was the whole course."
        return " ".join([*map(_compare, self.detailed.open_tasks), after])

    __repr__ = text
    _repr_html_ = html


def progress_map(lesson: str | None = None, kept: ProgressFile | None = None, page: Path | None = None) -> ProgressMap:
    """Return a learner's progress.

    Args:
        lesson: the lesson whose exercises to list; by default the one last worked in.
        kept: the file with the progress; by default the learner's.
        page: the folder from which to link notebooks; by default the working directory.

    Raises:
        LookupError: there is no such lesson.
    """
    catalogue = current_catalogue()
    if lesson is not None:
        catalogue.of_lesson(lesson)
    kept = kept or progress_file()
    histories = kept.read()
    lessons = tuple(lesson_progress(name, histories, kept.path.parent, page) for name in catalogue.modules)
    chosen = (
        max(lessons, key=lambda each: each.last)
        if lesson is None
        else next(each for each in lessons if each.lesson == lesson)
    )
    return ProgressMap(lessons, chosen, " ".join(filter(None, [kept.problem, kept.damage])))


def title_of(lesson: str) -> str:
    """Return a lesson's number, if it has one, and its name: "07 GPT"."""
    number, title = lesson.partition("_")[0], current_catalogue().title(lesson)
    return f"{number} {title}" if number.isdigit() else title


def lesson_progress(
    lesson: str, histories: Mapping[str, History], folder: Path, page: Path | None = None
) -> LessonProgress:
    """Return a learner's progress in one lesson.

    Args:
        lesson: the lesson's folder.
        histories: the histories from the progress file.
        folder: the learner's folder, which may contain the notebooks.
        page: as for `progress_map`.
    """
    notebook = folder / lesson / f"{lesson}.ipynb"
    link = Path(os.path.relpath(notebook, page)).as_posix() if notebook.is_file() else None
    return LessonProgress(lesson, tuple(current_catalogue().of_lesson(lesson)), histories, link)


def _counts(lesson: LessonProgress) -> str:
    written = lesson.written.values()
    more = f", {sum(written)} of {len(written)} written answers compared" if written else ""
    if lesson.recall.questions:
        more += f", {lesson.recall.recalled} of {lesson.recall.questions} looking back"
    return f"{lesson.done} of {len(lesson.exercises)} exercises, {lesson.points:g} of {lesson.max_points} points{more}"


def _compare(task: str) -> str:
    """Say how to finish a question that no check reads."""
    return f'Is {task} written? Then solution("{task}") shows an answer to compare it with.'


_MARKS = {"✓": "passed", "◐": "begun", "○": "open"}
"""The signs of the map, and their words for screen readers."""


def _bar(lesson: LessonProgress) -> str:
    filled = _BAR * lesson.done // len(lesson.exercises)
    return "█" * filled + "░" * (_BAR - filled)


def _state(history: History) -> tuple[str, str]:
    """Return a mark for an exercise, and further information in words."""
    seen = "solution seen" if history.seen_solution else ""
    if history.passed:
        return "✓", "after its solution was shown" if history.aided else seen
    if history.attempted:
        worth = f"{history.points:g} point{'s' if history.points != 1 else ''}"
        reached = f"{worth} so far" if history.points else "not right yet"
        return "◐", f"{reached}, {seen}" if seen else reached
    return "○", seen


def _link(lesson: LessonProgress) -> str:
    title = escape(lesson.title)
    return f'<a href="{escape(lesson.notebook)}">{title}</a>' if lesson.notebook is not None else title
