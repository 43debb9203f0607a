"""The translator that comes with the course: that it is there, fits the captions, and has learned them."""

import tomllib
from pathlib import Path

import pytest

from course_lib.decoding.translator import Translator
from course_lib.scenes.sample import SceneParts, everyday_scenes
from course_lib.scenes.small_translator import SMALL_TRANSLATOR, load_small_translator, make_translator
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.training.recipes import SCENES

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load_small_translator()


@pytest.fixture(scope="module")
def parts() -> SceneParts:
    return everyday_scenes()


def test_it_translates_what_is_like_its_training_and_hardly_anything_else(
    translator: Translator, parts: SceneParts
) -> None:
    assert translator.exact_matches(parts.test[:100]) > 90
    assert translator.exact_matches(parts.by_hand) < 10


def test_its_pieces_are_learned_from_the_captions_as_they_are_now(translator: Translator, parts: SceneParts) -> None:
    """Who changes the captions makes the model anew."""
    texts = [text for pair in parts.training for text in (pair.source, pair.target)]
    learned = SubwordVocabulary.train_bpe(texts, SCENES.pieces, split_punctuation=True)
    assert isinstance(translator.source, SubwordVocabulary)
    assert learned.tokenizer.get_vocab() == translator.source.tokenizer.get_vocab()


def test_it_is_small_and_part_of_the_package() -> None:
    assert sum(path.stat().st_size for path in SMALL_TRANSLATOR.iterdir()) < 2_000_000
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    assert f"{SMALL_TRANSLATOR.name}/*" in data["course_lib.scenes"]


def test_it_can_be_made_anew(tmp_path: Path) -> None:
    make_translator(tmp_path, steps=1)
    assert load_small_translator(tmp_path).translate(["A cat is sleeping."])
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in SMALL_TRANSLATOR.iterdir()}
