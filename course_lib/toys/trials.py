"""A real text that is on every machine, and training runs so short that each change to a model can be measured alone.

The text is Python's own documentation of its language, which `help()` shows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from course_lib.text.tokenization import CharacterVocabulary
from course_lib.training.progress import TrainingStep, progress_bar

CONTEXT, BATCH = 64, 8
"""The number of characters that a model reads at a time in a trial, and the number of such pieces in a step."""

HELD_OUT_PIECES = 64
"""The number of pieces of the held-out text on which a model is judged, always the same ones."""


@dataclass(frozen=True)
class CharacterText:
    """A text in characters, with the last tenth held out.

    Attributes:
        characters: those that occur, in order; a character's id is its index.
        training, held_out: the ids of both parts.
    """

    characters: str
    training: Int[Tensor, " nine_tenths"]
    held_out: Int[Tensor, " one_tenth"]

    @classmethod
    def of(cls, text: str) -> CharacterText:
        """Number the characters, and split the text in two."""
        vocabulary = CharacterVocabulary.from_text(text)
        ids = torch.tensor(vocabulary.encode(text))
        end = len(ids) * 9 // 10
        return cls(vocabulary.characters, ids[:end], ids[end:])

    def encode(self, text: str) -> Int[Tensor, " characters"]:
        """Return the ids of a text; raise a ValueError for an unknown character."""
        return torch.tensor(CharacterVocabulary(self.characters).encode(text))


def python_documentation() -> CharacterText:
    """Return Python's own documentation: half a million characters of English and some code, in every installation."""
    from pydoc_data.topics import topics

    text = "\n".join(topics.values())
    return CharacterText.of("".join(character for character in text if character.isascii()))


@dataclass(frozen=True)
class Trial:
    """The result of a model with one change.

    Attributes:
        losses: the losses on the held-out text, in nats per character, one for each seed.
        model: the model of the last seed.
        parameters: the number of its parameters.
    """

    losses: list[float]
    model: nn.Module
    parameters: int

    @property
    def mean(self) -> float:
        """The mean of the losses."""
        return sum(self.losses) / len(self.losses)

    def __str__(self) -> str:
        return f"{self.mean:.2f} nats per character ({min(self.losses):.2f} to {max(self.losses):.2f})"


def trial(
    make_model: Callable[[], nn.Module],
    text: CharacterText,
    title: str,
    rates: Sequence[float],
    *,
    seeds: int = 3,
    before: Callable[[nn.Module, float], None] | None = None,
    optimizer: Callable[[nn.Module], Any] | None = None,
) -> Trial:
    """Train a few new models, each for a few seconds, and evaluate them.

    Seed i draws the same pieces of text in every trial, and the same first weights wherever the layers are the same.

    Args:
        make_model: makes a new model from ids [batch, tokens] to logits [batch, tokens, vocab_size].
        text: the text to learn from.
        title: the title of the progress bar.
        rates: the learning rate of each step.
        seeds: the number of models.
        before: called before each step, with the model and the rate.
        optimizer: makes an optimizer, or a stand-in, from a model; Adam by default.
    """
    losses = []
    with progress_bar(seeds * len(rates), title) as tell:
        for seed in range(seeds):
            torch.manual_seed(seed)
            model = make_model()
            learner = (optimizer or _adam)(model)
            generator, began = Generator().manual_seed(seed), time.perf_counter()
            for number, rate in enumerate(rates, 1):
                if before is not None:
                    before(model, rate)
                learner.param_groups[0]["lr"] = rate
                loss = _loss(model, _pieces(text.training, BATCH, generator))
                learner.zero_grad()
                loss.backward()
                learner.step()
                seconds = time.perf_counter() - began
                done = seed * len(rates) + number
                tell(TrainingStep(done, loss.item(), rate, number * BATCH * CONTEXT, seconds))
            losses.append(held_out_loss(model, text.held_out))
    return Trial(losses, model, sum(weight.numel() for weight in model.parameters()))


def _adam(model: nn.Module) -> torch.optim.Adam:
    return torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), fused=True)


@torch.no_grad()
def held_out_loss(model: nn.Module, ids: Int[Tensor, " characters"]) -> float:
    """Return the mean loss on pieces of this text, always the same ones, in nats per character."""
    return _loss(model, _pieces(ids, HELD_OUT_PIECES, Generator().manual_seed(1))).item()


def _pieces(ids: Int[Tensor, " characters"], count: int, generator: Generator) -> Int[Tensor, "pieces tokens"]:
    starts = torch.randint(len(ids) - CONTEXT, (count,), generator=generator)
    return ids[starts.unsqueeze(-1) + torch.arange(CONTEXT + 1)]


def _loss(model: nn.Module, pieces: Int[Tensor, "pieces tokens"]) -> Float[Tensor, ""]:
    logits = model(pieces[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())
