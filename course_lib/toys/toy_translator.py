"""A transformer that learns to translate the toy grammar from scratch while you wait: its sizes, its training."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from course_lib.decoding.translator import Translator
from course_lib.models import Transformer, TransformerConfig
from course_lib.objectives.losses import translation_loss
from course_lib.text.batches import TranslationBatch, translation_data
from course_lib.text.tokenization import WordVocabulary
from course_lib.toys.grammar import toy_translation
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.schedules import linear_schedule

TOY_STEPS = 1300
"""Enough for more than 99% exact match; about half a minute on one processor core."""

TOY_TOKENS = 1000
"""The tokens in a batch: about sixty pairs."""


def toy_config(source_vocab_size: int, target_vocab_size: int) -> TransformerConfig:
    """Return the sizes of the small translator."""
    return TransformerConfig(
        source_vocab_size, target_vocab_size, d_model=64, heads=4, d_ff=256, encoder_layers=2, decoder_layers=2
    )


def toy_training(steps: int, seed: int = 0) -> TrainingConfig:
    """Return the training's settings, in single precision everywhere, so that every computer learns the same."""
    schedule = linear_schedule(peak=3e-3, warmup=min(100, steps), steps=steps)
    return TrainingConfig(steps, schedule, precision="fp32", seed=seed)


def toy_loss(model: Transformer, batch: TranslationBatch) -> Tensor:
    """Return the translation loss, with label smoothing of 0.1."""
    return translation_loss(model, batch, smoothing=0.1)


@dataclass(frozen=True)
class ToyTraining:
    """The result of `train_toy_translator`.

    Attributes:
        translator: the trained model, ready to translate.
        training_pairs: the number of different sentences it learned from.
        matches: the number of held-out sentences that it translates exactly.
        held_out: the number of held-out sentences; each has a clause of a structure that was never trained on.
        seconds: wall-clock time of the training alone.
    """

    translator: Translator
    training_pairs: int
    matches: int
    held_out: int
    seconds: float


def train_toy_translator(
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: Callable[[int, float], None] | None = None,
    *,
    steps: int = TOY_STEPS,
) -> ToyTraining:
    """Train a small transformer on the toy grammar, and test it on sentences unlike those it has seen.

    *the cat danced* is not among the training sentences, nor is any other sentence of that structure.

    Args:
        seed: the seed of sentences, weights, the order of batches and dropout.
        device: where to compute.
        progress: called after each step with its number, from 1 to `steps`, and its loss.
        steps: the number of batches to learn from.
    """
    data = toy_translation(seed=seed)
    source = WordVocabulary.from_sentences(pair.source for pair in data.training)
    target = WordVocabulary.from_sentences(pair.target for pair in data.training)
    torch.manual_seed(seed)
    model = Transformer(toy_config(len(source), len(target)))
    batches = translation_data(data.training, source, target, TOY_TOKENS)
    tell = None if progress is None else lambda step: progress(step.number, step.loss)
    with one_thread():
        start = time.perf_counter()
        train(model, batches, toy_loss, toy_training(steps, seed), device, progress=tell)
        seconds = time.perf_counter() - start
        translator = Translator(model.eval(), source, target)
        matches = translator.exact_matches(data.held_out)
    return ToyTraining(translator, len(data.training), matches, len(data.held_out), seconds)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one processor thread.

    Matrices this small gain almost nothing from a second thread, and if other programs keep the cores busy, the two
    wait for each other: we measured several times as long.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
