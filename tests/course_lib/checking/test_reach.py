"""What counts as reaching far, and what every student writes."""

from __future__ import annotations

import pytest

from course_lib.checking.reach import reaches_far


@pytest.mark.parametrize(
    "source",
    [
        "import autograder.box",
        "from autograder import box",
        "from course_lib.checking import trap",
        "import sys\nsys.modules['x']",
        "sys._getframe()",
        "getattr(torch, 'soft' + 'max')",
        "setattr(torch, name, 1)",
        "f.__globals__",
        "__import__('x')",
        "try:\n    f()\nexcept Exception as e:\n    e.__traceback__.tb_frame",
        "import gc",
        "eval('x')",
        "x = !ls",
        "%run mine.py",
        "g = getattr\ng(torch, 'soft' + 'max')",
        "getattr(f, '__globals__')",
        "import operator",
        "from unittest import mock",
        "import torch.library",
        "from torch import jit",
        "torch.load(file, weights_only=False)",
        "y" * 30_000,
    ],
)
def test_what_could_take_a_trap_apart_reaches_far(source: str) -> None:
    assert reaches_far(source)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "%matplotlib inline",
        "%%time\nx = 1",
        "from matplotlib import pyplot as plt",
        "hasattr(x, 'grad')",
        "import torch\ndef f(x):\n    return torch.softmax(x, -1)",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()",
        "# only a comment",
        "getattr(torch, 'exp')(x)",
        "print(torch.__version__, type(x).__name__)",
    ],
)
def test_ordinary_code_does_not_reach_far(source: str) -> None:
    assert not reaches_far(source)
