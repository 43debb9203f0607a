"""Tiny Shakespeare, character by character, from nothing to a validation loss.

    python -m benchmarks.shakespeare [--folder build/shakespeare] [--compile] [--json FILE]

Meant for a GPU, where it takes minutes. `--steps` and `--characters` make it short enough to try anywhere. Stopped, the
same command goes on from its last checkpoint. The text is fetched once (see `course_lib.text.downloads`); `torchrun` in
place of `python` shares the work among several GPUs.

The peer is nanoGPT's published figure, 1.4697 nats in about 3 minutes on an A100.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import torch

from benchmarks.recipes import options, report_once
from benchmarks.table import Row
from benchmarks.utilisation import flops_per_token, utilisation
from course_lib.decoding.sampling import sample
from course_lib.text.batches import Windows
from course_lib.text.downloads import tiny_shakespeare
from course_lib.training.progress import progress_bar
from course_lib.training.recipes import SHAKESPEARE, TextRecipe, TrainedWriter, learn_to_write

BEST_KNOWN = 1.4697
MINUTES = 3.0


def run(
    recipe: TextRecipe, text: str, folder: Path, device: str, *, seed: int = 0, compiled: bool = False
) -> list[Row]:
    """Train, and measure the loss on the text's end."""
    began = time.perf_counter()
    with progress_bar(recipe.steps, "Shakespeare") as tell:
        written = learn_to_write(recipe, text, folder, device, seed=seed, compiled=compiled, progress=tell)
    minutes = (time.perf_counter() - began) / 60
    result = written.result
    speed = result.tokens / result.seconds
    rows = [
        Row.of("validation loss", min(result.validations.values()), BEST_KNOWN, "nats", more=False, goal=1.0),
        Row.of("training", minutes, MINUTES, "min", more=False, goal=1.0),
        Row.of("characters learned from", speed, None, "1/s", more=True),
    ]
    share = utilisation(_flops(written, recipe, text), speed, device)
    if share is not None:
        rows.append(Row.of("model FLOP utilisation", 100 * share, None, "%", more=True))
    (folder / "sample.txt").write_text(_sample(written, recipe.length), encoding="utf-8")
    return rows


def _flops(written: TrainedWriter, recipe: TextRecipe, text: str) -> float:
    ids = torch.tensor(written.characters.encode(text[: 4 * recipe.length + 1]))
    return flops_per_token(written.model, recipe.loss, Windows(ids, recipe.length, 4).batch([0, recipe.length]))


def _sample(written: TrainedWriter, length: int) -> str:
    """A piece of the model's own, from its first known character on."""
    device = written.model.output.weight.device
    prompt = torch.zeros(1, 1, dtype=torch.long, device=device)
    generator = torch.Generator(device).manual_seed(0)
    ids = sample(written.model, prompt, length - 1, temperature=0.8, generator=generator)
    return written.characters.decode(ids[0].tolist())


def main() -> None:
    arguments = options(__doc__, "build/shakespeare", SHAKESPEARE.steps, "characters", "use only the first N")
    recipe = dataclasses.replace(SHAKESPEARE, steps=arguments.steps)
    text = tiny_shakespeare()[: arguments.characters]
    rows = run(recipe, text, arguments.folder, arguments.device, seed=arguments.seed, compiled=arguments.compile)
    report_once("Tiny Shakespeare, characters", rows, arguments.json)


if __name__ == "__main__":
    main()
