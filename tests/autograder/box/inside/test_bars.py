"""What is barred is out of reach for the whole process, and all else runs on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.box import Box, Zygote
from autograder.box.bench import Bench
from course_lib.checking import Case, Outcome
from course_lib.checking.ready_made import READY_MADE


@pytest.fixture(scope="module")
def bench(processes: None, zygote: Zygote) -> Iterator[Box]:
    """A box without any family but the encoder's layers, which would hide what their parts do."""
    with zygote.open_box(bench=Bench(tuple(sorted(READY_MADE.keys() - {"encoder_layers"})))) as box:
        box.run_cell("import threading, torch, torch.func, torch.autograd.functional\nimport torch.nn.functional as F")
        yield box


SOFTMAX = "getattr(torch, 'soft' + 'max')"
X = "torch.ones(2, 3)"
BARRED = {
    "a softmax": ("softmax", f"{SOFTMAX}({X}, -1)"),
    "in double precision": ("softmax", f"{SOFTMAX}({X}.double(), -1)"),
    "with gradients": ("softmax", f"{SOFTMAX}({X}.requires_grad_(), -1)"),
    "its logarithm": ("softmax", f"F.log_softmax({X}, -1).exp()"),
    "of the negative": ("softmax", f"F.softmin(-{X}, -1)"),
    "a private one": ("softmax", f"torch._safe_softmax({X}, -1)"),
    "the operator": ("softmax", f"torch.ops.aten._softmax.default({X}, -1, False)"),
    "of a sparse tensor": ("softmax", f"torch.sparse.softmax({X}.to_sparse(), -1).to_dense()"),
    "of a nested tensor": ("softmax", f"torch.nested.nested_tensor([{X}]).softmax(-1)"),
    "of oneDNN": ("softmax", f"{X}.to_mkldnn().softmax(-1).to_dense()"),
    "a masked one": ("softmax", f"torch._masked_softmax({X}, torch.zeros(2, 3).bool(), -1)"),
    "in TorchScript": ("softmax", f"scripted({X})"),
    "recorded": ("softmax", f"torch.jit.trace(lambda x: {SOFTMAX}(x, -1), {X})({X})"),
    "by vmap": ("softmax", f"torch.vmap(lambda row: {SOFTMAX}(row, -1))({X})"),
    "without modes": ("softmax", f"sly({X})"),
    "of a distribution": ("softmax", f"torch.distributions.Categorical(logits={X}).probs"),
    "the fused kernel as a softmax": ("softmax", f"F.scaled_dot_product_attention({X}, {X}, torch.ones(2, 2))"),
    "attention": ("", "torch.ops.aten._scaled_dot_product_attention_math(*[torch.ones(1, 1, 2, 2)] * 3)[0]"),
    "heads": ("", "torch.nn.MultiheadAttention(2, 1)(*[torch.ones(2, 2)] * 3)[0]"),
    "a kept function": ("", "kept(1, 2)"),
    "layer_norm": ("normalisation", f"F.layer_norm({X}, (3,))"),
    "native_layer_norm": ("normalisation", f"torch.native_layer_norm({X}, (3,), None, None, 1e-5)[0]"),
    "group_norm": ("normalisation", f"F.group_norm({X}, 1)"),
    "native_group_norm": ("normalisation", f"torch.native_group_norm({X}, None, None, 2, 3, 1, 1, 1e-5)[0]"),
    "instance_norm": ("normalisation", f"F.instance_norm({X}[None])"),
    "batch_norm": ("normalisation", f"F.batch_norm({X}, None, None, training=True)"),
    "dropout": ("dropout", f"F.dropout({X}, 0.5)"),
    "alpha_dropout": ("dropout", f"F.alpha_dropout({X}, 0.5, training=True)"),
    "cosine_similarity": ("cosine", f"F.cosine_similarity({X}, {X})"),
    "cosine_embedding_loss": ("cosine", f"F.cosine_embedding_loss({X}, {X}, torch.ones(2))"),
    "jacrev": ("jacobian", "torch.func.jacrev(torch.sin)(torch.ones(2))"),
    "jacfwd": ("jacobian", "torch.func.jacfwd(torch.sin)(torch.ones(2))"),
    "jacobian": ("jacobian", "torch.autograd.functional.jacobian(torch.sin, torch.ones(2))"),
    "batched gradients": ("jacobian", "torch.autograd.grad(y.sin(), y, torch.eye(2), is_grads_batched=True)"),
    "Adam": ("adam", "torch.optim.Adam([torch.ones(2)])"),
    "a functional Adam": ("adam", "torch.optim._functional.adam([torch.ones(2)], [torch.ones(2)], [], [], [], [])"),
    "a fused Adam": ("adam", "torch._fused_adam_(*[[torch.ones(2)]] * 6, **fused)"),
}
DEFINED = f"""
kept = F.multi_head_attention_forward
scripted = torch.jit.CompilationUnit('def f(x):\\n    return torch.soft' + 'max(x, -1)\\n').f
y = torch.ones(2, requires_grad=True)
fused = dict(lr=0.1, beta1=0.9, beta2=0.9, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)
def sly(x):
    import sys
    sys.setprofile(None)
    with torch._C.DisableTorchFunction():
        return {SOFTMAX}(x, -1)
"""


@pytest.mark.parametrize("call", BARRED)
def test_what_is_barred_cannot_be_computed(bench: Box, call: str) -> None:
    family, expression = BARRED[call]
    bench.run_cell(f"{DEFINED}\ndef answer():\n    return {expression}")
    seen = bench.observe("answer", Case("a case"))
    assert seen.failure is Outcome.RULE_BROKEN, seen
    assert seen.raised is not None
    assert seen.raised.message.startswith(family)


def test_what_an_older_thread_computes_counts_as_well(bench: Box) -> None:
    bench.run_cell("""
import queue
asked, answered, function = queue.Queue(), queue.Queue(), getattr(torch, "soft" + "max")
def work():
    while True:
        try:
            answered.put(function(asked.get(), -1))
        except Exception as error:
            answered.put(torch.zeros(3))
threading.Thread(target=work, daemon=True).start()
def answer(x):
    asked.put(x)
    return answered.get()
""")
    assert bench.observe("answer", Case("a case", (__import__("torch").ones(3),))).failure is Outcome.RULE_BROKEN


_REACHABLE = """
import gc, sys
def reachable():
    pending, seen = [*gc.get_objects(), *sys.modules.values()], {}
    while pending:
        one = pending.pop()
        if id(one) not in seen:
            seen[id(one)] = one
            pending += gc.get_referents(one)
    return list(seen.values())
"""


@pytest.mark.parametrize(
    "trick",
    [
        "import gc\nfor one in gc.get_objects():\n    if type(one).__name__ == 'Library':\n        one._destroy()",
        "import gc; gc.collect(); torch.library._impls.clear()",
        "import contextlib, importlib\nwith contextlib.suppress(PermissionError):\n    importlib.reload(F)",
        "import autograder.box.inside.bars as bars; bars._library('aten').reset()",
        f"{_REACHABLE}for one in reachable():\n    if type(one).__name__ == '_DispatchModule':\n        one.reset()",
        "torch.library.Library('aten', 'IMPL').impl('_softmax', torch.library.fallthrough_kernel, 'CPU')",
        "own = torch._C._dispatch_library('IMPL', 'aten', '', '', 0)\n"
        "own.impl('_softmax', 'CPU', torch.library.fallthrough_kernel, False)",
    ],
)
def test_it_cannot_be_brought_back(zygote: Zygote, trick: str) -> None:
    with zygote.open_box(bench=Bench(("softmax",))) as box:
        cell = f"import torch\nimport torch.nn.functional as F\n{trick}\ndef answer():\n    return {SOFTMAX}({X}, -1)"
        assert box.run_cell(cell).raised is None
        assert not box.observe("answer", Case("a case")).returned


def test_no_foreign_function_can_be_called(bench: Box) -> None:
    bench.run_cell("""
import ctypes
def answer():
    return ctypes.CDLL(None).getpid()
def found():
    import gc, types
    modules = [thing for thing in gc.get_objects() if type(thing) is types.ModuleType]
    return [module.__name__ for module in modules if "ctypes" in module.__name__]
""")
    seen = bench.observe("answer", Case("a case"))
    assert seen.raised is not None
    assert seen.raised.type_name == "PackageAbsent"
    assert bench.observe("found", Case("a case")).value == []


def test_cells_go_on_with_numbers_that_mean_nothing(bench: Box) -> None:
    result = bench.run_cell(f"""
x = {X}.requires_grad_()
for y in (torch.softmax(x, -1), F.layer_norm(x, (3,)), F.cosine_similarity(x, x), F.dropout(x)):
    assert y.isnan().all(), y
    y.sum().backward()
assert torch.softmax(x, -1).shape == x.shape
print(x)
""")
    assert result.ok, result.raised


def test_what_is_allowed_runs_on(bench: Box) -> None:
    bench.run_cell("""
def answer(x):
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).logsumexp(-1).sum().backward()
    optimizer.step()
    return [torch.vmap(torch.dot)(x, x), x.norm(dim=-1), x.std(-1), torch.linalg.inv(torch.eye(2)), x.cumsum(0)]
""")
    seen = bench.observe("answer", Case("a case", (__import__("torch").ones(2, 3),)))
    assert seen.returned, seen.raised


IN_SECOND_CASE = """
def answer(x, case):
    if case == 2:
        try:
            torch.softmax(x, -1)
        except Exception:
            pass
    return x
"""


def test_of_several_cases_those_before_the_one_that_breaks_the_rule_count(bench: Box) -> None:
    assert bench.run_cell(IN_SECOND_CASE).ok
    cases = [Case("a case", (1.0, number)) for number in (1, 2, 3)]
    bench.run_cell("torch.softmax = (lambda softmax: lambda x, dim: softmax(torch.tensor([x]), dim))(torch.softmax)")
    first, second = bench.observe_cases("answer", cases, hidden=False)
    assert first.value == 1.0
    assert second.failure is Outcome.RULE_BROKEN


def test_boxes_for_cells_have_everything(box: Box) -> None:
    result = box.run_cell(f"import torch\nassert torch.softmax({X}, -1).sum() == 2\ntorch.optim.Adam([{X}])")
    assert result.ok, result.raised
