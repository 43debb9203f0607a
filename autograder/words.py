"""Words for receipts, reports and refusals: numbers with units, and students' text made safe to print."""

from collections.abc import Sequence

MOST_NAMES = 10
"""The most names in a line; longer lists are cut or counted."""


def count(number: float, unit: str) -> str:
    """Return a number with its unit: "1 cell", "2 cells", "0.5 points"."""
    return f"{number:g} {unit}" if number == 1 else f"{number:g} {unit}s"


def score(points: float | None, max_points: float) -> str:
    """Return the score with its maximum: "3 of 4 points"; "no score" if there is none."""
    return "no score" if points is None else f"{points:g} of {count(max_points, 'point')}"


def lasting(seconds: float) -> str:
    """Return a time span in its two largest units: "1 day 3 hours", "25 minutes", "40 seconds"."""
    left, parts = max(1, int(seconds)), list[str]()
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if left >= size and len(parts) < 2:
            parts.append(count(left // size, unit))
        elif parts:
            break
        left %= size
    return " ".join(parts)


def shown(name: str) -> str:
    """Return a student's text on one line, short, and without characters that do not print."""
    printable = "".join(
        character if character.isprintable() and character not in "<>&" else "?" for character in name[:61]
    )
    return printable if len(printable) <= 60 else printable[:59] + "…"


def printable(text: str) -> str:
    """Return text for a terminal, without escape sequences and other characters that do not print."""
    return "".join(character if character.isprintable() else "?" for character in text)


def some(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Return names on one line, or the first of many: "ada, ben and 3 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
