"""What runs in a box to find shortcuts: its text becomes a cell there, followed by a call of `prepare`.

A callable is named "module:path". It is tried with every call of a list: texts such as "f(q, k.mT, -1)", with the
exercise's own names for its arguments. What comes back is compared as it is, by parts, and after one finishing call.
Nothing here is trusted: what it finds is judged again outside, in another box.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import inspect
import io
import pkgutil
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.checking.compare import Strictness, value_difference

SEED = 0

TORCH = (
    *("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft", "torch._C", "torch._C._nn"),
    *("torch._refs", "torch._refs.nn.functional", "torch._refs.special", "torch._refs.linalg", "torch._refs.fft"),
    *("torch._decomp", "torch._decomp.decompositions", "torch._prims", "torch._numpy"),
    *("torch.masked", "torch.masked._ops", "torch.sparse", "torch.nested", "torch.func", "torch.autograd.functional"),
    *("torch.distributions", "torch.optim", "torch.optim._functional", "torch.ao.nn.quantized", "torch.ao.nn.qat"),
    *("torch.nn.attention", "torch.nn.attention.bias", "torch.nn.attention.flex_attention"),
    *("torch._functorch", "torch.nn.quantized", "torch.onnx.ops", "torch.nn.utils"),
    *("torch.nested._internal.ops", "torch.nested._internal.sdpa", "torch.signal.windows"),
)
"""Modules of torch that are imported first; all that is loaded of torch is walked then."""

_NOTHING_COMPUTED = (
    *("torch.distributed", "torch._inductor", "torch._dynamo", "torch.cuda", "torch.xpu", "torch.mps", "torch.mtia"),
    *("torch.package", "torch.hub", "torch.multiprocessing", "torch.profiler", "torch.fx", "torch.export"),
    *("torch._export", "torch._logging", "torch._meta_registrations", "torch.serialization", "torch.testing"),
    *("torch._subclasses", "torch._guards", "torch.compiler", "torch._C._distributed", "torch.cpu"),
    *("torch.accelerator", "torch._C._profiler", "torch.storage", "torch.types", "torch.version", "torch.monitor"),
    *("torch._higher_order_ops", "torch.library", "torch._library", "torch._strobelight", "torch._vendor"),
    *("torch.onnx._internal", "torch.onnx.testing", "torch.onnx.verification", "torch._prims_common"),
    *("torch.utils", "torch.overrides", "torch.backends", "torch._utils", "torch._utils_internal", "torch._sources"),
    *("torch._jit_internal", "torch.quantization", "torch.ao.quantization", "torch.nn.parallel"),
    *("torch.jit", "torch.ao.ns", "torch._native", "torch._classes", "torch._lobpcg", "torch.random"),
    *("numpy.f2py", "numpy.distutils", "numpy.testing", "numpy.random", "numpy.dtypes", "numpy.typing"),
    *("numpy._typing", "numpy.ma", "numpy.polynomial", "numpy.char", "numpy.matrixlib", "numpy.lib.recfunctions"),
    *("numpy.lib._npyio_impl", "numpy._core._rational_tests", "numpy._core._multiarray_tests", "numpy.strings"),
    *("numpy._core.overrides", "numpy._core.defchararray", "numpy._utils", "numpy.rec", "numpy.core"),
    *("numpy.ctypeslib", "numpy._core.strings"),
)
"""Parts of torch and numpy that compile, trace, send, measure, or do what another part does to other objects."""

_NO_PART = re.compile(r"(^|\.)(tests?|testing|conftest|__main__|app|setup|downloader|_?cli)(\.|$)")
"""Modules of packages that are not imported: they are not the package's work, or draw windows."""

_NEVER = re.compile(
    r"(^|[.:_])(exit|abort|crash|kill|fork|breakpoint|set_trace|pdb|input|load|save|download|spawn|show_config"
    r"|start|listen|sleep|wait|join|set_default_\w+|use_deterministic_\w+|_set_\w+|set_num_\w+"
    r"|test|\w+_dispatcher)$"
)
"""The last part of names that end or stop the process, wait, or change torch for all that comes after."""


@dataclass(frozen=True)
class Way:
    """One way to call: source text with `f` for what is called.

    Attributes:
        text: such as "f(q, k.mT, -1)".
        count: how many positional arguments there are.
        names: the keywords.
    """

    text: str
    count: int
    names: tuple[str, ...] = ()


class Walk:
    """Tries callables on some cases of an exercise.

    Args:
        names: of the exercise's arguments.
        cases: of each case its arguments and what is expected.
        ways: how to call, most natural first.
        probes: how many of them, from the first on, are enough to see that a callable takes no such arguments.
        before: calls through which an argument may go first, such as "(-{})".
        after: calls through which the result may go, such as "({}).exp()".
        loads: whether the exercise is a class: what is called is then one of torch's modules, with weights loaded.
    """

    def __init__(
        self,
        names: list[str],
        cases: list[tuple[list[Any], Any, bool, bool]],
        ways: list[tuple[str, int, list[str]]],
        probes: int,
        before: list[str],
        after: list[str],
        loads: bool,
    ) -> None:
        self.loads = loads
        self.names = names
        self.cases = cases
        self.ways = [Way(text, count, tuple(keywords)) for text, count, keywords in ways]
        self.probes = probes
        self.returns = False  # whether what is called now has returned anything
        self.codes: dict[str, types.CodeType] = {}
        self.after = [text for text in after if not self._alone(text)]
        self.before = [text for text in before if not self._alone(text)]
        self.natural = self._canary()

    def _alone(self, text: str) -> bool:
        """Whether this finishing call is itself right on an argument: then it would be right after anything."""
        return any(self._right(text.replace("{}", name), None) for name in self.names)

    def try_out(self, f: Callable[..., Any]) -> tuple[str, int, list[str]] | None:
        """The first call that is right in all cases, of how many calls it is made, and its operators; None if none."""
        near: list[str] = []
        self.returns = False
        for text in self._made(f) if isinstance(f, type) and not self.loads else self._called(f):
            found, calls = self._tried(text, f, near)
            if found:
                return found, calls, self._operators(found, f)
        for text in near[:8]:
            for changed in self._changed(text):
                if self._right(changed, f):
                    return changed, 2, self._operators(changed, f)
        return None

    def _called(self, f: Callable[..., Any]) -> Iterator[str]:
        """The ways to call a function that its signature, if it has one, lets through."""
        least, most, keywords = (0, float("inf"), _Everything()) if self.loads else _arity(f)
        for place, way in enumerate(self.ways):
            if place >= self.probes and not self.returns:
                return
            if least <= way.count + len(way.names) and way.count <= most and keywords >= set(way.names):
                yield way.text

    def _made(self, f: type) -> Iterator[str]:
        """The ways to make an object of a class, and to call it or its methods, or to look at it."""
        first = self.names[0]
        settings = ("", "-1", "-2", "1", f"{first}.shape[-1]", f"{first}.shape[-1:]", *self.names)
        settings += tuple(f"{key}={name}" for key in sorted(_keywords(f)) for name in self.names)
        for setting in settings:
            made = f"f({setting})"
            if self._value(made, f, 0) is _NOTHING:
                continue
            called = [""] if issubclass(f, nn.Module) else ["", *(f".{name}" for name in _methods(f))]
            yield made
            for method in called:
                for way in self.ways[:_FEW]:
                    yield f"{made}{method}{way.text[1:]}"
                if method and setting:
                    yield f"{made}{method}()"

    def _tried(self, text: str, f: Callable[..., Any], near: list[str]) -> tuple[str, int]:
        """The call, perhaps with another after it, that is right everywhere, or ""; `near` gets what has its form."""
        added = _ADDED.search(text)
        rests = [f"[(0,) * {added[1]}]", f"[0][(0,) * {added[1]}]"] if added else [""]
        for rest in rests:
            with contextlib.suppress(Exception):  # there are objects that cannot even be looked at
                found, calls = self._compared(text + rest, self._value(text + rest, f, 0), f, near)
                if found:
                    return found, calls
        return "", 0

    def _compared(self, text: str, returned: Any, f: Callable[..., Any], near: list[str]) -> tuple[str, int]:
        self.returns = self.returns or returned is not _NOTHING
        for part, value in _parts(returned):
            fits = _fit(part.format(text), value, self.cases[0][1])
            if fits is not None:
                if self._is_right(0, fits[1]) and self._right(fits[0], f):
                    return fits[0], 1
                near.append(fits[0])
            finished = self._finished(part.format(text), value, f)
            if finished:
                return finished, 2
        return "", 0

    def _finished(self, text: str, value: Any, f: Callable[..., Any]) -> str:
        """The call with one more after it that is right; "" if none."""
        if not isinstance(value, Tensor) or not value.dtype.is_floating_point or value.numel() > _MOST_NUMBERS:
            return ""
        for after in self.after:
            finished = _evaluated(after.replace("{}", "returned"), {"returned": value, "torch": torch})
            fits = _fit(after.replace("{}", text), finished, self.cases[0][1])
            if fits is not None and self._is_right(0, fits[1]) and self._right(fits[0], f):
                return fits[0]
        return ""

    def _changed(self, text: str) -> Iterator[str]:
        """The same call, with arguments that went through another first."""
        for before in self.before:
            used = [name for name in self.names if re.search(rf"\b{name}\b", text)]
            for chosen in [used, *([name] for name in used if len(used) > 1)]:
                pattern = rf"\b({'|'.join(chosen)})\b(?!\.shape|\.dtype)"
                yield re.sub(pattern, before.replace("{}", r"\1"), text)

    def _value(self, text: str, f: Callable[..., Any] | None, place: int) -> Any:
        """What a call returns in a case; the marker `_NOTHING` where it fails."""
        scope = {name: _copied(value) for name, value in zip(self.names, self.cases[place][0], strict=True)}
        scope |= {"f": f, "torch": torch, "loaded": loaded}
        torch.default_generator.manual_seed(SEED)
        if text not in self.codes:
            self.codes[text] = compile(text, "call", "eval")
        try:
            return eval(self.codes[text], scope)
        except BaseException:  # whatever is called may raise anything
            return _NOTHING

    def _right(self, text: str, f: Callable[..., Any] | None) -> bool:
        """Whether a call is right in all cases."""
        for place, (_, expected, *_) in enumerate(self.cases):
            value = self._value(text, f, place)
            fits = _fit("", value, expected)
            if fits is None or fits[0] or not self._is_right(place, fits[1]):
                return False
        return True

    def _is_right(self, place: int, value: Any) -> bool:
        _, expected, entrywise, double = self.cases[place]
        try:
            if isinstance(expected, Tensor) and not torch.allclose(
                value.double(), expected.double(), rtol=1e-3, atol=1e-3, equal_nan=True
            ):
                return False
            return value_difference(expected, value, "it", Strictness(entrywise, double)) is None
        except Exception:
            return False

    def _operators(self, text: str, f: Callable[..., Any]) -> list[str]:
        """The operators of torch that a call ends in, in alphabetical order; views are left out."""
        with contextlib.suppress(Exception), _Listening() as heard:
            self._value(text, f, 0)
            return sorted(heard.names)
        return []

    def is_spoiled(self) -> bool:
        """Whether what was called has changed torch itself for all that follows."""
        return self._canary() != self.natural

    def _canary(self) -> tuple[Any, ...]:
        try:
            sample = torch.tensor([[1.0, 2.0], [0.5, -1.0]])
            computed = (torch.softmax(sample @ sample.mT, -1) + sample.exp()).tolist()
            return (
                str(computed),
                torch.get_default_dtype(),
                torch.is_grad_enabled(),
                torch.is_inference_mode_enabled(),
                torch.are_deterministic_algorithms_enabled(),
                torch._C._len_torch_function_stack(),
                torch._C._len_torch_dispatch_stack(),
                sample.requires_grad,
            )
        except BaseException:
            return ("broken",)


_NOTHING = object()
_ADDED = re.compile(r"\(None,\) \* (\(\d - \w+\.ndim\))")
"""Leading dimensions that a way to call adds, and how many: they are taken from the result."""

_MOST_NUMBERS = 10_000
"""Of a result that goes through another call."""

_FEW = 12
"""How many ways to call are tried with what a class makes."""


def _keywords(f: type) -> set[str]:
    """What a class may be given by name, if it says so."""
    with contextlib.suppress(BaseException):
        parameters = inspect.signature(f).parameters.values()
        return {one.name for one in parameters if one.kind in (1, 3) and one.name != "validate_args"}
    return set()


def _methods(f: type) -> list[str]:
    return sorted(name for name in dir(f) if not name.startswith("_") and callable(getattr(f, name, None)))[:60]


def loaded(module: nn.Module, weights: dict[str, Tensor]) -> nn.Module:
    """A module with these weights, in its own order of parameters, in eval mode.

    Raises:
        ValueError: it has others.
    """
    own = dict(module.named_parameters())
    if [one.shape for one in own.values()] != [one.shape for one in weights.values()]:
        raise ValueError("other parameters")
    for parameter, weight in zip(own.values(), weights.values(), strict=True):
        parameter.data = weight.clone()
    return module.eval()


class _Listening(TorchDispatchMode):
    """Writes down which operators are called. Those that only look at a tensor in another way are left out."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not func.is_view and func not in _MOVES:
            self.names.add(str(func.overloadpacket))
        return func(*args, **(kwargs or {}))


_MOVES = frozenset(
    (
        torch.ops.aten.clone.default,
        torch.ops.aten._to_copy.default,
        torch.ops.aten._local_scalar_dense.default,
        torch.ops.aten._unsafe_view.default,
    )
)


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone(memory_format=torch.preserve_format)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_copied, value))
    return {key: _copied(item) for key, item in value.items()} if isinstance(value, dict) else value


def _evaluated(text: str, scope: dict[str, Any]) -> Any:
    try:
        return eval(text, scope)
    except Exception:
        return _NOTHING


def _arity(f: Callable[..., Any]) -> tuple[int, float, set[str] | Any]:
    """The least and most arguments, and the keywords that there may be."""
    schemas = _schemas(f)
    if schemas:
        needed_by = [sum(not one.has_default_value() for one in schema.arguments) for schema in schemas]
        return min(needed_by), max(len(schema.arguments) for schema in schemas), _Everything()
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except BaseException:
        return 0, float("inf"), _Everything()
    kinds = [one.kind for one in parameters]
    positional = [one for one in parameters if one.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
    needed = [one for one in parameters if one.default is one.empty and one.kind not in (2, 4)]
    most = float("inf") if inspect.Parameter.VAR_POSITIONAL in kinds else len(positional)
    keywords = {one.name for one in parameters}
    return len(needed), most, _Everything() if inspect.Parameter.VAR_KEYWORD in kinds else keywords


def _schemas(f: Callable[..., Any]) -> list[Any]:
    """What the dispatcher says about an operator, or about the function or method of torch that is named after one."""
    with contextlib.suppress(Exception):
        kind = type(f).__name__
        packet: Any = f if kind == "OpOverloadPacket" else None
        if kind in ("builtin_function_or_method", "method_descriptor"):
            packet = getattr(torch.ops.aten, f.__name__, None)
        found = [getattr(packet, name)._schema for name in packet.overloads()] if packet is not None else []
        lists = any("[]" in str(one.type) or "int" in str(one.type)[:5] for s in found for one in s.arguments[:2])
        return [] if packet is not f and lists else found
    return []


class _Everything:
    def __ge__(self, other: object) -> bool:
        return True


def _parts(returned: Any) -> Iterator[tuple[str, Any]]:
    """What came back, and what is in it: the entries of a tuple, what is without leading dimensions, attributes."""
    if returned is _NOTHING or returned is None:
        return
    yield "{}", returned
    if isinstance(returned, (tuple, list)):
        for place, item in enumerate(returned[:2]):
            yield f"{{}}[{place}]", item
            yield from ((f"{{}}[{place}]{text}", part) for text, part in _without_leading(item))
    elif isinstance(returned, Tensor):
        if returned.layout is not torch.strided or returned.is_nested:
            with contextlib.suppress(Exception):
                text = "{}.to_padded_tensor(0.0)[0]" if returned.is_nested else "{}.to_dense()"
                yield text, _evaluated(text.format("returned"), {"returned": returned})
        else:
            yield from (("{}" + text, part) for text, part in _without_leading(returned))
    else:
        for name in ("score", "probs", "logits", "ids", "tokens", "values", "wer", "fmeasure", "mean", "variance"):
            with contextlib.suppress(BaseException):
                if name in dir(returned):
                    yield f"{{}}.{name}", getattr(returned, name)


def _without_leading(value: Any) -> Iterator[tuple[str, Tensor]]:
    """A tensor without one leading dimension of length 1, and without two."""
    if isinstance(value, Tensor) and value.ndim > 1 and value.shape[0] == 1:
        yield "[0]", value[0]
        if value.ndim > 2 and value.shape[1] == 1:
            yield "[0, 0]", value[0, 0]


def _fit(text: str, value: Any, expected: Any) -> tuple[str, Any] | None:
    """A value in the form of what is expected, and the text that makes it so; None where it has another form."""
    try:
        return _fitted(text, value, expected)
    except BaseException:
        return None


def _fitted(text: str, value: Any, expected: Any) -> tuple[str, Any] | None:
    if type(value).__module__ == "numpy" and isinstance(expected, (Tensor, bool, int, float)):
        text, value = f"torch.as_tensor({text})", torch.as_tensor(value)
    if isinstance(expected, Tensor):
        if isinstance(value, (bool, int, float)) and not expected.ndim:
            return f"torch.tensor({text}, dtype=torch.{str(expected.dtype)[6:]})", torch.tensor(
                value, dtype=expected.dtype
            )
        if not isinstance(value, Tensor) or value.layout is not torch.strided or value.shape != expected.shape:
            return None
        if value.dtype == expected.dtype:
            return text, value.detach()
        if expected.dtype != torch.bool and value.dtype == torch.bool and expected.dtype.is_floating_point:
            return None
        return f"{text}.to(torch.{str(expected.dtype)[6:]})", value.detach().to(expected.dtype)
    if isinstance(expected, (bool, int, float)):
        if isinstance(value, Tensor) and value.numel() == 1:
            text, value = f"{text}.item()", value.item()
        if isinstance(value, bool) is not isinstance(expected, bool) or not isinstance(value, (bool, int, float)):
            return None
        if type(value) is type(expected):
            return text, value
        plain = type(expected)(value)
        return (f"{type(expected).__name__}({text})", plain) if plain == value else None
    if isinstance(expected, (list, tuple)) and type(expected) is not type(value):
        if not isinstance(value, (list, tuple)):
            return None
        return f"{type(expected).__name__}({text})", type(expected)(value)
    return (text, value) if type(value) is type(expected) else None


# Which callables there are ------------------------------------------------------------------------------------


def collect(packages: list[str]) -> list[str]:
    """Every callable of torch and of these packages once, by its shortest public name, in order."""
    for package in packages:
        _import_all(package)
    found: dict[Any, str] = {}
    roots = {"torch", *packages}
    for module in sorted((name for name in sys.modules if name.partition(".")[0] in roots), key=_rank):
        if not _within(module, _NOTHING_COMPUTED) and not _NO_PART.search(module):
            for path, value in _inside(sys.modules[module]):
                if not _NEVER.search(path) and not _elsewhere(value, roots):
                    found.setdefault(_identity(value), f"{module}:{path}")
    return [*found.values(), *(_operator_names() if "torch" in packages else ())]


def _import_all(package: str) -> None:
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        names = list(TORCH) if package == "torch" else [package]
        if package != "torch":
            path = getattr(importlib.import_module(package), "__path__", [])
            names += [module.name for module in pkgutil.walk_packages(path, f"{package}.", onerror=lambda name: None)]
        for name in names:
            if not _NO_PART.search(name):
                with contextlib.suppress(BaseException):
                    importlib.import_module(name)


def _inside(module: Any) -> Iterator[tuple[str, Any]]:
    """The callables of a module: functions, classes that make something to call, and what needs no object."""
    for name in sorted(dir(module)):
        value = _attribute(module, name)
        if isinstance(value, types.ModuleType) or not callable(value):
            continue
        if not isinstance(value, type):
            yield name, value
        elif issubclass(value, torch.autograd.Function):
            yield f"{name}.apply", value.apply
        elif issubclass(value, Tensor):
            for method in sorted(dir(value)):
                if callable(_attribute(value, method)):
                    yield f"{name}.{method}", _attribute(value, method)
        else:
            if issubclass(value, _USEFUL) or not value.__module__.startswith("torch"):
                yield name, value
            for method, kind in sorted(vars(value).items()):
                if isinstance(kind, (staticmethod, classmethod)):
                    yield f"{name}.{method}", _attribute(value, method)


_USEFUL = (nn.Module, torch.distributions.Distribution, torch.distributions.transforms.Transform)


def _attribute(owner: Any, name: str) -> Any:
    with contextlib.suppress(BaseException):
        return getattr(owner, name)
    return None


def _operator_names() -> list[str]:
    """All that torch's dispatcher knows."""
    names = {name.partition(".")[0].replace("::", ".") for name in torch._C._dispatch_get_all_op_names()}
    names |= {schema.name.replace("::", ".") for schema in torch._C._jit_get_all_schemas() if "aten::" in schema.name}
    left_out = ("c10d", "_c10d", "symm_mem", "fsdp", "streams", "profiler", "inductor", "_dtensor", "export")
    return sorted(f"torch:ops.{name}" for name in names if not name.startswith(left_out) and not _NEVER.search(name))


def _rank(module: str) -> tuple[int, int, str]:
    parts = module.split(".")
    return sum(part.startswith("_") for part in parts), len(parts), module


def _identity(value: Any) -> Any:
    with contextlib.suppress(BaseException):
        hash(value)
        return (type(value), value)
    return id(value)


def _elsewhere(value: Any, roots: set[str]) -> bool:
    """Whether this is another package's, which a module has only imported: of Python itself, say."""
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] not in roots


def _within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def resolve(name: str) -> Any:
    """The callable of this name."""
    module, _, path = name.partition(":")
    value = importlib.import_module(module)
    for part in path.split("."):
        value = getattr(value, part)
    return value


# What the grader asks for -------------------------------------------------------------------------------------


_walk: Walk
"""What `prepare` has made."""


def prepare(packed: str) -> None:
    """Get ready to walk with these settings of `Walk`, packed as text."""
    global _walk
    warnings.simplefilter("ignore")
    # most errors print what was passed
    Tensor.__repr__ = lambda self, **settings: "a tensor"  # type: ignore[assignment, method-assign]
    settings = torch.load(io.BytesIO(base64.b64decode(packed)), weights_only=True)
    _walk = Walk(**settings)


def walk(name: str) -> tuple[str, int, list[str], bool]:
    """What was found with a callable: the call or "", of how many it is made, its operators; is the box spoiled?"""
    try:
        f = resolve(name)
    except BaseException:
        return "", 0, [], False
    if _walk.loads and not (isinstance(f, type) and issubclass(f, nn.Module)):
        return "", 0, [], False
    text, calls, operators = _walk.try_out(f) or ("", 0, [])
    return text, calls, operators, _walk.is_spoiled()
