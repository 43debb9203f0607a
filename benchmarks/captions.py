"""How well a small translator learns the everyday captions: alone, after those by rule, or together with them.

    python -m benchmarks.captions {alone,after,together} [--pairs N] [--steps N] [--peak RATE] [--write FILE]

`alone` trains on the everyday captions in lesson 11's short form, `after` fine-tunes the translator that comes with the
course, as lesson 11 does, and `together` trains on those by rule, and on the everyday ones as often as makes up half of
the text.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import nn

from course_lib.decoding.translator import Translator
from course_lib.evaluation.metrics import Texts, bleu
from course_lib.models import Transformer
from course_lib.scenes.sample import VALIDATED, everyday_captions, everyday_scenes
from course_lib.scenes.small_translator import load_small_translator
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.shape_buckets import shared_vocabulary_data
from course_lib.text.texts import SentencePair
from course_lib.training.loop import TrainingConfig, Validation, train
from course_lib.training.recipes import EVERYDAY, SHORT_SCENES, TranslationRecipe
from course_lib.training.vocabulary_transfer import transfer_vocabulary


@dataclass(frozen=True)
class Way:
    """A recipe, and whether captions by rule, or a translator that knows them, are part of it."""

    recipe: TranslationRecipe
    by_rule: bool = False
    trained: bool = False


WAYS = {
    "alone": Way(SHORT_SCENES),
    "after": Way(EVERYDAY, trained=True),
    "together": Way(replace(SHORT_SCENES, pieces=2000, steps=800, peak=5e-3, dropout=0.15), by_rule=True),
}


def learn(way: Way, everyday: list[SentencePair], validation: list[SentencePair], seed: int) -> Translator:
    """Train, and print the loss on the validation part after each tenth of the steps."""
    recipe, rule = way.recipe, everyday_scenes().training[:6000] if way.by_rule else []
    torch.manual_seed(seed)
    known = everyday_scenes().training if way.trained else rule
    pieces = SubwordVocabulary.train_bpe(_texts([*known, *everyday * 5]), recipe.pieces, split_punctuation=True)
    if way.trained:
        translator = transfer_vocabulary(load_small_translator(), pieces)
        for part in translator.model.modules():
            if isinstance(part, nn.Dropout):
                part.p = recipe.dropout
    else:
        translator = Translator(Transformer(recipe.model(len(pieces))), pieces, pieces)
    times = max(1, round(_size(rule) / _size(everyday)))
    result = train(
        translator.model,
        shared_vocabulary_data([*rule, *everyday * times], pieces, recipe.max_tokens),
        recipe.loss,
        TrainingConfig(recipe.steps, recipe.rate(), weight_decay=recipe.weight_decay, seed=seed),
        "cpu",
        validation=Validation(
            shared_vocabulary_data(validation, pieces, recipe.max_tokens), max(1, recipe.steps // 10)
        ),
    )
    print("validation loss:", *(f"{loss:.2f}" for loss in result.validations.values()))
    translator.model.eval()
    return translator


def main() -> None:
    """Train one translator, and print what it makes of the captions held out and of those by hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--pairs", type=int, default=1100, help="everyday captions to learn from, 1,100 at most")
    parser.add_argument("--steps", type=int, help="of training; by default the way's")
    parser.add_argument("--peak", type=float, help="of the learning rate; by default the way's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="a JSON file for source, reference and translation")
    options = parser.parse_args()
    torch.set_num_threads(1)
    way = WAYS[options.way]
    steps, peak = options.steps or way.recipe.steps, options.peak or way.recipe.peak
    way = replace(way, recipe=replace(way.recipe, steps=steps, peak=peak))
    everyday, held_out = everyday_captions()
    training, validation = everyday[:-VALIDATED], everyday[-VALIDATED:]
    start = time.process_time()
    translator = learn(way, training[: options.pairs], validation, options.seed)
    print(f"{time.process_time() - start:.0f} processor seconds")
    for name, pairs in {"everyday": held_out, "by hand": everyday_scenes().by_hand}.items():
        said = translator.translate([pair.source for pair in pairs], beams=way.recipe.beams)
        found = bleu(Texts.paired(said, [pair.target for pair in pairs])).corpus
        right = sum(text == pair.target for text, pair in zip(said, pairs, strict=True))
        print(f"{name}: BLEU {found:.1f}, {right} of {len(pairs)} word for word")
        if options.write and name == "everyday":
            rows = [[pair.source, pair.target, text] for pair, text in zip(pairs, said, strict=True)]
            options.write.write_text(json.dumps(rows, ensure_ascii=False, indent=0), encoding="utf-8")


def _texts(pairs: Sequence[SentencePair]) -> list[str]:
    return [text for pair in pairs for text in (pair.source, pair.target)]


def _size(pairs: Sequence[SentencePair]) -> int:
    return sum(map(len, _texts(pairs)))


if __name__ == "__main__":
    main()
