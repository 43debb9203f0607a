"""Batches made ahead of time, so that a device that computes does not wait for them.

Worker processes, those of torch's `DataLoader`, make the batches that come next. They come in the same order as without
workers, and where a training stands is said by the batches that it was given, not by those that wait: what is saved,
resumed and learned is the same, bit for bit.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from course_lib.ground.validation import check_at_least
from course_lib.text.batches import AnyBatch, TrainingData
from course_lib.training.batch_order import BatchOrder

B = TypeVar("B", bound=AnyBatch)

Part = Callable[[list[int]], list[int]]
"""Which of a batch's examples to take."""


class Prefetch(Generic[B]):
    """The batches of an order, one by one."""

    def __init__(
        self, data: TrainingData[B], order: BatchOrder, part: Part, workers: int, device: torch.device
    ) -> None:
        """Nothing is made before the first batch is asked for.

        Args:
            data: makes batches; with workers it must draw nothing at random, for each worker would draw for itself.
            order: of the batches. It runs ahead of those that were given: `state` is where they stand.
            part: which of a batch's examples to take.
            workers: processes that make batches, two waiting from each; without any, each is made when it is asked for.
            device: what the batches are for. For a GPU they are in pinned memory, from which they are copied while the
                program goes on.

        Raises:
            TypeError, ValueError: a number of workers below 0, or no whole number.
        """
        check_at_least(0, workers=workers)
        self._order, self._part = order, part
        self._state = order.state()
        self._asked_for: deque[tuple[list[int], dict[str, Any]]] = deque()
        self._made: Iterator[_Made[B]] | None = None
        self._loader = DataLoader(
            _Making(data),
            batch_size=None,  # what the sampler gives is a batch already
            sampler=self._ahead(),
            num_workers=workers,
            pin_memory=device.type == "cuda",
            generator=torch.Generator(),  # its own: torch's would be moved by it, and with it dropout
        )

    def next(self) -> tuple[list[int], B]:
        """The examples of the next batch, all of them, and the batch of the part that is taken."""
        if self._made is None:
            self._made = iter(self._loader)
        made = next(self._made)
        indices, self._state = self._asked_for.popleft()
        return indices, made.batch

    def state(self) -> dict[str, Any]:
        """Return the order's state at the last batch that was given, for `BatchOrder.at`."""
        return self._state

    def close(self) -> None:
        """End the workers."""
        self._made = None

    def _ahead(self) -> Iterator[list[int]]:
        """Ask the workers for as many batches ahead as there is room for."""
        while True:
            indices = self._order.next()
            self._asked_for.append((indices, self._order.state()))
            yield self._part(indices)


@dataclass(frozen=True)
class _Made(Generic[B]):
    """A batch, which torch's `DataLoader` knows how to pin."""

    batch: B

    def pin_memory(self) -> _Made[B]:
        """The same batch with its tensors in memory that a GPU can read by itself."""
        batch: Any = self.batch
        if not dataclasses.is_dataclass(type(batch)):
            return self
        tensors = {name: value for name, value in vars(batch).items() if isinstance(value, Tensor)}
        return _Made(dataclasses.replace(batch, **{name: tensor.pin_memory() for name, tensor in tensors.items()}))


@dataclass(frozen=True)
class _Making(Dataset[Any], Generic[B]):
    """The data as torch's `DataLoader` wants it: an index is a whole batch's numbers."""

    data: TrainingData[B]

    def __getitem__(self, indices: Sequence[int]) -> _Made[B]:
        return _Made(self.data.batch(indices))
