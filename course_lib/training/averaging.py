"""The mean of a training's weights as it goes on: an exponential moving average (EMA).

The last steps of a training jump about their goal, and the mean of where they were is often nearer to it: Polyak and
Juditsky (1992), "Acceleration of Stochastic Approximation by Averaging".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn


class MovingAverage:
    """average = decay · average + (1 - decay) · weights, after every step; of weights that move.

    Attributes:
        weights: the average of each, by its name.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        """Begins with the model's weights as they are."""
        self._moved = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self._average = get_ema_multi_avg_fn(decay)
        self.weights: dict[str, Tensor] = {name: weight.detach().clone() for name, weight in self._moved.items()}

    def update(self) -> None:
        """Take in the weights as they are now."""
        now = [weight.detach() for weight in self._moved.values()]
        self._average(list(self.weights.values()), now, torch.ones(()))

    @torch.no_grad()
    def give(self) -> None:
        """Put the average in the model's place."""
        for name, weight in self._moved.items():
            weight.copy_(self.weights[name])

    @contextmanager
    def given(self) -> Iterator[None]:
        """Within it the model has the average's weights, and after it its own again."""
        own = [weight.detach().clone() for weight in self._moved.values()]
        self.give()
        try:
            yield
        finally:
            with torch.no_grad():
                for weight, before in zip(self._moved.values(), own, strict=True):
                    weight.copy_(before)
