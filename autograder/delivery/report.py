"""Prints what `katze collect` has matched, what it could not match, and why."""

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course.course import Course
from autograder.delivery.collect import Collection, Result, Row
from autograder.words import MOST_NAMES, count, printable

_COLOURS: dict[Result, str] = {"collected": "green", "replaced": "green", "older": "dim", "not collected": "bold red"}


def print_collection(collection: Collection, course: Course, console: Console) -> None:
    """Print a row for each submission that was not there before, then refused files, remarks, and the next command."""
    new = [row for row in collection.rows if row.result != "unchanged"]
    if new:
        console.print(_table(new))
        console.print()
    refused = [f"left out: {printable(name)}: {why}" for name, why in collection.refused.items()]
    if len(refused) > MOST_NAMES:
        refused[MOST_NAMES:] = [f"left out: {count(len(refused) - MOST_NAMES, 'more file')} (all with --json)"]
    results = Counter(row.result for row in collection.rows)
    counted = ", ".join(f"{number} {result}" for result, number in sorted(results.items())) or "nothing to collect"
    lines = [*refused, *collection.remarks]
    lines.append(f"{printable(collection.source)}, from {collection.platform}: {counted}")
    lessons = sorted({row.lesson for row in collection.rows if row.lesson and row.result != "not collected"})
    if collection.dry_run:
        lines.append("nothing was written: leave out --dry-run to collect")
    elif lessons:
        lines.append("next: " + ", ".join(map(course.grading, lessons)))
    console.print("\n".join(lines), soft_wrap=True)


def _table(rows: list[Row]) -> Table:
    several = len({row.lesson for row in rows}) > 1
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("student", "name", *(["lesson"] if several else []), "handed in", "result"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        lesson = [row.lesson] if several else []
        table.add_row(printable(row.student or row.title), printable(row.name), *lesson, _when(row), _result(row))
    return table


def _when(row: Row) -> str:
    moment = row.handed_in[:19].replace("T", " ") + (" UTC" if row.handed_in else "")
    return f"{moment} late".strip() if row.late else moment


def _result(row: Row) -> Text:
    remarks = [*([f"the folder stands for {printable(row.id)}"] if row.id else []), *row.said]
    return Text.assemble((row.result, _COLOURS.get(row.result, "")), *(f"; {text}" if text else "" for text in remarks))
