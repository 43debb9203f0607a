"""Where a model looks: the attention weights of every layer and head, on a text, and while it translates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from course_lib.show.interactive import interactive
from course_lib.show.stills import still_table, weight_rows


@dataclass(frozen=True)
class TextAttention:
    """A text, and the attention weights of a model that read it.

    Attributes:
        queries: the words that look.
        alpha: the weights of every layer and head.
        keys: the words that are looked at; None if these are the queries.
    """

    queries: Sequence[str]
    alpha: Float[Tensor, "layers heads queries keys"]
    keys: Sequence[str] | None = None


def heads(texts: Sequence[TextAttention]) -> None:
    """Show where each word of some texts looks; the reader chooses a layer and a head, or the mean of all.

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
    layer, head, query = _most_telling(texts[0])
    interactive(
        "heads",
        {"texts": data, "layers": layers, "heads": count, "opens": [layer, head + 1, query]},  # 0 is the mean of heads
        still=still_table(
            f"Head {head + 1} of layer {layer + 1}:",
            _looked_at(texts[0]),
            weight_rows(texts[0].queries, texts[0].alpha[layer, head]),
        ),
        alt=f"Where each word of “{data[0]['name']}” looks, in each of {layers} layers with {count} heads.",
        text=_most_looked_at(texts[0]),
    )


def _looked_at(text: TextAttention) -> Sequence[str]:
    return text.queries if text.keys is None else text.keys


def _most_telling(text: TextAttention) -> tuple[int, int, int]:
    """Return the layer, head and query to show first, where attention is most concentrated on single words.

    Attention to the word itself does not count, nor to the first word or [SEP], where a head with nothing to do rests.
    """
    alpha = text.alpha.clone()
    if text.keys is None:
        alpha[..., [index == 0 or word.startswith("[") for index, word in enumerate(text.queries)]] = 0.0
        alpha.diagonal(dim1=-2, dim2=-1).zero_()
    most = alpha.amax(dim=-1)
    layer, head = divmod(int(most.mean(dim=-1).argmax()), most.shape[1])
    return layer, head, int(most[layer, head].argmax())


def _most_looked_at(text: TextAttention) -> str:
    """Return as text for each layer and head the word that each word looks at most."""
    keys = _looked_at(text)
    return "\n".join(
        f"layer {layer}, head {head}: "
        + ", ".join(f"{word} → {keys[key]}" for word, key in zip(text.queries, most, strict=True))
        for layer, by_head in enumerate(text.alpha.argmax(dim=-1).tolist(), start=1)
        for head, most in enumerate(by_head, start=1)
    )


@dataclass(frozen=True)
class TranslationAttention:
    """A sentence, its translation, and how the model got there.

    Attributes:
        source: the words that the model read.
        target: the words that it wrote, <e> included.
        likely: the most probable words before each of these, with their probabilities, best first.
        alpha: the cross-attention weights before each of these, of every layer and head.
    """

    source: Sequence[str]
    target: Sequence[str]
    likely: Sequence[Sequence[tuple[str, float]]]
    alpha: Float[Tensor, "layers heads target source"]


def translating(sentences: Sequence[TranslationAttention]) -> None:
    """Show translations that grow word by word; the reader types a source, or chooses its words one by one.

    Args:
        sentences: at least one, all by the same model. The first is shown first.

    Raises:
        ValueError: there is no sentence.
    """
    if not sentences:
        raise ValueError("translating needs at least one sentence that was translated")
    first = sentences[0]
    layers, count, _target, _source = first.alpha.shape
    written = " ".join(first.target)
    interactive(
        "translating",
        {"sentences": [_data(sentence) for sentence in sentences], "layers": layers, "heads": count},
        still=still_table(
            f"“{' '.join(first.source)}” → “{written}”, with the last layer's cross-attention, the mean of its heads:",
            first.source,
            weight_rows(first.target, first.alpha[-1].mean(dim=0)),
        ),
        alt=f"{' '.join(first.source)} is translated word by word: {written}; the attention over its words is shown.",
        text="\n".join(f"{' '.join(one.source)}  →  {' '.join(one.target)}" for one in sentences),
    )


def _data(sentence: TranslationAttention) -> dict[str, Any]:
    """Return the data for the script, with probabilities in thousandths, since whole numbers are short."""
    return {
        "source": list(sentence.source),
        "target": list(sentence.target),
        "likely": [[[word, round(1000 * p)] for word, p in words] for words in sentence.likely],
        "alpha": (1000 * sentence.alpha).round().int().tolist(),
    }
