"""The demonstration: a transformer that learns to translate."""

from __future__ import annotations

import pytest
import torch

from course_lib.models import Transformer, TransformerConfig
from course_lib.texts import Pair
from course_lib.tokenization import WordVocabulary
from course_lib.translation import Translator, train_toy_translator


@pytest.fixture
def translator() -> Translator:
    english = WordVocabulary.from_sentences(["the cat danced"])
    german = WordVocabulary.from_sentences(["die Katze tanzte"])
    sizes = TransformerConfig(
        len(english), len(german), d_model=16, heads=2, d_hidden=32, encoder_layers=1, decoder_layers=1
    )
    return Translator(Transformer(sizes).eval(), english, german)


class TestTranslator:
    def test_a_batch_gives_what_single_sentences_give(self, translator: Translator) -> None:
        sentences = ["the cat danced", "cat", "danced the cat the cat", "a dog"]
        together = translator.translate(sentences)
        assert together == [translator.translate([sentence])[0] for sentence in sentences]
        assert together == translator.translate(sentences, batch_size=3)

    def test_beam_search_finds_what_is_at_least_as_probable(self, translator: Translator) -> None:
        sentences = ["the cat danced", "the cat"]
        assert translator.translate(sentences, beams=1) == translator.translate(sentences)
        searched = translator.translate(sentences, beams=3, max_length=6)
        assert len(searched) == 2
        assert all(len(said.split()) <= 6 for said in searched)

    def test_exact_matches_are_counted(self, translator: Translator) -> None:
        said = translator.translate(["the cat danced", "the cat"])
        pairs = [Pair("the cat danced", said[0]), Pair("the cat", said[1] + " nicht")]
        assert translator.exact_matches(pairs) == 1
        assert translator.exact_matches([]) == 0

    @pytest.mark.parametrize("size", [0, -1])
    def test_a_batch_of_none_is_refused(self, translator: Translator, size: int) -> None:
        with pytest.raises(ValueError, match=f"batch_size must be at least 1, not {size}"):
            translator.translate(["the cat"], batch_size=size)

    def test_an_empty_sentence_is_refused(self, translator: Translator) -> None:
        with pytest.raises(ValueError, match="nothing to translate"):
            translator.translate(["the cat", " "])


def test_a_short_training_reports_what_it_did() -> None:
    told: list[int] = []
    result = train_toy_translator(progress=lambda step, loss: told.append(step), steps=3)
    assert told == [1, 2, 3]
    assert result.training_pairs == 20_000
    assert result.held_out == 1000
    assert 0 <= result.matches < 500


def test_the_number_of_threads_comes_back() -> None:
    before = torch.get_num_threads()
    during: list[int] = []
    torch.set_num_threads(2)
    try:
        train_toy_translator(progress=lambda step, loss: during.append(torch.get_num_threads()), steps=1)
        assert during == [1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.slow
def test_it_learns_to_translate_what_it_has_never_seen() -> None:
    result = train_toy_translator(seed=3)
    assert result.matches >= 0.99 * result.held_out
    assert result.translator.translate(["the cat danced"]) == ["die Katze tanzte"]
