"""Prints the result of `katze grade --dry-run`: which students it would grade and why, and whose points would
change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding

from autograder.words import count, score, some

NOTHING_WRITTEN = "a dry run: nothing was written"


def print_preview(preview: Mapping[str, Any], console: Console) -> None:
    """Print a line for each reason, with the students; then the course's decisions, and the students whose points they
    change, equal changes together.

    Args:
        preview: the JSON data from `grading/preview.py`.
        console: the console to print to.
    """

    def say(indent: int, line: str) -> None:
        console.print(Padding.indent(line, indent))

    tasks = preview["to_grade"]
    say(
        0,
        preview["frozen"]
        or f"{preview['lesson']}: {count(len(tasks), 'submission')} to grade, {preview['unchanged']} unchanged",
    )
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
    say(0, NOTHING_WRITTEN)
