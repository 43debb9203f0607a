"""Lesson 06, decoding.cached_attention: One step with a cache."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, and_turned_around, kinds, sizes
from course_lib.exercises.decoding.shared import LESSON, WITHHELD
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.references import decoding


def _cache_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x, unit = B.q, torch.eye(2)
        yield Case(f"{B.name}: tanzte, with <s> die Katze in the cache", (x[3:], x[:3], x[:3], unit, unit, unit))
    for kind in kinds(generator):
        tokens, d_model = kind.sizes(2)
        d_head = kind.d_head()
        yield _cache_case(kind, tokens, d_model, d_head)
    (d_model,) = sizes(generator, 1)
    yield _cache_case(Kind("the first token: nothing in the cache", generator, (2,)), 0, d_model, 10)


def _cache_case(kind: Kind, tokens: int, d_model: int, d_head: int) -> Case:
    projections = torch.randn(3, d_model, d_head, generator=kind.generator, dtype=kind.dtype) / math.sqrt(d_model)
    x, keys, values = kind.normal(1, d_model), kind.normal(tokens, d_head), kind.normal(tokens, d_head)
    return Case(kind.name, (x, keys, values, *projections))


_Three = tuple[Tensor, Tensor, Tensor]


def _one_step(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> _Three:
    q, new_k, new_v = x @ W_q, x @ W_k, x @ W_v
    k = torch.cat([keys, new_k], dim=-2)
    v = torch.cat([values, new_v], dim=-2)
    scaled = q @ k.mT / math.sqrt(k.shape[-1])
    out = torch.softmax(scaled, dim=-1) @ v
    return out, k, v


_slip = partial(Edited, _one_step)
_RETURN = "return out, k, v"
_ROOT = "math.sqrt(k.shape[-1])"


def _cached_by_einsum(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> _Three:
    q, new_k, new_v = (torch.einsum("...d,de->...e", x, projection) for projection in (W_q, W_k, W_v))
    k, v = torch.cat((keys, new_k), -2), torch.cat((values, new_v), -2)
    alpha = torch.einsum("...qe,...ke->...qk", q, k).div(q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("...qk,...ke->...qe", alpha, v), k, v


def _cached_in_place(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> _Three:
    tokens = keys.shape[-2]
    k = keys.new_zeros(*keys.shape[:-2], tokens + 1, keys.shape[-1])
    v = torch.zeros_like(k)
    k[..., :tokens, :], k[..., tokens:, :] = keys, x @ W_k
    v[..., :tokens, :], v[..., tokens:, :] = values, x @ W_v
    return F.scaled_dot_product_attention(x @ W_q, k, v), k, v


EXERCISE = Exercise(
    id="decoding.cached_attention",
    lesson=LESSON,
    name="cached_attention",
    title="One step with a cache",
    statement=(
        "cached_attention(x [..., 1, d_model], keys [..., tokens, d_head], values [..., tokens, d_head], W_q, W_k, W_v "
        "[d_model, d_head]) -> (out [..., 1, d_head], keys, values): the newest token attends to all tokens, its own "
        "key and value appended."
    ),
    points=3,
    minutes=15,
    difficulty=3,
    importance=5,
    section="What has been read need not be read again",
    source="S4, test time; Shazeer (2019)",
    reference=decoding.cached_attention,
    cases=and_turned_around(_cache_cases),
    correct=(_one_step, _cached_by_einsum, _cached_in_place),
    steps=("scaled", "alpha"),
    hints=(
        Hint(
            "idea",
            "Keys and values of earlier tokens never change, so they are kept; only the newest token is projected. Its "
            "own key and value join the others before it attends, because it may see itself.",
        ),
        Hint(
            "shapes",
            "The new key and value are `[..., 1, d_head]` and go after the others along the dimension of the tokens, "
            "the last but one: `[..., tokens + 1, d_head]`. One query gives one output, `[..., 1, d_head]`.",
            answers=(
                "put_in_front",
                "new_ones_only_returned",
                "old_cache_returned",
                "dimension_lost",
                "query_of_every_word",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "itself_not_seen",
            "The newest token attends only to those before it. Append its own key and value first: a token may attend "
            "to itself.",
            _slip(("@ k.mT", "@ keys.mT"), ("@ v\n", "@ values\n")),
        ),
        Misconception(
            "only_the_first_seen",
            "The newest token attends to the first token alone, as under a causal mask (is_causal=True, tril), which "
            "takes a single query for the first. Leave out the mask: nothing in the cache lies in the future.",
            _slip(("@ k.mT", "@ k[..., :1, :].mT"), ("@ v\n", "@ v[..., :1, :]\n")),
        ),
        Misconception(
            "old_cache_returned",
            "The keys and values that you return are those that came in. Return them with the new ones appended, or "
            "the next step will know nothing of this token.",
            _slip((_RETURN, "return out, keys.clone(), values.clone()")),
        ),
        Misconception(
            "new_ones_only_returned",
            "The keys and values that you return are the newest token's alone. Return all of them.",
            _slip((_RETURN, "return out, new_k, new_v")),
        ),
        Misconception(
            "put_in_front",
            "The newest key and value stand in front of the others. They belong at the end: torch.cat([keys, new], "
            "dim=-2).",
            _slip(("[keys, new_k]", "[new_k, keys]"), ("[values, new_v]", "[new_v, values]")),
        ),
        Misconception(
            "values_first",
            "Your answer returns the values before the keys. The order is: output, keys, values.",
            _slip((_RETURN, "return out, v, k")),
        ),
        Misconception("not_scaled", "The scores are not divided by √d_head.", _slip((" / math.sqrt(k.shape[-1])", ""))),
        Misconception(
            "scaled_by_d_model",
            "The scores are divided by √d_model. Divide by √d_head, the size of a query.",
            _slip((_ROOT, "math.sqrt(x.shape[-1])")),
        ),
        Misconception(
            "scaled_by_the_words",
            "The scores are divided by the root of the number of tokens. Divide by √d_head, the size of a query: "
            "keys.shape[-1].",
            _slip((_ROOT, "math.sqrt(k.shape[-2])")),
        ),
        Misconception(
            "root_forgotten",
            "The scores are divided by d_head itself. Divide by its root.",
            _slip((_ROOT, "k.shape[-1]")),
        ),
        Misconception(
            "half_of_d_head",
            "The scores are divided by d_head / 2, for ** binds more strongly than /. The root is d_head ** (1 / 2), "
            "or d_head ** 0.5.",
            _slip((_ROOT, "(k.shape[-1] / 2)")),
        ),
        Misconception(
            "queries_and_keys_swapped",
            "Your answer appends x W_q to the keys, and asks with x W_k. It is the other way round.",
            _slip(("x @ W_q, x @ W_k", "x @ W_k, x @ W_q")),
        ),
        Misconception(
            "keys_for_values",
            "Your answer appends x W_k to the values. The new token's value is x W_v.",
            _slip(("x @ W_v", "x @ W_k")),
        ),
        Misconception(
            "softmax_over_the_query",
            "Your answer takes the softmax over the queries. There is only one, so all weights are 1: take it over "
            "the keys, dim=-1.",
            _slip(("scaled, dim=-1", "scaled, dim=-2")),
        ),
        Misconception(
            "softmax_left_out",
            "Your answer averages with the scores themselves. Take their softmax over the keys first.",
            _slip(("torch.softmax(scaled, dim=-1)", "scaled")),
        ),
        Misconception(
            "keys_averaged",
            "The output is a weighted average of the keys. Average the values.",
            _slip(("@ v\n", "@ k\n")),
        ),
        Misconception(
            "dimension_lost",
            "The output has lost the dimension of the newest token: it is [..., 1, d_head], as x is [..., 1, d_model].",
            _slip((_RETURN, "return out.squeeze(-2), k, v")),
        ),
        Misconception(
            "query_of_every_word",
            "Your answer uses the cached keys as queries, and has an output for every token. Only the newest token "
            "asks: its query is x W_q, and the outputs of the others were computed when they were the newest.",
            _slip(("q @ k.mT", "torch.cat([keys, q], dim=-2) @ k.mT")),
        ),
    ),
    withheld=WITHHELD,
)
