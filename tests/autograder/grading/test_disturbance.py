"""A cell that breaks Python or torch for all that follows costs its own exercise, not the others."""

import pytest

from autograder.box.fork_server.client import ForkServer
from autograder.grading.notebook_runner import Graded
from autograder.repair import Cell, CellKind
from course_lib import exercises
from tests.boxes import answered, graded_in

SCORES = "def dot_product_scores(q, k):\n    return q @ k.transpose(-2, -1)"
SCALE = "def scale_scores(scores, d_head):\n    return scores / math.sqrt(d_head)"
CONTEXT = (
    "def contextual_embedding(embeddings, position):\n"
    "    exps = [torch.exp(max(row @ embeddings[position], torch.tensor(-1e9))) for row in embeddings]\n"
    "    weights = torch.stack(exps) / sum(exps)\n"
    "    return torch.einsum('w,wd->d', weights, embeddings)\n"
)
ATTENDED = (
    "def scaled_dot_product_attention(q, k, v):\n"
    "    alpha = torch.softmax(torch.matmul(q, k.mT) / math.sqrt(q.shape[-1]), -1)\n"
    "    out = torch.zeros(*alpha.shape[:-1], v.shape[-1]).to(v)\n"
    "    for key in range(len(v.unbind(-2))):\n"
    "        out = out + alpha[..., key : key + 1] * v[..., key : key + 1, :]\n"
    "    return torch.matmul(torch.eye(alpha.shape[-2]).to(v), out)"
)

DISTURBANCES = {
    "matmul taken away": ("torch.Tensor.__matmul__ = None", "torch.Tensor.__matmul__"),
    "a function replaced": ("torch.matmul = lambda a, b: a", "torch.matmul"),
    "a builtin replaced": ("import builtins\nbuiltins.range = lambda *ends: []", "builtins.range"),
    "a builtin's name taken": ("range = 3", "the built-in name range"),
    "a module's name taken": ("math = 3", "the name math of the module math"),
    "the default device": ("torch.set_default_device('meta')", "torch's default device"),
    "double precision by default, and torch made strict": (
        "torch.set_default_dtype(torch.float64)\ntorch.eye = lambda n: torch.ones(n, n)",
        "torch's default dtype, torch.eye",
    ),
}


IMPORTS = Cell(CellKind.CODE, "import math\nimport torch")


def notebook(first: str) -> list[Cell]:
    """Four right answers, the first of whose cells does something more."""
    return [
        IMPORTS,
        *answered("attention.contextual_embedding", f"{CONTEXT}{first}"),
        *answered("attention.scores", SCORES),
        *answered("attention.scale", SCALE),
        *answered("attention.scaled_dot_product", ATTENDED),
    ]


def points(graded: Graded) -> dict[str, float | None]:
    return {name: verdict.points for name, verdict in graded.verdicts.items() if verdict.exercise}


@pytest.mark.parametrize("case", DISTURBANCES)
def test_later_exercises_keep_their_points(fork_server: ForkServer, case: str) -> None:
    cell, change = DISTURBANCES[case]
    graded = graded_in(fork_server, notebook(cell))
    full = {name: float(exercises.find(name).points) for name in graded.verdicts}
    own = "attention.contextual_embedding"
    assert {name: got for name, got in points(graded).items() if name != own} == {
        name: got for name, got in full.items() if name != own
    }
    spared = [verdict for name, verdict in graded.verdicts.items() if verdict.note and name != own]
    assert spared
    for verdict in spared:
        assert verdict.passed
        assert change in verdict.note
        assert "cell 2 changes" in verdict.text().replace("\n  ", " ")
    assert change in graded.notices[1]


HELPED = "def dot_product_scores(q, k):\n    return helper(q, k)"
HELPER = Cell(CellKind.CODE, "torch.eye = None\nhelper = lambda a, b: a @ b")
NO_MATMUL = Cell(CellKind.CODE, "torch.Tensor.__matmul__ = torch.Tensor.matmul = None")
TWO = [
    *answered("attention.scores", f"{SCORES}\nmath = 3"),
    *answered("attention.scale", f"{SCALE}\ntorch.eye = torch.ones"),
    *answered("attention.scaled_dot_product", ATTENDED),
]
OTHERS = {"attention.scores": 1, "attention.scale": 1, "attention.scaled_dot_product": 4}
FAILS = {"attention.contextual_embedding": 0}


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (notebook("import builtins\ndel builtins.len"), FAILS | OTHERS),
        (notebook("torch.nn.Module = None\nimport os\nos.write = None"), FAILS | OTHERS),
        ([IMPORTS, NO_MATMUL, *notebook("")[1:]], {"attention.contextual_embedding": 2} | OTHERS),
        ([IMPORTS, *TWO], OTHERS),
        ([IMPORTS, HELPER, *answered("attention.scores", HELPED)], {"attention.scores": 0}),
    ],
    ids=[
        "ends its sandbox",
        "breaks its sandbox",
        "of no exercise",
        "two, each for the others",
        "defines what is needed",
    ],
)
def test_what_a_disturbing_cell_costs(fork_server: ForkServer, cells: list[Cell], wanted: dict[str, float]) -> None:
    assert points(graded_in(fork_server, cells)) == wanted


@pytest.mark.parametrize(
    "cells",
    [
        [IMPORTS, *answered("attention.scale", f"{SCALE}\nmath = 3")],
        [IMPORTS, Cell(CellKind.CODE, "max = 3"), *answered("attention.scale", "scale_scores = lambda s, d: s")],
    ],
    ids=["its own cell", "a wrong answer"],
)
def test_nobody_is_blamed_for_an_exercise_s_own_doing(fork_server: ForkServer, cells: list[Cell]) -> None:
    graded = graded_in(fork_server, cells)
    assert (points(graded), graded.notices) == ({"attention.scale": 0}, {})


@pytest.mark.parametrize(
    "harmless",
    [
        "import torch.nn.functional as F\nimport torch.utils.data, torch.optim\nlayer = torch.nn.Linear(2, 2)",
        "optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)\noptimizer.step()",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
        "torch.set_printoptions(precision=3)\nx = torch.func.vmap(torch.sin)(torch.ones(3))",
        "with torch.no_grad():\n    y = torch.ones(2) * 2\nwith torch.inference_mode():\n    z = y + 1",
        "_ = open\nexit\ndisplay(1)\n%time 1",
    ],
)
def test_ordinary_cells_change_nothing(fork_server: ForkServer, harmless: str) -> None:
    with fork_server.open_box() as box:
        assert box.run_cell(f"import math\nimport torch\n{harmless}").ok
        assert box.changes() == []


def test_a_sealed_box_is_not_asked(fork_server: ForkServer) -> None:
    with fork_server.open_box() as box:
        box.run_cell("def f(): pass")
        list(box.observe_cases("f", exercises.find("attention.scale").visible_cases()[:1], hidden=True))
        with pytest.raises(ValueError, match="sealed"):
            box.changes()


ATTENTION = (
    "def scaled_dot_product_attention(q, k, v):\n"
    "    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v"
)


@pytest.mark.parametrize(
    "left_on",
    [
        "torch.inference_mode().__enter__()",
        "torch.set_grad_enabled(False)",
        "torch.manual_seed(7)\nimport random, numpy\nrandom.seed(1)\nnumpy.random.seed(1)",
        "torch.autograd.set_detect_anomaly(True)",
    ],
)
def test_modes_left_on_and_seeds_cost_nothing(fork_server: ForkServer, left_on: str) -> None:
    graded = graded_in(
        fork_server, [IMPORTS, Cell(CellKind.CODE, left_on), *answered("attention.scaled_dot_product", ATTENTION)]
    )
    assert points(graded) == {"attention.scaled_dot_product": 4}
    assert graded.notices == {}
    assert graded.verdicts["attention.scaled_dot_product"].note == ""
