"""The BERT that comes with the course: that it is there, fits its vocabulary, and has learned something."""

import random
import tomllib
from pathlib import Path

import pytest
import torch
import transformers
from torch.testing import assert_close

from course_lib.models import BERT
from course_lib.objectives.heads import MaskedLanguageModel, NextSentencePredictor
from course_lib.objectives.labelled_data import IGNORED, LabelledBatch, LabelledText, collate_labelled
from course_lib.objectives.pretraining import MaskedTokens, sentence_pairs
from course_lib.text.fast_subwords import BERT_SPECIAL, SubwordVocabulary
from course_lib.toys import small_bert
from course_lib.toys.small_world import SMALL_BERT, texts

ROOT = Path(__file__).parents[3]
NEW = 12_345
"""A seed whose texts the model has not read."""


@pytest.fixture(scope="module")
def vocabulary() -> SubwordVocabulary:
    return SubwordVocabulary.load_bert(SMALL_BERT / "vocab.txt")


@pytest.fixture(scope="module")
def batch(vocabulary: SubwordVocabulary) -> LabelledBatch:
    pairs = sentence_pairs(texts(400, NEW), random.Random(NEW))
    return collate_labelled([LabelledText((vocabulary.encode_pair(a, b),), torch.tensor(c)) for a, b, c in pairs])


def test_its_vocabulary_fits(vocabulary: SubwordVocabulary) -> None:
    assert len(vocabulary) == BERT.from_pretrained(SMALL_BERT).config.vocab_size
    assert vocabulary.tokens(range(5)) == list(BERT_SPECIAL)
    unknown = vocabulary.id("[UNK]")
    assert all(unknown not in vocabulary.encode(sentence) for text in texts(500, NEW) for sentence in text)
    assert unknown not in vocabulary.encode("Michael Jordan, coach Phil Jackson: 6 championships? Yes!")


def test_it_guesses_masked_words_far_above_chance(vocabulary: SubwordVocabulary, batch: LabelledBatch) -> None:
    special = tuple(map(vocabulary.id, BERT_SPECIAL))
    masked = MaskedTokens(len(vocabulary), vocabulary.id("[MASK]"), special)
    ids, labels = masked.corrupt(batch.ids, torch.Generator().manual_seed(0))
    model = MaskedLanguageModel.from_pretrained(SMALL_BERT)
    with torch.no_grad():
        guessed = model(ids, segments=batch.segments, mask=batch.mask).argmax(dim=-1)
    asked = labels != IGNORED
    right = (guessed == labels)[asked].float().mean().item()
    words = batch.ids[batch.mask & (batch.ids >= len(special))]
    assert right > 0.4
    assert right > 2 * (words == words.mode().values).float().mean().item(), "always saying the most frequent piece"


def test_it_knows_what_follows(batch: LabelledBatch) -> None:
    model = NextSentencePredictor.from_pretrained(SMALL_BERT)
    with torch.no_grad():
        said = model(batch.ids, segments=batch.segments, mask=batch.mask).argmax(dim=-1)
    assert (said == batch.labels).float().mean().item() > 0.85


def test_the_transformers_library_reads_it(batch: LabelledBatch) -> None:
    theirs = transformers.BertForPreTraining.from_pretrained(SMALL_BERT).eval()
    with torch.no_grad():
        expected = theirs(batch.ids[:8], batch.mask[:8].long(), batch.segments[:8])
        ours = MaskedLanguageModel.from_pretrained(SMALL_BERT)(
            batch.ids[:8], segments=batch.segments[:8], mask=batch.mask[:8]
        )
    assert_close(ours[batch.mask[:8]], expected.prediction_logits[batch.mask[:8]], rtol=0, atol=1e-4)


def test_it_is_small_and_part_of_the_package() -> None:
    assert sum(path.stat().st_size for path in SMALL_BERT.iterdir()) < 1_500_000
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    assert data["course_lib.toys"] == [f"{SMALL_BERT.name}/*"]


def test_its_vocabulary_is_learned_from_the_texts_as_they_are_now(vocabulary: SubwordVocabulary) -> None:
    """Who changes the small world makes the model anew."""
    learned = small_bert.learn_vocabulary(texts(40_000))
    assert learned.tokens(range(len(learned))) == vocabulary.tokens(range(len(vocabulary)))


def test_it_can_be_made_anew(tmp_path: Path) -> None:
    small_bert.make(tmp_path, steps=2, count=100)
    made = SubwordVocabulary.load_bert(tmp_path / "vocab.txt")
    assert BERT.from_pretrained(tmp_path).config.vocab_size == len(made)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in SMALL_BERT.iterdir()}
