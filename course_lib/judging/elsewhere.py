"""Another device, as far as an answer can see, on a machine that has none.

On a GPU an answer stops with an error where it makes a tensor on the CPU and meets its input with it. No values tell.
So a case can be called with tensors that say they are on `cuda:0` (`Case.elsewhere`), or with that device by name.
They stay on the CPU; which ones count as being elsewhere is kept track of, and what torch would refuse is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

DEVICE = torch.device("cuda", 0)
MIXED = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
"""Torch's own words."""

_INDEXED = ("__getitem__", "__setitem__", "copy_", "index_put_")
"""May be given tensors of the CPU; the result is where the first one is."""

_SHAPES = (
    "expand_as",
    "view_as",
    "reshape_as",
    "is_same_size",
    "broadcast_tensors",
    "size",
    "shape",
    "dtype",
    "__get__",
)
"""Look at shapes only, or at one tensor."""

_MARK = "_katze_elsewhere"


class MixedDevices(RuntimeError):
    """Raised where torch would refuse tensors on two devices."""


def put(value: Any) -> Any:
    """Mark all tensors in a value or a module as being elsewhere; return it."""
    for tensor in tensors_in(value):
        setattr(tensor, _MARK, True)
    return value


def left_here(value: Any) -> bool:
    """Return whether there is a tensor in a value that is on the CPU."""
    return any(not _is_elsewhere(tensor) for tensor in tensors_in(value))


class Elsewhere(TorchFunctionMode):
    """While it is entered, tensors that were `put` elsewhere meet those on the CPU with an error.

    Attributes:
        mixed: whether that has happened, even if the answer caught the exception.
    """

    mixed = False

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Called by torch in place of each of its functions."""
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        if name == "__get__" and _is_elsewhere(args[0]):
            known = {"device": DEVICE, "is_cuda": True, "is_cpu": False}
            if (asked := getattr(getattr(func, "__self__", None), "__name__", "")) in known:
                return known[asked]
        if name == "device":  # the class of devices itself, in `with x.device:`, say
            return func(*args, **kwargs)
        given = list(tensors_in([args, kwargs]))
        away = [_is_elsewhere(tensor) for tensor in given]
        moves = name in ("to", "type_as", "cpu", "cuda")
        mixed = any(away) and any(tensor.ndim and not there for tensor, there in zip(given, away, strict=True))
        if mixed and not (moves or name in _SHAPES or (name in _INDEXED and away[0])):
            self.mixed = True
            raise MixedDevices(MIXED)
        target = _asked(name, args, kwargs)
        if target is None:
            target = away[-1] if moves and away else away[0] if name in _INDEXED else any(away)
        out = args[0] if name == "cuda" else func(*on_the_cpu(args), **on_the_cpu(kwargs))
        if moves and isinstance(out, Tensor) and _is_elsewhere(out) != target:
            out = out.clone()  # what torch returns as it is would be a copy
        return put(out) if target else out


def _asked(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | None:
    """Return whether a call asks for the other device; None where it names none."""
    if name in ("cpu", "cuda"):
        return name == "cuda"
    named = [kwargs.get("device"), *(args[1:] if name == "to" else ())]
    devices = [torch.device(one) for one in named if isinstance(one, (str, torch.device))]
    return devices[0].type == DEVICE.type if devices else None


def on_the_cpu(value: Any) -> Any:
    """The same value, moved back from the other device to the CPU."""
    if isinstance(value, (str, torch.device)) and str(value).startswith(DEVICE.type):
        return "cpu"
    if isinstance(value, dict):
        return {key: on_the_cpu(item) for key, item in value.items()}
    return type(value)(map(on_the_cpu, value)) if type(value) in (list, tuple) else value


def _is_elsewhere(value: Any) -> bool:
    return bool(getattr(value, _MARK, False))


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors in a value, however deep, and those of a module."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, nn.Module):
        yield from value.parameters()
        yield from value.buffers()
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)
