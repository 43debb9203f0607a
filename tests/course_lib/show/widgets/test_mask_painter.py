"""The painter begins with a causal mask and the vectors that it was given."""

from __future__ import annotations

import torch

from course_lib.show import mask_painter

X = torch.tensor([[1.0, 1.0], [-1.0, -2.5]])


def test_the_still_is_causal(put_on_the_page) -> None:
    widget = put_on_the_page(mask_painter, ["<s>", "die"], X, torch.tensor([2.0, 0.0]))
    assert widget.text.splitlines()[2:] == ["<s> | ✓ | · | [1.0, 1.0]", "die | ✓ | ✓ | [-1.0, -2.5]"]
    assert widget.data["x"] == X.tolist()
