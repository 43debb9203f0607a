"""Recipes for real data: sizes and rates that others have found to work, and training runs that follow them.

`python -m benchmarks.gpu` runs them from the command line. Each takes minutes on a GPU, hours on a processor; `steps`
makes them as short as you like.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from course_lib.decoding.translator import Translator
from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig
from course_lib.objectives.losses import language_model_loss, r_drop_loss, translation_loss
from course_lib.text.batches import TextBatch, TranslationBatch, Windows
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.shape_buckets import shared_vocabulary_data
from course_lib.text.texts import SentencePair
from course_lib.text.tokenization import CharacterVocabulary
from course_lib.training.checkpoints import Checkpoints, average_weights
from course_lib.training.distributed import join_processes
from course_lib.training.loop import TrainingConfig, TrainingResult, Validation, train
from course_lib.training.progress import ProgressCallback
from course_lib.training.schedules import Schedule, cosine_schedule, inverse_root_schedule, linear_schedule

_PAUSE = 120.0
"""Seconds from one checkpoint to the next, except for those at the end, which are averaged."""


@dataclass(frozen=True)
class TranslationRecipe:
    """The settings of training a translator on subwords that both languages share.

    Attributes:
        pieces: the number of subwords in the vocabulary.
        d_model, heads, d_ff, layers: the model's sizes; encoder and decoder each have this many layers.
        norm_first: whether to use pre-norm instead of post-norm.
        dropout: the dropout after the embeddings and after each sublayer.
        attention_dropout: the dropout of attention weights.
        max_tokens: the most tokens in a batch, both languages and padding included.
        steps: the number of training steps.
        peak, warmup: the highest learning rate, and the steps up to it.
        schedule: how the rate falls: with 1 / √step, or in a straight line to 0 at the last step; in the latter case,
            warm-up takes at most a quarter of the steps.
        weight_decay: the weight decay of matrices.
        smoothing: the label smoothing, over all tokens.
        r_drop: the weight of the distance between two passes with different dropout (`r_drop_loss`); 0 for one pass.
        save_every: the steps between the checkpoints at the end that are averaged.
        averaged: the number of last checkpoints whose mean is the final weights.
        beams: the number of beams when translating.
    """

    pieces: int = 10_000
    d_model: int = 256
    heads: int = 4
    d_ff: int = 1024
    layers: int = 4
    norm_first: bool = True
    dropout: float = 0.3
    attention_dropout: float = 0.1
    max_tokens: int = 8192
    steps: int = 5000
    peak: float = 2.5e-3
    warmup: int = 800
    schedule: Literal["linear", "inverse_root"] = "linear"
    weight_decay: float = 0.1
    smoothing: float = 0.1
    r_drop: float = 0.0
    save_every: int = 100
    averaged: int = 10
    beams: int = 5

    def model(self, vocab_size: int) -> TransformerConfig:
        """Return the model's sizes; one embedding serves both languages and the output."""
        return TransformerConfig(
            vocab_size,
            vocab_size,
            d_model=self.d_model,
            heads=self.heads,
            d_ff=self.d_ff,
            encoder_layers=self.layers,
            decoder_layers=self.layers,
            norm_first=self.norm_first,
            dropout=self.dropout,
            attention_dropout=self.attention_dropout,
            shared_embeddings=True,
        )

    def rate(self) -> Schedule:
        """Return the learning rate of each step."""
        if self.schedule == "inverse_root":
            return inverse_root_schedule(self.peak, self.warmup)
        return linear_schedule(self.peak, max(1, min(self.warmup, self.steps // 4)), self.steps)

    def loss(self, model: Transformer, batch: TranslationBatch) -> Tensor:
        """Return the loss that is minimized."""
        if self.r_drop:
            return r_drop_loss(model, batch, self.smoothing, self.r_drop)
        return translation_loss(model, batch, self.smoothing)


MULTI30K = TranslationRecipe(r_drop=1.0)
"""For 29,000 pairs, chosen by the BLEU of the validation part. In post-norm at a peak of 5e-3, as in Wu et al. (2021),
"Good for Misconceived Reasons: An Empirical Revisiting on the Need for Visual Context in Multimodal Machine
Translation", this library's model hardly learns; `benchmarks/README.md` has the curves."""

MULTI30K_SMALL = replace(
    MULTI30K,
    pieces=6_000,
    d_model=128,
    d_ff=256,
    dropout=0.15,
    attention_dropout=0.0,
    max_tokens=4096,
    r_drop=0.0,
    steps=2200,
    peak=6e-3,
    save_every=25,
)
"""The same for one processor core, which takes half an hour."""

SCENES = TranslationRecipe(
    pieces=1000,
    d_model=128,
    d_ff=256,
    layers=2,
    norm_first=False,
    dropout=0.1,
    attention_dropout=0.0,
    max_tokens=2000,
    steps=3000,
    peak=3e-3,
    warmup=300,
    schedule="inverse_root",
    weight_decay=0.0,
    averaged=5,
)
"""For the captions that come with the course (`course_lib.scenes`): twenty minutes on a processor."""

SHORT_SCENES = replace(SCENES, norm_first=True, steps=200, peak=6e-3, warmup=50, schedule="linear", save_every=10)
"""The same in half a minute; chosen by the validation loss. After 200 steps `SCENES` has 2.01 nats; with a straight
fall to 0 it is 1.78 in post-norm at a peak of 3e-3 and 2.03 at 5e-3, 1.61 in pre-norm at 4e-3, 1.52 at 6e-3 and 2.08 at
1e-2. Of 200 sentences of the validation part it then translates 64 exactly, and `SCENES` none."""

EVERYDAY = replace(
    SCENES, pieces=2600, dropout=0.15, max_tokens=1400, steps=240, peak=5e-3, warmup=50, schedule="linear"
)
"""To continue from `SCENES` with everyday captions, on subwords of both; `benchmarks/README.md` has the curves."""


@dataclass(frozen=True)
class Translated:
    """The result of `learn_to_translate`.

    Attributes:
        translator: the translator with the mean of the last checkpoints' weights, in evaluation mode.
        result: the result of training.
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
    tokens: SubwordVocabulary | None = None,
    until: int | None = None,
    progress: ProgressCallback | None = None,
) -> Translated:
    """Follow a recipe, from pairs to a translator. If it is stopped, the same call resumes at the last checkpoint.

    On a GPU every step is one CUDA graph (`training.cuda_graphs`), for which the batches have few shapes.

    Under `torchrun` the processes share the work, the first writes the files, and all return the same translator.

    Args:
        recipe: the settings.
        training: pairs to learn from.
        validation: pairs to measure the loss on, ten times during training.
        folder: where to save the checkpoints and the vocabulary.
        device: where to compute.
        seed: the seed of weights, order and dropout.
        tokens: the subwords of both languages; by default learned from the training pairs, as many as the recipe says.
        until: the step to stop at; None for the recipe's last. A later call without it continues from there.
        progress: called after every step.

    Raises:
        ValueError: there are no pairs, or one is longer than a batch.
        CheckpointError: the folder holds checkpoints of another run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = [text for pair in training for text in (pair.source, pair.target)]
    tokens = tokens or SubwordVocabulary.train_bpe(texts, recipe.pieces, split_punctuation=True)
    torch.manual_seed(seed)
    model = Transformer(recipe.model(len(tokens)))
    checkpoints = Checkpoints(folder, recipe.save_every, recipe.averaged, pause=_PAUSE)
    world = join_processes(device)
    if world.is_first:
        tokens.save(folder / "tokenizer.json")
    steps = recipe.steps if until is None else until
    config = TrainingConfig(steps, recipe.rate(), weight_decay=recipe.weight_decay, seed=seed, graphs=True)
    result = train(
        model,
        shared_vocabulary_data(training, tokens, recipe.max_tokens),
        recipe.loss,
        config,
        device,
        validation=Validation(
            shared_vocabulary_data(validation, tokens, recipe.max_tokens), every=max(1, recipe.steps // 10)
        ),
        checkpoints=checkpoints,
        resume=True,
        progress=progress,
    )
    world.wait()  # until the first process has written the last checkpoint
    model.load_state_dict(average_weights(checkpoints.files()))
    return Translated(Translator(model.eval(), tokens, tokens), result)


@dataclass(frozen=True)
class TextRecipe:
    """The settings of training a language model on the characters of a text.

    Attributes:
        length: the number of characters read at once.
        d_model, heads, layers: the model's sizes; its feed-forward networks are four times as wide.
        dropout: the dropout after the embeddings and after each sublayer.
        batch_size: the number of windows in a batch.
        steps: the number of training steps.
        peak, least, warmup: the highest and the lowest learning rate, and the steps up to the highest; the rate falls
            along a cosine.
        weight_decay: the weight decay of matrices.
        betas: AdamW's.
        validate_every: the steps from one validation to the next; the best weights are kept.
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

    def model(self, vocab_size: int) -> GPTConfig:
        """Return the model's sizes."""
        return GPTConfig(
            vocab_size,
            self.length,
            d_model=self.d_model,
            heads=self.heads,
            layers=self.layers,
            d_ff=4 * self.d_model,
            dropout=self.dropout,
            attention_dropout=self.dropout,
        )

    def loss(self, model: GPT, batch: TextBatch) -> Tensor:
        """Return the loss of the next tokens, in nats."""
        return language_model_loss(model, batch)


SHAKESPEARE = TextRecipe()
"""For tiny Shakespeare: the sizes and rates of nanoGPT's configuration for it, which reaches 1.4697 nats."""


@dataclass(frozen=True)
class TrainedWriter:
    """The result of `learn_to_write`.

    Attributes:
        model: the model with the weights of the smallest validation loss, in evaluation mode.
        characters: the characters that it knows.
        result: the result of training.
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
    progress: ProgressCallback | None = None,
) -> TrainedWriter:
    """Follow a recipe, from a text to a model that continues it. If it is stopped, the same call resumes.

    Args:
        recipe: the settings.
        text: the text to learn from; its end is held out.
        folder: where to save the checkpoint.
        device: where to compute.
        seed: the seed of weights, order and dropout.
        progress: called after every step.

    Raises:
        ValueError: the text, or its end, is shorter than a window.
        CheckpointError: the folder holds a checkpoint of another run.
    """
    characters = CharacterVocabulary.from_text(text)
    ids = torch.tensor(characters.encode(text), dtype=torch.long)
    cut = int(len(ids) * (1 - recipe.held_out))
    data, held_out = (Windows(part, recipe.length, recipe.batch_size) for part in (ids[:cut], ids[cut:]))
    torch.manual_seed(seed)
    model = GPT(recipe.model(len(characters)))
    schedule = cosine_schedule(recipe.peak, min(recipe.warmup, recipe.steps), recipe.steps, recipe.least)
    config = TrainingConfig(
        recipe.steps,
        schedule,
        weight_decay=recipe.weight_decay,
        betas=recipe.betas,
        epsilon=1e-8,
        seed=seed,
        graphs=True,
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
