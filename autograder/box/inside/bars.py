"""What an answer may not compute is taken out of the process that judges it, before anything of a student's has run.

torch's dispatcher then has no kernel left for it, whatever leads there: a thread, TorchScript, a sparse tensor, a
function that an earlier cell has kept. Functions that are written in Python lose their code, wherever they are
referred to. It is for good: what `torch.library` registers could be found and taken back, so this goes beneath it.

Cells run in such a process as well, and one of a lesson's own may need what is gone. So while no answer is asked, a
barred operator returns what means nothing, in the right shape; while one is, it raises `RuleBroken`.
"""

from __future__ import annotations

import ctypes
import fnmatch
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from course_lib.checking.ready_made import READY_MADE, TWICE
from course_lib.checking.trap import RuleBroken

_NO_KEYS = ("Meta", "Autograd", "Functionalize", "Batched", "Autocast", "FuncTorch", "Python", "Tracer")
"""Parts of the names of dispatch keys whose kernels compute nothing by themselves: they lead on to one that does."""

_TWINS = "torch's_operators_in_Python"
_used: list[str] = []
_lacked: list[str] = []
_blanking: ContextVar[bool] = ContextVar("_blanking", default=False)
_asked: list[bool] = []


@contextmanager
def answering() -> Iterator[list[str]]:
    """While an answer is asked; the list receives the families that it has used all the same, by their ids."""
    _used.clear()
    _asked.append(True)
    try:
        yield _used
    finally:
        _asked.pop()


def is_answering() -> bool:
    """Whether an answer is asked now."""
    return bool(_asked)


def note_lack(name: str) -> None:
    """Remember that something was asked for that is not in this box."""
    _lacked.append(name)


def has_lacked() -> bool:
    """Whether something was asked for, since this was last asked, that is not in this box."""
    lacked = bool(_lacked)
    _lacked.clear()
    return lacked


def refuse(family: str) -> None:
    """What a barred function does.

    Raises:
        RuleBroken: always.
    """
    note_lack(family)
    _used.append(family)
    raise RuleBroken(f"{family} may not be used here")


def bar(families: Sequence[str]) -> None:
    """Take these families out of this process for the rest of its life.

    With them go the modules in which torch is written once more, as far as they have been imported.

    Args:
        families: their ids.
    """
    if families:
        _empty(TWICE, _TWINS)
    with warnings.catch_warnings():  # torch warns of every replacement
        warnings.simplefilter("ignore")
        libraries: dict[str, Any] = {}
        for family in families:
            for name in _operators(READY_MADE[family].operators):
                namespace = name.partition("::")[0]
                if namespace not in libraries:
                    libraries[namespace] = _library(namespace)
                for key in _computing_keys(name):  # as torch's own `Library.impl` does it
                    libraries[namespace].impl(name, key, _refusal(family, name), False)
            _empty(READY_MADE[family].functions, family)


# Operators ----------------------------------------------------------------------------------------------------


@cache
def _operators(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the operators, overloads included, that fit one of these patterns."""
    every = torch._C._dispatch_get_all_op_names()
    return tuple(name for name in every if any(_fits(name, pattern) for pattern in patterns))


def _fits(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name.partition(".")[0], pattern)


@cache
def _computing_keys(name: str) -> tuple[str, ...]:
    """The dispatch keys at which an operator has a kernel that computes."""
    return tuple(key for key in _keys() if torch._C._dispatch_has_kernel_for_dispatch_key(name, key))


@cache
def _keys() -> tuple[str, ...]:
    found = []
    for key in torch._C.DispatchKey.__members__:
        if not any(part in key for part in _NO_KEYS) or key.startswith("Composite"):
            with suppress(RuntimeError):  # some names are marks between the keys
                torch._C._dispatch_has_kernel_for_dispatch_key("aten::add.Tensor", key)
                found.append(key)
    return tuple(found)


def _library(namespace: str) -> Any:
    """What registers kernels, and can undo that. It is never given back, and nothing that could be found keeps it."""
    library = torch._C._dispatch_library("IMPL", namespace, "", __file__, 0)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
    return library


def _refusal(family: str, name: str) -> Callable[..., Any]:
    def refusal(*args: Any, **kwargs: Any) -> Any:
        if is_answering():
            refuse(family)
        note_lack(family)
        return _blank(name, args, kwargs)

    return refusal


def _blank(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the operator would return, with no number in it that means anything.

    Where torch can tell without computing, it has the right shape and dtype; else those of the first tensor passed.
    """
    tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    if not _blanking.get():
        namespace, _, rest = name.partition("::")
        packet, _, overload = rest.partition(".")
        operator = getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")
        token = _blanking.set(True)
        try:
            seen = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to("meta"), (args, kwargs))
            return pytree.tree_map_only(torch.Tensor, _filled, operator(*seen[0], **seen[1]))
        except Exception:  # torch refuses in many ways
            pass
        finally:
            _blanking.reset(token)
    return _filled(tensors[0]) if tensors else None


def _filled(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor on the CPU, like this one; a gradient can be asked of it, and does not get far."""
    value = torch.nan if tensor.is_floating_point() else 0
    wants = tensor.requires_grad and torch.is_grad_enabled()
    return torch.full(tensor.shape, value, dtype=tensor.dtype, requires_grad=wants)


# Functions ----------------------------------------------------------------------------------------------------


def _empty(names: Iterable[str], family: str) -> None:
    """Take the code out of these functions, and out of all functions of these classes and modules."""
    for name in names:
        for function in _functions(name):
            free = function.__code__.co_freevars
            function.__code__ = _code(family, len(free)).replace(co_freevars=free)


def _functions(name: str) -> list[FunctionType]:
    found = _named(name)
    if isinstance(found, FunctionType):
        return [found]
    inside = [found] if isinstance(found, type) else _modules(name)
    return list({id(function): function for thing in inside for function in _written_in(thing, name)}.values())


def _named(name: str) -> Any:
    """What a dotted name means, if it has been imported: torch imports some modules when one asks for them."""
    owner, _, attribute = name.rpartition(".")
    return sys.modules.get(name) or vars(sys.modules.get(owner, types)).get(attribute)


def _modules(name: str) -> list[types.ModuleType]:
    return [module for key, module in list(sys.modules.items()) if key == name or key.startswith(f"{name}.")]


def _written_in(thing: object, name: str) -> Iterator[FunctionType]:
    """The functions of a module or class, those of its own classes included, behind whatever wraps them."""
    pending, seen = [*vars(thing).values()], set[int]()
    while pending:
        value = pending.pop()
        if id(value) in seen or not (getattr(value, "__module__", "") or "").startswith(name.rpartition(".")[0]):
            continue
        seen.add(id(value))
        if isinstance(value, FunctionType):
            pending += [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
            if value.__module__.startswith(name) or _within(thing, value):
                yield value
        elif isinstance(value, type) and value.__module__.startswith(name):
            pending += vars(value).values()
        elif isinstance(value, (staticmethod, classmethod)):
            pending.append(value.__func__)
        elif isinstance(value, property):
            pending += filter(None, (value.fget, value.fset))


def _within(thing: object, function: FunctionType) -> bool:
    return isinstance(thing, type) and function.__module__ == thing.__module__


def _is_filled(cell: types.CellType) -> bool:
    with suppress(ValueError):
        return cell.cell_contents is not None
    return False


@cache
def _code(family: str, free: int) -> CodeType:
    """Code that only refuses, for a function that has this many free variables."""
    names = ", ".join(f"_{number}" for number in range(free))
    keep = f"nonlocal {names}" if free else "pass"
    refusal = f"__import__({__name__!r}, fromlist=['refuse']).refuse({family!r})"
    made: dict[str, Any] = {}
    exec(
        f"def outer({names}):\n  def gone(*args, **kwargs):\n    {keep}\n    {refusal}\n  return gone",
        made,
    )
    code: CodeType = made["outer"](*range(free)).__code__
    return code
