"""A little Shakespeare that comes with the course: *A Midsummer Night's Dream* and the sonnets, 190 kB of plain ASCII.

It stands in where tiny Shakespeare cannot be fetched. The text is in the public domain; it is that of Project
Gutenberg's editions, without their headers.
"""

from __future__ import annotations

from pathlib import Path

from course_lib.text.downloads import DownloadError, tiny_shakespeare


def a_little_shakespeare() -> str:
    """The text that comes with the course."""
    return Path(__file__).with_suffix(".txt").read_text(encoding="ascii")


def shakespeare_at_hand(most: int) -> tuple[str, str]:
    """The beginning of tiny Shakespeare, fetched on first use, or else of what comes with the course.

    Args:
        most: how many characters.

    Returns:
        The text, and a sentence that says which it is and, where it was not fetched, why.
    """
    try:
        return tiny_shakespeare()[:most], "The text: tiny Shakespeare."
    except DownloadError as problem:
        which = "A Midsummer Night's Dream and the sonnets, which come with the course"
        return a_little_shakespeare()[:most], f"The text: {which}. ({problem})"
