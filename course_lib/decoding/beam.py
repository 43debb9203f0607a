"""Beam search: keep several sentences at every step, instead of the one that looked best so far.

Wu et al. (2016), "Google's Neural Machine Translation System", section 7; Vaswani et al. (2017), section 6.1, with
4 beams and a length penalty of 0.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.decoding.continuation import Continuation, continuation
from course_lib.decoding.greedy import decoding, time_to_ask
from course_lib.ground.refusals import require_at_least, require_not_negative


@dataclass(frozen=True)
class Beams:
    """The best sentences found for each input, best first.

    Attributes:
        words: ids, with padding after each <e>.
        scores: log-probability in nats, divided by the length penalty; -inf where there are fewer sentences.
    """

    words: Int[Tensor, "batch beams words"]
    scores: Float[Tensor, "batch beams"]


def penalty(length: int, alpha: float) -> float:
    """What a sentence's log-probability is divided by: ((5 + length) / 6)^alpha (Wu et al., equation 14).

    Every word makes a sentence less probable; without the penalty, alpha = 0, short ones win.
    """
    return float(((5 + length) / 6) ** alpha)


def beam_search(
    model: nn.Module,
    inputs: Int[Tensor, "batch words"],
    beams: int = 4,
    length_penalty: float = 0.6,
    max_length: int = 50,
    *,
    cached: bool = True,
) -> Beams:
    """Write the sentences with the highest scores that a search `beams` wide finds.

    At every step each of the live sentences is continued by every word. Those of the best `beams` that end are
    finished, and the best `beams` of all the others live on; so one beam is greedy decoding. An input is done when it
    has `beams` finished sentences, and no live one would score higher if it ended now.

    Args:
        model: `Transformer`, or `GPT` with an `end_id`. Dropout is off; the model's mode is restored.
        inputs: ids on the model's device, padded: sources, or prompts.
        beams: how many sentences to keep.
        length_penalty: alpha of `penalty`, at least 0.
        max_length: the most words, <e> included; what is not finished by then is cut off, and scored as it is.
        cached: keep keys and values; without them, the same words in more time.

    Raises:
        TypeError: the inputs are not ids, or the model is of an unknown kind.
        ValueError: no beams, a penalty below 0 or not finite, texts without an end, or inputs that the model refuses.
    """
    require_at_least(1, beams=beams)
    require_not_negative(length_penalty=length_penalty)
    with decoding(model):
        text = continuation(model, inputs, max_length, cached=cached)
        if text.end_id is None:
            raise ValueError("beam search compares finished texts, but this model's have no end: give it an end_id")
        found = _search(text, text.end_id, beams, length_penalty, max_length)
    return Beams(found.words.clone(), found.scores.clone())  # outside of inference mode


def _search(text: Continuation, end_id: int, beams: int, alpha: float, max_length: int) -> Beams:
    batch = text.batch
    log_probabilities = _log_softmax(text.start().logits).repeat_interleave(beams, dim=0)
    text.expand(beams)
    live = _nothing(text, batch, beams, max_length)
    live.scores[:, 0] = 0.0  # the copies are equal, so that only one may go on
    finished = _nothing(text, batch, beams, max_length)
    done = torch.zeros(batch, dtype=torch.bool, device=text.device)
    longest = torch.zeros((), dtype=torch.long, device=text.device)
    for length in range(1, max_length + 1):
        longest += ~done.all()
        words, scores, parents = _candidates(live, log_probabilities, length, beams)
        ends = words[:, :, length - 1] == end_id
        ended = scores.masked_fill(~ends | done.unsqueeze(1), -math.inf)[:, :beams] / penalty(length, alpha)
        together = torch.cat([finished.words, words[:, :beams]], 1), torch.cat([finished.scores, ended], 1)
        finished = _best(*together, beams)[0]
        live, kept = _best(words, scores.masked_fill(ends, -math.inf), beams)
        done |= _is_done(finished, live, penalty(length, alpha))
        if length == max_length or (time_to_ask(length, text.device) and done.all()):
            break
        rows = torch.arange(batch, device=text.device).unsqueeze(1) * beams + parents.gather(1, kept)
        text.select(rows.flatten())
        log_probabilities = _log_softmax(text.read(live.words[:, :, length - 1].flatten()).logits)
    cut_off = live.scores.masked_fill(done.unsqueeze(1), -math.inf) / penalty(length, alpha)
    words = torch.cat([finished.words, live.words], 1)
    return _trimmed(_best(words, torch.cat([finished.scores, cut_off], 1), beams)[0], text.padding_id, int(longest))


def _candidates(
    live: Beams, log_probabilities: Float[Tensor, "rows vocabulary"], length: int, beams: int
) -> tuple[Int[Tensor, "batch candidates words"], Float[Tensor, "batch candidates"], Int[Tensor, "batch candidates"]]:
    """The best continuations by one word, with their scores, and which live sentence each comes from.

    Twice as many as beams: even if one of every sentence ends, enough are left to live on.
    """
    batch, _ = live.scores.shape
    vocabulary = log_probabilities.shape[-1]
    totals = live.scores.unsqueeze(2) + log_probabilities.view(batch, beams, vocabulary)
    scores, places = totals.flatten(1).topk(min(2 * beams, beams * vocabulary), dim=1)
    parents = places // vocabulary
    words = live.words.gather(1, parents.unsqueeze(2).expand(-1, -1, live.words.shape[2]))
    words[:, :, length - 1] = places % vocabulary
    return words, scores, parents


def _best(
    words: Int[Tensor, "batch candidates words"], scores: Float[Tensor, "batch candidates"], beams: int
) -> tuple[Beams, Int[Tensor, "batch beams"]]:
    """The `beams` best, and where they were."""
    best, places = scores.topk(beams, dim=1)
    return Beams(words.gather(1, places.unsqueeze(2).expand(-1, -1, words.shape[2])), best), places


def _is_done(finished: Beams, live: Beams, divisor: float) -> Bool[Tensor, " batch"]:
    return (finished.scores[:, -1] > -math.inf) & (finished.scores[:, -1] >= live.scores[:, 0] / divisor)


def _nothing(text: Continuation, batch: int, beams: int, max_length: int) -> Beams:
    words = torch.full((batch, beams, max_length), text.padding_id, device=text.device)
    return Beams(words, torch.full((batch, beams), -math.inf, device=text.device))


def _trimmed(found: Beams, padding_id: int, length: int) -> Beams:
    """Without the columns that no sentence reaches, and without words where there is no sentence."""
    none = found.scores.isneginf().unsqueeze(2)
    return Beams(found.words.masked_fill(none, padding_id)[:, :, :length], found.scores)


def _log_softmax(logits: Float[Tensor, "rows vocabulary"]) -> Float[Tensor, "rows vocabulary"]:
    return torch.log_softmax(logits.float(), dim=-1)
