"""Makes the small translator that comes with the course, which learned from the captions of `sample`.

    python -m course_lib.scenes.small_translator FOLDER

The recipe is `course_lib.training.recipes.SCENES`; on a processor it takes some twenty minutes. This command made the
files in `SMALL_TRANSLATOR`, with weights of 16 bits. On another machine the weights come out slightly different, since
sums are rounded in another order, but just as good.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import torch

from course_lib.decoding.translator import Translator
from course_lib.models import Transformer
from course_lib.scenes.sample import everyday_scenes
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.training.progress import progress_bar
from course_lib.training.recipes import SCENES, learn_to_translate

SMALL_TRANSLATOR = Path(__file__).parent / "small_translator_model"
"""The folder of the translator."""

_WORDS = "tokenizer.json"


def load_small_translator(folder: Path = SMALL_TRANSLATOR) -> Translator:
    """Load the translator that comes with the course, English to German, in evaluation mode.

    Args:
        folder: the folder that `make_translator` wrote.

    Raises:
        ValueError: the folder holds no such translator.
        ModuleNotFoundError: safetensors is not installed.
    """
    words = SubwordVocabulary.load(folder / _WORDS)
    return Translator(Transformer.from_pretrained(folder, dtype=torch.float32), words, words)


def make_translator(folder: Path, steps: int = SCENES.steps, seed: int = 0) -> None:
    """Train the translator, and save it with its subwords.

    Args:
        folder: where to save it; created if missing.
        steps: the number of training steps.
        seed: the seed of weights, order and dropout.
    """
    parts = everyday_scenes()
    recipe = replace(SCENES, steps=steps)
    with tempfile.TemporaryDirectory() as checkpoints, progress_bar(steps) as tell:
        learned = learn_to_translate(
            *(recipe, parts.training, parts.validation, Path(checkpoints), "cpu"), seed=seed, progress=tell
        )
    learned.translator.model.half().save_pretrained(folder)
    learned.translator.target.save(folder / _WORDS)  # type: ignore[attr-defined]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m course_lib.scenes.small_translator FOLDER")
    make_translator(Path(sys.argv[1]))
