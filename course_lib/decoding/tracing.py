"""Greedy decoding, watched: what the model thought at every step, for pictures and the lesson's stepper (S2)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.decoding.continuation import Next, continuation
from course_lib.decoding.greedy import decoding


@dataclass(frozen=True)
class DecodingStep:
    """One word of one text.

    Attributes:
        read: the ids that the model has read of its own text: <s> or the prompt, and what it wrote before.
        distribution: the probability of every word.
        word: the id that was chosen, the most probable.
        self_alpha: for each block, how the last word read attends to those read so far.
        cross_alpha: for each block, how it attends to the source; empty for a model without one.
    """

    read: tuple[int, ...]
    distribution: Float[Tensor, " vocabulary"]
    word: int
    self_alpha: tuple[Float[Tensor, "heads keys"], ...]
    cross_alpha: tuple[Float[Tensor, "heads source"], ...]


@dataclass(frozen=True)
class DecodingTrace:
    """How one text was written.

    Attributes:
        source: the ids of the source, or of the prompt.
        steps: one for each word; the last one chose <e>, unless there was no room.
    """

    source: tuple[int, ...]
    steps: tuple[DecodingStep, ...]

    @property
    def words(self) -> list[int]:
        """The ids that were written."""
        return [step.word for step in self.steps]


def trace_greedy(model: nn.Module, inputs: Int[Tensor, " words"], max_length: int = 50) -> DecodingTrace:
    """Write one text as `greedy_decode` does, and keep every step's distribution and attention.

    Args:
        model: any that `continuation` knows. Dropout is off; the model's mode is restored.
        inputs: the ids of one source, or of one prompt, without padding.
        max_length: the most words to write.

    Raises:
        ValueError: more than one text, or inputs that the model refuses.
    """
    if inputs.dim() != 1:
        raise ValueError(f"one text is traced at a time: ids must be [words], not {list(inputs.shape)}")
    with decoding(model):
        text = continuation(model, inputs.unsqueeze(0), max_length, weights=True)
        read = text.first
        steps = [_step(text.start(), read)]
        while steps[-1].word != text.end_id and len(steps) < max_length:
            read = (*read, steps[-1].word)
            steps.append(_step(text.read(torch.tensor([steps[-1].word], device=text.device)), read))
    return DecodingTrace(tuple(inputs.tolist()), tuple(steps))


def _step(following: Next, read: tuple[int, ...]) -> DecodingStep:
    distribution = torch.softmax(following.logits[0], dim=-1)
    return DecodingStep(
        read,
        distribution,
        int(distribution.argmax()),
        tuple(alpha[0] for alpha in following.self_alpha),
        tuple(alpha[0] for alpha in following.cross_alpha),
    )
