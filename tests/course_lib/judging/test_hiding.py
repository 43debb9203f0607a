"""What could hide a call is found with its line and reason, and honest code is left alone."""

import pytest

from course_lib.judging.hiding import MOST_PLACES, hidden_calls

IMPORTS = "import torch, math\nimport torch as t\nfrom torch import nn"
HONEST = "def f(x):\n    return x.exp() / x.exp().sum()"


def found(*own: str) -> list[tuple[int, int, str]]:
    """The cell, line and first words of the reason of each place, in a notebook whose first cell is the lesson's."""
    calls = hidden_calls([IMPORTS, *own], set(range(1, len(own) + 1)), ["f"])["f"]
    return [(call.cell, call.line, " ".join(call.reason.split()[:2])) for call in calls]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("t._C._nn.gelu(x)", "reaches torch"),
        ("from torch._C import _nn", "reaches torch"),
        ("torch._refs.exp(x)", "reaches torch"),
        ("getattr(torch, '_C')", "reaches torch"),
        ("import ctypes as c", "calls compiled"),
        ("exec('y = 1')", "turns text"),
        ("import builtins as b\nb.exec('y = 1')", "turns text"),
        ("y = eval('1')", "turns text"),
        ("import importlib.util", "imports by"),
        ("__import__('math')", "imports by"),
        ("from linecache import cache", "reads or"),
        ("torch.jit.script(g)", "runs in"),
        ("from torch import jit as j", "runs in"),
        ("import threading", "runs in"),
        ("from concurrent.futures import ThreadPoolExecutor", "runs in"),
        ("import asyncio\nasyncio.to_thread(g)", "runs in"),
        ("from torch.overrides import TorchFunctionMode", "switches off"),
        ("class T(torch.Tensor):\n    g = torch.Tensor.__torch_function__", "switches off"),
        ("import gc", "looks through"),
        ("class Twice(torch.autograd.Function):\n    pass", "runs in"),
        ("y.register_hook(print)", "runs in"),
        ("getattr(math, 'e' + 'xp')", "finds something"),
        ("vars(math)['exp']", "finds something"),
        ("y = !ls (", "is too"),
        ("x = '" + "a" * 25_000 + "'", "is too"),
    ],
)
@pytest.mark.parametrize("place", ["inside", "before", "behind"])
def test_what_could_hide_a_call_is_found_wherever_it_stands(source: str, reason: str, place: str) -> None:
    indented = source.replace("\n", "\n    ")
    cells = {
        "inside": [f"def f(x):\n    {indented}\n    return x"],
        "before": [source, HONEST],
        "behind": [HONEST, source],
    }
    assert reason in {words for _, _, words in found(*cells[place])}


@pytest.mark.parametrize(
    "source",
    [
        HONEST,
        "import re, random\nre.compile('x')\nmodel = nn.Linear(2, 2).eval()\n" + HONEST,
        "code = 3\ncode.bit_length()\n" + HONEST,
        "import tqdm, einops\n" + HONEST,
        "class Stopwatch:\n    def compile(self):\n        self.code = self.gc = 1\n" + HONEST,
        "%matplotlib inline\n" + HONEST,
        "def f(x):\n    return getattr(x, 'exp')()",
        "from course_lib import show\nshow.bars(1)\n" + HONEST,
        HONEST.replace("return", "  y = (\n    return"),
        "exec('y = 1'\n" + HONEST,
        "",
    ],
)
def test_honest_code_is_left_alone(source: str) -> None:
    assert found(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "from scipy.special import expit\ndef f(x):\n    return expit(x)",
        "def f(x):\n    import scipy.special\n    return scipy.special.expit(x)",
        "import scipy.special as s, tqdm\ng = s.expit\ndef f(x):\n    return g(x)",
    ],
)
def test_a_package_counts_where_the_answer_uses_it(source: str) -> None:
    [(_, _, words)] = found(source)
    assert words == "uses the"
    calls = hidden_calls(["import scipy", source], {1}, ["f"])
    assert calls == {"f": []}, "the lesson imports it itself"


def test_a_place_has_its_line_and_code_and_there_are_not_too_many() -> None:
    [call] = hidden_calls([IMPORTS, "y = 1\nexec('y = 2')"], {1}, ["f"])["f"]
    assert (call.cell, call.line, call.code) == (1, 2, "exec('y = 2')")
    assert len(found("\n".join(["exec('y')"] * 99))) == MOST_PLACES
    assert hidden_calls(["exec('y')"], set(), ["f"]) == {"f": []}
