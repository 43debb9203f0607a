"""Decoding state that beam search can reorder: a text may continue as several copies, or continue another text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from operator import methodcaller
from typing import Any, ClassVar

from jaxtyping import Int
from torch import Tensor


class TextState:
    """A batch of texts being written, where each text is one row of every tensor.

    A subclass names its attributes with such rows: tensors, tuples or dataclasses of tensors, other states, or None
    where there is nothing yet.

    Attributes:
        batch: the number of texts.
        of_source: the attributes that a text shares with its copies.
        of_tokens: the attributes that depend on a text's own tokens.
    """

    batch: int
    of_source: ClassVar[tuple[str, ...]] = ()
    of_tokens: ClassVar[tuple[str, ...]] = ()

    def expand(self, copies: int) -> None:
        """Replace every text by `copies` copies, in consecutive rows."""
        self.batch *= copies
        for name in (*self.of_source, *self.of_tokens):
            self._replace(name, methodcaller("expand", copies), methodcaller("repeat_interleave", copies, dim=0))

    def select(self, rows: Int[Tensor, " batch"]) -> None:
        """Let text i continue text `rows[i]`, a copy with the same source."""
        for name in self.of_tokens:
            self._replace(name, methodcaller("select", rows), lambda tensor: tensor[rows])

    def _replace(self, name: str, state: Callable[[TextState], None], tensor: Callable[[Tensor], Tensor]) -> None:
        setattr(self, name, _changed(getattr(self, name), state, tensor))


def _changed(held: Any, state: Callable[[TextState], None], tensor: Callable[[Tensor], Tensor]) -> Any:
    """Return the value with every state in it changed in place, and every tensor replaced."""
    if isinstance(held, TextState):
        state(held)
        return held
    if isinstance(held, tuple):
        return tuple(_changed(part, state, tensor) for part in held)
    if is_dataclass(held) and not isinstance(held, type):
        parts = {field.name: _changed(getattr(held, field.name), state, tensor) for field in fields(held)}
        return replace(held, **parts)
    return tensor(held) if isinstance(held, Tensor) else held
