"""An honest answer passes whatever it says where nothing is asked."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.course_lib.exercises.judging import verdict


def test_what_stands_where_no_token_is_does_not_matter() -> None:
    class Filled(nn.Module):
        def __init__(self, d_model: int, classes: int) -> None:
            super().__init__()
            self.output = nn.Linear(d_model, classes)

        def forward(self, states: Tensor, starts: Tensor) -> Tensor:
            scores = self.output(torch.take_along_dim(states, starts.unsqueeze(-1), dim=1))
            return scores.masked_fill((starts == 0).unsqueeze(-1), 0.0)

    assert verdict("bert.token_classifier", Filled, 1).passed
