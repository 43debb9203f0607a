"""Training: one loop, with teacher forcing, a warm-up schedule, label smoothing and gradient clipping.

Vaswani et al. (2017), section 5; slides S2 ("masked training") and S4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.data import Batch, Example, batches
from course_lib.models import Transformer

Schedule = Callable[[int], float]
"""The learning rate of each step; steps count from 1."""

Progress = Callable[[int, float], None]
"""Called after each step with its number, from 1, and its loss."""


def paper_schedule(d_model: int, warmup: int = 4000) -> Schedule:
    """The paper's: up in a straight line for `warmup` steps, then down with 1 / √step (section 5.3).

    rate(step) = d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)
    """
    return lambda step: d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def linear_schedule(peak: float, warmup: int, steps: int) -> Schedule:
    """Up in a straight line to `peak` at step `warmup`, then down in a straight line to 0 behind the last step.

    For a training whose length is known: the small rates at the end are worth many steps at a larger one.
    """
    return lambda step: peak * min(step / warmup, (steps + 1 - step) / (steps + 1 - warmup))


@dataclass(frozen=True)
class TrainingConfig:
    """How to train.

    Attributes:
        steps: how many batches to learn from.
        batch_size: sentences in each.
        schedule: the learning rate of each step.
        label_smoothing: the share of the target's mass that torch spreads evenly over *all* the words, the
            right one included.
        clip: the largest norm of all gradients together; longer ones are shortened to it.
        seed: of the order of the batches and of dropout.
    """

    steps: int
    batch_size: int
    schedule: Schedule
    label_smoothing: float = 0.1
    clip: float = 1.0
    seed: int = 0


def shift_right(
    target: Int[Tensor, "batch words"],
) -> tuple[Int[Tensor, "batch words-1"], Int[Tensor, "batch words-1"]]:
    """What the decoder reads and what it should answer: at each place the word before, and the word itself.

    From *<s> die Katze tanzte <e>* it reads *<s> die Katze tanzte* and should answer *die Katze tanzte <e>*.
    """
    return target[:, :-1], target[:, 1:]


def translation_loss(model: Transformer, batch: Batch, label_smoothing: float = 0.0) -> Float[Tensor, ""]:
    """The mean negative log-likelihood, in nats, of the target's words; padding does not count.

    With teacher forcing: every word is predicted from the right words before it, all at once.
    """
    read, expected = shift_right(batch.target)
    logits = model(batch.source, read)
    return F.cross_entropy(
        logits.flatten(0, 1),  # [batch * words, vocabulary]
        expected.flatten(),
        ignore_index=model.config.padding_id,
        label_smoothing=label_smoothing,
    )


def train(
    model: Transformer,
    data: Sequence[Example],
    config: TrainingConfig,
    device: torch.device | str,
    progress: Progress | None = None,
) -> list[float]:
    """Train `model` in place on `device`, with Adam as in the paper.

    Args:
        model: the transformer; it is left in training mode.
        data: pairs as ids.
        config: how long and how.
        device: where to compute; the model is moved there.
        progress: told about every step.

    Returns:
        The loss of every step.

    Raises:
        ValueError: there are no examples.
    """
    if not data:
        raise ValueError("there is nothing to train on: the data is empty")
    torch.manual_seed(config.seed)
    model.to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
    losses: list[float] = []
    for step, batch in enumerate(_forever(data, config), start=1):
        if step > config.steps:
            break
        for group in optimizer.param_groups:
            group["lr"] = config.schedule(step)
        loss = translation_loss(model, batch.to(device), config.label_smoothing)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        optimizer.step()
        losses.append(loss.item())
        if progress:
            progress(step, losses[-1])
    return losses


def _forever(data: Sequence[Example], config: TrainingConfig) -> Iterator[Batch]:
    """Pass after pass through the data, each in its own order."""
    generator = torch.Generator().manual_seed(config.seed)
    while True:
        yield from batches(data, config.batch_size, generator)
