"""Tables for the terminal: a graded class, and the list of exercises."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.errors import BadInput
from autograder.results import ClassResult, SubmissionResult
from course_lib import exercises
from course_lib.checking import Outcome

COLOURS = {Outcome.PASSED: "green", Outcome.UNREADABLE: "magenta", Outcome.UNGRADED: "bold red"}


def print_class(graded: ClassResult, console: Console | None = None) -> None:
    """A row for each student: points, outcomes by name, and the mistakes that have names."""
    console = console or Console()
    count = len(graded.submissions)
    title = f"{graded.lesson}: {count} submission{'s' if count != 1 else ''}"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("student", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("outcomes", no_wrap=True)
    table.add_column("mistakes that have a name, and remarks", overflow="fold")
    for submission in graded.submissions:
        table.add_row(
            escape(submission.student), _points(submission), _outcomes(submission), escape(_remarks(submission))
        )
    console.print(table)
    rate = 60 * len(graded.submissions) / graded.seconds if graded.seconds else 0.0
    console.print(f"{graded.seconds:.1f} s, {rate:.0f} submissions a minute; {graded.boxes}", highlight=False)


def _points(submission: SubmissionResult) -> str:
    if submission.points is None:
        return "no score"
    return f"{submission.points:g} / {submission.max_points}"


def _outcomes(submission: SubmissionResult) -> str:
    counts = Counter(result.outcome for result in submission.exercises)
    return "\n".join(
        f"[{COLOURS.get(outcome, 'yellow')}]{number} {outcome}[/]" for outcome, number in counts.most_common()
    )


def _remarks(submission: SubmissionResult) -> str:
    if submission.problem:
        return submission.problem
    names = [f"{r.exercise.partition('.')[2]}: {r.misconception}" for r in submission.exercises if r.misconception]
    if submission.repairs:
        names.append(f"{len(submission.repairs)} repair{'s' if len(submission.repairs) > 1 else ''}")
    return "\n".join(names)


def exercise_records(lesson: str | None) -> list[dict[str, Any]]:
    """The exercises as JSON records, all or those of one lesson.

    Raises:
        BadInput: there is no such lesson.
    """
    found = [exercise for exercise in exercises.all() if lesson in (None, exercise.lesson)]
    if not found:
        known = ", ".join(sorted({exercise.lesson for exercise in exercises.all()}))
        raise BadInput(f"no exercises in lesson {lesson!r}; there are: {known}")
    return [
        {
            "id": exercise.id,
            "lesson": exercise.lesson,
            "points": exercise.points,
            "minutes": exercise.minutes,
            "misconceptions": len(exercise.misconceptions),
            "statement": exercise.statement,
        }
        for exercise in found
    ]


def print_exercises(records: list[dict[str, Any]], console: Console | None = None) -> None:
    """A row for each exercise, and the sums."""
    table = Table()
    columns = ("id", "lesson", "points", "minutes", "misconceptions", "statement")
    for name in columns:
        numeric = name in ("points", "minutes", "misconceptions")
        table.add_column(name, justify="right" if numeric else "left", no_wrap=name in ("id", "lesson"))
    for record in records:
        table.add_row(*(escape(str(record[name])) for name in columns))
    (console or Console()).print(table)
