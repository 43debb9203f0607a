"""Dropout in the blocks. What they compute, `test_models_beside_torch.py` compares with torch."""

import dataclasses

import pytest
import torch
from torch import nn

from course_lib.blocks import (
    BlockConfig,
    DecoderBlock,
    EncoderBlock,
)
from course_lib.masking import padding_mask

D_MODEL, HEADS, D_HIDDEN = 12, 3, 20
SIZES = BlockConfig(D_MODEL, HEADS, D_HIDDEN)
PADDING = padding_mask(torch.tensor([5, 3]), 5)


@pytest.mark.parametrize("block", [EncoderBlock, DecoderBlock])
def test_dropout_is_off_in_evaluation(block: type[nn.Module]) -> None:
    layer, x = block(dataclasses.replace(SIZES, dropout=0.5)), torch.randn(2, 5, D_MODEL)
    inputs = (x,) if block is EncoderBlock else (x, torch.randn(2, 6, D_MODEL))
    assert not torch.equal(layer(*inputs).out, layer(*inputs).out)
    layer.eval()
    assert torch.equal(layer(*inputs).out, layer(*inputs).out)
