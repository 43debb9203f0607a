"""How fast our transformer learns to translate, next to `torch.nn.Transformer`: parts of `benchmarks.transformer`.

- throughput: words learned from in a second, padding left out, at d=256, 3+3 layers and the same number of them per
  batch. Each trains as its users do: ours on batches of like lengths, the other on padded, shuffled ones. Both are
  measured in single precision; ours also in what the device multiplies fastest, if that differs.
- toy: from nothing to 99 % of the toy grammar's held-out sentences translated exactly, drawing the data included.
  Both train on the same batches, with the same sizes, rates and steps.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from benchmarks.table import Row
from benchmarks.transformer_peers import TorchTranslator
from course_lib.models import Transformer, TransformerConfig
from course_lib.objectives.losses import translation_loss
from course_lib.text.batches import LengthBuckets, TranslationBatch, TranslationExample, collate, pad, translation_data
from course_lib.text.downloads import multi30k
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.texts import SentencePair
from course_lib.text.tokenization import PADDING_ID, WordVocabulary
from course_lib.toys.grammar import toy_translation
from course_lib.toys.toy_translator import (
    TOY_STEPS,
    TOY_TOKENS,
    one_thread,
    toy_config,
    toy_loss,
    toy_training,
    train_toy_translator,
)
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.precision import Precision, precision_for
from course_lib.training.schedules import constant_schedule

MATCHES = 0.99
SECONDS = 120.0


# --- throughput ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """What both learn from.

    Attributes:
        data: the pairs, in batches of like lengths.
        sizes: of both models.
        per_batch: how many pairs there are in a batch on average.
    """

    data: LengthBuckets[TranslationExample, TranslationBatch]
    sizes: TransformerConfig
    per_batch: int


def read(name: str, max_tokens: int) -> Text:
    if name == "multi30k":
        pairs = multi30k("train")
        words = SubwordVocabulary.train_bpe((text for p in pairs for text in (p.source, p.target)), 10_000)
        data, sizes = translation_data(pairs, words, words, max_tokens), (len(words), len(words))
    else:
        pairs = toy_translation().training
        source = WordVocabulary.from_sentences(pair.source for pair in pairs)
        target = WordVocabulary.from_sentences(pair.target for pair in pairs)
        data, sizes = translation_data(pairs, source, target, max_tokens), (len(source), len(target))
    config = TransformerConfig(
        *sizes, d_model=256, heads=8, d_hidden=1024, encoder_layers=3, decoder_layers=3, dropout=0.1
    )
    return Text(data, config, round(len(pairs) / len(data.plan(torch.Generator()))))


Clock = Callable[[], float]
"""Tells seconds: those that pass, or those that this process computes."""


def ours(text: Text, precision: Precision, device: str, clock: Clock) -> Callable[[int], float]:
    """Words per second over this many steps of the course's own loop."""
    torch.manual_seed(0)
    model = Transformer(text.sizes)
    seeds = iter(range(10_000))

    def run(steps: int) -> float:
        config = TrainingConfig(steps, constant_schedule(3e-4), precision=precision, seed=next(seeds))
        began = clock()
        result = train(model, text.data, lambda m, batch: translation_loss(m, batch, 0.1), config, device)
        return result.tokens / (clock() - began)

    return run


def theirs(text: Text, device: str, clock: Clock) -> Callable[[int], float]:
    """The same for a plain loop over padded, shuffled batches, with the same number of pairs in each."""
    torch.manual_seed(0)
    model = TorchTranslator(text.sizes).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 3e-4, betas=(0.9, 0.98), eps=1e-9)
    examples: Sequence[TranslationExample] = text.data.examples
    batches = _forever(DataLoader(examples, text.per_batch, shuffle=True, collate_fn=collate))  # type: ignore[arg-type]

    def run(steps: int) -> float:
        tokens, began = 0, clock()
        for _ in range(steps):
            batch = next(batches)
            tokens += batch.tokens
            batch = batch.to(device)
            logits = model(batch.source, batch.target[:, :-1])
            expected = batch.target[:, 1:].flatten()
            loss = F.cross_entropy(logits.flatten(0, 1), expected, ignore_index=PADDING_ID, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            loss.item()
        return tokens / (clock() - began)

    return run


def _forever(loader: DataLoader[TranslationExample]) -> Iterator[TranslationBatch]:
    while True:
        yield from loader


def throughput(name: str, rounds: int, device: str, clock: Clock, steps: int = 4, max_tokens: int = 1500) -> list[Row]:
    text = read(name, max_tokens)
    fastest = precision_for(device)
    runs = {"fp32": ours(text, "fp32", device, clock), "peer": theirs(text, device, clock)}
    if fastest != "fp32":
        runs[fastest] = ours(text, fastest, device, clock)
    measured: dict[str, list[float]] = {key: [] for key in runs}
    for key in runs:
        runs[key](2)
    for _ in range(rounds):
        for key, run in runs.items():
            measured[key].append(run(steps))
    median = {key: statistics.median(values) for key, values in measured.items()}
    title = f"training on {name}, d=256, 3+3 layers"
    rows = [Row.of(f"{title}, fp32", median["fp32"], median["peer"], "words/s", more=True, goal=2.0)]
    if fastest != "fp32":
        rows.append(Row.of(f"{title}, {fastest}", median[fastest], median["peer"], "words/s", more=True))
    return rows


# --- the toy grammar -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learned:
    """How long it took, and what share of the held-out sentences is translated exactly."""

    seconds: float
    share: float

    @property
    def counted(self) -> float:
        """The seconds, if the share is enough."""
        return self.seconds if self.share >= MATCHES else math.inf


def ours_from_nothing(seed: int, clock: Clock) -> Learned:
    began = clock()
    result = train_toy_translator(seed)
    return Learned(clock() - began, result.matches / result.held_out)


def theirs_from_nothing(seed: int, clock: Clock) -> Learned:
    began = clock()
    split = toy_translation(seed=seed)
    source = WordVocabulary.from_sentences(pair.source for pair in split.training)
    target = WordVocabulary.from_sentences(pair.target for pair in split.training)
    torch.manual_seed(seed)
    model = TorchTranslator(toy_config(len(source), len(target)))
    with one_thread():
        train(
            model,
            translation_data(split.training, source, target, TOY_TOKENS),
            toy_loss,  # type: ignore[arg-type]  # which calls it as it calls ours
            toy_training(TOY_STEPS, seed),
            "cpu",
        )
        share = _exact(model.eval(), split.held_out, source, target)
    return Learned(clock() - began, share)


def _exact(
    model: TorchTranslator, pairs: Sequence[SentencePair], source: WordVocabulary, target: WordVocabulary
) -> float:
    right = 0
    for start in range(0, len(pairs), 250):
        some = pairs[start : start + 250]
        said = model.translate(pad([torch.tensor(source.encode(pair.source)) for pair in some]))
        right += sum(target.decode(row) == pair.target for row, pair in zip(said.tolist(), some, strict=True))
    return right / len(pairs)


def toy(rounds: int, clock: Clock) -> list[Row]:
    mine, others = [], []
    for seed in range(rounds):
        mine.append(ours_from_nothing(seed, clock))
        others.append(theirs_from_nothing(seed, clock))
    seconds = statistics.median(one.counted for one in mine)
    shares = [statistics.median(one.share for one in both) for both in (mine, others)]
    rest = statistics.median(one.seconds for one in others)
    return [
        Row.of("toy grammar: from nothing to 99 %", seconds, SECONDS, "s", more=False, goal=1.0),
        Row.of("the same beside nn.Transformer", seconds, rest, "s", more=False, goal=1.0),
        Row.of("held-out sentences translated exactly", 100 * shares[0], 100 * shares[1], "%", more=True),
    ]
