"""Words for receipts, reports and refusals: numbers with their units, and what a student wrote, made safe to print."""

from __future__ import annotations

from collections.abc import Sequence

MOST_NAMES = 10
"""How many names a line gives; of more, only the number."""


def count(number: float, unit: str) -> str:
    """A number with its unit: "1 cell", "2 cells", "0.5 points"."""
    return f"{number:g} {unit}" if number == 1 else f"{number:g} {unit}s"


def score(points: float | None, max_points: float) -> str:
    """Points among those that can be had: "3 of 4 points"; "no score" where there are none."""
    return "no score" if points is None else f"{points:g} of {count(max_points, 'point')}"


def lasting(seconds: float) -> str:
    """A time span in its two largest units: "1 day 3 hours", "25 minutes", "40 seconds"."""
    left, parts = max(1, int(seconds)), list[str]()
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if left >= size and len(parts) < 2:
            parts.append(count(left // size, unit))
        elif parts:
            break
        left %= size
    return " ".join(parts)


def shown(name: str) -> str:
    """A student's word for something, on one line, short, and without characters that do not print."""
    printable = "".join(
        character if character.isprintable() and character not in "<>&" else "?" for character in name[:61]
    )
    return printable if len(printable) <= 60 else printable[:59] + "…"


def printable(text: str) -> str:
    """Text for a terminal: no escape sequences, and nothing else that does not print."""
    return "".join(character if character.isprintable() else "?" for character in text)


def some(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Names on one line, or the first of many: "ada, ben and 3 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
