"""Finds written answers outside the cell that asks for them."""

import re
from collections.abc import Collection

from autograder.intake.submission import SubmittedCell

FEW_WORDS = 8
"""Fewer words on a line, away from the question, are a name, a date or a heading; a comment needs twice as many."""

_REMARK = 3
"""Fewer words in code next to the question are not an answer."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]++")
"""A word, or a character of a script without spaces between words."""

_IN_CODE = re.compile(
    r'"""(?:(?!""").)*+"""|#[^\n]*+(?:\n[ \t]*+#[^\n]*+)*+|"[^"\n]*+"'
    r"|'''(?:(?!''').)*+'''|'[^'\n]*+'",
    re.S,
)
_PICTURE = re.compile(r"!\[|<img\b|\.(?:png|jpe?g|gif|webp|heic)\b", re.I)
_NOT_PLAIN = re.compile(r"[^\w ,.;()'-]+")


def own_words(cell: SubmittedCell, lesson: Collection[str]) -> str:
    """Return a student's own words in a cell: its text, or the longest comment or string in its code.

    Args:
        cell: the cell.
        lesson: the lines of the lesson's cells, which do not count.
    """
    own = "\n".join(line for line in cell.source.split("\n") if not _WORD.search(line) or line.strip() not in lesson)
    if cell.kind != "code":
        return own.strip()
    return max((match.group().strip("#\"' \t\n") for match in _IN_CODE.finditer(own)), key=count_words, default="")


def count_words(text: str) -> int:
    """Return the number of words in a text."""
    return len(_WORD.findall(text))


def is_prose(cell: SubmittedCell, words: str) -> bool:
    """Return whether a cell's words are more than a remark, so that they may answer a question from anywhere."""
    if cell.kind == "code":
        return count_words(words) >= 2 * FEW_WORDS
    return any(count_words(line) >= FEW_WORDS for line in words.split("\n"))


def may_answer(cell: SubmittedCell, words: str) -> bool:
    """Return whether a cell next to a question may answer it, with these words or with a picture."""
    few = _REMARK if cell.kind == "code" else 1
    outputs = cell.outputs if isinstance(cell.outputs, list) else []
    shown = [data for one in outputs if isinstance(one, dict) and isinstance(data := one.get("data"), dict)]
    has_picture = any(kind.startswith("image/") for data in shown for kind in data)
    return count_words(words) >= few or _PICTURE.search(words) is not None or has_picture


def begins(words: str) -> str:
    """Return the beginning of a student's text, without characters that mean something in markdown."""
    plain = " ".join(_NOT_PLAIN.sub(" ", words[:400]).split())
    return plain if len(plain) <= 60 else f"{plain[:60].rpartition(' ')[0] or plain[:60]} …"
