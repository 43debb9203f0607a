"""Lesson 11's data: Multi30k with a GPU, and the course's own captions without one."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from course_lib.ground.files import DRIVE, cache_folder
from course_lib.scenes.sample import everyday_captions, everyday_scenes
from course_lib.text.downloads import DownloadError, multi30k
from course_lib.text.texts import SentencePair
from course_lib.training.recipes import MULTI30K, SHORT_SCENES, TranslationRecipe

H200 = {
    "training": [4.55, 3.32, 2.84, 2.61, 2.47, 2.35, 2.25, 2.17, 2.11, 2.05],
    "validation": [3.83, 3.11, 2.84, 2.75, 2.69, 2.66, 2.65, 2.63, 2.61, 2.60],
}
"""Losses of `MULTI30K` after each tenth of its steps, on an NVIDIA H200 in 1 min 28 s, with smoothed labels. The
training loss is the mean over the 250 steps before, with dropout and R-Drop's distance; the validation loss is without.
"""


@dataclass(frozen=True)
class ParallelCorpus:
    """Sentence pairs in parts, with a recipe for a translator.

    Attributes:
        name: the name of the data.
        training: pairs to learn from.
        validation: pairs to measure the loss on during training.
        tests: pairs to test the translator on, by name; the first part is like the training part, and the last is the
            hardest.
        recipe: how to train.
        full: whether this is the full run, not its short form.
    """

    name: str
    training: Sequence[SentencePair]
    validation: Sequence[SentencePair]
    tests: Mapping[str, Sequence[SentencePair]]
    recipe: TranslationRecipe
    full: bool


def choose_corpus(device: torch.device | str) -> ParallelCorpus:
    """Return Multi30k for a GPU, if its files can be obtained, else the course's captions; print which it is.

    The files are fetched from pinned addresses and checked. If they cannot be fetched, they are looked for in the
    folder that `KATZE_DATA` names, or in `katze` on a mounted Drive.

    Args:
        device: where training will compute.
    """
    if torch.device(device).type == "cpu":
        print(f"There is no GPU: the short form, {SHORT_SCENES.steps} steps on captions that come with the course.")
        return _short_form()
    if "KATZE_DATA" not in os.environ and (DRIVE / "katze").is_dir():
        os.environ["KATZE_DATA"] = str(DRIVE / "katze")
    try:
        training, validation, test = multi30k("train"), multi30k("val"), multi30k("test_2016_flickr")
    except DownloadError as problem:
        print(f"The short form, {SHORT_SCENES.steps} steps on captions that come with the course,")
        print(f"because Multi30k is missing: {problem}.")
        return _short_form()
    print(f"Multi30k: {len(training):,} pairs to learn from.")
    return ParallelCorpus("multi30k", training, validation, {"test2016": test}, MULTI30K, full=True)


def kept_folder(corpus: ParallelCorpus) -> Path:
    """Return a folder for checkpoints that outlives the runtime: on Drive if it is mounted, else in the cache.

    The short form does not need one, and gets a new folder each time.
    """
    if not corpus.full:
        return Path(tempfile.mkdtemp(prefix="katze-"))
    return (DRIVE / "katze" if DRIVE.is_dir() else cache_folder()) / "runs" / corpus.name


def _short_form() -> ParallelCorpus:
    parts, (_, everyday) = everyday_scenes(), everyday_captions()
    tests = {"by rule": parts.test, "everyday": everyday, "by hand": parts.by_hand}
    return ParallelCorpus("scenes", parts.training, parts.validation, tests, SHORT_SCENES, full=False)
