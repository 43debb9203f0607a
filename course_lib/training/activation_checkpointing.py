"""Activation checkpointing: what a block computes on the way is thrown away, and computed again for its gradients.

A training's memory is mostly what lies between the layers. Kept are only the inputs of each block; that costs a third
more time. Chen et al. (2016), "Training Deep Nets with Sublinear Memory Cost", section 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from torch import nn
from torch.utils.checkpoint import checkpoint

from course_lib.ground.modules import blocks_of


@contextmanager
def recomputing(model: nn.Module) -> Iterator[None]:
    """Within it, the model's blocks keep nothing for their gradients; dropout drops the same when they compute again.

    Raises:
        ValueError: the model has no blocks.
    """
    blocks = blocks_of(model)
    if not blocks:
        raise ValueError("activation checkpointing is for a model's blocks, and this one has none")
    for block in blocks:
        block.forward = partial(checkpoint, block.forward, use_reentrant=False)
    try:
        yield
    finally:
        for block in blocks:
            del block.forward
