"""Runs whole trainings, from scratch to the figures that judge them.

- multi30k: English to German, judged by BLEU on test 2016. The goal is 41.02, the best figure from text alone that we
  know (Wu et al., 2021), tokenized and lower-cased. For the small model, which one core trains in an hour, it is 32.
- shakespeare: a language model of tiny Shakespeare's characters. The goal is nanoGPT's published figure, 1.4697 nats.
- fp16: the first steps of Multi30k as on an older card, such as Colab's T4: in fp16 with a scaled loss, and in 15 GB;
  compared with the precision that this card would choose. It does not show how long a T4 takes.
"""

import dataclasses
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.gpu.results import Point, Said, Tell
from benchmarks.gpu.running import Settings
from benchmarks.table import Row
from course_lib.evaluation.metrics import Texts, bleu
from course_lib.models import GPT, Transformer
from course_lib.text.batches import AnyBatch, Windows
from course_lib.text.downloads import multi30k as read_multi30k
from course_lib.text.downloads import tiny_shakespeare
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.shakespeare import a_little_shakespeare
from course_lib.text.shape_buckets import count_shapes, shared_vocabulary_data
from course_lib.text.texts import SentencePair
from course_lib.toys.grammar import toy_translation
from course_lib.training.loop import Loss, TrainingConfig, TrainingResult, Validation, train
from course_lib.training.precision import Precision
from course_lib.training.progress import TrainingStep
from course_lib.training.recipes import (
    MULTI30K,
    MULTI30K_SMALL,
    SHAKESPEARE,
    TextRecipe,
    TrainedWriter,
    Translated,
    TranslationRecipe,
    learn_to_translate,
    learn_to_write,
)

BEST_KNOWN = {MULTI30K: 41.02, MULTI30K_SMALL: 32.0}
"""The BLEU to reach."""

MINUTES = 3.0
STEPS_A_SECOND = 60.0
LONGEST = 100
"""The most tokens in a translation; the longest in the data has about half as many."""

FP16_STEPS = 400
FP16_GB = 15.0
"""The memory of a T4."""

NATS, NATS_SECONDS, NATS_UTILISATION = 1.4697, 40.0, 20.0

TINY_TRANSLATION = dataclasses.replace(
    MULTI30K, pieces=90, d_model=16, d_ff=32, layers=1, max_tokens=600, steps=20, save_every=5, averaged=2
)
TINY_TEXT = dataclasses.replace(
    SHAKESPEARE, length=16, d_model=24, heads=2, layers=1, batch_size=4, steps=20, validate_every=10
)


Pairs = Sequence[SentencePair]


class Watch:
    """Watches every step of a training, and reports the mean loss of each twentieth of the steps.

    Attributes:
        seconds: the time from the beginning to the end of each step.
    """

    def __init__(self, steps: int, curve: str, tell: Tell) -> None:
        self.seconds: dict[int, float] = {}
        self._every, self._curve, self._tell = max(1, steps // 20), curve, tell
        self._losses: list[float] = []

    def __call__(self, step: TrainingStep) -> None:
        self.seconds[step.number] = step.seconds
        self._losses.append(step.loss)
        if step.number % self._every == 0:
            self._tell(Point(self._curve, step.number, statistics.fmean(self._losses)))
            self._losses.clear()

    def speed(self) -> float | None:
        """Return the steps per second in the second half, validations included; None after too few steps."""
        if len(self.seconds) < 2:
            return None
        last = max(self.seconds)
        half = (min(self.seconds) + last) // 2
        return (last - half) / (self.seconds[last] - self.seconds[half])


# --- Multi30k --------------------------------------------------------------------------------------------------


def multi30k(settings: Settings, tell: Tell) -> None:
    """Train a translator, translate, and judge the translations."""
    recipe = TINY_TRANSLATION if settings.tiny else MULTI30K_SMALL if settings.small else MULTI30K
    recipe = dataclasses.replace(recipe, steps=settings.steps or recipe.steps)
    began = time.perf_counter()
    training, validation, test = _pairs(settings)
    watch = Watch(recipe.steps, "training loss", tell)
    folder = settings.unfinished / f"multi30k-{recipe.d_model}-wide-{recipe.steps}-steps-seed-{settings.seed}"
    learned = learn_to_translate(
        recipe, training, validation, folder, settings.device, seed=settings.seed, progress=watch
    )
    trained = time.perf_counter()
    before = len(learned.result.losses) - len(watch.seconds)
    said = _judge("test 2016", learned, recipe, test, BEST_KNOWN.get(recipe), tell)
    if before:
        tell(Said("resumed", f"after {before:,} steps: the minutes are those since then"))
    else:
        minutes = (time.perf_counter() - began) / 60
        tell(Row.of("from nothing to BLEU", minutes, MINUTES, "min", more=False, goal=1.0))
    (settings.out / "translations.txt").write_text("\n".join(said) + "\n", encoding="utf-8")
    for step, loss in learned.result.validations.items():
        tell(Point("validation loss", step, loss))
    tell(Row.of("training", (trained - began) / 60, None, "min", more=False))
    for row in _training_rows(learned, recipe, training, watch, settings.device):
        tell(row)
    _judge("the validation part", learned, recipe, validation, None, tell)


def _pairs(settings: Settings) -> tuple[Pairs, Pairs, Pairs]:
    """Return the pairs for training, for validation and for the test."""
    if settings.tiny:
        split = toy_translation(training=60, held_out=20)
        return split.training, split.held_out, split.held_out
    return read_multi30k("train"), read_multi30k("val"), read_multi30k("test_2016_flickr")


def _judge(
    name: str, learned: Translated, recipe: TranslationRecipe, pairs: Pairs, wanted: float | None, tell: Tell
) -> list[str]:
    """Translate, and report both BLEU scores with their signatures; return the translations."""
    sources = [pair.source for pair in pairs]
    said = learned.translator.translate(sources, beams=recipe.beams, max_new_tokens=LONGEST)
    texts = Texts.paired(said, [pair.target for pair in pairs])
    for how, score, peer in (("lower-cased", bleu(texts, lowercase=True), wanted), ("cased", bleu(texts), None)):
        goal = None if peer is None else 1.0
        tell(Row.of(f"BLEU of {name}, {how}", score.corpus, peer, "BLEU", more=True, goal=goal))
        tell(Said(f"signature, {how}", score.signature))
    return said


def _training_rows(
    learned: Translated, recipe: TranslationRecipe, training: Pairs, watch: Watch, device: str
) -> Iterator[Row]:
    result, words = learned.result, learned.translator.source
    assert isinstance(words, SubwordVocabulary)
    yield Row.of("smallest validation loss", min(result.validations.values()), None, "nats", more=False)
    data = shared_vocabulary_data(training, words, recipe.max_tokens)
    batches = [data.batch(indices) for indices in data.plan(torch.Generator().manual_seed(0))]
    counted = count_shapes(batches)
    yield Row.of("shapes of batches in a pass", counted.shapes, None, "", more=False)
    yield Row.of("padding", 100 * counted.padding, None, "%", more=False)
    steps, speed = watch.speed(), result.tokens / result.seconds
    if steps is None:
        return
    yield Row.of("training steps", steps, STEPS_A_SECOND, "1/s", more=True, goal=1.0)
    yield Row.of("tokens, padding left out", speed, None, "1/s", more=True)
    yield Row.of("tokens a step, padding left out", result.tokens / len(watch.seconds), None, "", more=True)
    share = utilisation(flops_per_token(learned.translator.model, recipe.loss, batches[0]), speed, device)
    if share is not None:
        yield Row.of("of the card's arithmetic", 100 * share, None, "%", more=True)


# --- The same in half precision, as on an older card ------------------------------------------------------------


def fp16(settings: Settings, tell: Tell) -> None:
    """Take the same steps twice, in fp16 and in the precision that is fastest on this device."""
    recipe = dataclasses.replace(
        TINY_TRANSLATION if settings.tiny else MULTI30K, steps=4 if settings.tiny else FP16_STEPS
    )
    training, validation, _test = _pairs(settings)
    texts = [text for pair in training for text in (pair.source, pair.target)]
    words = SubwordVocabulary.train_bpe(texts, recipe.pieces, split_punctuation=True)
    data, held_out = (shared_vocabulary_data(pairs, words, recipe.max_tokens) for pairs in (training, validation))
    on_a_gpu = settings.device == "cuda"
    if on_a_gpu:
        torch.cuda.set_per_process_memory_fraction(min(1.0, FP16_GB * 1e9 / torch.cuda.mem_get_info()[1]))

    def learned(precision: Precision) -> TrainingResult:
        torch.manual_seed(0)
        model = Transformer(recipe.model(len(words)))
        config = TrainingConfig(
            recipe.steps, recipe.rate(), weight_decay=recipe.weight_decay, precision=precision, graphs=True
        )
        validated = Validation(held_out, recipe.steps)
        return train(model, data, recipe.loss, config, settings.device, validation=validated)

    half = learned("fp16")
    memory = torch.cuda.max_memory_reserved() / 1e9 if on_a_gpu else None
    own = learned("auto")
    losses = [result.validations[recipe.steps] for result in (half, own)]
    speeds = [result.tokens / result.seconds for result in (half, own)]
    title = f"after {recipe.steps} steps, beside this device's own precision"
    tell(Row.of(f"validation loss {title}", losses[0], losses[1], "nats", more=False, goal=0.98))
    tell(Row.of(f"tokens a second {title}", speeds[0], speeds[1], "1/s", more=True))
    if memory is not None:
        tell(Row.of("the most memory", memory, FP16_GB, "GB", more=False, goal=1.0))


# --- Tiny Shakespeare ------------------------------------------------------------------------------------------


def shakespeare(settings: Settings, tell: Tell) -> None:
    """Train a language model, and measure the loss on the end of the text."""
    recipe = TINY_TEXT if settings.tiny else SHAKESPEARE
    text = a_little_shakespeare()[:2000] if settings.tiny else tiny_shakespeare()
    watch = Watch(recipe.steps, "training loss", tell)
    began = time.perf_counter()
    folder = settings.unfinished / f"shakespeare-seed-{settings.seed}"
    written = learn_to_write(recipe, text, folder, settings.device, seed=settings.seed, progress=watch)
    seconds = time.perf_counter() - began
    result = written.result
    tell(Row.of("smallest validation loss", min(result.validations.values()), NATS, "nats", more=False, goal=1.0))
    for step, loss in result.validations.items():
        tell(Point("validation loss", step, loss))
    (settings.out / "sample.txt").write_text(_sample(written, recipe.length), encoding="utf-8")
    if before := len(result.losses) - len(watch.seconds):
        tell(Said("resumed", f"after {before:,} steps: no time is told"))
        return
    reached = next((step for step, loss in result.validations.items() if loss <= NATS), None)
    if reached is not None:
        tell(Row.of(f"to {NATS} nats", watch.seconds[reached], NATS_SECONDS, "s", more=False, goal=1.0))
    tell(Row.of("training", seconds, None, "s", more=False))
    tell(Row.of("training steps", recipe.steps / result.seconds, None, "1/s", more=True))
    speed = result.tokens / result.seconds
    tell(Row.of("characters", speed, None, "1/s", more=True))
    share = utilisation(_flops(written, recipe, text), speed, settings.device)
    if share is not None:
        tell(Row.of("of the card's arithmetic", 100 * share, NATS_UTILISATION, "%", more=True, goal=1.0))


def _flops(written: TrainedWriter, recipe: TextRecipe, text: str) -> float:
    ids = torch.tensor(written.characters.encode(text[: 4 * recipe.length + 1]))
    return flops_per_token(written.model, recipe.loss, Windows(ids, recipe.length, 4).batch([0, recipe.length]))


def _sample(written: TrainedWriter, length: int) -> str:
    """Return a text by the model, beginning with its first known character."""
    device = written.model.output.weight.device
    prompt = torch.zeros(1, 1, dtype=torch.long, device=device)
    generator = torch.Generator(device).manual_seed(0)
    [ids] = written.model.generate(prompt, max_new_tokens=length - 1, temperature=0.8, generator=generator)
    return written.characters.decode(ids[1:].tolist())


# --- The share of the card's arithmetic ------------------------------------------------------------------------


PEAKS = {
    "B200": 2250e12,
    "H200": 989e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "L4": 121e12,
    "A10": 125e12,
    "RTX 4090": 165e12,
    "V100": 125e12,
    "T4": 65e12,
}
"""Peak dense operations per second in half precision, from the vendor's data sheets, by part of the device's name."""


def flops_per_token(model: GPT | Transformer, loss: Loss[Any, Any], batch: AnyBatch) -> float:
    """Return the floating-point operations per token of one forward and backward pass, as counted by torch.

    They are counted on a copy of the model with shapes but no values ("meta"), where torch can count every product.
    Padding is computed too: it counts as work, but not as tokens.
    """
    with torch.device("meta"):
        twin = GPT(model.config) if isinstance(model, GPT) else Transformer(model.config)
    with FlopCounterMode(display=False) as counter:
        loss(twin, batch.to("meta")).backward()
    return float(counter.get_total_flops()) / batch.tokens


def utilisation(flops: float, tokens_per_second: float, device: str) -> float | None:
    """Return the share of the device's peak, from 0 to 1; None if the peak is unknown."""
    name = torch.cuda.get_device_name(device) if device == "cuda" else ""
    return next((flops * tokens_per_second / peak for part, peak in PEAKS.items() if part in name), None)
