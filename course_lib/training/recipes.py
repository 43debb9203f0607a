"""Recipes for real data: sizes and rates that others have found, and a training that follows them.

`python -m benchmarks.gpu` runs them from the command line. A GPU takes minutes for each, a processor hours; `steps`
makes them as short as wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from course_lib.decoding.translator import Translator
from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig
from course_lib.objectives.losses import language_model_loss, translation_loss
from course_lib.text.batches import TextBatch, TranslationBatch, Windows, translation_data
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.texts import SentencePair
from course_lib.text.tokenization import CharacterVocabulary
from course_lib.training.checkpoints import Checkpoints, average_weights
from course_lib.training.loop import TrainingConfig, TrainingResult, Validation, train
from course_lib.training.processes import join_processes
from course_lib.training.progress import ProgressCallback
from course_lib.training.schedules import cosine_schedule, inverse_root_schedule


@dataclass(frozen=True)
class TranslationRecipe:
    """How to train a translator on subwords that both languages share.

    Attributes:
        pieces: the size of the vocabulary.
        d_model, heads, d_hidden, layers: of the model; as many layers in the encoder as in the decoder.
        dropout: after the embeddings and after each sublayer.
        max_tokens: of a batch, both languages and padding included.
        steps: of the training.
        peak, warmup: of the rate, which falls with 1 / √step.
        smoothing: of the labels, over all words.
        save_every: steps from one checkpoint to the next.
        averaged: how many of the last checkpoints make the final weights.
        beams: of the search.
    """

    pieces: int = 10_000
    d_model: int = 128
    heads: int = 4
    d_hidden: int = 256
    layers: int = 4
    dropout: float = 0.3
    max_tokens: int = 8192
    steps: int = 8000
    peak: float = 5e-3
    warmup: int = 2000
    smoothing: float = 0.1
    save_every: int = 100
    averaged: int = 10
    beams: int = 5

    def model(self, vocabulary: int) -> TransformerConfig:
        """The model's sizes; one embedding serves both languages and the output."""
        return TransformerConfig(
            vocabulary,
            vocabulary,
            d_model=self.d_model,
            heads=self.heads,
            d_hidden=self.d_hidden,
            encoder_layers=self.layers,
            decoder_layers=self.layers,
            dropout=self.dropout,
            shared_embeddings=True,
        )

    def loss(self, model: Transformer, batch: TranslationBatch) -> Tensor:
        """What is minimised."""
        return translation_loss(model, batch, self.smoothing)


MULTI30K = TranslationRecipe()
"""Small enough for 29,000 pairs: Wu et al. (2021), "Good for Misconceived Reasons: An Empirical Revisiting on the Need
for Visual Context in Multimodal Machine Translation", their Transformer-Tiny."""


SCENES = TranslationRecipe(
    pieces=1000,
    layers=2,
    dropout=0.1,
    max_tokens=2000,
    steps=3000,
    peak=3e-3,
    warmup=300,
    averaged=5,
)
"""For the captions that come with the course (`course_lib.scenes`): a processor's twenty minutes."""


@dataclass(frozen=True)
class Translated:
    """What `learn_to_translate` gives.

    Attributes:
        translator: with the mean of the last checkpoints' weights, in evaluation mode.
        result: of the training.
    """

    translator: Translator
    result: TrainingResult


def learn_to_translate(
    recipe: TranslationRecipe,
    training: Sequence[SentencePair],
    validation: Sequence[SentencePair],
    folder: Path,
    device: torch.device | str,
    *,
    seed: int = 0,
    words: SubwordVocabulary | None = None,
    compiled: bool = False,
    progress: ProgressCallback | None = None,
) -> Translated:
    """Follow a recipe, from pairs to a translator. Stopped, the same call goes on from its last checkpoint.

    Under `torchrun` the processes share the work, the first one writes the files, and all return the same translator.

    Args:
        recipe: what to do.
        training: pairs to learn from.
        validation: pairs to measure the loss on, ten times in the course of the training.
        folder: for the checkpoints and the vocabulary.
        device: where to compute.
        seed: of weights, order and dropout.
        words: the pieces of both languages; by default as many as the recipe says are learned from the training pairs.
        compiled: whether torch compiles the model first: minutes at the beginning, faster steps after that.
        progress: told about every step.

    Raises:
        ValueError: there are no pairs, or one is longer than a batch.
        CheckpointError: the folder holds checkpoints of another training.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = [text for pair in training for text in (pair.source, pair.target)]
    words = words or SubwordVocabulary.train_bpe(texts, recipe.pieces, split_punctuation=True)
    torch.manual_seed(seed)
    model = Transformer(recipe.model(len(words)))
    if compiled:
        model.compile(dynamic=True)  # batches have many shapes
    checkpoints = Checkpoints(folder, recipe.save_every, recipe.averaged)
    world = join_processes(device)
    if world.is_first:
        words.save(folder / "tokenizer.json")
    result = train(
        model,
        translation_data(training, words, words, recipe.max_tokens),
        recipe.loss,
        TrainingConfig(recipe.steps, inverse_root_schedule(recipe.peak, recipe.warmup), seed=seed),
        device,
        validation=Validation(
            translation_data(validation, words, words, recipe.max_tokens), every=max(1, recipe.steps // 10)
        ),
        checkpoints=checkpoints,
        resume=True,
        progress=progress,
    )
    world.wait()  # for the first process, which writes the last checkpoint
    model.load_state_dict(average_weights(checkpoints.files()))
    return Translated(Translator(model.eval(), words, words), result)


@dataclass(frozen=True)
class TextRecipe:
    """How to train a language model on the characters of a text.

    Attributes:
        length: characters read at once.
        d_model, heads, layers: of the model; its feed-forward networks are four times as wide.
        dropout: after the embeddings and after each sublayer.
        batch_size: windows in a batch.
        steps: of the training.
        peak, least, warmup: of the rate, which falls along a cosine.
        weight_decay: of matrices.
        betas: AdamW's.
        validate_every: steps from one validation to the next; the best weights are kept.
        held_out: the share of the text, at its end, to validate on.
    """

    length: int = 256
    d_model: int = 384
    heads: int = 6
    layers: int = 6
    dropout: float = 0.2
    batch_size: int = 64
    steps: int = 5000
    peak: float = 1e-3
    least: float = 1e-4
    warmup: int = 100
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.99)
    validate_every: int = 250
    held_out: float = 0.1

    def model(self, vocabulary: int) -> GPTConfig:
        """The model's sizes."""
        return GPTConfig(
            vocabulary,
            self.length,
            d_model=self.d_model,
            heads=self.heads,
            layers=self.layers,
            d_hidden=4 * self.d_model,
            dropout=self.dropout,
            attention_dropout=self.dropout,
        )

    def loss(self, model: GPT, batch: TextBatch) -> Tensor:
        """What is minimised."""
        return language_model_loss(model, batch)


SHAKESPEARE = TextRecipe()
"""For tiny Shakespeare: the sizes and rates of nanoGPT's configuration for it, which reaches 1.4697 nats."""


@dataclass(frozen=True)
class TrainedWriter:
    """What `learn_to_write` gives.

    Attributes:
        model: with the weights of the smallest validation loss, in evaluation mode.
        characters: that it knows.
        result: of the training.
    """

    model: GPT
    characters: CharacterVocabulary
    result: TrainingResult


def learn_to_write(
    recipe: TextRecipe,
    text: str,
    folder: Path,
    device: torch.device | str,
    *,
    seed: int = 0,
    compiled: bool = False,
    progress: ProgressCallback | None = None,
) -> TrainedWriter:
    """Follow a recipe, from a text to a model that continues it. Stopped, the same call goes on where it was.

    Args:
        recipe: what to do.
        text: to learn from; its end is held out.
        folder: for the checkpoint.
        device: where to compute.
        seed: of weights, order and dropout.
        compiled: whether torch compiles the model first: a minute at the beginning, faster steps after that.
        progress: told about every step.

    Raises:
        ValueError: the text, or its end, is shorter than a window.
        CheckpointError: the folder holds a checkpoint of another training.
    """
    characters = CharacterVocabulary.from_text(text)
    ids = torch.tensor(characters.encode(text))
    cut = int(len(ids) * (1 - recipe.held_out))
    data, held_out = (Windows(part, recipe.length, recipe.batch_size) for part in (ids[:cut], ids[cut:]))
    torch.manual_seed(seed)
    model = GPT(recipe.model(len(characters)))
    if compiled:
        model.compile()
    schedule = cosine_schedule(recipe.peak, min(recipe.warmup, recipe.steps), recipe.steps, recipe.least)
    config = TrainingConfig(
        recipe.steps, schedule, weight_decay=recipe.weight_decay, betas=recipe.betas, epsilon=1e-8, seed=seed
    )
    every = min(recipe.validate_every, recipe.steps)
    patience = recipe.steps  # never stops early, but ends with the best weights
    result = train(
        model,
        data,
        recipe.loss,
        config,
        device,
        validation=Validation(held_out, every, patience),
        checkpoints=Checkpoints(folder, every),
        resume=True,
        progress=progress,
    )
    return TrainedWriter(model.eval(), characters, result)
