"""Mistakes as edits: a right answer's source with a few words changed."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from typing import Any

Edit = tuple[str, str]
"""A piece of the source, at most three lines, which occurs once, and its replacement."""

MOST_LINES = 3


class EditDoesNotFit(ValueError):
    """A piece of source to change is missing, occurs more than once, or is too long."""


class Edited:
    """A right answer with edits, compiled when it is first called.

    Two of these can be combined if they change different pieces of one answer, unless one is not `paired`.

    Args:
        right: one of the exercise's right answers, or its reference: a function or class whose source is read.
        edits: the changes.
        beside: only mistakes with the same word here are combined, such as those that show in one part.
        paired: whether it may be combined with others.
    """

    def __init__(self, right: Callable[..., Any], *edits: Edit, beside: str = "", paired: bool = True) -> None:
        self.right, self.edits, self._beside, self._paired = right, edits, beside, paired
        update_wrapper(self, right, updated=())  # so that its name and module can be looked up

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the changed answer."""
        return self.answer(*args, **kwargs)

    @property
    def source(self) -> str:
        """The changed source.

        Raises:
            EditDoesNotFit: an edit does not change exactly one short piece.
        """
        source = _source_of(self.right)
        for (old, new), (start, end) in sorted(zip(self.edits, self._spans, strict=True), key=lambda each: -each[1][0]):
            if max(old.count("\n"), new.count("\n")) >= MOST_LINES:
                raise EditDoesNotFit(f"{old!r} -> {new!r} is longer than {MOST_LINES} lines")
            source = source[:start] + new + source[end:]
        return source

    @cached_property
    def answer(self) -> Callable[..., Any]:
        """The function or class that the changed source defines."""
        names = dict(vars(sys.modules[self.right.__module__]))
        exec(compile(self.source, f"<{self.right.__name__}, edited>", "exec"), names)  # annotations stay text, as here
        made: Callable[..., Any] = names[self.right.__name__]
        return made

    def together_with(self, other: object) -> Edited | None:
        """Combine both; None if they change the same piece, may not be combined, or one does not fit."""
        if not isinstance(other, Edited) or self.right is not other.right or self._beside != other._beside:
            return None
        try:
            spans = [*self._spans, *other._spans]
        except EditDoesNotFit:  # the certificate reports it; a check continues without
            return None
        crossing = any(a < d and c < b for n, (a, b) in enumerate(spans) for c, d in spans[:n])
        if crossing or not self._paired or not other._paired:
            return None
        return Edited(self.right, *self.edits, *other.edits, beside=self._beside)

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The start and end of each edit's piece in the right answer's source."""
        source = _source_of(self.right)
        for old, _ in self.edits:
            if source.count(old) != 1:
                raise EditDoesNotFit(
                    f"{old!r} stands {source.count(old)} times in {self.right.__name__}, not once: rewrite the edit"
                )
        return [(source.index(old), source.index(old) + len(old)) for old, _ in self.edits]


@cache
def _source_of(right: Callable[..., Any]) -> str:
    return textwrap.dedent(inspect.getsource(right))
