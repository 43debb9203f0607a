"""A mistake as the smallest thing that makes it: a right answer's source with a few words changed."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from typing import Any

Edit = tuple[str, str]
"""A piece of the source, at most three lines, which stands there once; and what it is changed into."""

MOST_LINES = 3


class EditDoesNotFit(ValueError):
    """A piece of source to change is missing, occurs more than once, or is too long."""


class Edited:
    """A right answer with changes, which is compiled when it is first called.

    Two of them can be made at once if they change different pieces of one answer, unless one is not `paired`.

    Args:
        right: a function or a class, one of the exercise's right answers or its reference; its source is read.
        edits: the changes.
        beside: only mistakes with the same word are tried together, such as those that show in one part.
        paired: whether it is tried together with others.
    """

    def __init__(self, right: Callable[..., Any], *edits: Edit, beside: str = "", paired: bool = True) -> None:
        self.right, self.edits, self._beside, self._paired = right, edits, beside, paired
        update_wrapper(self, right, updated=())  # what asks where it is from is told

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the changed answer."""
        return self.answer(*args, **kwargs)

    @property
    def source(self) -> str:
        """The changed source.

        Raises:
            EditDoesNotFit: one of the edits changes something else than one short piece.
        """
        source = _source_of(self.right)
        for (old, new), (start, end) in sorted(zip(self.edits, self._spans, strict=True), key=lambda each: -each[1][0]):
            if max(old.count("\n"), new.count("\n")) >= MOST_LINES:
                raise EditDoesNotFit(f"{old!r} -> {new!r} is longer than {MOST_LINES} lines")
            source = source[:start] + new + source[end:]
        return source

    @cached_property
    def answer(self) -> Callable[..., Any]:
        """Return what the changed source defines."""
        names = dict(vars(sys.modules[self.right.__module__]))
        exec(compile(self.source, f"<{self.right.__name__}, edited>", "exec"), names)  # annotations stay text, as here
        made: Callable[..., Any] = names[self.right.__name__]
        return made

    def together_with(self, other: object) -> Edited | None:
        """Both at once; None if they change the same piece, may not be tried together, or one does not fit."""
        if not isinstance(other, Edited) or self.right is not other.right or self._beside != other._beside:
            return None
        try:
            spans = [*self._spans, *other._spans]
        except EditDoesNotFit:  # the certificate tells; a check goes on without
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
