"""A trained encoder-decoder as a translator: sentences in, sentences out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from course_lib.ground.validation import check_at_least, check_texts
from course_lib.text.batches import pad
from course_lib.text.texts import SentencePair
from course_lib.text.tokenization import Vocabulary

if TYPE_CHECKING:
    from course_lib.models import Transformer


@dataclass(frozen=True)
class Translator:
    """A trained model with the vocabularies of its two languages."""

    model: Transformer
    source: Vocabulary
    target: Vocabulary

    def translate(
        self, sentences: Sequence[str], batch_size: int = 256, *, beams: int = 1, max_new_tokens: int = 50
    ) -> list[str]:
        """Return the translation of each sentence.

        Args:
            sentences: to translate.
            batch_size: how many to translate at once.
            beams: how many translations beam search follows at once; 1 is greedy decoding.
            max_new_tokens: the most tokens of a translation, <e> included.

        Raises:
            TypeError: `sentences` is one string instead of a list.
            ValueError: a sentence is empty, or `batch_size` or `beams` is below 1.
        """
        check_texts(sentences)
        check_at_least(1, batch_size=batch_size)
        device = self.model.output.weight.device
        translations: list[str] = []
        for start in range(0, len(sentences), batch_size):
            ids = [torch.tensor(self._ids(sentence)) for sentence in sentences[start : start + batch_size]]
            inputs = pad(ids).to(device)
            decoded = self.model.generate(
                inputs, max_new_tokens=max_new_tokens, num_beams=beams, length_penalty=0.6, length_formula="wu"
            )
            translations += [self.target.decode(row) for row in decoded.tolist()]
        return translations

    def exact_matches(self, pairs: Sequence[SentencePair]) -> int:
        """Count the sources that are translated word for word as in their pair."""
        translations = self.translate([pair.source for pair in pairs])
        return sum(ours == pair.target for ours, pair in zip(translations, pairs, strict=True))

    def _ids(self, sentence: str) -> list[int]:
        ids = self.source.encode(sentence)
        if not ids:
            raise ValueError("there is nothing to translate: a sentence without tokens")
        return ids
