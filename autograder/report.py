"""Tables for the terminal: a graded class, and the list of exercises."""

from __future__ import annotations

import itertools
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.errors import BadInput
from autograder.results import ClassResult, ExerciseResult, SubmissionResult
from autograder.words import count
from course_lib import exercises
from course_lib.checking import Outcome

COLOURS = {Outcome.PASSED: "green", Outcome.UNREADABLE: "magenta", Outcome.UNGRADED: "bold red"}


def print_class(graded: ClassResult, console: Console | None = None) -> None:
    """A row for each student: points, outcomes by name, the mistakes that have names, and repairs."""
    console = console or Console()
    title = f"{graded.lesson}: {count(len(graded.submissions), 'submission')}"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("student", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("outcomes", overflow="fold")
    for submission in graded.submissions:
        table.add_row(escape(submission.student), _points(submission), _outcomes(submission))
    console.print(table)
    rate = 60 * len(graded.submissions) / graded.seconds if graded.seconds else 0.0
    console.print(f"{graded.seconds:.1f} s, {rate:.0f} submissions a minute; {graded.boxes}", highlight=False)


def _points(submission: SubmissionResult) -> str:
    if submission.points is None:
        return "no score"
    return f"{submission.points:g} / {submission.max_points}"


def _outcomes(submission: SubmissionResult) -> str:
    """How many exercises ended how; which ones did not pass, and the mistakes that have names; remarks below."""
    by_outcome: dict[Outcome, list[ExerciseResult]] = {}
    for result in submission.exercises:
        by_outcome.setdefault(result.outcome, []).append(result)
    parts = [
        f"[{COLOURS.get(outcome, 'yellow')}]{len(results)} {outcome}[/]{escape(_which(results, submission))}"
        for outcome, results in sorted(by_outcome.items(), key=lambda item: item[0] is not Outcome.PASSED)
    ]
    remarks = [submission.problem] if submission.problem else []
    if submission.repairs:
        remarks.append(count(len(submission.repairs), "repair"))
    return "\n".join(["; ".join(parts), *(f"[dim]{escape(remark)}[/]" for remark in remarks)])


def _which(results: list[ExerciseResult], submission: SubmissionResult) -> str:
    """The exercises that did not pass, with the names of their mistakes; empty where it goes without saying."""
    if results[0].outcome is Outcome.PASSED:
        return ""
    if len(results) == len(submission.exercises) and not any(result.misconception for result in results):
        return ""
    names = [
        result.exercise.partition(".")[2] + (f" ({result.misconception})" if result.misconception else "")
        for result in results
    ]
    return f": {', '.join(names)}"


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
    """Under its lesson each exercise, with its points, minutes and known mistakes, and what it asks for."""
    console = console or Console()
    for lesson, group in itertools.groupby(records, key=lambda record: str(record["lesson"])):
        console.print(f"[bold]{escape(lesson)}[/]", highlight=False)
        for record in group:
            points, minutes = count(record["points"], "point"), record["minutes"]
            facts = f"{points}, {minutes} minutes, {record['misconceptions']} known mistakes"
            console.print(f"  [cyan]{escape(record['id'])}[/]  [dim]{facts}[/]", highlight=False)
            console.print(Padding(Text(record["statement"]), (0, 0, 0, 6)))
