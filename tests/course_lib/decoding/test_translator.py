"""A model with its vocabularies, as a translator."""

import pytest

from course_lib.decoding.translator import Translator
from course_lib.models import Transformer, TransformerConfig
from course_lib.text.texts import SentencePair
from course_lib.text.tokenization import WordVocabulary


@pytest.fixture
def translator() -> Translator:
    english = WordVocabulary.from_sentences(["the cat danced"])
    german = WordVocabulary.from_sentences(["die Katze tanzte"])
    sizes = TransformerConfig(
        len(english), len(german), d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=1
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
        searched = translator.translate(sentences, beams=3, max_new_tokens=6)
        assert len(searched) == 2
        assert all(len(said.split()) <= 6 for said in searched)

    def test_exact_matches_are_counted(self, translator: Translator) -> None:
        said = translator.translate(["the cat danced", "the cat"])
        pairs = [SentencePair("the cat danced", said[0]), SentencePair("the cat", said[1] + " nicht")]
        assert translator.exact_matches(pairs) == 1
        assert translator.exact_matches([]) == 0
