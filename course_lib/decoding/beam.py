"""Beam search: keep several sentences at every step, instead of the one that looked best so far.

Wu et al. (2016), "Google's Neural Machine Translation System", section 7; Vaswani et al. (2017), section 6.1, with
4 beams and a length penalty of 0.6.

At every step, each live sentence is continued by every token. Of the best `num_beams` continuations, those that end are
finished; of all others, the best `num_beams` live on. So one beam is greedy decoding.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_lib.decoding.generation_config import GenerationConfig, LengthFormula
from course_lib.decoding.greedy import time_to_ask
from course_lib.decoding.rules import Rules
from course_lib.decoding.state import DecodingState


@dataclass(frozen=True)
class Beams:
    """The best sentences found for each input, best first.

    Attributes:
        tokens: ids, with padding after each <e>.
        scores: log-probability in nats, divided by the length penalty; -inf if there are fewer sentences.
    """

    tokens: Int[Tensor, "batch beams tokens"]
    scores: Float[Tensor, "batch beams"]


def penalty(length: int, alpha: float, formula: LengthFormula = "wu") -> float:
    """Return the divisor of a sentence's log-probability.

        wu:      ((5 + length) / 6)^alpha    Wu et al. (2016), equation 14
        length:  length^alpha                the `transformers` library; alpha = 1 gives the mean over the tokens

    Every token makes a sentence less probable; without the penalty, alpha = 0, short ones win.
    """
    return float(((5 + length) / 6) ** alpha if formula == "wu" else length**alpha)


def search(text: DecodingState, settings: GenerationConfig, rules: Rules) -> Beams:
    """Return the best sentences that a search with `num_beams` beams finds; call it within `decoding`.

    Args:
        text: the decoding state, which has read nothing yet.
        settings: how wide and how far to search, and how to compare sentences.
        rules: change the log-probabilities first, and may end a sentence before its end token.

    Raises:
        ValueError: the model's texts have no end.
    """
    if not text.end_ids and rules.stop is None:
        raise ValueError("beam search compares finished texts, but this model's have no end: give it an end_id")
    batch, beams, max_new_tokens = text.batch, settings.num_beams, settings.max_new_tokens
    logits = text.prefill().repeat_interleave(beams, dim=0)
    text.expand(beams)
    live = _nothing(text, batch, beams, max_new_tokens)
    live.scores[:, 0] = 0.0  # the copies are equal, so only one may continue
    finished = _nothing(text, batch, beams, max_new_tokens)
    done = torch.zeros(batch, dtype=torch.bool, device=text.device)
    longest = torch.zeros((), dtype=torch.long, device=text.device)
    for length in range(1, max_new_tokens + 1):
        longest += ~done.all()
        log_probabilities = torch.log_softmax(logits.float(), dim=-1)
        log_probabilities = rules.change(live.tokens[:, :, : length - 1].flatten(0, 1), log_probabilities)
        tokens, scores, parents = _candidates(live, log_probabilities, length, beams * max(2, 1 + len(text.end_ids)))
        ends = _ends(tokens[:, :, :length], text, rules)
        ended = scores.masked_fill(~ends | done.unsqueeze(1), -math.inf)[:, :beams] / _divisor(length, settings)
        together = torch.cat([finished.tokens, tokens[:, :beams]], 1), torch.cat([finished.scores, ended], 1)
        finished = _best(*together, beams)[0]
        live, kept = _best(tokens, scores.masked_fill(ends, -math.inf), beams)
        if length == max_new_tokens:
            break
        done |= _is_done(finished, live, length, settings)
        if time_to_ask(length, text.device) and done.all():
            break
        rows = torch.arange(batch, device=text.device).unsqueeze(1) * beams + parents.gather(1, kept)
        text.select(rows.flatten())
        logits = text.step(live.tokens[:, :, length - 1].flatten())
    cut_off = live.scores.masked_fill(done.unsqueeze(1), -math.inf) / _divisor(length, settings)
    tokens = torch.cat([finished.tokens, live.tokens], 1)
    return _trimmed(_best(tokens, torch.cat([finished.scores, cut_off], 1), beams)[0], text.padding_id, int(longest))


def _divisor(length: int, settings: GenerationConfig) -> float:
    return penalty(length, settings.length_penalty, settings.length_formula)


def _is_done(finished: Beams, live: Beams, length: int, settings: GenerationConfig) -> Bool[Tensor, " batch"]:
    """Return for each input whether it has enough finished sentences and no live one worth waiting for."""
    enough = finished.scores[:, -1] > -math.inf
    if settings.early_stopping is True:
        return enough
    divisor = _divisor(settings.max_new_tokens if settings.early_stopping == "never" else length, settings)
    return enough & (finished.scores[:, -1] >= live.scores[:, 0] / divisor)


def _ends(
    tokens: Int[Tensor, "batch candidates tokens"], text: DecodingState, rules: Rules
) -> Bool[Tensor, "batch candidates"]:
    """Return which candidates end with their last token."""
    return rules.stops(tokens.flatten(0, 1)).view(tokens.shape[:2]) | text.has_ended(tokens[:, :, -1])


def _candidates(
    live: Beams, log_probabilities: Float[Tensor, "rows vocab_size"], length: int, count: int
) -> tuple[Int[Tensor, "batch candidates tokens"], Float[Tensor, "batch candidates"], Int[Tensor, "batch candidates"]]:
    """Return the `count` best continuations by one token, their scores, and the live sentence that each continues.

    `count` is twice the number of beams, or more with several end ids: even if every sentence ends with each of them,
    enough live on.
    """
    batch, beams = live.scores.shape
    vocab_size = log_probabilities.shape[-1]
    totals = live.scores.unsqueeze(2) + log_probabilities.view(batch, beams, vocab_size)
    scores, positions = totals.flatten(1).topk(min(count, beams * vocab_size), dim=1)
    parents = positions // vocab_size
    tokens = live.tokens.gather(1, parents.unsqueeze(2).expand(-1, -1, live.tokens.shape[2]))
    tokens[:, :, length - 1] = positions % vocab_size
    return tokens, scores, parents


def _best(
    tokens: Int[Tensor, "batch candidates tokens"], scores: Float[Tensor, "batch candidates"], beams: int
) -> tuple[Beams, Int[Tensor, "batch beams"]]:
    """Return the `beams` best candidates, and their positions."""
    best, positions = scores.topk(beams, dim=1)
    return Beams(tokens.gather(1, positions.unsqueeze(2).expand(-1, -1, tokens.shape[2])), best), positions


def _nothing(text: DecodingState, batch: int, beams: int, max_new_tokens: int) -> Beams:
    tokens = torch.full((batch, beams, max_new_tokens), text.padding_id, device=text.device)
    return Beams(tokens, torch.full((batch, beams), -math.inf, device=text.device))


def _trimmed(found: Beams, padding_id: int, length: int) -> Beams:
    """Cut off the columns that no sentence reaches, and pad the rows where there is no sentence."""
    none = found.scores.isneginf().unsqueeze(2)
    return Beams(found.tokens.masked_fill(none, padding_id)[:, :, :length], found.scores)
