"""An explorer of a model's attention on a text: all layers, all heads, and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from jaxtyping import Float
from torch import Tensor

from course_lib.show.interactive import interactive


@dataclass(frozen=True)
class TextAttention:
    """A text, and the attention weights of a model that read it.

    Attributes:
        queries: the words that look.
        alpha: the weights of every layer and head.
        keys: the words that are looked at; None where they are the queries themselves.
    """

    queries: Sequence[str]
    alpha: Float[Tensor, "layers heads queries keys"]
    keys: Sequence[str] | None = None


def heads(texts: Sequence[TextAttention]) -> None:
    """Show where each word of some texts looks, with a layer and a head, or the mean of all, to be chosen.

    Args:
        texts: at least one, all read by the same model.

    Raises:
        ValueError: there is no text.
    """
    if not texts:
        raise ValueError("heads needs at least one text that a model has read")
    layers, count, _queries, _keys = texts[0].alpha.shape
    data = [
        {
            "name": " ".join(text.queries),
            "queries": list(text.queries),
            "keys": list(_looked_at(text)),
            "alpha": (1000 * text.alpha).round().int().tolist(),
        }
        for text in texts
    ]
    interactive(
        "heads",
        {"texts": data, "layers": layers, "heads": count},
        still=f"<p>Layer 1, the mean of its heads:</p>{_mean_of_the_first(texts[0])}",
        alt=f"Where each word of “{data[0]['name']}” looks, in each of {layers} layers with {count} heads.",
        text=_most_looked_at(texts[0]),
    )


def _looked_at(text: TextAttention) -> Sequence[str]:
    return text.queries if text.keys is None else text.keys


def _mean_of_the_first(text: TextAttention) -> str:
    """The first layer as a table."""
    head = "".join(f"<th>{escape(word)}</th>" for word in _looked_at(text))
    rows = [
        f"<tr><th>{escape(word)}</th>{''.join(f'<td>{weight:.2f}</td>' for weight in weights)}</tr>"
        for word, weights in zip(text.queries, text.alpha[0].mean(dim=0).tolist(), strict=True)
    ]
    return f"<table><tr><td></td>{head}</tr>{''.join(rows)}</table>"


def _most_looked_at(text: TextAttention) -> str:
    """For each layer and head, the word that each word looks at most."""
    keys = _looked_at(text)
    return "\n".join(
        f"layer {layer}, head {head}: "
        + ", ".join(f"{word} → {keys[key]}" for word, key in zip(text.queries, most, strict=True))
        for layer, by_head in enumerate(text.alpha.argmax(dim=-1).tolist(), start=1)
        for head, most in enumerate(by_head, start=1)
    )
