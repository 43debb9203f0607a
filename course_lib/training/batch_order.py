"""The order of a training run's batches: pass after pass, each newly shuffled. The position in it can be saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Generator, Tensor

from course_lib.text.batches import TrainingData


@dataclass
class BatchOrder:
    """An endless series of batches, each a list of its examples' numbers.

    Attributes:
        data: the examples to cut into batches.
        generator: decides the order of each pass.
        plan: the batches of the current pass.
        used: how many of these were given out.
        begun_at: the generator's state before this pass.

    Raises:
        ValueError: the data gives no batches.
    """

    data: TrainingData[Any]
    generator: Generator
    plan: list[list[int]] = field(init=False)
    begun_at: Tensor = field(init=False)
    used: int = 0

    def __post_init__(self) -> None:
        self._begin_a_pass()

    def next(self) -> list[int]:
        """Return the numbers of the next batch's examples."""
        if self.used == len(self.plan):
            self._begin_a_pass()
            self.used = 0
        self.used += 1
        return self.plan[self.used - 1]

    def state(self) -> dict[str, Any]:
        """Return the order's state, for `at`; "batches" is the number of batches in this pass."""
        return {"begun_at": self.begun_at, "used": self.used, "batches": len(self.plan)}

    @classmethod
    def at(cls, data: TrainingData[Any], state: dict[str, Any]) -> BatchOrder:
        """Restore the order of the same data from a saved state."""
        generator = torch.Generator()
        generator.set_state(state["begun_at"])
        return cls(data, generator, used=state["used"])

    def _begin_a_pass(self) -> None:
        self.begun_at = self.generator.get_state()
        self.plan = self.data.plan(self.generator)
        if not self.plan:
            raise ValueError("there is nothing to train on: the data gives no batches")
