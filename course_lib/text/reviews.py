"""Three thousand sentences from real reviews, each with a label: praise or complaint.

Kotzias et al. (2015), "From Group to Individual Labels Using Deep Features": sentences from Amazon (telephones), IMDb
(films) and Yelp (restaurants), 500 positive and 500 negative ones from each, chosen to be clearly one or the other.
They are licensed under CC BY 4.0 and ship with the course, in `labelled_reviews/`, license included.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

SENTENCES: Final = Path(__file__).parent / "labelled_reviews" / "sentences.tsv"


@dataclass(frozen=True)
class ReviewSentence:
    """A sentence from a review.

    Attributes:
        text: the sentence as somebody typed it, with capitals, punctuation and typos.
        positive: whether it praises.
        site: its source: "amazon", "imdb" or "yelp".
    """

    text: str
    positive: bool
    site: str


def read_reviews() -> list[ReviewSentence]:
    """Return all distinct sentences, site by site; eighteen were published twice, and appear once."""
    kept: dict[str, ReviewSentence] = {}
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        site, label, text = line.split("\t")
        kept.setdefault(text, ReviewSentence(text, label == "1", site))
    return list(kept.values())
