"""Prints what `katze collect` has matched, what it could not, and why."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course.course import Course
from autograder.delivery.collect import Collection, Result, Row
from autograder.words import MOST_NAMES, count, printable

_COLOURS: dict[Result, str] = {"collected": "green", "replaced": "green", "older": "dim", "not collected": "bold red"}


def print_collection(collection: Collection, course: Course, console: Console) -> None:
    """A row for each submission that was not there before, then what was refused, and what comes next."""
    new = [row for row in collection.rows if row.result != "unchanged"]
    if new:
        console.print(_table(new), highlight=False)
        console.print()
    for name, why in list(collection.refused.items())[:MOST_NAMES]:
        _print(console, f"left out: {printable(name)}: {why}")
    if len(collection.refused) > MOST_NAMES:
        _print(console, f"left out: {count(len(collection.refused) - MOST_NAMES, 'more file')} (all with --json)")
    for remark in collection.remarks:
        _print(console, remark)
    results = Counter(row.result for row in collection.rows)
    counted = ", ".join(f"{number} {result}" for result, number in sorted(results.items()))
    _print(console, f"{printable(collection.source)}, from {collection.platform}: {counted or 'nothing to collect'}")
    lessons = sorted({row.lesson for row in collection.rows if row.lesson and row.result != "not collected"})
    if collection.dry_run:
        _print(console, "nothing was written: leave out --dry-run to collect")
    elif lessons:
        _print(console, "next: " + ", ".join(map(course.grading, lessons)))


def _table(rows: list[Row]) -> Table:
    several = len({row.lesson for row in rows}) > 1
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("student", "name", *(["lesson"] if several else []), "handed in", "result"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        lesson = [Text(row.lesson)] if several else []
        table.add_row(
            Text(printable(row.student or row.title)),
            Text(printable(row.name)),
            *lesson,
            Text(_when(row)),
            _result(row),
        )
    return table


def _when(row: Row) -> str:
    moment = row.handed_in[:19].replace("T", " ") + (" UTC" if row.handed_in else "")
    return f"{moment} late".strip() if row.late else moment


def _result(row: Row) -> Text:
    said = [*([f"the folder stands for {printable(row.id)}"] if row.id else []), *row.said]
    return Text.assemble((row.result, _COLOURS.get(row.result, "")), *(f"; {one}" if one else "" for one in said))


def _print(console: Console, line: str) -> None:
    console.print(Text(line), soft_wrap=True)
