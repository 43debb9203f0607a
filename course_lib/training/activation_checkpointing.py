"""Activation checkpointing: a block's intermediate results are thrown away, and computed again for the gradients.

Most of the memory in training goes to what lies between the layers. Keeping only the inputs of each block costs a third
more time. Chen et al. (2016), "Training Deep Nets with Sublinear Memory Cost", section 4.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from torch import nn
from torch.utils.checkpoint import checkpoint

from course_lib.ground.modules import blocks_of


@contextmanager
def recomputing(model: nn.Module) -> Iterator[None]:
    """Make a model's blocks keep nothing for their gradients meanwhile; dropout repeats its choices.

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
