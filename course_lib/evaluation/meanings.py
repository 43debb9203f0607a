"""Sentences with others that mean the same, and with others that only look similar, for fitting a learned metric."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).parent / "meanings" / "pairs.tsv"
"""One sentence and its four variants in each line; `README.md` beside the file says how they were made."""


@dataclass(frozen=True)
class Meaning:
    """A sentence and its variants.

    Attributes:
        sentence: words and full stops, in lower case, with spaces between them.
        same: two sentences that say the same thing in other words.
        other: two sentences that say something else in nearly the same words.
    """

    sentence: str
    same: tuple[str, str]
    other: tuple[str, str]


def read_meanings() -> list[Meaning]:
    """Return the 48 sentences that come with the course."""
    rows = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
    return [Meaning(sentence, (same, too), (other, another)) for sentence, same, too, other, another in rows]
