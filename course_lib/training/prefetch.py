"""Batches made ahead of time, so that the device does not wait for them.

The worker processes of torch's `DataLoader` make the next batches. Their order is the same as without workers, and a
run's saved position counts the batches that it was given, not those that wait: what is saved, resumed and learned is
the same, bit for bit.
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
        """Set up, without making a batch before the first is requested.

        Args:
            data: makes batches; with workers it must draw nothing at random, since each worker would draw by itself.
            order: the order of the batches. It runs ahead of the batches given out: `state` returns their position.
            part: chooses the examples to take from a batch.
            workers: the number of processes that make batches, each up to two ahead; with 0, a batch is made when
                requested.
            device: where the batches will go. For a GPU they are made in pinned memory, from which they are copied
                while the program goes on.

        Raises:
            TypeError, ValueError: the number of workers is not whole, or is negative.
        """
        check_at_least(0, workers=workers)
        self._order, self._part = order, part
        self._state = order.state()
        self._asked_for: deque[tuple[list[int], dict[str, Any]]] = deque()
        self._made: Iterator[_Made[B]] | None = None
        self._loader = DataLoader(
            _Making(data),
            batch_size=None,  # the sampler already gives batches
            sampler=self._ahead(),
            num_workers=workers,
            pin_memory=device.type == "cuda",
            generator=torch.Generator(),  # otherwise it would advance torch's generator, and so change dropout
        )

    def next(self) -> tuple[list[int], B]:
        """Return the numbers of all the next batch's examples, and the batch of the part that is taken."""
        if self._made is None:
            self._made = iter(self._loader)
        made = next(self._made)
        indices, self._state = self._asked_for.popleft()
        return indices, made.batch

    def state(self) -> dict[str, Any]:
        """Return the order's state at the last batch that was given out, for `BatchOrder.at`."""
        return self._state

    def close(self) -> None:
        """End the workers."""
        self._made = None

    def _ahead(self) -> Iterator[list[int]]:
        """Request as many batches ahead from the workers as there is room for."""
        while True:
            indices = self._order.next()
            self._asked_for.append((indices, self._order.state()))
            yield self._part(indices)


@dataclass(frozen=True)
class _Made(Generic[B]):
    """A batch that torch's `DataLoader` knows how to pin."""

    batch: B

    def pin_memory(self) -> _Made[B]:
        """Return the same batch with its tensors in memory that a GPU can read directly."""
        batch: Any = self.batch
        if not dataclasses.is_dataclass(type(batch)):
            return self
        tensors = {name: value for name, value in vars(batch).items() if isinstance(value, Tensor)}
        return _Made(dataclasses.replace(batch, **{name: tensor.pin_memory() for name, tensor in tensors.items()}))


@dataclass(frozen=True)
class _Making(Dataset[Any], Generic[B]):
    """The data as torch's `DataLoader` expects it: an index is the list of a whole batch's examples."""

    data: TrainingData[B]

    def __getitem__(self, indices: Sequence[int]) -> _Made[B]:
        return _Made(self.data.batch(indices))
