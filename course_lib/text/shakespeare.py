"""A little Shakespeare that comes with the course: *A Midsummer Night's Dream* and the sonnets, 190 kB of plain ASCII.

It stands in when tiny Shakespeare cannot be fetched. The text is in the public domain; it comes from Project
Gutenberg's editions, without their headers.
"""

from pathlib import Path

from course_lib.text.downloads import DownloadError, tiny_shakespeare


def a_little_shakespeare() -> str:
    """Return the text that comes with the course."""
    return Path(__file__).with_suffix(".txt").read_text(encoding="ascii")


def shakespeare_at_hand(most: int) -> tuple[str, str]:
    """Return the beginning of tiny Shakespeare, fetched on first use, or else of the text that comes with the course.

    Args:
        most: the most characters to return.

    Returns:
        The text, and a sentence that says which it is and, if it was not fetched, why.
    """
    try:
        return tiny_shakespeare()[:most], "The text: tiny Shakespeare."
    except DownloadError as problem:
        which = "A Midsummer Night's Dream and the sonnets, which come with the course"
        return a_little_shakespeare()[:most], f"The text: {which}. ({problem})"
