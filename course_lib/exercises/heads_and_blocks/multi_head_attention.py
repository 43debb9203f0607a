"""Lesson 04, heads_and_blocks.multi_head_attention: Multi-head attention."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import multihead
from course_lib.attention import attention_weights
from course_lib.exercises.common import LITTLE_LEFT, SMALLEST, Kind, alike, and_turned_around, integer, sizes
from course_lib.exercises.heads_and_blocks.shared import FOUR_NUMBERS_A_WORD, LESSON, WITHHELD, gradients_cut
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.judging.ready_made import READY_MADE_HEADS


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
        yield Case(f"{B.name} with four numbers a token: two heads, no mask", (x, x, I, I, I, I, 2, None))
    few, several = sizes(generator, 2)
    tokens = integer(generator, 8, 11)
    yield _heads_case("a batch", Kind("", generator, (few,)), (tokens, None, 2, 3))
    yield _heads_case(SMALLEST, Kind("", generator, (1,)), (1, None, 1, 1))
    yield _heads_case("as many tokens as d_head", Kind("", generator, (several,)), (5, None, 2, 5))
    yield _heads_case("double precision", Kind("", generator, (few,), torch.float64), (tokens, None, 3, 2))
    yield _heads_case("transposed in memory", Kind("", generator, (2,), transposed=True), (tokens, None, 2, 6))

    cross = "cross-attention"
    yield _heads_case("memory of a different length", Kind("", generator, (few,)), (tokens, 5, 2, 3), part=cross)
    yield _heads_case("memory of the same length", Kind("", generator, (several,)), (7, 7, 3, 2), part=cross)

    for name, batch, keys in (
        ("as many sentences as heads, a mask for each", 3, None),
        ("more sentences than heads, a mask for each", 5, None),
        ("a mask over a memory", 2, 6),
    ):
        mask = _some_allowed_some_not(generator, batch, tokens, keys or tokens)
        yield _heads_case(name, Kind("", generator, (batch,)), (tokens, keys, 3, 2), mask, "mask")


Maybe = Tensor | None


def _heads_step_by_step(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    projected = x @ W_q, memory @ W_k, memory @ W_v
    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in projected)
    scaled = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        room = mask.unsqueeze(1)
        scaled = scaled.masked_fill(~room, -math.inf)
    alpha = attention_weights(scaled)
    out: Tensor = (alpha @ v).transpose(1, 2).flatten(2)
    return out @ W_o


_slip = partial(Edited, _heads_step_by_step)
"""One that shows in self-attention."""

_slip_beyond = partial(Edited, _heads_step_by_step, beside="beyond self-attention")
"""One that shows with a memory or a mask only. Next to one that shows everywhere it is not looked at: the part for
self-attention comes first."""

_SPLIT, _JOINED = "unflatten(-1, (heads, -1)).transpose(1, 2)", "transpose(1, 2).flatten(2)"
_SPLIT_AT_ONCE = (_SPLIT, "reshape(len(y), heads, y.shape[1], -1)")
_JOINED_AT_ONCE = (_JOINED, "reshape(x.shape)")
_SPLIT_IN_TURN = (_SPLIT, "unflatten(-1, (-1, heads)).mT.transpose(1, 2)")
_JOINED_IN_TURN = (_JOINED, "permute(0, 2, 3, 1).flatten(2)")


def _heads_by_the_fused_kernel(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (x @ W_q, memory @ W_k, memory @ W_v))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.unsqueeze(1))
    return out.transpose(1, 2).reshape(x.shape) @ W_o


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


CORRECT = (_heads_step_by_step, _heads_by_the_fused_kernel, _heads_summed)


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
    cases=and_turned_around(_multi_head_cases),
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
            "Split, everything is `[batch, heads, tokens, d_head]`. A mask `[batch, queries, keys]` is lined up from "
            "the right, so that its batch would meet the heads: give it a dimension of size 1 in between. Joining is "
            "splitting in reverse, transpose included.",
            answers=(
                "masks_meet_heads",
                "joined_without_transpose",
                "split_without_transpose",
                "heads_behind_the_words",
                "masks_of_other_sentences",
            ),
        ),
        Hint(
            "outline",
            "Queries from `x`, keys and values from `memory`, each times its matrix.\n"
            "Split each: cut the last dimension in two, then put the heads before the tokens.\n"
            "If there is a mask, make room for the heads in it.\n"
            "Attention on the split tensors gives `[batch, heads, queries, d_head]`.\n"
            "Put the tokens before the heads again, and flatten the last two dimensions into one.\n"
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
            _slip_beyond(("memory @ W_k, memory @ W_v", "x @ W_k, x @ W_v")),
        ),
        Misconception(
            "x_and_memory_exchanged",
            "With a memory, your answer makes the queries from it. Queries come from x, keys and values from memory.",
            _slip_beyond(("x @ W_q, memory @ W_k, memory @ W_v", "memory @ W_q, x @ W_k, x @ W_v")),
        ),
        Misconception(
            "values_from_x",
            "With a memory your answer takes the values from x, as slide S1 does in its translation. Keys and values "
            "both come from memory.",
            _slip_beyond(("memory @ W_v", "x @ W_v")),
        ),
        Misconception(
            "mask_ignored",
            "Your answer makes no use of the mask. Forbid the keys where it is False, in every head.",
            _slip_beyond(("if mask is not None", "if False")),
        ),
        Misconception(
            "mask_inverted",
            "Your answer forbids the keys where the mask is True. True means `may attend`.",
            _slip_beyond(("~room", "room")),
        ),
        Misconception(
            "mask_transposed",
            "Your answer uses the mask transposed, [keys, queries]. Its rows are queries, like those of the scores: "
            "use it as it comes.",
            _slip_beyond(("mask.unsqueeze(1)", "mask.mT.unsqueeze(1)")),
        ),
        Misconception(
            "mask_multiplies_the_scores",
            "Your answer gives forbidden keys the score 0, as multiplying the scores by the mask does. That is not "
            "low: they get attention all the same. Set their scores to -inf.",
            _slip_beyond(("scaled.masked_fill(~room, -math.inf)", "scaled * room")),
        ),
        Misconception(
            "mask_multiplies_the_weights",
            "Your answer multiplies the weights by the mask, so that the ones that are left no longer add up to 1. "
            "Forbid the keys before the softmax.",
            _slip_beyond(
                ("scaled = scaled.masked_fill(~room, -math.inf)", "pass"),
                ("attention_weights(scaled)", "attention_weights(scaled) * (1 if mask is None else room)"),
            ),
        ),
        Misconception("filled_with_ten", LITTLE_LEFT, _slip_beyond(("-math.inf", "-10.0"))),
        Misconception(
            "masks_meet_heads",
            "Your answer uses the mask [batch, queries, keys] as it is with scores [batch, heads, queries, keys]: "
            "sentence i's mask then falls on head i, or nothing fits. Make room for the heads: mask.unsqueeze(1).",
            _slip_beyond(("mask.unsqueeze(1)", "mask")),
        ),
        Misconception(
            "scaled_by_d_model",
            "Your answer divides the scores by √d_model. Each head's queries have only d_head = d_model / heads "
            "numbers: divide by √d_head.",
            _slip(("q.shape[-1]", "x.shape[-1]")),
        ),
        Misconception(
            "not_scaled",
            "Your answer takes the softmax of the unscaled scores. Divide them by √d_head in every head.",
            _slip((" / math.sqrt(q.shape[-1])", "")),
        ),
        Misconception(
            "divided_by_d_head",
            "Your answer divides the scores by d_head, as slide S1 prints it (or by √d_head twice: the lesson's own "
            "attention also divides). The paper's formula takes the root: divide by √d_head, once.",
            _slip(("math.sqrt(q.shape[-1])", "q.shape[-1]")),
        ),
        Misconception(
            "transpose_left_out",
            "Your answer multiplies the queries by the keys without transposing them, as S1's expanded formula is "
            "printed. That fits only where the number of tokens equals d_head, and is wrong even there: k.mT.",
            _slip(("k.mT", "k")),
        ),
        Misconception(
            "W_o_left_out",
            "Your answer returns the heads side by side. The last step mixes them: multiply by W_o.",
            _slip((" @ W_o", "")),
        ),
        Misconception(
            "one_head",
            "Your answer is attention with a single head: q, k and v are never split, so that all numbers of a token "
            "share one distribution. Split them into `heads` pieces.",
            _slip((_SPLIT, "unsqueeze(1)")),
        ),
        Misconception(
            "split_without_transpose",
            "Your answer splits into heads by reshaping to [batch, heads, tokens, d_head] at once, which gives a head "
            "whole words. Split the last dimension, then transpose(1, 2).",
            _slip(_SPLIT_AT_ONCE),
        ),
        Misconception(
            "joined_without_transpose",
            "Your answer joins the heads by reshaping [batch, heads, tokens, d_head] at once, which mixes the tokens. "
            "Bring the tokens to the front again first: transpose(1, 2).",
            _slip(_JOINED_AT_ONCE),
        ),
        Misconception(
            "heads_behind_the_words",
            "Your answer splits into [batch, tokens, heads, d_head] and attends there, so that each token's heads look "
            "at each other, and no token looks at another. Bring the heads before the tokens with transpose(1, 2), and "
            "back at the end.",
            _slip((_SPLIT, "unflatten(-1, (heads, -1))"), (_JOINED, "flatten(2)")),
        ),
        *alike(
            "Your answer gives head 0 the numbers 0, heads, 2 heads, ... of each token. Head i owns the i-th d_head "
            "numbers: the heads' dimension comes before d_head's.",
            interleaved=_slip(_SPLIT_IN_TURN),
            interleaved_both_ways=_slip(_SPLIT_IN_TURN, _JOINED_IN_TURN),
        ),
        Misconception(
            "joined_in_turn",
            "Your answer joins the heads by taking the first number of each, then the second of each, ... Each head's "
            "d_head numbers belong together: bring the heads before d_head, then flatten(2).",
            _slip(_JOINED_IN_TURN),
        ),
        Misconception(
            "softmax_over_the_queries",
            "Your answer takes the softmax over the queries (dim=-2). Each query divides its attention among the "
            "keys: dim=-1.",
            _slip(("attention_weights(scaled)", "torch.softmax(scaled, dim=-2)")),
        ),
        Misconception(
            "softmax_over_the_heads",
            "Your answer takes the softmax over the heads (dim=1). Each query of each head divides its attention "
            "among the keys: dim=-1.",
            _slip(("attention_weights(scaled)", "torch.softmax(scaled, dim=1)")),
        ),
        Misconception(
            "keys_and_values_exchanged",
            "Your answer makes the keys with W_v and the values with W_k. Each has its own.",
            _slip(("memory @ W_k, memory @ W_v", "memory @ W_v, memory @ W_k")),
        ),
        Misconception(
            "values_not_projected",
            "Your answer averages the tokens themselves. The values are projected as well: memory @ W_v.",
            _slip(("memory @ W_v", "memory")),
        ),
        Misconception(
            "W_o_transposed",
            "Your answer multiplies by W_o transposed, as nn.Linear does with its own weight. Here it is times W_o as "
            "it is.",
            _slip(("@ W_o", "@ W_o.mT")),
        ),
        gradients_cut(_slip(("return out @ W_o", "return (out @ W_o).detach()")), "the projections"),
        Misconception(
            "residual_added",
            "Your answer adds x at the end. That residual connection belongs to add & norm, around attention: return "
            "only what attention gives.",
            _slip(("return out", "return x + out")),
        ),
        Misconception(
            "masks_of_other_sentences",
            "With a mask, most heads get that of another sentence: repeat(heads, 1, 1) strings all the masks together "
            "again and again. mask.unsqueeze(1) gives each sentence's mask to all its heads.",
            _slip_beyond(("mask.unsqueeze(1)", "mask.repeat(heads, 1, 1).view(len(mask), heads, *mask.shape[1:])")),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(READY_MADE_HEADS,),
)
