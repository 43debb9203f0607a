"""Multi30k, English to German, from nothing to BLEU on test2016.

    python -m benchmarks.multi30k [--folder build/multi30k] [--compile] [--json FILE]

Meant for a GPU, where it takes minutes. `--steps` and `--pairs` make it short enough to try anywhere. Stopped, the same
command goes on from its last checkpoint. The files are fetched once (see `course_lib.text.downloads`); `torchrun` in
place of `python` shares the work among several GPUs.

The peer is 41.02, the best text-only figure that we know (Wu et al., 2021): BLEU of tokenised, lower-cased text.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.recipes import options, report_once
from benchmarks.table import Row
from benchmarks.utilisation import flops_per_token, utilisation
from course_lib.decoding.translator import Translator
from course_lib.evaluation.metrics import Texts, bleu
from course_lib.text.batches import collate, examples
from course_lib.text.downloads import multi30k
from course_lib.text.texts import SentencePair
from course_lib.training.progress import progress_bar
from course_lib.training.recipes import MULTI30K, TranslationRecipe, learn_to_translate

BEST_KNOWN = 41.02
LONGEST = 100
"""Words of a translation; the longest in the data has about half as many."""


@dataclasses.dataclass(frozen=True)
class Parts:
    """The data."""

    training: Sequence[SentencePair]
    validation: Sequence[SentencePair]
    test: Sequence[SentencePair]


def run(
    recipe: TranslationRecipe, parts: Parts, folder: Path, device: str, *, seed: int = 0, compiled: bool = False
) -> list[Row]:
    """Train, translate the test part, and judge it."""
    began = time.perf_counter()
    with progress_bar(recipe.steps, "Multi30k") as tell:
        learned = learn_to_translate(
            recipe, parts.training, parts.validation, folder, device, seed=seed, compiled=compiled, progress=tell
        )
    trained = time.perf_counter()
    said = learned.translator.translate([pair.source for pair in parts.test], beams=recipe.beams, max_length=LONGEST)
    translated = time.perf_counter()
    texts = Texts.paired(said, [pair.target for pair in parts.test])
    cased, lower = bleu(texts), bleu(texts, lowercase=True)
    (folder / "translations.txt").write_text("\n".join(said) + "\n", encoding="utf-8")
    result = learned.result
    speed = result.tokens / result.seconds
    rows = [
        Row.of("BLEU, tokenised, lower-cased", lower.corpus, BEST_KNOWN, "BLEU", more=True, goal=1.0),
        Row.of("BLEU, tokenised, cased", cased.corpus, None, "BLEU", more=True),
        Row.of("smallest validation loss", min(result.validations.values()), None, "nats", more=False),
        Row.of("training", (trained - began) / 60, None, "min", more=False),
        Row.of("words learned from", speed, None, "words/s", more=True),
        Row.of("translating the test part", translated - trained, None, "s", more=False),
    ]
    share = utilisation(_flops(learned.translator, recipe, parts.training), speed, device)
    if share is not None:
        rows.append(Row.of("model FLOP utilisation", 100 * share, None, "%", more=True))
    print(f"{lower.signature}\n{cased.signature}")
    return rows


def _flops(translator: Translator, recipe: TranslationRecipe, pairs: Sequence[SentencePair]) -> float:
    some = examples(pairs[:64], translator.source, translator.target)
    return flops_per_token(translator.model, recipe.loss, collate(some))


def main() -> None:
    arguments = options(__doc__, "build/multi30k", MULTI30K.steps, "pairs", "use only the first N of each part")
    training, validation, test = (multi30k(part)[: arguments.pairs] for part in ("train", "val", "test_2016_flickr"))
    recipe = dataclasses.replace(MULTI30K, steps=arguments.steps)
    rows = run(
        recipe,
        Parts(training, validation, test),
        arguments.folder,
        arguments.device,
        seed=arguments.seed,
        compiled=arguments.compile,
    )
    report_once("Multi30k, English to German, test2016", rows, arguments.json)


if __name__ == "__main__":
    main()
