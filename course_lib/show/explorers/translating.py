"""Translations that grow word by word, with the cross-attention of any head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from course_lib.show.interactive import interactive
from course_lib.show.stills import still_table, weight_rows


@dataclass(frozen=True)
class TranslationAttention:
    """A sentence, its translation, and how the model got there.

    Attributes:
        source: the words that the model read.
        target: the words that it wrote, <e> included.
        likely: the most probable words before each of these, with their probabilities, best first.
        alpha: the cross-attention weights before each of these, of every layer and head.
    """

    source: Sequence[str]
    target: Sequence[str]
    likely: Sequence[Sequence[tuple[str, float]]]
    alpha: Float[Tensor, "layers heads target source"]


def translating(sentences: Sequence[TranslationAttention]) -> None:
    """Show translations that grow word by word; the reader types a source, or chooses its words one by one.

    Args:
        sentences: at least one, all by the same model. The first is shown first.

    Raises:
        ValueError: there is no sentence.
    """
    if not sentences:
        raise ValueError("translating needs at least one sentence that was translated")
    first = sentences[0]
    layers, heads, _target, _source = first.alpha.shape
    written = " ".join(first.target)
    interactive(
        "translating",
        {"sentences": [_data(sentence) for sentence in sentences], "layers": layers, "heads": heads},
        still=still_table(
            f"“{' '.join(first.source)}” → “{written}”, with the last layer's cross-attention, the mean of its heads:",
            first.source,
            weight_rows(first.target, first.alpha[-1].mean(dim=0)),
        ),
        alt=f"{' '.join(first.source)} is translated word by word: {written}; the attention over its words is shown.",
        text="\n".join(f"{' '.join(one.source)}  →  {' '.join(one.target)}" for one in sentences),
    )


def _data(sentence: TranslationAttention) -> dict[str, Any]:
    """Return the data for the script, with probabilities in thousandths, since whole numbers are short."""
    return {
        "source": list(sentence.source),
        "target": list(sentence.target),
        "likely": [[[word, round(1000 * p)] for word, p in words] for words in sentence.likely],
        "alpha": (1000 * sentence.alpha).round().int().tolist(),
    }
