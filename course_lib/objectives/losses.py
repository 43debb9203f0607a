"""Losses: the mean negative log-likelihood of the right tokens, in nats.

With teacher forcing, all tokens are predicted at once, each from the right tokens before it (S2, "masked training").
"""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.text.batches import TextBatch, TranslationBatch
from course_lib.text.packing import NOTHING, PackedBatch
from course_lib.text.tokenization import PADDING_ID

Spread = Literal["all", "others"]
"""The kind of label smoothing: "all" tokens share the mass, as in torch, or only the "others" (S4)."""

_NONE = -100
"""An id that never occurs."""


def cross_entropy(
    logits: Float[Tensor, "positions vocab_size"],
    targets: Int[Tensor, " positions"],
    smoothing: float = 0.0,
    ignored: int = _NONE,
) -> Float[Tensor, ""]:
    """Return torch's mean cross-entropy, in nats; NaN if every position is ignored.

    Args:
        logits: the scores of all tokens, or classes.
        targets: the right tokens, or classes.
        smoothing: the share of the target's mass that all tokens share.
        ignored: an id that does not count where it is the target.

    Raises:
        ValueError: an id is outside the vocabulary. (On a GPU torch itself ends the program: a check in Python would
            wait for the GPU once more in every step.)
    """
    try:
        return F.cross_entropy(logits, targets, ignore_index=ignored, label_smoothing=smoothing)
    except IndexError:
        least, most = targets[targets != ignored].aminmax()
        wrong = least if least < 0 else most
        raise ValueError(
            f"the expected ids must be from 0 to {logits.shape[-1] - 1}, as there are {logits.shape[-1]} scores for "
            f"each, but there is a {wrong}"
        ) from None


def smoothed_cross_entropy(
    logits: Float[Tensor, "... vocab_size"],
    targets: Int[Tensor, "..."],
    smoothing: float = 0.0,
    spread: Spread = "all",
    ignored: int | None = None,
) -> Float[Tensor, ""]:
    """Return the mean cross-entropy, in nats, with a share of the target's mass taken from the right token.

    With V tokens and a share ε, the target is

        "all":     1 - ε + ε / V  at the right token,  ε / V        at each other: torch, and the paper's equation
        "others":  1 - ε          at the right token,  ε / (V - 1)  at each other: as S4 has it

    The second with ε equals the first with ε · V / (V - 1), and is computed that way: the larger the vocabulary, the
    smaller the difference. Szegedy et al. (2016), section 7; Vaswani et al. (2017), section 5.4, with ε = 0.1.

    Args:
        logits: scores of all tokens.
        targets: the right tokens.
        smoothing: ε.
        spread: which of the two targets.
        ignored: an id that does not count where it is the target: padding. If there is no other target, the loss is 0,
            and so are its gradients.

    Raises:
        ValueError: ε is not from 0 to 1 (to (V - 1) / V for "others"), `spread` is neither, there are no targets, or a
            target is outside the vocabulary, as for `cross_entropy`.
    """
    if spread not in ("all", "others"):
        raise ValueError(f"spread must be 'all' or 'others', not {spread!r}")
    if not targets.numel():
        raise ValueError("there is nothing to predict: a text of one token has no next one")
    size = logits.shape[-1]
    most = (size - 1) / size if spread == "others" else 1
    if not 0 <= smoothing <= most:
        raise ValueError(f"label smoothing must be from 0 to {most:.4g}, got {smoothing}")
    torch_share = min(1.0, smoothing / most) if smoothing else 0.0
    ignore = _NONE if ignored is None else ignored
    mean = cross_entropy(logits.flatten(0, -2), targets.flatten(), torch_share, ignore)
    # Here too, checking first whether any target counts would wait for a GPU once more.
    return mean if ignored is None else torch.where((targets != ignored).any(), mean, 0.0)


def lowest_smoothed(size: int, smoothing: float, spread: Spread = "all") -> float:
    """Return the least value of `smoothed_cross_entropy`, in nats: the entropy of its target.

    Args:
        size: the number of tokens in the vocabulary.
        smoothing, spread: as for `smoothed_cross_entropy`.
    """
    other = smoothing / (size if spread == "all" else size - 1)
    target = torch.full((size,), other, dtype=torch.float64)
    target[0] = 1 - (size - 1) * other
    return float(torch.special.entr(target).sum())


def shift_right(
    target: Int[Tensor, "batch tokens"],
) -> tuple[Int[Tensor, "batch tokens-1"], Int[Tensor, "batch tokens-1"]]:
    """Split a target into the decoder's inputs and labels: at each position, the previous token and the token itself.

    Given *<s> die Katze tanzte <e>*, it reads *<s> die Katze tanzte* and should predict *die Katze tanzte <e>*.
    """
    return target[:, :-1], target[:, 1:]


def translation_loss(model: nn.Module, batch: TranslationBatch, smoothing: float = 0.0) -> Float[Tensor, ""]:
    """Return the mean loss over the target's tokens but `PADDING_ID`, for `Transformer` and models called like it.

    Args:
        model: maps source and target ids to the logits of the token after each target token.
        batch: sources, and targets from <s> to <e>.
        smoothing: as for `smoothed_cross_entropy`.

    Raises:
        TypeError, ValueError: the model refuses the batch; the smoothing is out of its range; a final token is outside
            the vocabulary.
    """
    read, targets = shift_right(batch.target)
    return smoothed_cross_entropy(model(batch.source, read), targets, smoothing, ignored=PADDING_ID)


def r_drop_loss(
    model: nn.Module, batch: TranslationBatch, smoothing: float = 0.0, weight: float = 1.0
) -> Float[Tensor, ""]:
    """Return `translation_loss` of two passes with different dropout, plus the distance of their predictions.

    The distance of the predictions p and q at a position is (KL(p ‖ q) + KL(q ‖ p)) / 2. On small data a model becomes
    too sure of itself; here it learns to predict the same whatever dropout removes. Without dropout, this is
    `translation_loss` at twice the cost. Liang et al. (2021), "R-Drop: Regularized Dropout for Neural Networks", where
    α is twice this `weight`, because the two losses are added.

    Args:
        model, batch, smoothing: as for `translation_loss`.
        weight: the weight of the distance.

    Raises:
        TypeError, ValueError: as for `translation_loss`.
    """
    read, targets = shift_right(batch.target)
    logits = model(batch.source.repeat(2, 1), read.repeat(2, 1))
    loss = smoothed_cross_entropy(logits, targets.repeat(2, 1), smoothing, ignored=PADDING_ID)
    first, second = F.log_softmax(logits.float(), dim=-1).chunk(2)
    distances = ((first.exp() - second.exp()) * (first - second)).sum(-1) / 2
    counts = targets != PADDING_ID
    return loss + weight * (distances * counts).sum() / counts.sum().clamp(min=1)


def language_model_loss(model: nn.Module, batch: TextBatch) -> Float[Tensor, ""]:
    """Return the mean loss over all tokens but the first of each piece, for `GPT` and models called like it.

    Args:
        model: maps ids to the logits of the token after each token.
        batch: pieces of a text.

    Raises:
        TypeError, ValueError: the model refuses the batch; a final token is outside the vocabulary.
    """
    read, targets = shift_right(batch.ids)
    return smoothed_cross_entropy(model(read), targets)


def packed_loss(model: nn.Module, batch: PackedBatch) -> Float[Tensor, ""]:
    """Return the mean loss over all targets of texts packed in rows, each text read as if it were alone.

    Args:
        model: maps ids and `documents`, the number of each id's text, to the logits of the token after each token.
        batch: rows of texts.

    Raises:
        TypeError, ValueError: the model refuses the batch; a final token is outside the vocabulary.
    """
    logits = model(batch.ids, documents=batch.documents)
    return smoothed_cross_entropy(logits, batch.labels, ignored=NOTHING)
