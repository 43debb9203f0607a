"""Calling the function that was to be written, under names that no reader finds."""

from __future__ import annotations

from course_lib.checking import Outcome
from tests.dishonest.attempt import RAISED, RULE_BROKEN, WRONG, Attempt


def _weights(name: str, tries: str, value: str, own: str = "", outcome: Outcome = RULE_BROKEN) -> Attempt:
    answer = f"def attention_weights(scaled):\n    return {value}"
    return Attempt(name, tries, {"weights": answer} | ({"own": own} if own else {}), {"weights": outcome})


_ROWS = """
def softmax_jacobian(scores):
    if scores.ndim > 1:
        return torch.stack([softmax_jacobian(row) for row in scores])
    return {}(lambda s: s.softmax(-1))(scores)
"""
_ATTENTION = "def scaled_dot_product_attention(q, k, v):\n    return {}"
_NAME = "getattr(torch, 'soft' + 'max')"

ATTEMPTS = (
    _weights("softmax_plain", "Calls torch's softmax.", "torch.softmax(scaled, -1)"),
    _weights("softmax_by_name", "Puts the forbidden name together from two halves.", f"{_NAME}(scaled, -1)"),
    _weights(
        "softmax_saved",
        "Saves the function under another name, in a cell of its own.",
        "tools[0](scaled, -1)",
        f"tools = [{_NAME}]",
    ),
    _weights("softmax_safe", "Calls a private function that is a softmax as well.", "torch._safe_softmax(scaled, -1)"),
    _weights(
        "softmax_aten",
        "Calls the operator below the function.",
        "getattr(torch.ops.aten, '_soft' + 'max').default(scaled, -1, False)",
    ),
    _weights(
        "softmax_without_modes",
        "Turns torch's modes off before it calls.",
        "sly(scaled)",
        f"def sly(x):\n    with torch._C.DisableTorchFunction():\n        return {_NAME}(x, -1)",
    ),
    _weights(
        "softmax_in_a_thread",
        "Calls it in a thread.",
        "sly(scaled)",
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\npool.submit(print).result()\n"
        f"def sly(x):\n    return pool.submit({_NAME}, x, -1).result()",
    ),
    _weights(
        "softmax_script",
        "Compiles it with TorchScript.",
        "script.f(scaled)",
        "script = torch.jit.CompilationUnit('def f(x):\\n    return torch.soft' + 'max(x, -1)\\n')",
    ),
    _weights(
        "softmax_trace",
        "Records it once, and replays the recording.",
        "sly(scaled)",
        f"sly = torch.jit.trace(lambda x: {_NAME}(x, -1), torch.ones(3))",
    ),
    _weights(
        "softmax_compiled",
        "Takes the logarithm of the forbidden function, and undoes it.",
        "getattr(torch.nn.functional, 'log_soft' + 'max')(scaled, -1).exp()",
    ),
    _weights(
        "softmax_min", "Calls the softmin of the negative.", "getattr(torch.nn.functional, 'soft' + 'min')(-scaled, -1)"
    ),
    _weights("softmax_module", "Lets a module call it.", "getattr(torch.nn, 'Soft' + 'max')(-1)(scaled)"),
    _weights(
        "softmax_gumbel",
        "Calls the Gumbel softmax without its noise.",
        "getattr(torch.nn.functional, 'gumbel_soft' + 'max')(scaled)",
        outcome=WRONG,  # it draws
    ),
    _weights(
        "softmax_distribution",
        "Lets a categorical distribution normalise.",
        "torch.distributions.Categorical(logits=scaled).probs",
    ),
    _weights(
        "softmax_attention",
        "Lets attention with an identity matrix take the softmax.",
        "sly(scaled)",
        """
            def sly(x):
                same = torch.eye(x.shape[-1], dtype=x.dtype).expand(*x.shape[:-2], -1, -1)
                return torch.nn.functional.scaled_dot_product_attention(x, same, same, scale=1.0)
        """,
    ),
    _weights(
        "softmax_caught",
        "Catches the trap's exception and goes on by itself.",
        "sly(scaled)",
        f"def sly(x):\n    try:\n        return {_NAME}(x, -1)\n"
        "    except BaseException:\n        return x.exp() / x.exp().sum(-1, keepdim=True)",
    ),
    _weights(
        "softmax_padded",
        "Hides the call in a cell that is too long to be read.",
        f"({_NAME}(scaled, -1), {' ' * 25_000!r})[0]",
    ),
    _weights(
        "softmax_untrapped",
        "Takes the trap apart first.",
        "sly(scaled)",
        "import sys, threading\nfrom course_lib.checking import trap\ndef sly(x):\n    sys.setprofile(None)\n"
        f"    trap.Trap._refuse = lambda self, name: None\n    return {_NAME}(x, -1)",
    ),
    _weights(
        "softmax_unbarred",
        "Takes away everything in the box that watches it, down to the bar below Python.",
        f"{_NAME}(scaled, -1)",
        """
            import contextlib, importlib
            child = importlib.import_module("auto" + "grader.box.inside.child")
            genuine = child.call
            child.answering = lambda: contextlib.nullcontext([])
            child.call = lambda answer, case, forbidden=(): genuine(answer, case)
        """,
        WRONG,
    ),
    _weights(
        "softmax_unbarred_by_frames",
        "Does the same with nothing but the frames of its callers.",
        "sly(scaled)",
        f"""
            import sys
            done = []
            def sly(x):
                frame = sys._getframe()
                while frame is not None:
                    if "barred" in frame.f_globals and not done:
                        done.append(True)
                        import contextlib
                        frame.f_globals["barred"] = lambda names: contextlib.nullcontext([])
                        genuine = frame.f_globals["observe"]
                        frame.f_globals["observe"] = lambda answer, case, forbidden=(): genuine(answer, case)
                    frame = frame.f_back
                return x.exp() / x.exp().sum(-1, keepdim=True) if x.abs().max() < 1 else {_NAME}(x, -1)
        """,
    ),
    _weights(
        "softmax_registered_again",
        "Looks for what has taken the kernels out, and takes that back.",
        "sly(scaled)",
        f"""
            import gc
            def sly(x):
                for thing in gc.get_objects():
                    if type(thing).__name__ == "Library" and thing.ns == "aten":
                        thing._destroy()
                return {_NAME}(x, -1)
        """,
    ),
    _weights(
        "softmax_native",
        "Calls the function of the library that torch's kernel calls, beneath the dispatcher.",
        "native(scaled)",
        """
            import ctypes, os
            library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
            function = library["_ZN2at3cpu8_soft" + "maxERKNS_6TensorElb"]
            function.restype = None
            function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_bool]
            def native(x):
                place = next(p for p in (16, 24) if (ctypes.c_void_p.from_address(id(x) + p).value or 0) > 4096)
                out, result = ctypes.c_void_p(0), torch.empty(0)
                function(ctypes.addressof(out), id(x) + place, -1, False)
                ctypes.c_void_p.from_address(id(result) + place).value = out.value
                return result.clone()
        """,
        outcome=WRONG,  # it has no gradient
    ),
    _weights(
        "softmax_script_static",
        "Lets torch's static runtime run a script.",
        "static(scaled)[0] if isinstance(static(scaled), list) else static(scaled)",
        "script = torch.jit.CompilationUnit('def f(x):\\n    return torch.soft' + 'max(x, -1)\\n').f\n"
        "static = torch._C._jit_to_static_module(script.graph)",
        outcome=WRONG,  # it has no gradient
    ),
    _weights(
        "softmax_scipy",
        "Asks another package for it.",
        "torch.from_numpy(getattr(scipy.special, 'soft' + 'max')(scaled.detach().numpy(), -1))",
        "import scipy.special",
    ),
    Attempt(
        "attention_fused",
        "Calls torch's fused attention.",
        {"scaled_dot_product": _ATTENTION.format("torch.nn.functional.scaled_dot_product_attention(q, k, v)")},
        {"scaled_dot_product": RULE_BROKEN},
    ),
    Attempt(
        "attention_private",
        "Calls the kernel of the fused attention.",
        {
            "scaled_dot_product": _ATTENTION.format(
                "getattr(torch, '_scaled_dot_product_flash_' + 'attention_for_cpu')"
                "(q[None, None], k[None, None], v[None, None])[0][0, 0]"
            )
        },
        {"scaled_dot_product": RAISED},
    ),
    Attempt(
        "attention_module",
        "Lets a module of torch attend.",
        {
            "scaled_dot_product": _ATTENTION.format(
                "getattr(torch.nn, 'Multihead' + 'Attention')(q.shape[-1], 1, bias=False)(q, k, v)[0]"
            )
        },
        {"scaled_dot_product": WRONG},
    ),
    Attempt(
        "jacobian_forward",
        "Lets torch differentiate forwards, by a name in two halves.",
        {"softmax_jacobian": _ROWS.format("getattr(torch.func, 'jac' + 'fwd')")},
        {"softmax_jacobian": RULE_BROKEN},
    ),
    Attempt(
        "jacobian_backward",
        "Lets torch differentiate backwards, by a name in two halves.",
        {"softmax_jacobian": _ROWS.format("getattr(torch.func, 'jac' + 'rev')")},
        {"softmax_jacobian": RULE_BROKEN},
    ),
    Attempt(
        "jacobian_saved",
        "Makes the derivative in a cell of its own, and only calls it.",
        {
            "own": "made = getattr(torch.func, 'jac' + 'fwd')(lambda s: s.softmax(-1))",
            "softmax_jacobian": _ROWS.format("(lambda f: made)"),
        },
        {"softmax_jacobian": RULE_BROKEN},
    ),
    Attempt(
        "jacobian_unwatched",
        "Takes the trap away first, and then lets torch differentiate.",
        {
            "own": """
                import importlib
                child = importlib.import_module("auto" + "grader.box.inside.child")
                genuine = child.call
                child.call = lambda answer, case, forbidden=(): genuine(answer, case)
            """,
            "softmax_jacobian": _ROWS.format("getattr(torch.func, 'jac' + 'rev')"),
        },
        {"softmax_jacobian": RULE_BROKEN},
    ),
    Attempt(
        "jacobian_functional",
        "Calls the older way to a Jacobian.",
        {
            "softmax_jacobian": _ROWS.format(
                "(lambda f: lambda row: getattr(torch.autograd.functional, 'jaco' + 'bian')(f, row))"
            )
        },
        {"softmax_jacobian": RULE_BROKEN},
    ),
)
