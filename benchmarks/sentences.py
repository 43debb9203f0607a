"""Draws random sentences from lessons, hints and messages about mistakes, for somebody to read aloud.

    python -m benchmarks.sentences            # 100 sentences, numbered
    python -m benchmarks.sentences --seed 2

Mark each one that you would not say to a student.
"""

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

import jupytext

from course_lib import exercises

SOLUTIONS = Path(__file__).parents[1] / "solutions"
FEWEST_WORDS = 5
"""The shortest sentence; with fewer words, it is a heading, a label or a formula."""

_NOT_PROSE = re.compile(r"(?s:```.*?```)|(?s:\$\$.*?\$\$)|^[|#].*$|</?(?:details|summary)>|^`[\w.]+` · .*$", re.M)
_END = re.compile(r"(?<=[.!?])[*”\"')]*\s+(?=[A-Z*`“\"])|\n\s*\n|\n\s*[-*\d.]+ ")


def main() -> None:
    """Print the sentences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    known = sorted({sentence for text in texts() for sentence in sentences(text)})
    drawn = random.Random(options.seed).sample(known, options.number)
    print(f"{options.number} of {len(known)} sentences")
    for number, sentence in enumerate(drawn, start=1):
        print(f"{number}. {sentence}")


def texts() -> Iterator[str]:
    """Yield all texts that students read, except those of the website around them."""
    for path in sorted(SOLUTIONS.glob("*/*.py")):
        for cell in jupytext.read(path).cells:
            if cell.cell_type == "markdown":
                yield cell.source
    for exercise in exercises.all():
        yield from (hint.text for hint in exercise.hints)
        yield from (mistake.message for mistake in exercise.misconceptions)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a Markdown text, each on one line."""
    for found in _END.split(_NOT_PROSE.sub("", text)):
        sentence = " ".join(found.split())
        if len(sentence.split()) >= FEWEST_WORDS:
            yield sentence


if __name__ == "__main__":
    main()
