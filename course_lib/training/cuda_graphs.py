"""A training step as one launch: the loss and its gradients recorded as a CUDA graph, once for each shape of batch.

A small model runs some two thousand little kernels on a GPU in every step, and Python takes longer to launch them than
the GPU to run them. A graph launches them all at once. It reads and writes the same memory every time, so a batch is
copied to where the recorded one was; its values may differ, its shapes may not. PyTorch's notes on CUDA semantics,
"CUDA graphs".
"""

import dataclasses
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

_WARM_UPS = 2
"""Runs before a recording, since what torch sets up in the first ones cannot be recorded."""


@dataclass(frozen=True)
class _Recording:
    """The recording for one shape.

    Attributes:
        graph: computes the loss and adds its gradients to the weights' own.
        batch, weight, buffers: what the graph reads. A model may replace a buffer, for example by a longer table of
            positions; this keeps the memory of the old one.
        loss: what the graph writes.
    """

    graph: torch.cuda.CUDAGraph
    batch: Any
    weight: Tensor
    buffers: list[Tensor]
    loss: Tensor


class RecordedGradients:
    """Computes a batch's loss, and adds the gradients to the weights' own, by replaying a graph.

    Random generators advance as they would without graphs, so a run may be resumed with or without them.
    """

    def __init__(self, model: nn.Module, gradients: Callable[[Any, Tensor], Tensor], device: torch.device) -> None:
        """Set up, without recording anything before a batch comes.

        Args:
            model: on the device already. Memory for its gradients is allocated now, and stays in place.
            gradients: computes the loss of a batch on the device, times a weight, and its gradients; returns the loss.
                It must not wait for the device, and the operations it runs must not depend on the batch's values.
            device: a GPU.
        """
        self._model, self._gradients, self._device = model, gradients, device
        self._weights = [weight for weight in model.parameters() if weight.requires_grad]
        for weight in self._weights:
            weight.grad = torch.zeros_like(weight)
        self._recordings: dict[Hashable, _Recording] = {}
        self._pool: Any = torch.cuda.graph_pool_handle()  # shared, since only one graph runs at a time

    def __call__(self, batch: Any, weight: float) -> Tensor:
        """Return the weighted loss of a batch that is on the CPU, and add its gradients to the weights' own.

        Args:
            batch: a dataclass of tensors.
            weight: the factor of the loss.
        """
        shapes = tuple(tensor.shape for tensor in _tensors(batch).values())
        recording = self._recordings.get(shapes)
        if recording is None:
            recording = self._recordings[shapes] = self._record(batch)
        for name, tensor in _tensors(batch).items():
            getattr(recording.batch, name).copy_(tensor, non_blocking=True)
        recording.weight.fill_(weight)
        recording.graph.replay()
        return recording.loss.clone()  # the next graph may overwrite it

    def _record(self, batch: Any) -> _Recording:
        held = dataclasses.replace(
            batch, **{name: tensor.to(self._device, copy=True) for name, tensor in _tensors(batch).items()}
        )
        weight = torch.zeros((), device=self._device)
        before = [gradient.clone() for gradient in self._own()]
        random = torch.cuda.get_rng_state(self._device)
        beside = torch.cuda.Stream(self._device)
        beside.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(beside):
            for _ in range(_WARM_UPS):
                self._gradients(held, weight)
        torch.cuda.current_stream(self._device).wait_stream(beside)
        torch.cuda.set_rng_state(random, self._device)
        graph = torch.cuda.CUDAGraph()
        # Other threads may keep running, such as the one that pins the workers' batches.
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            loss = self._gradients(held, weight)
        torch._foreach_copy_(self._own(), before)
        return _Recording(graph, held, weight, list(self._model.buffers()), loss)

    def _own(self) -> list[Tensor]:
        return [weight.grad for weight in self._weights if weight.grad is not None]


def _tensors(batch: Any) -> dict[str, Tensor]:
    return {name: value for name, value in vars(batch).items() if isinstance(value, Tensor)}
