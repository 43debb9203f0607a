"""SwiGLU's relatives; the equation itself is compared where whole models are."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.testing import assert_close

from course_lib.modern.swiglu import GatedFeedForward


def test_another_activation_is_another_of_the_family() -> None:
    network, x = GatedFeedForward(6, 10, F.relu, bias=True), torch.randn(2, 3, 6)
    assert_close(network(x), network.W_2(F.relu(network.W_1(x)) * network.V(x)))
    assert network.V.bias is not None
