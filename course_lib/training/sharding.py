"""FSDP2: each process keeps its part of every weight, gradient and moment, and the others' only while it needs them.

`torchrun --nproc-per-node 8 script.py` then trains a model eight times as large as one GPU holds the optimizer of. The
blocks are sharded one by one, so that no more than one of them is whole at a time. Rajbhandari et al. (2020), "ZeRO";
Zhao et al. (2023), "PyTorch FSDP".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn

from course_lib.ground.modules import blocks_of
from course_lib.training.processes import LossModule, World


class ShardedLoss:
    """A loss that all processes compute at once with a model of which each keeps a part; called as `SharedLoss` is."""

    def __init__(self, model: nn.Module, loss: Callable[[Any, Any], Tensor], world: World, example: Any) -> None:
        """The loss of a model that is sharded here, in place.

        Args:
            model: what is trained; every process's becomes the first one's.
            loss: of the model and a batch.
            world: the processes, at least two.
            example: a batch with something to learn, on this process's device.
        """
        from torch.distributed.device_mesh import init_device_mesh  # a second's work, for those who shard alone
        from torch.distributed.fsdp import fully_shard

        for tensor in (*model.parameters(), *model.buffers()):
            dist.broadcast(tensor.data, src=0)
        mesh = init_device_mesh(world.device.type, (world.size,))
        for block in blocks_of(model):
            fully_shard(block, mesh=mesh)
        self._module: Any = fully_shard(LossModule(model, loss), mesh=mesh)
        self._example = example

    def __call__(self, batch: Any, *, counts: bool) -> Tensor:
        """The loss of a batch, or where it does not count of the example: every process must ask for the weights."""
        loss: Tensor = self._module(batch if counts else self._example, True)
        return loss

    def exchanging(self, now: bool) -> AbstractContextManager[Any]:
        """Within it, gradients are exchanged with the other processes, or, with `now` False, gathered for later."""
        self._module.set_requires_gradient_sync(now)
        return nullcontext()


def whole(held: Any) -> Any:
    """The same tensors, mappings and lists, every part of a tensor put together on the CPU; all processes call it."""
    if _is_part(held):
        return held.full_tensor().cpu()
    if isinstance(held, Mapping):
        return {name: whole(part) for name, part in held.items()}
    return [whole(part) for part in held] if isinstance(held, list) else held


def sharded_like(tensor: Tensor, like: Tensor) -> Tensor:
    """A whole tensor, or where the other is a part, this process's part of it."""
    if not _is_part(like):
        return tensor
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(like, DTensor)
    return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements)


def _is_part(held: Any) -> bool:
    """Whether it is a `DTensor`, which is not imported for those who have none."""
    return hasattr(held, "full_tensor")
