"""Whole trainings, from nothing to what they are judged by.

- multi30k: English to German, judged by BLEU on test 2016. The peer is 41.02, the best figure from text alone that we
  know (Wu et al., 2021): tokenised and lower-cased. For the small model, which one core trains in an hour, it is 32.
- shakespeare: a language model of tiny Shakespeare's characters. The peer is nanoGPT's published figure, 1.4697 nats.
- fp16: the first steps of Multi30k as an older card takes them, such as the T4 that Colab lends, beside the precision
  that this one would choose: in fp16 with a scaled loss, and in 15 GB. How long a T4 takes, it does not say.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from benchmarks.gpu.results import Point, Said, Tell
from benchmarks.gpu.running import Settings
from benchmarks.gpu.utilisation import flops_per_token, utilisation
from benchmarks.table import Row
from course_lib.decoding.sampling import sample
from course_lib.evaluation.metrics import Score, Texts, bleu
from course_lib.models import Transformer
from course_lib.text.batches import Windows
from course_lib.text.downloads import multi30k as read_multi30k
from course_lib.text.downloads import tiny_shakespeare
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.shakespeare import a_little_shakespeare
from course_lib.text.shape_buckets import count_shapes, shared_vocabulary_data
from course_lib.text.texts import SentencePair, read_parallel
from course_lib.toys.grammar import toy_translation
from course_lib.training.loop import TrainingConfig, TrainingResult, Validation, train
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
"""BLEU that is wanted."""

MINUTES = 3.0
STEPS_A_SECOND = 60.0
LONGEST = 100
"""Tokens of a translation; the longest in the data has about half as many."""

FP16_STEPS = 400
FP16_GB = 15.0
"""Of a T4's memory."""

NATS, NATS_SECONDS, NATS_UTILISATION = 1.4697, 40.0, 20.0

TINY_TRANSLATION = dataclasses.replace(
    MULTI30K, pieces=90, d_model=16, d_ff=32, layers=1, max_tokens=600, steps=20, save_every=5, averaged=2
)
TINY_TEXT = dataclasses.replace(
    SHAKESPEARE, length=16, d_model=24, heads=2, layers=1, batch_size=4, steps=20, validate_every=10
)


class Watch:
    """Sees every step of a training, and tells the mean loss of every twentieth of them.

    Attributes:
        seconds: from the beginning until each step was taken.
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
        """Steps a second in the second half, validations included; None where too few were seen."""
        if len(self.seconds) < 2:
            return None
        last = max(self.seconds)
        half = (min(self.seconds) + last) // 2
        return (last - half) / (self.seconds[last] - self.seconds[half])


# --- Multi30k --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The data; the tests by name."""

    training: Sequence[SentencePair]
    validation: Sequence[SentencePair]
    tests: Mapping[str, Sequence[SentencePair]]


def multi30k(settings: Settings, tell: Tell) -> None:
    """Train with each seed, translate, judge."""
    recipe = TINY_TRANSLATION if settings.tiny else MULTI30K_SMALL if settings.small else MULTI30K
    recipe = dataclasses.replace(recipe, steps=settings.steps or recipe.steps)
    scores = [_translator(seed, recipe, settings, tell) for seed in range(settings.seeds)]
    if len(scores) > 1:
        title = f"BLEU of test 2016, lower-cased, mean of {len(scores)} seeds"
        tell(Row.of(title, statistics.fmean(scores), BEST_KNOWN.get(recipe), "BLEU", more=True, goal=1.0))
        tell(Row.of("its deviation from seed to seed", statistics.stdev(scores), None, "BLEU", more=False))


def _translator(seed: int, recipe: TranslationRecipe, settings: Settings, tell: Tell) -> float:
    """One training; the BLEU of test 2016, lower-cased."""
    name = "" if settings.seeds == 1 else f", seed {seed}"
    began = time.perf_counter()
    parts = _pairs(settings)
    watch = Watch(recipe.steps, f"training loss{name}", tell)
    folder = settings.unfinished / f"multi30k-{recipe.d_model}-wide-{recipe.steps}-steps-seed-{seed}"
    learned = learn_to_translate(
        recipe, parts.training, parts.validation, folder, settings.device, seed=seed, progress=watch
    )
    trained = time.perf_counter()
    before = len(learned.result.losses) - len(watch.seconds)
    scores: list[float] = []
    for test, pairs in parts.tests.items():
        said = _translations(learned, recipe, pairs)
        wanted = None if scores else BEST_KNOWN.get(recipe)
        scores.append(_judged(f"{test}{name}", said, pairs, wanted, tell))
        if len(scores) == 1:  # test 2016
            minutes = (time.perf_counter() - began) / 60
            if not before:
                tell(Row.of(f"from nothing to BLEU{name}", minutes, MINUTES, "min", more=False, goal=1.0))
            if not seed:
                (settings.out / "translations.txt").write_text("\n".join(said) + "\n", encoding="utf-8")
    for step, loss in learned.result.validations.items():
        tell(Point(f"validation loss{name}", step, loss))
    for row in _training_rows(name, learned, recipe, parts, watch, settings.device, (trained - began) / 60):
        tell(row)
    if before:
        tell(Said(f"resumed{name}", f"after {before:,} steps: the minutes are those since then"))
    validated = _translations(learned, recipe, parts.validation)
    _judged(f"the validation part{name}", validated, parts.validation, None, tell)
    return scores[0]


def _pairs(settings: Settings) -> Parts:
    more = {english.name: read_parallel(english, german) for english, german in settings.tests}
    if settings.tiny:
        split = toy_translation(training=60, held_out=20)
        return Parts(split.training, split.held_out, {"test 2016": split.held_out, **more})
    tests = {"test 2016": read_multi30k("test_2016_flickr"), **more}
    return Parts(read_multi30k("train"), read_multi30k("val"), tests)


def _translations(learned: Translated, recipe: TranslationRecipe, pairs: Sequence[SentencePair]) -> list[str]:
    sources = [pair.source for pair in pairs]
    return learned.translator.translate(sources, beams=recipe.beams, max_new_tokens=LONGEST)


def _judged(name: str, said: Sequence[str], pairs: Sequence[SentencePair], wanted: float | None, tell: Tell) -> float:
    """Tell both BLEUs with their signatures; the lower-cased one is given back."""
    texts = Texts.paired(said, [pair.target for pair in pairs])
    lower: Score = bleu(texts, lowercase=True)
    for how, score, peer in (("lower-cased", lower, wanted), ("cased", bleu(texts), None)):
        goal = None if peer is None else 1.0
        tell(Row.of(f"BLEU of {name}, {how}", score.corpus, peer, "BLEU", more=True, goal=goal))
        tell(Said(f"signature, {how}", score.signature))
    return lower.corpus


def _training_rows(
    name: str,
    learned: Translated,
    recipe: TranslationRecipe,
    parts: Parts,
    watch: Watch,
    device: str,
    minutes: float,
) -> Iterator[Row]:
    result, words = learned.result, learned.translator.source
    assert isinstance(words, SubwordVocabulary)
    yield Row.of(f"smallest validation loss{name}", min(result.validations.values()), None, "nats", more=False)
    data = shared_vocabulary_data(parts.training, words, recipe.max_tokens)
    batches = [data.batch(indices) for indices in data.plan(torch.Generator().manual_seed(0))]
    counted = count_shapes(batches)
    yield Row.of(f"shapes of batches in a pass{name}", counted.shapes, None, "", more=False)
    yield Row.of(f"padding{name}", 100 * counted.padding, None, "%", more=False)
    yield Row.of(f"training{name}", minutes, None, "min", more=False)
    steps, speed = watch.speed(), result.tokens / result.seconds
    if steps is None:
        return
    yield Row.of(f"training steps{name}", steps, STEPS_A_SECOND, "1/s", more=True, goal=1.0)
    yield Row.of(f"tokens, padding left out{name}", speed, None, "1/s", more=True)
    yield Row.of(f"tokens a step, padding left out{name}", result.tokens / len(watch.seconds), None, "", more=True)
    share = utilisation(flops_per_token(learned.translator.model, recipe.loss, batches[0]), speed, device)
    if share is not None:
        yield Row.of(f"of the card's arithmetic{name}", 100 * share, None, "%", more=True)


# --- The same in half precision, as on an older card ------------------------------------------------------------


def fp16(settings: Settings, tell: Tell) -> None:
    """The same steps twice, in fp16 and in what this device multiplies fastest."""
    recipe = dataclasses.replace(
        TINY_TRANSLATION if settings.tiny else MULTI30K, steps=4 if settings.tiny else FP16_STEPS
    )
    parts = _pairs(settings)
    texts = [text for pair in parts.training for text in (pair.source, pair.target)]
    words = SubwordVocabulary.train_bpe(texts, recipe.pieces, split_punctuation=True)
    data, held_out = (
        shared_vocabulary_data(pairs, words, recipe.max_tokens) for pairs in (parts.training, parts.validation)
    )
    on_a_gpu = settings.device == "cuda"
    if on_a_gpu:
        torch.cuda.set_per_process_memory_fraction(min(1.0, FP16_GB * 1e9 / torch.cuda.mem_get_info()[1]))

    def learned(precision: Precision) -> TrainingResult:
        torch.manual_seed(0)
        model = Transformer(recipe.model(len(words)))
        config = TrainingConfig(
            recipe.steps, recipe.rate(), weight_decay=recipe.weight_decay, precision=precision, graphs=True
        )
        validation = Validation(held_out, recipe.steps)
        return train(model, data, recipe.loss, config, settings.device, validation=validation)

    half = learned("fp16")
    memory = torch.cuda.max_memory_allocated() / 1e9 if on_a_gpu else None
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
    """Train, and measure the loss on the text's end."""
    recipe = TINY_TEXT if settings.tiny else SHAKESPEARE
    text = a_little_shakespeare()[:2000] if settings.tiny else tiny_shakespeare()
    watch = Watch(recipe.steps, "training loss", tell)
    began = time.perf_counter()
    written = learn_to_write(recipe, text, settings.unfinished / "shakespeare", settings.device, progress=watch)
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
    """A piece of the model's own, from its first known character on."""
    device = written.model.output.weight.device
    prompt = torch.zeros(1, 1, dtype=torch.long, device=device)
    generator = torch.Generator(device).manual_seed(0)
    ids = sample(written.model, prompt, length - 1, temperature=0.8, generator=generator)
    return written.characters.decode(ids[0].tolist())
