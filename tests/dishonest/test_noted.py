"""Ways to call what an exercise asks students to write: found while it runs, or shown to the instructor.

They earn nobody's secret and nobody's points, so none is an attack. An answer breaks the rule where its text or its run
shows a forbidden call; where neither does, what could hide one is noted, and costs nothing.
"""

import pytest

from autograder.box.fork_server.client import ForkServer
from autograder.grading.notebook_runner import Graded
from autograder.repair import Cell, CellKind
from course_lib.judging.observation import Outcome
from tests.boxes import answered, graded_in

LESSON_CELL = Cell(
    CellKind.CODE, "import torch\nimport torch.nn.functional as F\nfrom torch import nn", origin="release"
)


def grade(fork_server: ForkServer, exercise: str, answer: str, own: str = "") -> Graded:
    return graded_in(fork_server, [LESSON_CELL, Cell(CellKind.CODE, own), *answered(exercise, answer)])


SOFT = "getattr(torch, 'soft' + 'max')"
DEFINED = {
    "attention.weights": "def attention_weights(scaled):",
    "attention.scaled_dot_product": "def scaled_dot_product_attention(q, k, v):",
    "attention.softmax_jacobian": "def softmax_jacobian(scores):",
    "words_in_a_bag.cosine": "def cosine_similarities(table, i):",
    "heads_and_blocks.layer_norm": (
        "class LayerNorm(nn.Module):\n"
        "    def __init__(self, d_model, epsilon):\n"
        "        super().__init__()\n"
        "        self.epsilon, self.weight = epsilon, nn.Parameter(torch.ones(d_model))\n"
        "        self.bias = nn.Parameter(torch.zeros(d_model))\n"
        "    def forward(self, x):"
    ),
    "masking.masked_weights": "def masked_weights(scaled, mask):",
}
WEIGHTS, ATTENTION, JACOBIAN, COSINE, NORM, MASKED = DEFINED

FOUND = {
    "plainly": (WEIGHTS, "torch.softmax(scaled, -1)", ""),
    "under another name": (WEIGHTS, "s(scaled, -1)", "from torch import softmax as s"),
    "by a string": (WEIGHTS, "getattr(scaled, 'softmax')(-1)", ""),
    "in pieces": (WEIGHTS, f"{SOFT}(scaled, -1)", ""),
    "saved before": (WEIGHTS, "tools[0](scaled, -1)", f"tools = [{SOFT}]"),
    "as a logarithm": (WEIGHTS, "getattr(F, 'log_soft' + 'max')(scaled, -1).exp()", ""),
    "negative": (WEIGHTS, "getattr(F, 'soft' + 'min')(-scaled, -1)", ""),
    "in text": (WEIGHTS, "run(scaled)", "exec(\"run = lambda x: getattr(x, 'soft' + 'max')(-1)\")"),
    "in a long cell": (WEIGHTS, f"({SOFT}(scaled, -1), {' ' * 25_000!r})[0]", ""),
    "by attention": (
        WEIGHTS,
        "getattr(F, 'scaled_dot_product' + '_attention')(scaled, (e := torch.eye(scaled.shape[-1], dtype=scaled.dtype)"
        ".expand(*scaled.shape[:-2], -1, -1)), e, scale=1.0)",
        "",
    ),
    "attention in a module": (
        ATTENTION,
        "getattr(torch.nn, 'Multihead' + 'Attention')(4, 1)(q, k, v)[0]",
        "",
    ),
    "jacobian": (JACOBIAN, "torch.func.jacrev(lambda s: s.softmax(-1))(scores)", ""),
    "jacobian imported": (
        JACOBIAN,
        "made(scores)",
        "from torch.func import jacfwd as j\nmade = j(lambda s: s.softmax(-1))",
    ),
    "cosine as a loss": (
        COSINE,
        "1 - getattr(F, 'cosine_embed' + 'ding_loss')(table, table[i].expand_as(table), torch.ones(len(table)), "
        "reduction='none')",
        "",
    ),
    "norm of groups": (
        NORM,
        "getattr(F, 'group' + '_norm')(x.reshape(-1, x.shape[-1], 1), 1, self.weight, self.bias).reshape(x.shape)",
        "",
    ),
    "masked": (MASKED, "torch.masked.softmax(scaled, -1, mask=mask)", ""),
    "masked under another name": (MASKED, "m(scaled, -1, mask=mask)", "from torch.masked import softmax as m"),
}
"""By name: the exercise, the value that the answer returns, and a cell in front.

More ways, without a sandbox, are in `tests/course_lib/judging/test_trap.py`.
"""

NOTED = {
    "in TorchScript": (
        WEIGHTS,
        "script.f(scaled)",
        "script = torch.jit.CompilationUnit('def f(x):\\n    return torch.soft' + 'max(x, -1)\\n')",
    ),
    "in a thread": (
        WEIGHTS,
        "pool.submit(sly, scaled).result()",
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\n"
        f"sly = lambda x: {SOFT}(x, -1)",
    ),
    "in a thread of its own": (
        WEIGHTS,
        "sly(scaled)",
        "import threading\ndef sly(x):\n    found = []\n"
        f"    thread = threading.Thread(target=lambda: found.append({SOFT}(x, -1)))\n"
        "    thread.start(); thread.join()\n    return found[0]",
    ),
    "with modes off": (
        WEIGHTS,
        "sly(scaled)",
        f"def sly(x):\n    with torch._C.DisableTorchFunction():\n        return {SOFT}(x, -1)",
    ),
    "with the trap undone": (
        WEIGHTS,
        f"{SOFT}(scaled, -1)",
        "import course_lib.judging.trap as trap\ntrap._known = lambda name, names: ''",
    ),
    "with the caller undone": (
        WEIGHTS,
        f"{SOFT}(scaled, -1)",
        "import importlib\nchild = importlib.import_module('auto' + 'grader.box.inside.child')\n"
        "genuine = child.call\nchild.call = lambda answer, case, forbidden=(): genuine(answer, case)",
    ),
    "by scipy": (
        WEIGHTS,
        "special.logsumexp(0.0) + (scaled - torch.logsumexp(scaled, -1, keepdim=True)).exp()",
        "from scipy import special",
    ),
    "the Jacobian in pieces": (JACOBIAN, "rows(getattr(torch.func, 'jac' + 'rev'))(scores)", ""),
    "the Jacobian from a dictionary": (JACOBIAN, "rows(vars(torch.func)['jac' + 'rev'])(scores)", ""),
    "the Jacobian by a module's name": (
        JACOBIAN,
        "rows(functional)(scores)",
        "import importlib\nfunctional = lambda f: lambda x: importlib.import_module('torch.autograd.functional')"
        ".__dict__['jaco' + 'bian'](f, x, create_graph=True)",
    ),
}
"""The same of what neither the text nor the run shows. Each would earn its points."""

ROWS = """
def rows(derive):
    one = lambda f: derive(lambda s: s.softmax(-1))(f)
    return lambda s: torch.stack([one(r) for r in s.reshape(-1, s.shape[-1])]).reshape(*s.shape, s.shape[-1])
"""


@pytest.mark.parametrize("way", FOUND)
def test_what_is_seen_breaks_the_rule(fork_server: ForkServer, way: str) -> None:
    exercise, value, own = FOUND[way]
    graded = grade(fork_server, exercise, f"{DEFINED[exercise]} return {value}", own)
    verdict = graded.verdicts[exercise]
    assert (verdict.outcome, verdict.points) == (Outcome.RULE_BROKEN, 0), verdict.text()
    assert "which this exercise asks you to write yourself" in verdict.note
    assert graded.worth_a_look == {}


@pytest.mark.parametrize("way", NOTED)
def test_what_is_not_seen_is_noted_and_costs_nothing(fork_server: ForkServer, way: str) -> None:
    exercise, value, own = NOTED[way]
    graded = grade(fork_server, exercise, f"{DEFINED[exercise]} return {value}", f"{ROWS}\n{own}")
    verdict = graded.verdicts[exercise]
    assert verdict.passed, verdict.text()
    [first, *_] = graded.worth_a_look[exercise]
    assert first.startswith("cell "), first
    assert ", line " in first
    assert first.endswith("]")
    assert not any(place in verdict.text() for place in graded.worth_a_look[exercise])
