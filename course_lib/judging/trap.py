"""A trap for functions that an answer may not call, whatever name it uses.

`rules.py` reads an answer; this module watches it run, to find what reading cannot: `getattr(torch, "soft" + "max")`, a
function saved by an earlier cell, `torch.vmap`, a distribution that takes a softmax. The answer runs in the same
process and can evade the trap on purpose: in a thread, in TorchScript, by switching torch's modes off. Rules are for
the honest; code that could hide a call is shown to the teacher (`hiding.py`).
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from torch.overrides import TorchFunctionMode


class RuleBroken(Exception):
    """Raised by a forbidden function while an answer runs."""


class Trap(TorchFunctionMode):
    """Makes torch functions with forbidden names raise `RuleBroken` while it is entered.

    Attributes:
        used: the first forbidden name that was called, even if the answer caught the exception; empty if none.
    """

    def __init__(self, forbidden: Iterable[str]) -> None:
        super().__init__()
        self._names = tuple(forbidden)
        self._is_paused = False
        self.used = ""

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Stop watching within this block, while the checker works."""
        before, self._is_paused = self._is_paused, True
        try:
            yield
        finally:
            self._is_paused = before

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Handle a call of a torch function, which torch redirects here."""
        if not self._is_paused and (broken := _known(getattr(func, "__name__", ""), self._names)):
            self.used = self.used or broken
            raise RuleBroken(f"{broken} may not be used here")
        return func(*args, **(kwargs or {}))


def forbidden_name(name: str, forbidden: Iterable[str]) -> str:
    """Return the forbidden name that matches a function's name; empty if none does.

    A name matches if it contains the forbidden name's words in order: `_safe_softmax` and `softmax.int` are a softmax,
    and `_scaled_dot_product_flash_attention_for_cpu` is `scaled_dot_product_attention`.

    Args:
        name: the function's `__name__`; every part of "softmax.int" counts.
        forbidden: the names that may not be used.
    """
    parts = [part.split("_") for part in name.split(".")]
    return next((wanted for wanted in forbidden if any(_in_order(wanted.split("_"), part) for part in parts)), "")


_known = lru_cache(maxsize=8192)(forbidden_name)
"""`forbidden_name` with a cache, since every torch call of an answer needs it."""


def _in_order(words: list[str], among: list[str]) -> bool:
    rest = iter(among)
    return all(word in rest for word in words)
