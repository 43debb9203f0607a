"""Simulates another device on a machine that has none, as far as an answer can see.

On a GPU, an answer fails if it creates a tensor on the CPU and combines it with its input. Values do not show this. So
a case can be called with tensors that claim to be on `cuda:0` (`Case.elsewhere`), or with that device by name. They
stay on the CPU; this module tracks which ones count as elsewhere, and refuses what torch would refuse.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

DEVICE = torch.device("cuda", 0)
MIXED = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
"""Torch's own message."""

_INDEXED = ("__getitem__", "__setitem__", "copy_", "index_put_")
"""Functions that accept tensors on the CPU; the result is where the first tensor is."""

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
"""Functions that use only shapes, or only one tensor."""

_MARK = "_katze_elsewhere"


class MixedDevices(RuntimeError):
    """Raised where torch would refuse tensors on two devices."""


def put(value: Any) -> Any:
    """Mark all tensors in a value or a module as elsewhere; return it."""
    for tensor in tensors_in(value):
        setattr(tensor, _MARK, True)
    return value


def left_here(value: Any) -> bool:
    """Return whether a value contains a tensor on the CPU."""
    return any(not _is_elsewhere(tensor) for tensor in tensors_in(value))


class Elsewhere(TorchFunctionMode):
    """Raises an error, while it is entered, when tensors that were `put` elsewhere meet those on the CPU.

    Attributes:
        mixed: whether that happened, even if the answer caught the exception.
    """

    mixed = False

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Handle a call of a torch function, which torch redirects here."""
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        if name == "__get__" and _is_elsewhere(args[0]):
            known = {"device": DEVICE, "is_cuda": True, "is_cpu": False}
            if (asked := getattr(getattr(func, "__self__", None), "__name__", "")) in known:
                return known[asked]
        if name == "device":  # the device class itself, as in `with x.device:`
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
            out = out.clone()  # on another device, torch would return a copy
        return put(out) if target else out


def _asked(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | None:
    """Return whether a call asks for the other device; None if it names no device."""
    if name in ("cpu", "cuda"):
        return name == "cuda"
    named = [kwargs.get("device"), *(args[1:] if name == "to" else ())]
    devices = [torch.device(one) for one in named if isinstance(one, (str, torch.device))]
    return devices[0].type == DEVICE.type if devices else None


def on_the_cpu(value: Any) -> Any:
    """Move a value back from the other device to the CPU."""
    if isinstance(value, (str, torch.device)) and str(value).startswith(DEVICE.type):
        return "cpu"
    if isinstance(value, dict):
        return {key: on_the_cpu(item) for key, item in value.items()}
    return type(value)(map(on_the_cpu, value)) if type(value) in (list, tuple) else value


def _is_elsewhere(value: Any) -> bool:
    return bool(getattr(value, _MARK, False))


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in a value, however deeply nested, and those of a module."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, nn.Module):
        yield from value.parameters()
        yield from value.buffers()
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)
