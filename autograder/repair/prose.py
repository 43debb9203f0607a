"""Finds answers in words that are not in the cell that asks for them."""

from __future__ import annotations

import re
from collections.abc import Collection

from autograder.intake.submission import SubmittedCell

FEW_WORDS = 8
"""Fewer words in a line, away from the question, are a name, a date or a heading; a comment needs twice as many."""

_REMARK = 3
"""Fewer words in the code next to the question are no answer."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]++")
"""A word, or a character of a script that puts no spaces between its words."""

_IN_CODE = re.compile(
    r'"""(?:(?!""").)*+"""|#[^\n]*+(?:\n[ \t]*+#[^\n]*+)*+|"[^"\n]*+"'
    r"|'''(?:(?!''').)*+'''|'[^'\n]*+'",
    re.S,
)
_PICTURE = re.compile(r"!\[|<img\b|\.(?:png|jpe?g|gif|webp|heic)\b", re.I)
_NOT_PLAIN = re.compile(r"[^\w ,.;()'-]+")


def own_words(cell: SubmittedCell, lesson: Collection[str]) -> str:
    """What a cell says in a student's own words: its text, or the longest comment or string in its code.

    Args:
        cell: the cell.
        lesson: the lines of the lesson's cells, which are nobody's own.
    """
    own = "\n".join(line for line in cell.source.split("\n") if not _WORD.search(line) or line.strip() not in lesson)
    if cell.kind != "code":
        return own.strip()
    return max((match.group().strip("#\"' \t\n") for match in _IN_CODE.finditer(own)), key=count_words, default="")


def count_words(text: str) -> int:
    """How many words a text has."""
    return len(_WORD.findall(text))


def is_prose(cell: SubmittedCell, words: str) -> bool:
    """Whether these words of a cell are more than a remark, so that they may answer a question wherever they stand."""
    if cell.kind == "code":
        return count_words(words) >= 2 * FEW_WORDS
    return any(count_words(line) >= FEW_WORDS for line in words.split("\n"))


def may_answer(cell: SubmittedCell, words: str) -> bool:
    """Whether a cell next to a question may answer it, in these words or by a picture."""
    few = _REMARK if cell.kind == "code" else 1
    outputs = cell.outputs if isinstance(cell.outputs, list) else []
    shown = [data for one in outputs if isinstance(one, dict) and isinstance(data := one.get("data"), dict)]
    has_picture = any(kind.startswith("image/") for data in shown for kind in data)
    return count_words(words) >= few or _PICTURE.search(words) is not None or has_picture


def begins(words: str) -> str:
    """How a student's text begins, in characters that mean nothing in markdown."""
    plain = " ".join(_NOT_PLAIN.sub(" ", words[:400]).split())
    return plain if len(plain) <= 60 else f"{plain[:60].rpartition(' ')[0] or plain[:60]} …"
