"""Beginnings, and how a model continues them: each several times, since sampling rarely writes the same text twice."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from html import escape

from course_lib.show.interactive import interactive

_WIDTH = 84
"""Longer lines would be broken inside a word in a narrow window."""


def prompts(go_on: Callable[[str], str], beginnings: Sequence[str], times: int = 3) -> None:
    """Show how a model continues some beginnings.

    Args:
        go_on: returns the whole text for a beginning, or a sentence that says why not.
        beginnings: at least one.
        times: how often the model continues each.

    Raises:
        ValueError: there is no beginning.
    """
    if not beginnings:
        raise ValueError("a model continues a beginning: give at least one")
    texts = [[go_on(beginning).removeprefix(beginning).strip() for _ in range(times)] for beginning in beginnings]
    whole = [f"{beginning} … {text}" for beginning, [text, *_more] in zip(beginnings, texts, strict=True)]
    interactive(
        "prompts",
        {"beginnings": list(beginnings), "texts": [[text.split() for text in drawn] for drawn in texts]},
        still="".join(f"<p>{escape(text)}</p>" for text in whole),
        alt="Beginnings, and how the model continues them.",
        text="\n\n".join(textwrap.fill(text, _WIDTH) for text in whole),
    )
