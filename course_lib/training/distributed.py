"""Training in several processes at once, started by `torchrun`: each takes its share of every batch.

The same script runs alone and under `torchrun --nproc-per-node 2 script.py`, and minimizes the same thing: the batch
stays what it is, and each of n processes takes every n-th example of it.
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
    """The processes of a training, seen from one of them.

    Attributes:
        rank: this one's number.
        size: how many there are.
        device: where this one computes.
    """

    rank: int
    size: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """True in the process that saves and reports."""
        return self.rank == 0

    def share(self, indices: Sequence[T]) -> list[T]:
        """The part of a batch, or of the batches, that is for this process."""
        return list(indices[self.rank :: self.size])

    def share_or_first(self, indices: Sequence[T]) -> list[T]:
        """The same, but never empty: all processes must compute something, if only what does not count."""
        return self.share(indices) or [indices[0]]

    def sum(self, values: Sequence[float]) -> list[float]:
        """The sums of these numbers over all processes."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return [float(value) for value in total.tolist()]

    def wait(self) -> None:
        """Go on when all processes have got here."""
        if self.size > 1:
            dist.barrier()

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """Each process's tensor, all of one shape, on the CPU."""
        if self.size == 1:
            return [tensor.cpu()]
        mine = tensor.to(self.device)
        all_of_them = [torch.empty_like(mine) for _ in range(self.size)]
        dist.all_gather(all_of_them, mine)
        return [one.cpu() for one in all_of_them]


def join_processes(device: torch.device | str) -> World:
    """Join the processes that `torchrun` has started; without it there is only this one.

    Under `torchrun`, "cuda" means this process's own GPU. A process joins once, and leaves when it ends: many trainings
    share one group, for what `DistributedDataParallel` has registered with a group outlives the training.

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
    """The device of this process alone."""
    if device != torch.device("cuda"):
        return device
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if local >= torch.cuda.device_count():
        raise ValueError(f"process {local} of this machine has no GPU: there are {torch.cuda.device_count()}")
    torch.cuda.set_device(local)
    return torch.device("cuda", local)


class SharedLoss:
    """A loss that all processes compute at once, each for its own batch; their gradients become the mean of all."""

    def __init__(self, model: nn.Module, loss: Callable[[Any, Any], Tensor], world: World, example: Any) -> None:
        """The loss of a model that is on this process's device already.

        Args:
            model: what is trained.
            loss: of the model and a batch.
            world: the processes.
            example: a batch with something to learn, on the same device; None where this process has none.
        """
        module = LossModule(model, loss)
        self._module: nn.Module = module
        if world.size > 1:
            left_out = example is not None and _leaves_weights_out(module, example, world.device)
            # To be told to look for them in every step costs time, and is a warning where there are none.
            anywhere = world.sum([left_out])[0] > 0
            self._module = DistributedDataParallel(module, find_unused_parameters=anywhere)

    def __call__(self, batch: Any, *, counts: bool) -> Tensor:
        """The loss of a batch; where the batch does not count it is 0."""
        loss: Tensor = self._module(batch, counts)
        return loss

    def exchanging(self, now: bool) -> AbstractContextManager[Any]:
        """Within it, gradients are exchanged with the other processes, or, with `now` False, gathered for later."""
        if now or not isinstance(self._module, DistributedDataParallel):
            return nullcontext()
        return self._module.no_sync()


def _leaves_weights_out(module: LossModule, example: Any, device: torch.device) -> bool:
    """Return whether some weights do not affect the loss, as BERT's pooler does not affect a token's label.

    The exchange of gradients would wait for theirs for ever.
    """
    weights = [parameter for parameter in module.parameters() if parameter.requires_grad]
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        gradients = torch.autograd.grad(module(example, True), weights, allow_unused=True)
    return any(gradient is None for gradient in gradients)


class LossModule(nn.Module):
    """The loss as a module, so that `DistributedDataParallel` can wrap it whatever the loss calls of the model."""

    def __init__(self, model: nn.Module, loss: Callable[[Any, Any], Tensor]) -> None:
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, batch: Any, counts: bool) -> Tensor:
        """The loss; where the batch does not count 0, of all parameters, since the exchange waits for each of them."""
        if counts:
            return self.loss(self.model, batch)
        weights = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        return torch.stack([0.0 * parameter.sum() for parameter in weights]).sum()
