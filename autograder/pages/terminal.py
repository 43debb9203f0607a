"""Prints tables in the terminal: a graded class, what a run would grade, and the list of exercises."""

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from shlex import quote
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from autograder.errors import BadInput
from autograder.gradebook.record import Change, ExerciseRecord, Record, Standing
from autograder.gradebook.results import ClassResult, Grading
from autograder.pages.deadlines import late_in_brief
from autograder.words import MOST_NAMES, count, score, some
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.observation import Outcome

ENOUGH_FOR_A_PACE = 20
"""Minimum number of submissions for a meaningful pace; with fewer, opening the first sandbox dominates."""

RULE = 120
"""Maximum length of the line below a heading: piped output has no width of its own."""

GAP, WIDEST = "   ", 40
"""The space between two columns, and the maximum width of a column."""

NOTHING_WRITTEN = "a dry run: nothing was written"

_COLOURS = {Outcome.PASSED: "green", Outcome.UNREADABLE: "magenta", Outcome.UNGRADED: "bold red"}


def print_class(graded: ClassResult, console: Console) -> None:
    """Print the submissions graded in this run, a row for each; the changes by regrading; and the time it took.

    Unchanged submissions are only counted: `katze log` reports on each.
    """
    now = [submission for submission in graded.submissions if submission.student in graded.gradings]
    if now:
        _print_table(graded.lesson, now, console)
    again = {student: one for student, one in graded.gradings.items() if not one.first}
    if again:
        _print_changes(again, console)
    for refusal in graded.refused:
        console.print(Text(f"not graded: {refusal.problem}", style="red"), soft_wrap=True)
    for notice in graded.notices:
        console.print(notice)
    unchanged = len(graded.submissions) - len(now)
    if unchanged:
        console.print(f"{graded.lesson}: {count(unchanged, 'submission')} unchanged, not graded again")
    _print_by_hand(graded, console)
    pace = f", {60 * len(now) / graded.seconds:.0f} submissions a minute" if len(now) >= ENOUGH_FOR_A_PACE else ""
    boxes = f"; {graded.boxes}" if now else ""
    console.print(f"{graded.seconds:.1f} s{pace}{boxes}")


def colour_of(outcome: Outcome) -> str:
    """Return an outcome's color on a terminal."""
    return _COLOURS.get(outcome, "yellow")


def _print_by_hand(graded: ClassResult, console: Console) -> None:
    """Print which pages were rewritten, and what waits for a person, with the next step."""
    for reason, students in (
        ("points by hand, comments or decisions have changed", graded.pages),
        ("deadlines or late penalties have changed", graded.due_pages),
        ("pages were missing, or had been changed", graded.replaced_pages),
    ):
        anew = [student for student in students if student not in graded.gradings]  # the others were just graded
        if anew:
            names = f" ({', '.join(anew)})" if len(anew) <= MOST_NAMES else ""
            console.print(f"{reason}: {count(len(anew), 'feedback page')} rewritten{names}")
    for student in graded.stale_pages:
        console.print(
            f"{student}: the feedback page could not be rewritten, because the notebook in autograded/ is not what "
            f"was written; run `katze grade {quote(graded.lesson)} --student {quote(student)} --force`"
        )
    changed = sum(len(submission.changed) for submission in graded.submissions)
    if changed:
        has, counts = ("has", "its points count") if changed == 1 else ("have", "their points count")
        console.print(
            f"{count(changed, 'answer')} {has} changed since a person gave points; {counts} until it is read again: in "
            "formgrader (`jupyter lab`), give others or click Resolve, then run "
            f"`katze grade {quote(graded.lesson)}` again"
        )
    waiting = sum(len(submission.waiting) for submission in graded.submissions)
    if waiting:
        verb, them = ("waits", "it") if waiting == 1 else ("wait", "them")
        console.print(
            f"{count(waiting, 'written answer')} {verb} for a person: grade {them} in formgrader (`jupyter lab`), then "
            f"run `katze grade {quote(graded.lesson)}` again to bring the points to the feedback pages"
        )


def _print_table(lesson: str, submissions: list[Record], console: Console) -> None:
    """Print points, outcomes, known mistakes and repairs; what does not fit goes below the student's row."""
    by_hand, late = [_by_hand(one) for one in submissions], [late_in_brief(one) for one in submissions]
    columns = [
        _column("student", [one.student for one in submissions]),
        _column("points", [_points(one) for one in submissions], right=True),
        *([_column("by hand", by_hand)] if any(by_hand) else []),
        *([_column("late", late)] if any(late) else []),
    ]
    heading, *rows = (GAP.join(row) for row in zip(*columns, strict=True))
    console.print(f"{lesson}: {count(len(submissions), 'submission')}\n")
    console.print(Text(f"{heading}{GAP}outcomes\n{'─' * min(console.width, RULE)}", "bold"))
    for row, submission in zip(rows, submissions, strict=True):
        outcomes = Text.from_markup(_outcomes(submission)).split("\n")
        beside = console.width - cell_len(row + GAP)
        if all(line.cell_len <= beside for line in outcomes):
            space = " " * cell_len(row)
            lines = [Text(space if number else row) + Text(GAP) + line for number, line in enumerate(outcomes)]
            console.print(Text("\n").join(lines))
        else:
            console.print(Text(row.rstrip()))
            console.print(Padding.indent(Text("\n").join(outcomes), 4))
    console.print()


def _column(heading: str, cells: list[str], right: bool = False) -> list[str]:
    """Pad a heading and its cells with spaces to equal width; very long cells stick out."""
    width = min(WIDEST, max(map(cell_len, [heading, *cells])))
    spaces = [" " * (width - cell_len(cell)) for cell in [heading, *cells]]
    return [space + cell if right else cell + space for space, cell in zip(spaces, [heading, *cells], strict=True)]


def _print_changes(again: Mapping[str, Grading], console: Console) -> None:
    """Print changes with their reasons, equal changes together; only count unchanged results."""
    changed = {student: one for student, one in again.items() if one.changes}
    console.print(
        f"graded again: {count(len(again), 'submission')}, {len(changed) or 'none'} of them with a different result",
        highlight=False,
    )
    reasons = Counter(reason for one in again.values() for reason in one.why)
    for reason, students in reasons.items():
        console.print(f"  {reason}: {count(students, 'submission')}", style="dim")
    alike: dict[tuple[tuple[str, ...], tuple[Change, ...]], list[str]] = {}
    for student, one in sorted(changed.items()):
        alike.setdefault((one.why, one.changes), []).append(student)
    for (why, changes), names in sorted(alike.items(), key=lambda group: -len(group[1])):
        who = ", ".join(names) if len(names) <= MOST_NAMES else count(len(names), "student")
        reason = "; ".join(why) if len(reasons) > 1 else ""
        console.print(Padding.indent(Text.assemble((who, "bold"), "  " * bool(reason), (reason, "dim")), 2))
        for change in changes:
            console.print(Padding.indent(Text(_changed(change)), 6))


def _changed(change: Change) -> str:
    """Return a change in one line, without repeating what stays the same: "ols.fit: passed, 1 -> 3 points"."""
    before, after = change.before, change.after
    if before and after and before.points is not None and replace(before, points=after.points) == after:
        return f"{change.exercise}: {_ending(after)}, {before.points:g} -> {_worth(after)}"
    return f"{change.exercise}: {standing_in_words(before)} -> {standing_in_words(after)}"


def standing_in_words(standing: Standing | None) -> str:
    """Return an exercise's standing in a few words: "wrong (keys_as_rows), 0 points"."""
    if standing is None:
        return "not in the lesson"
    return f"{_ending(standing)}, {_worth(standing)}"


def _worth(standing: Standing) -> str:
    return "no score" if standing.points is None else count(standing.points, "point")


def _ending(standing: Standing) -> str:
    return f"{standing.outcome} ({standing.misconception})" if standing.misconception else str(standing.outcome)


def _points(submission: Record) -> str:
    """Return all points except those that wait for a person, as nbgrader adds them up."""
    if submission.total is None:
        return "no score"
    return f"{submission.total:g} / {submission.max_total:g}"


def _by_hand(submission: Record) -> str:
    """Return the points that a person has given, and those that wait for one."""
    parts = []
    if any(cell.is_given for cell in submission.by_hand):
        given = sum(cell.given for cell in submission.by_hand)
        parts.append(f"{given:g} given")
    if submission.changed:
        parts.append(f"{len(submission.changed)} changed since")
    if submission.waiting:
        parts.append(f"{sum(cell.max_points for cell in submission.waiting):g} more wait")
    return ", ".join(parts)


def _outcomes(submission: Record) -> str:
    """Return the number of exercises with each outcome, the exercises that failed with known mistakes, and remarks."""
    by_outcome: dict[Outcome, list[ExerciseRecord]] = {}
    for result in submission.exercises:
        by_outcome.setdefault(result.outcome, []).append(result)
    parts = [
        f"[{colour_of(outcome)}]{len(results)} {outcome}[/]{escape(_which(results, submission))}"
        for outcome, results in sorted(by_outcome.items(), key=lambda item: item[0] is not Outcome.PASSED)
    ]
    remarks = [submission.problem] if submission.problem else []
    remarks += [f"{one.exercise.partition('.')[2]}: {one.note}" for one in submission.ungraded if one.note]
    if submission.repairs:
        remarks.append(count(len(submission.repairs), "repair"))
    looks = [one for one in submission.exercises if one.worth_a_look]
    if looks:
        where = f"katze report {quote(submission.lesson)} FILE.html"
        remarks.append(f"{count(len(looks), 'answer')} to look at: see `{where}`")
    remarks += submission.remarks
    return "\n".join(["; ".join(parts), *(f"[dim]{escape(remark)}[/]" for remark in remarks)])


def _which(results: list[ExerciseRecord], submission: Record) -> str:
    """Return the exercises that did not pass, with their known mistakes; empty if the count says it all."""
    if results[0].outcome is Outcome.PASSED:
        return ""
    if len(results) == len(submission.exercises) and not any(result.misconception for result in results):
        return ""
    names = [
        result.exercise.partition(".")[2] + (f" ({result.misconception})" if result.misconception else "")
        for result in results
    ]
    return f": {', '.join(names)}"


def print_preview(preview: Mapping[str, Any], console: Console) -> None:
    """Print which students a run would grade, a line for each reason; then the course's decisions, and the students
    whose points they change, equal changes together.

    Args:
        preview: from `preview_lesson`.
        console: the console to print to.
    """

    def say(indent: int, line: str) -> None:
        console.print(Padding.indent(line, indent))

    tasks = preview["to_grade"]
    waiting = f"{count(len(tasks), 'submission')} to grade, {preview['unchanged']} unchanged"
    say(0, preview["frozen"] or f"{preview['lesson']}: {waiting}")
    students: dict[str, list[str]] = {}
    for task in tasks:
        for reason in task["why"]:
            students.setdefault(reason, []).append(task["student"])
    for reason, names in sorted(students.items(), key=lambda one: -len(one[1])):
        say(2, f"{reason}: {some(names)}")
    for decided in preview["decided"]:
        say(0, f"to be counted anew, {decided}")
    alike: dict[str, list[str]] = {}
    for one in preview["counted_anew"]:
        alike.setdefault(f"{score(**one['before'])} -> {score(**one['after'])}", []).append(one["student"])
    for change, names in sorted(alike.items(), key=lambda one: -len(one[1])):
        say(2, f"{change}: {some(names)}")
    if preview["penalties"]:
        say(0, f"deadlines or late penalties have changed: {some(preview['penalties'])}")
    say(0, NOTHING_WRITTEN)


def exercise_records(catalogue: Catalogue, lesson: str | None) -> list[dict[str, Any]]:
    """Return a course's exercises as JSON records, all or those of a lesson.

    Raises:
        BadInput: there is no such lesson.
    """
    if lesson is not None and lesson not in catalogue.modules:
        raise BadInput(f"no exercises in lesson {lesson!r}; there are: {', '.join(catalogue.modules)}")
    found = catalogue.all() if lesson is None else catalogue.of_lesson(lesson)
    names = ("id", "lesson", "points", "minutes", "misconceptions", "statement")
    records = [{name: getattr(exercise, name) for name in names} for exercise in found]
    return [{**record, "misconceptions": len(record["misconceptions"])} for record in records]


def print_exercises(records: list[dict[str, Any]], console: Console) -> None:
    """Print each exercise under its lesson, with its points, minutes, known mistakes and statement."""
    for lesson, group in itertools.groupby(records, key=lambda record: str(record["lesson"])):
        console.print(lesson, style="bold")
        for record in group:
            units = {"points": "point", "minutes": "minute", "misconceptions": "known mistake"}
            facts = ", ".join(count(record[name], unit) for name, unit in units.items())
            console.print(Text.assemble((f"  {record['id']}", "cyan"), (f"  {facts}", "dim")))
            console.print(Padding.indent(Text(record["statement"]), 6))
