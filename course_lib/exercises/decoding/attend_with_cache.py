"""Lesson 06, decoding.attend_with_cache: New tokens and a key-value cache."""

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, and_turned_around, edits_of, hints, kinds, mistake, sizes, slips
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import decoding

SEVERAL = "several new tokens"


def _cache_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x, unit = B.q, torch.eye(2)
        yield Case(f"{B.name}: tanzte, with <s> die Katze in the cache", (x[3:], x[:3], x[:3], unit, unit, unit))
        yield Case("Katze and tanzte at once", (x[2:], x[:2], x[:2], unit, unit, unit), part=SEVERAL)
    for kind in kinds(generator):
        tokens, d_model = kind.sizes(2)
        yield _cache_case(kind, 1, tokens, d_model, kind.d_head())
    new, d_model = sizes(generator, 2)
    yield _cache_case(Kind("the first token: nothing in the cache", generator, (2,)), 1, 0, d_model, 10)
    for name, tokens in (
        ("a prompt: nothing in the cache", 0),
        ("fewer new than cached", 9),
        ("as many as cached", new),
    ):
        kind = Kind(name, generator, (3,), transposed=tokens == new)
        yield _cache_case(kind, new, tokens, d_model, 10)


def _cache_case(kind: Kind, new: int, tokens: int, d_model: int, d_head: int) -> Case:
    projections = torch.randn(3, d_model, d_head, generator=kind.generator, dtype=kind.dtype) / math.sqrt(d_model)
    x, keys, values = kind.normal(new, d_model), kind.normal(tokens, d_head), kind.normal(tokens, d_head)
    return Case(kind.name, (x, keys, values, *projections), part=CORE if new == 1 else SEVERAL)


_Three = tuple[Tensor, Tensor, Tensor]


def _step_by_step(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> _Three:
    q, new_k, new_v = x @ W_q, x @ W_k, x @ W_v
    k = torch.cat([keys, new_k], dim=-2)
    v = torch.cat([values, new_v], dim=-2)
    scaled = q @ k.mT / math.sqrt(k.shape[-1])
    allowed = torch.ones(scaled.shape[-2:], dtype=torch.bool).tril(keys.shape[-2])
    masked = scaled.masked_fill(~allowed, -torch.inf)
    alpha = torch.softmax(masked, dim=-1)
    out = alpha @ v
    return out, k, v


_slip = edits_of(_step_by_step)
_RETURN, _ROOT, _TRIL = "return out, k, v", "math.sqrt(k.shape[-1])", "tril(keys.shape[-2])"


def _token_by_token(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> _Three:
    rows = []
    for token in x.split(1, dim=-2):
        keys, values = torch.cat((keys, token @ W_k), -2), torch.cat((values, token @ W_v), -2)
        rows.append(F.scaled_dot_product_attention(token @ W_q, keys, values))
    return torch.cat(rows, dim=-2), keys, values


def _by_positions(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> _Three:
    k, v = torch.cat((keys, x @ W_k), -2), torch.cat((values, x @ W_v), -2)
    position = torch.arange(k.shape[-2])
    mask = position[keys.shape[-2] :].unsqueeze(1) >= position
    scores = torch.einsum("...qe,...ke->...qk", x @ W_q, k).div(k.shape[-1] ** 0.5)
    return torch.where(mask, scores, -torch.inf).softmax(-1) @ v, k, v


EXERCISE = Exercise(
    id="decoding.attend_with_cache",
    title="New tokens and a cache",
    statement=(
        "attend_with_cache(x [..., new, d_model], keys [..., tokens, d_head], values [..., tokens, d_head], W_q, W_k, "
        "W_v [d_model, d_head]) -> (out [..., new, d_head], keys, values): causal self-attention of the new tokens. "
        "Their keys and values are appended to the cached ones."
    ),
    minutes=20,
    difficulty=3,
    importance=5,
    section="Don't read the same tokens again",
    source="S4, test time; Shazeer (2019)",
    reference=decoding.attend_with_cache,
    cases=and_turned_around(_cache_cases),
    parts={CORE: 2, SEVERAL: 2},
    correct=(_step_by_step, _token_by_token, _by_positions),
    steps=("mask",),
    hints=hints(
        idea=(
            "Keys and values of earlier tokens never change, so keep them and project only the new tokens. Append the "
            "new keys and values before you attend, because a token may see itself."
        ),
        shapes=(
            "The new keys and values are `[..., new, d_head]`. Append them along the token dimension, which is the "
            "second-to-last. The mask is `[new, tokens + new]`: its first row allows the cached tokens and the first "
            "new one, and each additional row allows one more.",
            ("put_in_front", "new_ones_only_returned", "old_cache_returned", "mask_from_the_top_left"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer is right for a single new token. With several new tokens, each of them sees the new tokens "
            "after it. New token i may attend to the cached tokens and to the new ones up to i.",
            no_mask=_slip((_TRIL, "tril(k.shape[-2])")),
            alone=True,
        ),
        *slips(
            _step_by_step,
            mask_from_the_top_left=(
                "Your causal mask starts in the top left corner (is_causal=True, tril()), so the first new token sees "
                "only the first cached token. New tokens come after the cached ones: shift the diagonal, tril(number "
                "of cached tokens).",
                (_TRIL, "tril()"),
            ),
            one_token_ahead=(
                "Your mask also lets each new token attend to the next one. Shift the diagonal by the number of "
                "cached tokens, not by one more.",
                (_TRIL, "tril(keys.shape[-2] + 1)"),
            ),
            itself_not_seen=(
                "Your mask hides each new token from itself. A token may attend to itself and to all tokens before it.",
                (_TRIL, "tril(keys.shape[-2] - 1)"),
                ("~allowed", "~allowed & allowed.any(-1, keepdim=True)"),
            ),
            old_cache_returned=(
                "Your answer returns the keys and values it was given, so the next step misses the new tokens. Return "
                "the cache with the new keys and values appended.",
                (_RETURN, "return out, keys.clone(), values.clone()"),
            ),
            new_ones_only_returned=(
                "Your answer returns the keys and values of the new tokens only. Return the cached keys and values as "
                "well.",
                (_RETURN, "return out, new_k, new_v"),
            ),
            put_in_front=(
                "Your answer puts the new keys and values before the cached ones. Append them at the end: "
                "torch.cat([keys, new], dim=-2).",
                ("[keys, new_k]", "[new_k, keys]"),
                ("[values, new_v]", "[new_v, values]"),
            ),
            values_first=(
                "Your answer returns the values before the keys. Return the output, the keys and the values, in that "
                "order.",
                (_RETURN, "return out, v, k"),
            ),
            not_scaled=("Your answer doesn't scale the scores. Divide them by √d_head.", (f" / {_ROOT}", "")),
            scaled_by_d_model=(
                "Your answer divides the scores by √d_model. Divide by √d_head, where d_head is the size of a query.",
                (_ROOT, "math.sqrt(x.shape[-1])"),
            ),
            queries_and_keys_swapped=(
                "Your answer swaps queries and keys: it caches x W_q and uses x W_k as queries. Cache x W_k.",
                ("x @ W_q, x @ W_k", "x @ W_k, x @ W_q"),
            ),
            keys_for_values=(
                "Your answer appends x W_k to the values. Append x W_v, the values of the new tokens.",
                ("x @ W_v", "x @ W_k"),
            ),
        ),
        *mistake(
            "Your new tokens attend only to the cached tokens. Append their keys and values first: a token may see "
            "itself.",
            new_ones_unseen=_slip(("q @ k.mT", "q @ keys.mT"), ("alpha @ v", "alpha @ values"), paired=False),
        ),
    ),
)
