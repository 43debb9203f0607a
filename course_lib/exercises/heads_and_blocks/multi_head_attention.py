"""Lesson 04, heads_and_blocks.multi_head_attention: Multi-head attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import multihead
from course_lib.attention import attention, attention_weights
from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.checking.ready_made import READY_MADE_HEADS
from course_lib.exercises.common import SMALLEST, Kind, alike, as_it_is, integer, sizes
from course_lib.exercises.heads_and_blocks.shared import (
    FOUR_NUMBERS_A_WORD,
    LESSON,
    WITHHELD,
    Sources,
    Three,
    as_asked,
    as_given,
    cut_heads,
    cut_in_the_order_of_memory,
    cut_in_turn,
    gradients_cut,
    projected_by,
    split_by,
)
from course_lib.exercises.worked_examples import B
from course_lib.multihead import join_heads, split_heads


def _heads_case(
    name: str, kind: Kind, shape: tuple[int, int | None, int, int], mask: Tensor | None = None, part: str = CORE
) -> Case:
    """One call with random weights; without a number of keys it is self-attention."""
    queries, keys, heads, d_head = shape
    d_model = heads * d_head
    x = kind.normal(queries, d_model)
    memory = x if keys is None else kind.normal(keys, d_model)
    plain = Kind("", kind.generator, dtype=kind.dtype)
    W = [plain.normal(d_model, d_model) / math.sqrt(d_model) * scale for scale in (2.0, 2.0, 1.0, 1.0)]
    gradients = () if kind.dtype == torch.float64 else (2, 3, 4, 5)
    return Case(name, (x, memory, *W, heads, mask), gradients=gradients, part=part)


def _some_allowed_some_not(generator: Generator, *shape: int) -> Tensor:
    """A random mask in which every row allows something and forbids something."""
    mask = torch.rand(*shape, generator=generator) < 0.5
    two = torch.rand(*shape, generator=generator).argsort(dim=-1)[..., :2]
    return mask.scatter(-1, two, torch.tensor([True, False]).expand(two.shape))


def _multi_head_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        I = torch.eye(4)  # noqa: E741  the identity is called I
        x = FOUR_NUMBERS_A_WORD.unsqueeze(0)
        yield Case(f"{B.name} with four numbers a word: two heads, no mask", (x, x, I, I, I, I, 2, None))
    few, several = sizes(generator, 2)
    words = integer(generator, 8, 11)
    yield _heads_case("a batch", Kind("", generator, (few,)), (words, None, 2, 3))
    yield _heads_case(SMALLEST, Kind("", generator, (1,)), (1, None, 1, 1))
    yield _heads_case("as many words as d_head", Kind("", generator, (several,)), (5, None, 2, 5))
    yield _heads_case("double precision", Kind("", generator, (few,), torch.float64), (words, None, 3, 2))
    yield _heads_case("transposed in memory", Kind("", generator, (2,), transposed=True), (words, None, 2, 6))

    cross = "cross-attention"
    yield _heads_case("memory of a different length", Kind("", generator, (few,)), (words, 5, 2, 3), part=cross)
    yield _heads_case("memory of the same length", Kind("", generator, (several,)), (7, 7, 3, 2), part=cross)

    for name, batch, keys in (
        ("as many sentences as heads, a mask for each", 3, None),
        ("more sentences than heads, a mask for each", 5, None),
        ("a mask over a memory", 2, 6),
    ):
        mask = _some_allowed_some_not(generator, batch, words, keys or words)
        yield _heads_case(name, Kind("", generator, (batch,)), (words, keys, 3, 2), mask, "mask")


Steps = Callable[[Tensor, Tensor], Tensor]
"""A step of attention, from two tensors of all heads."""


def _turned(y: Tensor) -> Tensor:
    return y.mT


def _of_other_sentences(mask: Tensor, heads: int) -> Tensor:
    return mask.repeat(heads, 1, 1).view(len(mask), heads, *mask.shape[1:])


def _filled(scaled: Tensor, mask: Tensor) -> Tensor:
    return scaled.masked_fill(~mask, -math.inf)


def _joined_at_once(out: Tensor) -> Tensor:
    return out.reshape(len(out), out.shape[2], -1)


def _joined_in_turn(out: Tensor) -> Tensor:
    return out.permute(0, 2, 3, 1).flatten(2)


def _joined_as_it_is(out: Tensor) -> Tensor:
    return out.flatten(2)


_split_at_once = partial(split_by, cut=cut_in_the_order_of_memory)


_split_in_turn = partial(split_by, cut=cut_in_turn)


def _multi_head(
    x: Tensor,
    memory: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    heads: int,
    mask: Tensor | None,
    *,
    sources: Sources = as_asked,
    matrices: Three = as_given,
    cut: tuple[Callable[[Tensor, int], Tensor], Callable[[Tensor], Tensor]] = (split_heads, join_heads),
    scores: Steps = lambda q, k: q @ k.mT,
    divisor: Callable[[Tensor, Tensor], float] = lambda x, q: math.sqrt(q.shape[-1]),
    allowed: Callable[[Tensor], Tensor | None] = as_it_is,
    room: Callable[[Tensor, int], Tensor] = lambda mask, heads: mask.unsqueeze(1),
    masked: tuple[Steps, Steps] | None = None,
    over: int = -1,
    mixed: Callable[[Tensor], Tensor] = as_it_is,
    residual: bool = False,
) -> Tensor:
    """Multi-head attention with other steps than the right ones."""
    split, join = cut
    projected = projected_by(x, memory, W_q, W_k, W_v, sources=sources, matrices=matrices)
    q, k, v = (split(y, heads) for y in projected)
    mask = None if mask is None else allowed(mask)
    mask = None if mask is None else room(mask, heads)
    attention(q, k, v, mask)  # refuses what the lesson's own refuses
    on_scores, on_weights = masked or (_filled, lambda alpha, mask: alpha)
    scaled = scores(q, k) / divisor(x, q)
    scaled = scaled if mask is None else on_scores(scaled, mask)
    alpha = attention_weights(scaled) if over == -1 else torch.softmax(scaled, dim=over)
    alpha = alpha if mask is None else on_weights(alpha, mask)
    out = join(alpha @ v) @ mixed(W_o)
    return x + out if residual else out


def _beyond_self_attention(*args: Any, **settings: Any) -> Tensor:
    """The same, for mistakes that show with a memory or a mask only: they pair with each other.

    Next to one that shows everywhere, they are not looked at: the part for self-attention comes first.
    """
    return _multi_head(*args, **settings)


Maybe = Tensor | None


def _heads_by_loop(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    d_head = x.shape[-1] // heads
    pieces = []
    for head in range(heads):
        own = slice(head * d_head, (head + 1) * d_head)
        q, k, v = x @ W_q[:, own], memory @ W_k[:, own], memory @ W_v[:, own]
        scaled = q @ k.transpose(-2, -1) / math.sqrt(d_head)
        if mask is not None:
            scaled = scaled.masked_fill(~mask, -math.inf)
        pieces.append(torch.softmax(scaled, dim=-1) @ v)
    return torch.cat(pieces, dim=-1) @ W_o


def _heads_by_einsum(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    q, k, v = (
        torch.einsum("bwd,dhe->bhwe", y, W.view(len(W), heads, -1)) for y, W in ((x, W_q), (memory, W_k), (memory, W_v))
    )
    scaled = torch.einsum("bhqe,bhke->bhqk", q, k) / q.size(-1) ** 0.5
    if mask is not None:
        scaled = scaled.masked_fill(mask[:, None] == 0, float("-inf"))
    joined = torch.einsum("bhqk,bhke->bqhe", scaled.softmax(-1), v).flatten(2)
    return joined @ W_o


def _heads_by_the_fused_kernel(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (x @ W_q, memory @ W_k, memory @ W_v))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.unsqueeze(1))
    return out.transpose(1, 2).reshape(x.shape) @ W_o


def _heads_in_double(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    found = _heads_by_einsum(
        x.double(), memory.double(), W_q.double(), W_k.double(), W_v.double(), W_o.double(), heads, mask
    )
    return found.to(x.dtype)


def _heads_summed(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    """The concatenation times W_o is a sum over the heads, each with its own rows of W_o."""
    out = torch.zeros_like(x)
    for Q, K, V, O in zip(  # noqa: E741
        *(W.chunk(heads, dim=1) for W in (W_q, W_k, W_v)), W_o.chunk(heads, dim=0), strict=True
    ):
        scaled = (x @ Q) @ (memory @ K).mT * Q.shape[1] ** -0.5
        bias = 0.0 if mask is None else torch.where(mask, 0.0, -1e9).to(x.dtype)
        out = out + torch.softmax(scaled + bias, dim=-1) @ (memory @ V) @ O
    return out


def _heads_in_the_batch(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    def folded(y: Tensor) -> Tensor:
        return torch.cat(y.chunk(heads, dim=-1))  # [heads · batch, words, d_head]

    q, k, v = folded(x @ W_q), folded(memory @ W_k), folded(memory @ W_v)
    scaled = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
    if mask is not None:
        scaled = scaled.masked_fill(~mask.repeat(heads, 1, 1), -1e9)
    out = torch.bmm(F.softmax(scaled, dim=-1), v)
    return torch.cat(out.chunk(heads), dim=-1) @ W_o


def _heads_multiplied(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    batch, queries, d_model = x.shape
    shape = (batch, -1, heads, d_model // heads)
    q = (x @ W_q).reshape(shape).permute(0, 2, 1, 3)
    k = (memory @ W_k).reshape(shape).permute(0, 2, 3, 1)
    v = (memory @ W_v).reshape(shape).permute(0, 2, 1, 3)
    scaled = q @ k / math.sqrt(d_model // heads)
    kept = torch.exp(scaled - scaled.amax(-1, keepdim=True)) * (1.0 if mask is None else mask[:, None].to(x.dtype))
    alpha = kept / kept.sum(-1, keepdim=True)
    return (alpha @ v).permute(0, 2, 1, 3).reshape(batch, queries, d_model) @ W_o


def _heads_by_vmap(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    bias = x.new_zeros(()) if mask is None else torch.where(mask, 0.0, -math.inf).to(x.dtype)

    def one_head(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
        return torch.softmax((x @ Q) @ (memory @ K).mT / math.sqrt(Q.shape[1]) + bias, dim=-1) @ (memory @ V)

    pieces = (W.unflatten(1, (heads, -1)).movedim(1, 0) for W in (W_q, W_k, W_v))
    return torch.func.vmap(one_head)(*pieces).movedim(0, 2).flatten(2) @ W_o


CORRECT = (
    _heads_by_loop,
    _heads_summed,
    _heads_by_einsum,
    _heads_in_the_batch,
    _heads_by_the_fused_kernel,
    _heads_in_double,
    _heads_multiplied,
    _heads_by_vmap,
)


EXERCISE = Exercise(
    id="heads_and_blocks.multi_head_attention",
    lesson=LESSON,
    name="multi_head_attention",
    title="Multi-head attention",
    statement=(
        "multi_head_attention(x [batch, queries, d_model], memory [batch, keys, d_model], W_q, W_k, W_v, W_o "
        "[d_model, d_model], heads, mask bool [batch, queries, keys] or None) -> [batch, queries, d_model]: "
        "concat(head_1, ..., head_h) W_o."
    ),
    points=6,
    minutes=25,
    section="Putting the heads together",
    source="S1 to S4, multi-head attention; S2 and S4, cross-attention; Vaswani et al. (2017), section 3.2.2",
    reference=multihead.multi_head_attention,
    cases=_multi_head_cases,
    parts={CORE: 4, "cross-attention": 1, "mask": 1},
    correct=CORRECT,
    steps=("q", "k", "v", "scaled", "alpha"),
    hints=(
        Hint(
            "idea",
            "Five steps: project, split, attend, join, mix. All heads attend at once, since the heads are only one "
            "more leading dimension, and each of them has `d_head` numbers and its own scale.",
        ),
        Hint(
            "shapes",
            "Split, everything is `[batch, heads, words, d_head]`. A mask `[batch, queries, keys]` is lined up from "
            "the right, so that its batch would meet the heads: give it a dimension of size 1 in between. Joining is "
            "splitting in reverse, transpose included.",
            answers=(
                "masks_meet_heads",
                "joined_without_transpose",
                "split_without_transpose",
                "split_and_joined_without_transpose",
                "heads_behind_the_words",
                "masks_of_other_sentences",
            ),
        ),
        Hint(
            "outline",
            "Queries from `x`, keys and values from `memory`, each times its matrix.\n"
            "Split each: cut the last dimension in two, then put the heads before the words.\n"
            "If there is a mask, make room for the heads in it.\n"
            "Attention on the split tensors gives `[batch, heads, queries, d_head]`.\n"
            "Put the words before the heads again, and flatten the last two dimensions into one.\n"
            "Multiply by `W_o`, which mixes what the heads have found.",
            answers=(
                "W_o_left_out",
                "one_head",
                "values_from_x",
                "memory_ignored",
                "keys_and_values_exchanged",
                "values_not_projected",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "memory_ignored",
            "Your answer never looks at memory. Keys and values must come from it, and only the queries from x.",
            partial(_beyond_self_attention, sources=lambda x, memory: (x, x, x)),
        ),
        Misconception(
            "x_and_memory_exchanged",
            "With a memory, your answer makes the queries from it. Queries come from x, keys and values from memory.",
            partial(_beyond_self_attention, sources=lambda x, memory: (memory, x, x)),
        ),
        Misconception(
            "values_from_x",
            "With a memory your answer takes the values from x, as slide S1 does in its translation. Keys and values "
            "both come from memory.",
            partial(_beyond_self_attention, sources=lambda x, memory: (x, memory, x)),
        ),
        Misconception(
            "mask_ignored",
            "Your answer makes no use of the mask. Forbid the keys where it is False, in every head.",
            partial(_beyond_self_attention, allowed=lambda mask: None),
        ),
        Misconception(
            "mask_inverted",
            "Your answer forbids the keys where the mask is True. True means `may attend`.",
            partial(_beyond_self_attention, allowed=torch.logical_not),
        ),
        Misconception(
            "mask_transposed",
            "Your answer uses the mask transposed, [keys, queries]. Its rows are queries, like those of the scores: "
            "use it as it comes.",
            partial(_beyond_self_attention, allowed=_turned),
        ),
        Misconception(
            "mask_multiplies_the_scores",
            "Your answer gives forbidden keys the score 0, as multiplying the scores by the mask does. That is not "
            "low: they get attention all the same. Set their scores to -inf.",
            partial(_beyond_self_attention, masked=(torch.mul, lambda alpha, mask: alpha)),
        ),
        Misconception(
            "mask_multiplies_the_weights",
            "Your answer multiplies the weights by the mask, so that the ones that are left no longer add up to 1. "
            "Forbid the keys before the softmax.",
            partial(_beyond_self_attention, masked=(lambda scaled, mask: scaled, torch.mul)),
        ),
        Misconception(
            "masks_meet_heads",
            "Your answer uses the mask [batch, queries, keys] as it is with scores [batch, heads, queries, keys]: "
            "sentence i's mask then falls on head i, or nothing fits. Make room for the heads: mask.unsqueeze(1).",
            partial(_beyond_self_attention, room=lambda mask, heads: mask),
        ),
        Misconception(
            "scaled_by_d_model",
            "Your answer divides the scores by √d_model. Each head's queries have only d_head = d_model / heads "
            "numbers: divide by √d_head.",
            partial(_multi_head, divisor=lambda x, q: math.sqrt(x.shape[-1])),
        ),
        Misconception(
            "not_scaled",
            "Your answer takes the softmax of the unscaled scores. Divide them by √d_head in every head.",
            partial(_multi_head, divisor=lambda x, q: 1.0),
        ),
        Misconception(
            "divided_by_d_head",
            "Your answer divides the scores by d_head, as slide S1 prints it (or by √d_head twice: the lesson's own "
            "attention also divides). The paper's formula takes the root: divide by √d_head, once.",
            partial(_multi_head, divisor=lambda x, q: q.shape[-1]),
        ),
        Misconception(
            "transpose_left_out",
            "Your answer multiplies the queries by the keys without transposing them, as S1's expanded formula is "
            "printed. That fits only where the number of words equals d_head, and is wrong even there: k.mT.",
            partial(_multi_head, scores=torch.matmul),
        ),
        Misconception(
            "W_o_left_out",
            "Your answer returns the heads side by side. The last step mixes them: multiply by W_o.",
            partial(_multi_head, mixed=lambda W_o: torch.eye(len(W_o), dtype=W_o.dtype)),
        ),
        Misconception(
            "one_head",
            "Your answer is attention with a single head: q, k and v are never split, so that all numbers of a word "
            "share one distribution. Split them into `heads` pieces.",
            partial(_multi_head, cut=(lambda y, heads: y.unsqueeze(1), join_heads)),
        ),
        Misconception(
            "split_without_transpose",
            "Your answer splits into heads by reshaping to [batch, heads, words, d_head] at once, which gives a head "
            "whole words. Split the last dimension, then transpose(1, 2).",
            partial(_multi_head, cut=(_split_at_once, join_heads)),
        ),
        Misconception(
            "joined_without_transpose",
            "Your answer joins the heads by reshaping [batch, heads, words, d_head] at once, which mixes the words. "
            "Bring the words to the front again first: transpose(1, 2).",
            partial(_multi_head, cut=(split_heads, _joined_at_once)),
        ),
        Misconception(
            "split_and_joined_without_transpose",
            "Your answer reshapes to [batch, heads, words, d_head] at once, and back. A head then gets whole words "
            "instead of a piece of every word: swap words and heads with transpose(1, 2), both times.",
            partial(_multi_head, cut=(_split_at_once, _joined_at_once)),
        ),
        Misconception(
            "heads_behind_the_words",
            "Your answer splits into [batch, words, heads, d_head] and attends there, so that each word's heads look "
            "at each other, and no word looks at another. Bring the heads before the words with transpose(1, 2), and "
            "back at the end.",
            partial(_multi_head, cut=(cut_heads, _joined_as_it_is)),
        ),
        *alike(
            "Your answer gives head 0 the numbers 0, heads, 2 heads, ... of each word. Head i owns the i-th d_head "
            "numbers: the heads' dimension comes before d_head's.",
            interleaved=partial(_multi_head, cut=(_split_in_turn, join_heads)),
            interleaved_both_ways=partial(_multi_head, cut=(_split_in_turn, _joined_in_turn)),
        ),
        Misconception(
            "joined_in_turn",
            "Your answer joins the heads by taking the first number of each, then the second of each, ... Each head's "
            "d_head numbers belong together: bring the heads before d_head, then flatten(2).",
            partial(_multi_head, cut=(split_heads, _joined_in_turn)),
        ),
        Misconception(
            "softmax_over_the_queries",
            "Your answer takes the softmax over the queries (dim=-2). Each query divides its attention among the "
            "keys: dim=-1.",
            partial(_multi_head, over=-2),
        ),
        Misconception(
            "softmax_over_the_heads",
            "Your answer takes the softmax over the heads (dim=1). Each query of each head divides its attention "
            "among the keys: dim=-1.",
            partial(_multi_head, over=1),
        ),
        Misconception(
            "keys_and_values_exchanged",
            "Your answer makes the keys with W_v and the values with W_k. Each has its own.",
            partial(_multi_head, matrices=lambda W_q, W_k, W_v: (W_q, W_v, W_k)),
        ),
        Misconception(
            "values_not_projected",
            "Your answer averages the words themselves. The values are projected as well: memory @ W_v.",
            partial(_multi_head, matrices=lambda W_q, W_k, W_v: (W_q, W_k, torch.eye(len(W_v), dtype=W_v.dtype))),
        ),
        Misconception(
            "W_o_transposed",
            "Your answer multiplies by W_o transposed, as nn.Linear does with its own weight. Here it is times W_o as "
            "it is.",
            partial(_multi_head, mixed=_turned),
        ),
        gradients_cut(lambda *args: multihead.multi_head_attention(*args).detach(), "the projections"),
        Misconception(
            "residual_added",
            "Your answer adds x at the end. That residual connection belongs to add & norm, around attention: return "
            "only what attention gives.",
            partial(_multi_head, residual=True),
        ),
        Misconception(
            "masks_of_other_sentences",
            "With a mask, most heads get that of another sentence: repeat(heads, 1, 1) strings all the masks together "
            "again and again. mask.unsqueeze(1) gives each sentence's mask to all its heads.",
            partial(_beyond_self_attention, room=_of_other_sentences),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(READY_MADE_HEADS,),
)
