"""The walk's lines add up to the block of the library."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from torch import nn

from course_lib.show import block_walk
from course_lib.show.widgets.block_walk import POST_NORM, PRE_NORM, SIZES, Line, learned


@pytest.mark.parametrize("lines", [POST_NORM, PRE_NORM], ids=["post-norm", "pre-norm"])
def test_the_lines_learn_as_much_as_torch_s_block(lines: Sequence[Line]) -> None:
    block = nn.TransformerEncoderLayer(SIZES["d_model"], SIZES["heads"], SIZES["d_ff"])
    assert sum(map(learned, lines)) == sum(parameter.numel() for parameter in block.parameters())


def test_every_shape_is_of_known_sizes(put_on_the_page) -> None:
    widget = put_on_the_page(block_walk)
    for order in widget.data["orders"]:
        for line in order["lines"]:
            assert set(line["shape"]) | {name for shape in line["parameters"] for name in shape} <= SIZES.keys()
    assert "out = alpha v | [2, 4, 5, 8] | –" in widget.text
