"""A trap for functions that an answer may not call, by whatever name or detour it reaches them.

`rules.py` reads an answer; this watches it run, for what no reading finds: `getattr(torch, "soft" + "max")`, a
function saved by an earlier cell, a cell too long to be read. Best effort, and said to be so: the answer runs in
the same process, and whoever takes the trap apart escapes it. (A box adds a bar below Python, out of easy reach.)
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import FrameType, TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
"""In the path of every installed package, and of nothing that a student writes."""


class RuleBroken(Exception):
    """What a forbidden function raises while an answer runs."""


class Trap(TorchFunctionMode):
    """While it is entered, calls of forbidden functions raise, here and in threads that the answer starts.

    Three things are watched: what torch passes to a mode, which is every operation on tensors; every call of a
    function written in C, even where the answer has turned modes off; and every call of a function in an installed
    package, since some of torch's (`torch.func.jacfwd`) and all of other packages' are not operations.

    Attributes:
        used: the first forbidden name that was called, even if the answer caught the exception; empty if none.
    """

    def __init__(self, forbidden: Iterable[str]) -> None:
        super().__init__()
        self._names = tuple(forbidden)
        self._profilers: list[Any] = []
        self.used = ""

    def __enter__(self) -> Trap:
        self._profilers = [sys.getprofile(), threading.getprofile()]
        threading.setprofile(self._watch)
        super().__enter__()  # type: ignore[no-untyped-call]
        sys.setprofile(self._watch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ours, threads = self._profilers
        sys.setprofile(ours)
        threading.setprofile(threads)
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Watch nothing meanwhile: for what the checker itself does while the answer waits for it."""
        profiler = sys.getprofile()
        sys.setprofile(None)
        try:
            with torch._C.DisableTorchFunction():
                yield
        finally:
            sys.setprofile(profiler)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Called by torch in place of each of its functions."""
        self._refuse(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))

    def _watch(self, frame: FrameType, event: str, called: Any) -> None:
        """Called by Python before every call."""
        if event == "c_call":
            self._refuse(getattr(called, "__name__", ""))
        elif event == "call" and _known(frame.f_code.co_qualname, self._names):
            file = frame.f_code.co_filename
            if any(part in file for part in _INSTALLED):
                self._refuse(frame.f_code.co_qualname)

    def _refuse(self, name: str) -> None:
        broken = _known(name, self._names)
        if broken:
            self.used = self.used or broken
            raise RuleBroken(f"{broken} may not be used here")


def forbidden_name(name: str, forbidden: Iterable[str]) -> str:
    """The forbidden name that a function's own name stands for; empty if none.

    A name stands for another if it has its words, in order: `_safe_softmax` and `softmax.int` are a softmax, and
    `_scaled_dot_product_flash_attention_for_cpu` is `scaled_dot_product_attention`.

    Args:
        name: as in `__name__` or `__qualname__`; of "jacfwd.<locals>.wrapper" every part counts.
        forbidden: the names that may not be used.
    """
    parts = [part.split("_") for part in name.split(".")]
    return next((wanted for wanted in forbidden if any(_in_order(wanted.split("_"), part) for part in parts)), "")


_known = lru_cache(maxsize=8192)(forbidden_name)
"""The same, remembered: it is asked before every call of an answer."""


def _in_order(words: list[str], among: list[str]) -> bool:
    rest = iter(among)
    return all(word in rest for word in words)
