"""Training in several processes, started by `torchrun`: each takes its share of every batch.

The same script runs alone or under `torchrun --nproc-per-node 2 script.py`, and minimizes the same loss: the batch
stays the same, and each of n processes takes every n-th example.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from course_lib.ground.validation import check_device

T = TypeVar("T")


@dataclass(frozen=True)
class World:
    """The processes of a training run, seen from one of them.

    Attributes:
        rank: the number of this process.
        size: the number of processes.
        device: where this process computes.
    """

    rank: int
    size: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """True in the process that saves and reports."""
        return self.rank == 0

    def share(self, indices: Sequence[T]) -> list[T]:
        """Return this process's part of a batch, or of the batches."""
        return list(indices[self.rank :: self.size])

    def share_or_first(self, indices: Sequence[T]) -> list[T]:
        """Return the same, but never empty: every process must compute something, even if it does not count."""
        return self.share(indices) or list(indices[:1])

    def sum(self, values: Sequence[float]) -> list[float]:
        """Return the sum of each number over all processes."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return [float(value) for value in total.tolist()]

    def wait(self) -> None:
        """Wait until all processes get here."""
        if self.size > 1:
            dist.barrier()

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """Return each process's tensor, all of one shape, on the CPU."""
        if self.size == 1:
            return [tensor.cpu()]
        mine = tensor.to(self.device)
        all_of_them = [torch.empty_like(mine) for _ in range(self.size)]
        dist.all_gather(all_of_them, mine)
        return [one.cpu() for one in all_of_them]


def join_processes(device: torch.device | str) -> World:
    """Join the processes that `torchrun` has started; without `torchrun`, this is the only one.

    Under `torchrun`, "cuda" means this process's own GPU. A process joins once, and leaves when it exits: all its
    training runs share one group, since what `DistributedDataParallel` registers with a group outlives a run.

    Raises:
        ValueError: there is no such device, or fewer GPUs than processes on this machine.
    """
    device = check_device(device)
    if not (dist.is_available() and dist.is_initialized()):
        if int(os.environ.get("WORLD_SIZE", "1")) == 1:
            return World(0, 1, device)
        device = _own(device)
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        atexit.register(_leave)
    return World(dist.get_rank(), dist.get_world_size(), _own(device))


def _leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


def _own(device: torch.device) -> torch.device:
    """Return the device of this process alone."""
    if device != torch.device("cuda"):
        return device
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if local >= torch.cuda.device_count():
        raise ValueError(f"process {local} of this machine has no GPU: there are {torch.cuda.device_count()}")
    torch.cuda.set_device(local)
    return torch.device("cuda", local)


class SharedLoss:
    """A loss that all processes compute at once, each on its own batch; gradients are averaged over the processes."""

    def __init__(self, model: nn.Module, loss: Callable[[Any, Any], Tensor], world: World, example: Any) -> None:
        """Wrap the loss of a model that is on this process's device already.

        Args:
            model: the model to train.
            loss: a function of the model and a batch.
            world: the processes.
            example: a batch with something to learn, on the same device; None if this process has none.
        """
        module = LossModule(model, loss)
        self._module: nn.Module = module
        if world.size > 1:
            left_out = example is not None and _leaves_weights_out(module, example, world.device)
            # Looking for unused weights in every step costs time, and gives a warning if there are none.
            anywhere = world.sum([left_out])[0] > 0
            self._module = DistributedDataParallel(module, find_unused_parameters=anywhere)

    def __call__(self, batch: Any, *, counts: bool) -> Tensor:
        """Return the loss of a batch; 0 if the batch does not count."""
        loss: Tensor = self._module(batch, counts)
        return loss

    def exchanging(self, now: bool) -> AbstractContextManager[Any]:
        """Exchange gradients with other processes within this block, or accumulate them for later if `now` is False."""
        if now or not isinstance(self._module, DistributedDataParallel):
            return nullcontext()
        return self._module.no_sync()


def _leaves_weights_out(module: LossModule, example: Any, device: torch.device) -> bool:
    """Return whether some weights do not affect the loss, such as BERT's pooler for labels of tokens.

    The exchange of gradients would wait for theirs forever.
    """
    weights = [parameter for parameter in module.parameters() if parameter.requires_grad]
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        gradients = torch.autograd.grad(module(example, True), weights, allow_unused=True)
    return any(gradient is None for gradient in gradients)


class LossModule(nn.Module):
    """The loss as a module, so that `DistributedDataParallel` can wrap it, whichever methods of the model it calls."""

    def __init__(self, model: nn.Module, loss: Callable[[Any, Any], Tensor]) -> None:
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, batch: Any, counts: bool) -> Tensor:
        """Return the loss; if the batch does not count, 0 times all parameters, since the exchange waits for each."""
        if counts:
            return self.loss(self.model, batch)
        weights = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        return torch.stack([0.0 * parameter.sum() for parameter in weights]).sum()
