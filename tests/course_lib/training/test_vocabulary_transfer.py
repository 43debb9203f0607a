"""A translator on another vocabulary: what it knew stays, and a new subword is the mean of those that spell it."""

from dataclasses import replace

import pytest
import torch

from course_lib.decoding.translator import Translator
from course_lib.models import Transformer
from course_lib.scenes.small_translator import load_small_translator
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.tokenization import SPECIAL
from course_lib.training.vocabulary_transfer import transfer_vocabulary

TEXTS = ["Die glückliche Katze tanzt.", "Die Köche tanzen auf dem Tisch.", "Das Glück der Katze ist xyz."]


@pytest.fixture(scope="module")
def old() -> Translator:
    return load_small_translator()


@pytest.mark.parametrize("size", [1, 40, 90])
def test_each_subword_begins_with_what_spells_it(old: Translator, size: int) -> None:
    words = SubwordVocabulary.train_bpe(TEXTS, size, split_punctuation=True)
    moved = transfer_vocabulary(old, words)
    before, after = old.model.target_embedding.weight, moved.model.target_embedding.weight
    assert isinstance(old.source, SubwordVocabulary)
    ids = old.source.tokenizer.get_vocab()
    assert after.shape == (len(words), before.shape[1])
    for vector, piece in zip(after, words.tokens(range(len(words))), strict=True):
        parts = [ids[piece]] if piece in ids else [one.id for one in old.source.tokenizer.model.tokenize(piece)]
        torch.testing.assert_close(vector, before[parts].mean(dim=0))
    assert words.tokens(range(len(SPECIAL))) == list(SPECIAL)
    assert moved.model.output.weight is moved.model.source_embedding.weight is after
    assert moved.translate(["Die Katze tanzt."])


def test_on_its_own_vocabulary_it_translates_as_before(old: Translator) -> None:
    assert isinstance(old.source, SubwordVocabulary)
    sentence = ["Two children are putting up a tent in the garden."]
    assert transfer_vocabulary(old, old.source).translate(sentence) == old.translate(sentence)


def test_one_embedding_for_all_is_needed(old: Translator) -> None:
    assert isinstance(old.source, SubwordVocabulary)
    apart = Transformer(replace(old.model.config, shared_embeddings=False))
    with pytest.raises(ValueError, match="one vocabulary and one embedding for both languages"):
        transfer_vocabulary(Translator(apart, old.source, old.source), old.source)
