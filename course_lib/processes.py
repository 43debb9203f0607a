"""Training in several processes at once, started by `torchrun`: each takes its share of every batch.

The same script runs alone and under `torchrun --nproc-per-node 2 script.py`, and minimises the same thing: the batch
stays what it is, and each of n processes takes every n-th example of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor


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
        """Whether this is the one that saves and tells."""
        return self.rank == 0

    def share(self, indices: Sequence[int]) -> list[int]:
        """The part of a batch that is for this process."""
        return list(indices[self.rank :: self.size])

    def sum(self, values: Sequence[float]) -> list[float]:
        """The sums of these numbers over all processes."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return [float(value) for value in total.tolist()]

    def wait(self) -> None:
        """Go on when all processes have come here."""
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


@contextmanager
def joined(device: torch.device | str) -> Iterator[World]:
    """Join the processes that `torchrun` has started; without it there is only this one.

    Under `torchrun`, "cuda" means this process's own GPU. A process group that exists already is used and left.

    Raises:
        ValueError: there are fewer GPUs than processes on this machine.
    """
    device = torch.device(device)
    if dist.is_available() and dist.is_initialized():
        yield World(dist.get_rank(), dist.get_world_size(), _own(device))
        return
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield World(0, 1, device)
        return
    device = _own(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield World(dist.get_rank(), dist.get_world_size(), device)
    finally:
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
