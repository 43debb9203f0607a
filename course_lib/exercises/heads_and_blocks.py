"""The exercises of lesson 04: projections, heads, the parts of a block, and the block itself.

Built like those of `course_lib/exercises/attention.py`; read that file first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import blocks, multihead
from course_lib.attention import attention, attention_weights
from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception, Pair
from course_lib.exercises.common import ALMOST_EVERYTHING, Kind, integer, kinds, sizes
from course_lib.exercises.correct import heads_and_blocks as correct
from course_lib.exercises.worked_examples import A, B
from course_lib.multihead import join_heads, split_heads

LESSON = "04_heads_and_blocks"
WITHHELD = ("course_lib.multihead", "course_lib.blocks")
READY_MADE_HEADS = ("multi_head_attention_forward", "MultiheadAttention")
"""Forbidden where the student writes multi-head attention."""

_FOUR_NUMBERS_A_WORD = torch.cat([B.q, B.q.roll(1, dims=0)], dim=1)
"""The words of worked example B, [4, 4]: each with its own two numbers and those of the word before it."""


# heads_and_blocks.project ----------------------------------------------------------------------------------


def _project_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        matrices = [[[1.0, 2.0], [0.0, 1.0]], [[1.0, 0.0], [-1.0, 2.0]], [[0.0, 1.0], [3.0, 1.0]]]
        yield Case(f"{A.name}: die, Katze ask the, cat, danced", (A.q, A.k, *map(torch.tensor, matrices)))
    for kind in kinds(generator):
        queries, keys, d_model = kind.sizes(3)
        d_key = kind.d_head()
        matrices_of = [Kind("", generator, dtype=kind.dtype, transposed=kind.transposed) for _ in range(3)]
        W = [
            matrix.normal(d_model, width) for matrix, width in zip(matrices_of, (d_key, d_key, d_key + 1), strict=True)
        ]
        yield Case(f"{kind.name}, cross-attention", (kind.normal(queries, d_model), kind.normal(keys, d_model), *W))
        x = kind.normal(queries, d_model)
        yield Case(f"{kind.name}, self-attention", (x, x, *W))


def _as_asked(x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x, memory, memory


def _as_given(first: Tensor, second: Tensor, third: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return first, second, third


def _all_turned(W_q: Tensor, W_k: Tensor, W_v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return W_q.mT, W_k.mT, W_v.mT


Sources = Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
Three = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


def _projected(
    x: Tensor,
    memory: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    *,
    sources: Sources = _as_asked,
    matrices: Three = _as_given,
    order: Three = _as_given,
) -> tuple[Tensor, Tensor, Tensor]:
    """The projections, from other sentences than asked for, with other matrices, or in another order."""
    q, k, v = (y @ W for y, W in zip(sources(x, memory), matrices(W_q, W_k, W_v), strict=True))
    return order(q, k, v)


PROJECT = Exercise(
    id="heads_and_blocks.project",
    lesson=LESSON,
    name="project",
    title="Queries, keys, values",
    statement=(
        "project(x [..., queries, d_model], memory [..., keys, d_model], W_q [d_model, d_key], W_k [d_model, d_key], "
        "W_v [d_model, d_value]) -> (q, k, v): queries from x, keys and values from memory, each as x W."
    ),
    points=2,
    minutes=8,
    section="Learned projections",
    source="S3, projections K, Q, V; S2 and S4, cross-attention; Vaswani et al. (2017), section 3.2.2",
    reference=multihead.project,
    cases=_project_cases,
    correct=correct.PROJECT,
    misconceptions=(
        Misconception(
            "transposed",
            "Your answer multiplies by the transposed matrices, x Wᵀ, as nn.Linear does with its own weight. Here it "
            "is x W: x @ W_q.",
            partial(_projected, matrices=_all_turned),
        ),
        Misconception(
            "x_and_memory_exchanged",
            "Your answer makes the queries from memory, and the keys and values from x. Whoever asks is x: queries "
            "from x, keys and values from memory.",
            partial(_projected, sources=lambda x, memory: (memory, x, x)),
        ),
        Misconception(
            "memory_ignored",
            "Your answer makes all three from x. In cross-attention the keys and the values come from memory.",
            partial(_projected, sources=lambda x, memory: (x, x, x)),
        ),
        Misconception(
            "queries_from_memory_too",
            "Your answer makes all three from memory. The queries come from x.",
            partial(_projected, sources=lambda x, memory: (memory, memory, memory)),
        ),
        Misconception(
            "values_from_x",
            "Your answer takes the values from x, as slide S1 does in its translation. What is looked at is what is "
            "brought home: keys and values both come from memory.",
            partial(_projected, sources=lambda x, memory: (x, memory, x)),
        ),
        Misconception(
            "keys_from_x",
            "Your answer takes the keys from x. Only the queries come from x; keys and values both come from memory.",
            partial(_projected, sources=lambda x, memory: (x, x, memory)),
        ),
        Misconception(
            "keys_as_values",
            "Your answer uses W_k for the values, too. They come from the same words as the keys, but have a matrix of "
            "their own: memory @ W_v.",
            partial(_projected, matrices=lambda W_q, W_k, W_v: (W_q, W_k, W_k)),
        ),
        Misconception(
            "values_not_projected",
            "Your answer leaves the values as the words that they are made from. They are projected as well: "
            "memory @ W_v.",
            partial(_projected, matrices=lambda W_q, W_k, W_v: (W_q, W_k, torch.eye(len(W_v), dtype=W_v.dtype))),
        ),
        Misconception(
            "values_of_the_keys",
            "Your answer makes the values from the keys, k @ W_v, which fits only where d_key is d_model. They are "
            "made from the words themselves: memory @ W_v.",
            lambda x, memory, W_q, W_k, W_v: (x @ W_q, memory @ W_k, memory @ W_k @ W_v),
        ),
        Misconception(
            "W_q_and_W_k_exchanged",
            "Your answer uses W_k for the queries and W_q for the keys. Each has its own.",
            partial(_projected, matrices=lambda W_q, W_k, W_v: (W_k, W_q, W_v)),
        ),
        Misconception(
            "w_q_for_the_keys",
            "Your answer uses W_q for the keys, too. They have a matrix of their own: memory @ W_k.",
            partial(_projected, matrices=lambda W_q, W_k, W_v: (W_q, W_q, W_v)),
        ),
        Misconception(
            "one_matrix_for_all",
            "Your answer uses W_q three times. Keys and values have matrices of their own, W_k and W_v.",
            partial(_projected, matrices=lambda W_q, W_k, W_v: (W_q, W_q, W_q)),
        ),
        Misconception(
            "other_order",
            "Your answer has the keys before the queries: k, q, v. Return them as q, k, v.",
            partial(_projected, order=lambda q, k, v: (k, q, v)),
        ),
        Misconception(
            "values_before_keys",
            "Your answer has what W_v makes in the middle, and what W_k makes at the end. Return q, k, v: the keys, "
            "made with W_k, come second.",
            partial(_projected, order=lambda q, k, v: (q, v, k)),
        ),
    ),
    withheld=WITHHELD,
)


# heads_and_blocks.split_heads ------------------------------------------------------------------------------


def _split_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{B.name} with four numbers a word, two heads", (_FOUR_NUMBERS_A_WORD.unsqueeze(0), 2))
    for name, dtype, transposed in (
        ("a batch", torch.float32, False),
        ("another batch", torch.float32, False),
        ("double precision", torch.float64, False),
        ("transposed in memory", torch.float32, True),
    ):
        batch, words, heads, d_head = sizes(generator, 4)
        kind = Kind(name, generator, (batch,), dtype=dtype, transposed=transposed)
        yield Case(name, (kind.normal(words, heads * d_head), heads))
    batch, words, d_model = sizes(generator, 3)
    yield Case("one head", (Kind("", generator, (batch,)).normal(words, d_model), 1))
    yield Case("as many heads as numbers", (Kind("", generator, (batch,)).normal(words, d_model), d_model))


Cut = Callable[[Tensor, int], Tensor]
"""Cuts [batch, words, d_model] into [batch, words, heads, d_head]."""


def _cut(x: Tensor, heads: int) -> Tensor:
    return x.reshape(*x.shape[:-1], heads, -1)


def _cut_in_turn(x: Tensor, heads: int) -> Tensor:
    return _cut_into_heads_long(x, heads).mT


def _cut_into_heads_long(x: Tensor, heads: int) -> Tensor:
    return x.reshape(*x.shape[:-1], -1, heads)


def _cut_in_the_order_of_memory(x: Tensor, heads: int) -> Tensor:
    return x.reshape(len(x), heads, x.shape[1], -1).transpose(1, 2)


def _split(x: Tensor, heads: int, *, cut: Cut = _cut, order: tuple[int, ...] = (0, 2, 1, 3)) -> Tensor:
    """The splitting with another cut, or the dimensions in another order."""
    return cut(x, heads).permute(order)


SPLIT_HEADS = Exercise(
    id="heads_and_blocks.split_heads",
    lesson=LESSON,
    name="split_heads",
    title="Splitting into heads",
    statement=(
        "split_heads(x [batch, words, d_model], heads) -> [batch, heads, words, d_head], where d_head is d_model // "
        "heads: head i gets the i-th piece of every word's vector."
    ),
    points=2,
    minutes=10,
    section="Several heads",
    source="S1 to S4, multi-head attention; Vaswani et al. (2017), section 3.2.2",
    reference=multihead.split_heads,
    cases=_split_cases,
    correct=correct.SPLIT_HEADS,
    misconceptions=(
        Misconception(
            "viewed_not_transposed",
            "Your answer asks for the final shape at once, which cuts the numbers in the order of memory: a head then "
            "gets whole words instead of a piece of every word. Split the last dimension first, then exchange words "
            "and heads with transpose(1, 2).",
            lambda x, heads: x.view(len(x), heads, x.shape[1], -1),
        ),
        Misconception(
            "reshaped_not_transposed",
            "Your answer reshapes to [batch, heads, words, d_head] at once, which cuts the numbers in the order of "
            "memory: a head then gets whole words instead of a piece of every word. Split the last dimension first, "
            "then exchange words and heads with transpose(1, 2).",
            partial(_split, cut=_cut_in_the_order_of_memory),
        ),
        Misconception(
            "words_before_heads",
            "Your answer is [batch, words, heads, d_head]. The heads stand before the words: transpose(1, 2).",
            partial(_split, order=(0, 1, 2, 3)),
        ),
        Misconception(
            "interleaved",
            "Your answer deals the numbers out in turn, so that head 0 gets numbers 0, heads, 2 heads, ... of a word. "
            "Head 0 gets the first d_head numbers: the dimension of the heads comes before that of d_head.",
            partial(_split, cut=_cut_in_turn),
        ),
        Misconception(
            "d_head_and_heads_exchanged",
            "Your answer has d_head heads of as many numbers as there should be heads. `heads` is how many pieces "
            "there are, not how long one is.",
            partial(_split, cut=_cut_into_heads_long),
        ),
        Misconception(
            "numbers_before_words",
            "Each head's matrix is transposed: [batch, heads, d_head, words]. Words come before numbers.",
            partial(_split, order=(0, 2, 3, 1)),
        ),
        Misconception(
            "heads_before_the_batch",
            "Your answer is [heads, batch, words, d_head]. The batch comes first.",
            partial(_split, order=(2, 0, 1, 3)),
        ),
        Misconception(
            "heads_folded_into_the_batch",
            "The pieces are right, but your answer is [batch · heads, words, d_head]. Keep the heads as a dimension of "
            "their own, behind the batch.",
            lambda x, heads: split_heads(x, heads).flatten(0, 1),
            alone=True,
        ),
        Misconception(
            "pieces_not_stacked",
            "Your answer is a tuple of pieces, one for each head. Make one tensor of them: torch.stack(pieces, dim=1).",
            lambda x, heads: x.chunk(heads, dim=-1),
        ),
        Misconception(
            "words_split",
            "Your answer gives each head some of the words, whole. Every head sees every word, but only a piece of its "
            "vector: split the last dimension.",
            lambda x, heads: x.reshape(len(x), heads, x.shape[1] // heads, x.shape[2]),
        ),
        Misconception(
            "whole_vectors",
            "Your answer gives every head the whole vector of every word. The heads divide it: head i gets the i-th "
            "d_model // heads numbers.",
            lambda x, heads: x.unsqueeze(1).expand(-1, heads, -1, -1),
        ),
    ),
    listed_pairs=(
        Pair(
            "viewed_not_transposed",
            "d_head_and_heads_exchanged",
            lambda x, heads: x.view(len(x), -1, x.shape[1], heads),
        ),
        Pair(
            "reshaped_not_transposed",
            "d_head_and_heads_exchanged",
            lambda x, heads: x.reshape(len(x), -1, x.shape[1], heads),
        ),
    ),
    withheld=WITHHELD,
)


# heads_and_blocks.multi_head_attention ---------------------------------------------------------------------


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
        x = _FOUR_NUMBERS_A_WORD.unsqueeze(0)
        yield Case(f"{B.name} with four numbers a word: two heads, no mask", (x, x, I, I, I, I, 2, None))
    few, several = sizes(generator, 2)
    words = integer(generator, 8, 11)
    yield _heads_case("a batch", Kind("", generator, (few,)), (words, None, 2, 3))
    yield _heads_case("other sizes", Kind("", generator, (several,)), (words + 3, None, 3, 5))
    yield _heads_case("as many words as d_head", Kind("", generator, (several,)), (5, None, 2, 5))
    yield _heads_case("double precision", Kind("", generator, (few,), torch.float64), (words, None, 3, 2))
    yield _heads_case("transposed in memory", Kind("", generator, (2,), transposed=True), (words, None, 2, 6))

    cross = "cross-attention"
    yield _heads_case("memory of other length", Kind("", generator, (few,)), (words, 5, 2, 3), part=cross)
    yield _heads_case("memory of the same length", Kind("", generator, (several,)), (7, 7, 3, 2), part=cross)

    for name, batch, keys in (
        ("a mask for each of as many sentences as heads", 3, None),
        ("a mask for each of more sentences than heads", 5, None),
        ("a mask over a memory", 2, 6),
    ):
        mask = _some_allowed_some_not(generator, batch, words, keys or words)
        yield _heads_case(name, Kind("", generator, (batch,)), (words, keys, 3, 2), mask, "mask")


Steps = Callable[[Tensor, Tensor], Tensor]
"""A step of attention, from two tensors of all heads."""

Scale = tuple[Callable[[Tensor, Tensor], float], Callable[[Tensor, Tensor], float]]
"""By what the scores are multiplied, and by what the weights, from x [batch, words, d_model] and q of all heads."""


def _one(x: Tensor, q: Tensor) -> float:
    return 1.0


def _root(x: Tensor, q: Tensor) -> float:
    return 1 / math.sqrt(q.shape[-1])


def _unchanged(y: Tensor) -> Tensor:
    return y


def _turned(y: Tensor) -> Tensor:
    return y.mT


def _dot_products(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT


def _for_all_heads(mask: Tensor, heads: int) -> Tensor:
    return mask.unsqueeze(1)


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


_split_at_once = partial(_split, cut=_cut_in_the_order_of_memory)
_split_in_turn = partial(_split, cut=_cut_in_turn)


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
    sources: Sources = _as_asked,
    matrices: Three = _as_given,
    cut: tuple[Callable[[Tensor, int], Tensor], Callable[[Tensor], Tensor]] = (split_heads, join_heads),
    scores: Steps = _dot_products,
    scale: Scale = (_root, _one),
    allowed: Callable[[Tensor], Tensor | None] = _unchanged,
    room: Callable[[Tensor, int], Tensor] = _for_all_heads,
    masked: tuple[Steps, Steps] | None = None,
    over: int = -1,
    mixed: Callable[[Tensor], Tensor] = _unchanged,
    residual: bool = False,
) -> Tensor:
    """Multi-head attention with other steps than the right ones."""
    split, join = cut
    projected = _projected(x, memory, W_q, W_k, W_v, sources=sources, matrices=matrices)
    q, k, v = (split(y, heads) for y in projected)
    mask = None if mask is None else allowed(mask)
    mask = None if mask is None else room(mask, heads)
    attention(q, k, v, mask)  # refuses what the lesson's own refuses
    on_scores, on_weights = masked or (_filled, lambda alpha, mask: alpha)
    scaled = scores(q, k) * scale[0](x, q)
    scaled = scaled if mask is None else on_scores(scaled, mask)
    alpha = attention_weights(scaled) if over == -1 else torch.softmax(scaled, dim=over)
    alpha = (alpha if mask is None else on_weights(alpha, mask)) * scale[1](x, q)
    out = join(alpha @ v) @ mixed(W_o)
    return x + out if residual else out


def _beyond_self_attention(*args: Any, **settings: Any) -> Tensor:
    """The same, for mistakes that show with a memory or a mask only: they pair with each other.

    Beside one that shows everywhere, they are not looked at: the part for self-attention comes first.
    """
    return _multi_head(*args, **settings)


MULTI_HEAD_ATTENTION = Exercise(
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
    correct=correct.MULTI_HEAD_ATTENTION,
    misconceptions=(
        Misconception(
            "memory_ignored",
            "Your answer never looks at memory. Keys and values must come from it, and only the queries from x.",
            partial(_beyond_self_attention, sources=lambda x, memory: (x, x, x)),
        ),
        Misconception(
            "x_and_memory_exchanged",
            "With a memory your answer asks from there. Queries come from x, keys and values from memory.",
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
            "little: they get attention all the same. Set their scores to -inf.",
            partial(_beyond_self_attention, masked=(torch.mul, lambda alpha, mask: alpha)),
        ),
        Misconception(
            "mask_multiplies_the_weights",
            "Your answer multiplies the weights by the mask, so that those that are left no longer add up to 1. Forbid "
            "the keys before the softmax.",
            partial(_beyond_self_attention, masked=(lambda scaled, mask: scaled, torch.mul)),
        ),
        Misconception(
            "masks_meet_heads",
            "Your answer uses the mask [batch, queries, keys] as it is beside scores [batch, heads, queries, keys]: "
            "sentence i's mask then falls on head i, or nothing fits. Make room for the heads: mask.unsqueeze(1).",
            partial(_beyond_self_attention, room=lambda mask, heads: mask),
        ),
        Misconception(
            "scaled_by_d_model",
            "Your answer divides the scores by √d_model. Each head's queries have only d_head = d_model / heads "
            "numbers: divide by √d_head.",
            partial(_multi_head, scale=(lambda x, q: 1 / math.sqrt(x.shape[-1]), _one)),
        ),
        Misconception(
            "not_scaled",
            "Your answer takes the softmax of the unscaled scores. Divide them by √d_head in every head.",
            partial(_multi_head, scale=(_one, _one)),
        ),
        Misconception(
            "divided_by_d_head",
            "Your answer divides the scores by d_head, as slide S1 prints it (or by √d_head twice: the lesson's own "
            "attention divides, too). The paper's formula takes the root: divide by √d_head, once.",
            partial(_multi_head, scale=(lambda x, q: 1 / q.shape[-1], _one)),
        ),
        Misconception(
            "transpose_left_out",
            "Your answer multiplies the queries by the keys without transposing them, as S1's expanded formula is "
            "printed. That fits only where there are as many words as d_head, and is wrong there, too: k.mT.",
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
            "instead of a piece of every word: exchange words and heads with transpose(1, 2), both times.",
            partial(_multi_head, cut=(_split_at_once, _joined_at_once)),
        ),
        Misconception(
            "heads_behind_the_words",
            "Your answer splits into [batch, words, heads, d_head] and attends there, so that each word's heads look "
            "at each other, and no word at another. Bring the heads before the words with transpose(1, 2), and back "
            "at the end.",
            partial(_multi_head, cut=(_cut, _joined_as_it_is)),
        ),
        Misconception(
            "interleaved",
            "Your answer gives head 0 the numbers 0, heads, 2 heads, ... of each word, and puts the outputs one head "
            "behind the other. Head i owns the i-th d_head numbers: the heads' dimension comes before d_head's.",
            partial(_multi_head, cut=(_split_in_turn, join_heads)),
        ),
        Misconception(
            "interleaved_both_ways",
            "Your answer gives head 0 the numbers 0, heads, 2 heads, ... of each word, and deals the outputs back in "
            "the same way. Head i owns the i-th d_head numbers: the heads' dimension comes before d_head's.",
            partial(_multi_head, cut=(_split_in_turn, _joined_in_turn)),
        ),
        Misconception(
            "joined_in_turn",
            "Your answer joins the heads by taking the first number of each, then the second of each, ... Each head's "
            "d_head numbers stay together: bring the heads before d_head, then flatten(2).",
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
            "keys_as_values",
            "Your answer averages the keys. The values have a projection of their own, W_v.",
            partial(_multi_head, matrices=lambda W_q, W_k, W_v: (W_q, W_k, W_k)),
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
            "transposed_weights",
            "Your answer multiplies by the transposed matrices, x Wᵀ, as nn.Linear does with its own weight. Here it "
            "is x W.",
            partial(_multi_head, matrices=_all_turned, mixed=_turned),
        ),
        Misconception(
            "W_o_transposed",
            "Your answer multiplies by W_o transposed, as nn.Linear does with its own weight. Here it is times W_o as "
            "it is.",
            partial(_multi_head, mixed=_turned),
        ),
        Misconception(
            "gradients_cut",
            "The values are right, but no gradient reaches the projections: the computation leaves torch on its way "
            "(.detach(), .data, numpy or no_grad). They could never be learned.",
            lambda *args: multihead.multi_head_attention(*args).detach(),
            alone=True,
        ),
        Misconception(
            "scaled_by_the_number_of_heads",
            "Your answer divides the scores by the root of the number of heads. Divide by √d_head, the root of how "
            "many numbers each head's queries have.",
            partial(_multi_head, scale=(lambda x, q: 1 / math.sqrt(q.shape[1]), _one)),
        ),
        Misconception(
            "scaled_after_softmax",
            "Your answer divides the weights by √d_head, after the softmax. Divide the scores, before it.",
            partial(_multi_head, scale=(_one, _root)),
        ),
        Misconception(
            "residual_added",
            "Your answer adds x at the end. That residual connection belongs to add & norm, around attention: return "
            "what attention gives alone.",
            partial(_multi_head, residual=True),
        ),
        Misconception(
            "masks_of_other_sentences",
            "With a mask most heads get that of another sentence: repeat(heads, 1, 1) lays all masks behind each other "
            "again and again. mask.unsqueeze(1) gives each sentence's mask to all its heads.",
            partial(_beyond_self_attention, room=_of_other_sentences),
        ),
    ),
    withheld=WITHHELD,
    forbidden=READY_MADE_HEADS,
)


# heads_and_blocks.layer_norm -------------------------------------------------------------------------------


def _layer_norm_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        gamma, beta = torch.tensor([1.0, 2.0, 1.0, 0.5]), torch.tensor([0.0, 0.0, 1.0, -1.0])
        yield Case(f"{B.name} with four numbers a word", (_FOUR_NUMBERS_A_WORD, gamma, beta, 1e-5))
    for kind in kinds(generator):
        words, batch_like = kind.sizes(2)
        words = max(words, 3)  # of two, both become 1 or -1: who standardises over them has gradients of noise
        d_model = kind.d_head() + (batch_like == words)
        x = 1 + 2 * kind.normal(words, d_model)
        gamma, beta = torch.randn(2, d_model, generator=generator, dtype=kind.dtype)
        yield Case(
            kind.name,
            (x, gamma, beta, 1e-5),
            gradients=() if kind.leading else (0, 1, 2),
            part="epsilon" if kind.dtype == torch.float64 else CORE,  # so exact that even 1e-5 shows
        )
    for name, spread, epsilon in (
        ("words whose numbers are all equal", 0.0, 1e-5),
        ("words whose numbers hardly differ", 0.05, 0.01),
        ("a large epsilon", 1.0, 0.5),
    ):
        words, d_model = sizes(generator, 2)
        if not spread:
            d_model = 8  # so that the mean is exact, however it is computed; over √epsilon no rounding is small
        level = torch.randint(-3, 4, (words, 1), generator=generator).float()
        x = level + spread * torch.randn(words, d_model, generator=generator)
        gamma, beta = torch.randn(2, d_model, generator=generator)
        gradients = () if spread else (0, 1, 2)  # there √variance has none, and who takes it on the way gets NaN
        yield Case(name, (x, gamma, beta, epsilon), gradients=gradients, part="epsilon")


Spread = Callable[[Tensor, float], Tensor]
"""By what the differences from the mean are divided, from the variance and epsilon."""


def _deviation(variance: Tensor, epsilon: float) -> Tensor:
    return (variance + epsilon).sqrt()


def _stretched_and_moved(y: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
    return gamma * y + beta


def _last(x: Tensor) -> int:
    return -1


def _everything(x: Tensor) -> tuple[int, ...]:
    return tuple(range(x.ndim))


def _normed(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    epsilon: float,
    *,
    over: Callable[[Tensor], int | tuple[int, ...]] = _last,
    correction: int = 0,
    centred: Callable[[Tensor, Tensor], Tensor] = torch.sub,
    spread: Spread = _deviation,
    learned: Callable[[Tensor, Tensor, Tensor], Tensor] = _stretched_and_moved,
) -> Tensor:
    """Layer norm with other steps than the right ones; `centred` gets x and its mean."""
    dim = over(x)
    mean, variance = x.mean(dim, keepdim=True), x.var(dim, correction=correction, keepdim=True)
    return learned(centred(x, mean) / spread(variance, epsilon), gamma, beta)


LAYER_NORM = Exercise(
    id="heads_and_blocks.layer_norm",
    lesson=LESSON,
    name="layer_norm",
    title="Layer norm",
    statement=(
        "layer_norm(x [..., d_model], gamma [d_model], beta [d_model], epsilon) -> [..., d_model]: each word's vector "
        "as gamma (x - mean) / √(variance + epsilon) + beta, the variance dividing by d_model; with gradients."
    ),
    points=3,
    minutes=12,
    section="Layer norm",
    source="S3, layer normalization; Ba, Kiros and Hinton (2016), section 3",
    reference=blocks.layer_norm,
    cases=_layer_norm_cases,
    parts={CORE: 2, "epsilon": 1},
    correct=correct.LAYER_NORM,
    misconceptions=(
        Misconception(
            "epsilon_left_out",
            "Your answer is right as long as a word's numbers differ well, but epsilon is not used: where they are "
            "all equal it divides 0 by 0. Add epsilon to the variance, under the root.",
            partial(_normed, spread=lambda variance, epsilon: variance.sqrt()),
            alone=True,
        ),
        Misconception(
            "epsilon_outside_the_root",
            "Your answer adds epsilon to the standard deviation. It belongs under the root, to the variance: "
            "√(variance + epsilon).",
            partial(_normed, spread=lambda variance, epsilon: variance.sqrt() + epsilon),
            alone=True,
        ),
        Misconception(
            "epsilon_fixed",
            "Your answer adds a fixed 1e-5 to the variance, torch's default. Use the epsilon that is handed to you.",
            partial(_normed, spread=lambda variance, epsilon: (variance + 1e-5).sqrt()),
            alone=True,
        ),
        Misconception(
            "divided_by_one_less",
            "Your answer divides the variance by d_model - 1, which is torch's default in var and std. Layer norm "
            "divides by d_model: correction=0 (or unbiased=False).",
            partial(_normed, correction=1),
        ),
        Misconception(
            "not_divided_by_d_model",
            "Your answer divides by the root of the sum of the squared differences. The variance is their mean: divide "
            "the sum by d_model.",
            lambda x, gamma, beta, epsilon: gamma * F.normalize(x - x.mean(-1, keepdim=True), dim=-1) + beta,
        ),
        Misconception(
            "over_the_words",
            "Your answer takes mean and variance over the words (dim=-2). Each word is standardised by itself: over "
            "its own numbers, dim=-1.",
            partial(_normed, over=lambda x: -2),
        ),
        Misconception(
            "over_everything",
            "Your answer takes one mean and one variance of all the numbers. Each word has its own: dim=-1, "
            "keepdim=True.",
            partial(_normed, over=_everything),
        ),
        Misconception(
            "over_the_sentence",
            "Your answer takes one mean and one variance for each sentence, over its words and their numbers. Each "
            "word has its own: dim=-1.",
            partial(_normed, over=lambda x: (-2, -1)),
        ),
        Misconception(
            "root_left_out",
            "Your answer divides by the variance. Divide by its root, the standard deviation.",
            partial(_normed, spread=lambda variance, epsilon: variance + epsilon),
        ),
        Misconception(
            "not_divided",
            "Your answer only subtracts the mean. Divide by the standard deviation as well, √(variance + epsilon).",
            partial(_normed, spread=lambda variance, epsilon: torch.ones_like(variance)),
        ),
        Misconception(
            "not_centred",
            "Your answer does not subtract the mean: x is only divided by the standard deviation. Subtract each word's "
            "mean first.",
            partial(_normed, centred=lambda x, mean: x),
        ),
        Misconception(
            "root_mean_square",
            "Your answer divides by the root of the mean square without subtracting the mean: that is RMSNorm (Zhang "
            "and Sennrich, 2019). Layer norm subtracts the mean first.",
            lambda x, gamma, beta, epsilon: gamma * x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt() + beta,
        ),
        Misconception(
            "gamma_and_beta_left_out",
            "Your answer standardises, and stops there. Multiply by gamma and add beta.",
            partial(_normed, learned=lambda y, gamma, beta: y),
        ),
        Misconception(
            "gamma_and_beta_exchanged",
            "Your answer multiplies by beta and adds gamma. It is the other way round: gamma stretches, beta moves.",
            partial(_normed, learned=lambda y, gamma, beta: beta * y + gamma),
        ),
        Misconception(
            "moved_before_stretched",
            "Your answer adds beta first and multiplies the sum by gamma. Multiply by gamma, then add beta.",
            partial(_normed, learned=lambda y, gamma, beta: gamma * (y + beta)),
        ),
        Misconception(
            "gradients_cut",
            "The values are right, but no gradient reaches x, gamma or beta: the computation leaves torch on its way "
            "(.detach(), .data, numpy or no_grad).",
            lambda x, gamma, beta, epsilon: blocks.layer_norm(x, gamma, beta, epsilon).detach(),
            alone=True,
        ),
        Misconception(
            "statistics_detached",
            "The values are right, but mean and variance pass no gradient on to x: they leave torch on their way "
            "(.detach(), .data, .item(), no_grad). Both depend on x, and its gradient goes through them, too.",
            lambda x, gamma, beta, epsilon: (
                gamma * (x - x.mean(-1, keepdim=True).detach()) / _deviation(x.var(-1, False, True), epsilon).detach()
                + beta
            ),
            alone=True,
        ),
        Misconception(
            "root_without_epsilon_on_the_way",
            "The values are right, but where a word's numbers are all equal the gradient of your answer is NaN: it "
            "takes the root of the variance alone on its way, and that has no gradient at 0. Take one root, of "
            "variance + epsilon.",
            partial(_normed, spread=lambda variance, epsilon: (variance.sqrt().square() + epsilon).sqrt()),
            alone=True,
        ),
        Misconception(
            "beta_left_out",
            "Your answer does not add beta at the end.",
            partial(_normed, learned=lambda y, gamma, beta: gamma * y),
        ),
        Misconception(
            "gamma_left_out",
            "Your answer adds beta, but does not multiply by gamma first.",
            partial(_normed, learned=lambda y, gamma, beta: y + beta),
        ),
        Misconception(
            "mean_without_keepdim",
            "Your answer subtracts a mean from each column, not from each row: without keepdim=True the means, "
            "[words], are laid along d_model. Keep the dimension.",
            lambda x, gamma, beta, epsilon: (
                gamma * (x - x.mean(-1)) / torch.sqrt(x.var(-1, correction=0) + epsilon) + beta
            ),
        ),
        Misconception(
            "over_the_first_dimension",
            "Your answer takes mean and variance over dim=0, the words or the sentences. Each word has its own, over "
            "its d_model numbers: dim=-1.",
            partial(_normed, over=lambda x: 0),
        ),
        Misconception(
            "over_the_second_dimension",
            "Your answer takes mean and variance over dim=1, which is d_model only for a single sequence. Take the "
            "last dimension, dim=-1.",
            partial(_normed, over=lambda x: 1),
        ),
        Misconception(
            "only_the_mean_divided",
            "Your answer divides the mean alone by the root: a division goes before a difference. Put the difference "
            "in brackets: (x - mean) / torch.sqrt(...).",
            lambda x, gamma, beta, epsilon: (
                gamma * (x - x.mean(-1, keepdim=True) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + epsilon))
                + beta
            ),
        ),
        Misconception(
            "root_of_the_root",
            "Your answer takes the root of the standard deviation, which is a root already. Divide by the standard "
            "deviation itself: the root of the variance (plus epsilon).",
            partial(_normed, spread=lambda variance, epsilon: (variance.sqrt() + epsilon).sqrt()),
        ),
    ),
    withheld=WITHHELD,
    forbidden=("layer_norm", "native_layer_norm", "LayerNorm"),
)


# heads_and_blocks.dropout ----------------------------------------------------------------------------------

_SHARES = (0.123, 0.237, 0.341, 0.419)
"""No case has so many numbers that exactly this share of them could be dropped."""

_POWERS = (0.75, 0.875)
"""In double precision: bool / float is single precision in torch, and exact only where 1 - share is a power of two."""


def _dropout_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        kept = torch.tensor([[True, False], [False, True], [True, True]])
        yield Case(f"{A.name}: the, cat, danced, half of it dropped", (A.k, kept, 0.5, True))
    for kind in kinds(generator):
        words, d_model = kind.sizes(2)
        x = kind.normal(words, d_model)
        shares = _POWERS if kind.dtype == torch.float64 else _SHARES
        share = shares[integer(generator, 0, len(shares))]
        kept = torch.rand(x.shape, generator=generator) >= share
        kept.view(-1)[:2] = torch.tensor([True, False])
        yield Case(f"{kind.name}, in training", (x, kept, share, True))
        yield Case(f"{kind.name}, in evaluation", (x, kept, share, False))


Factor = Callable[[float, Tensor], Tensor | float]
"""By what the numbers are multiplied, from the share to drop and `kept`."""

_MAKE_UP: Factor = lambda share, kept: 1 / (1 - share)  # noqa: E731
_ALONE: Factor = lambda share, kept: 1.0  # noqa: E731
_SHRINK: Factor = lambda share, kept: 1 - share  # noqa: E731


def _dropped(
    x: Tensor,
    kept: Tensor,
    share: float,
    training: bool,
    *,
    factors: tuple[Factor, Factor] = (_MAKE_UP, _ALONE),
    stays: Callable[[Tensor], Tensor] = torch.clone,
    phase: Callable[[bool], bool] = bool,
) -> Tensor:
    """Dropout with other factors in training and in evaluation, other lots, or in another phase."""
    training = phase(training)
    y = x * factors[0 if training else 1](share, kept)
    return y.masked_fill(~stays(kept), 0.0) if training else y


DROPOUT = Exercise(
    id="heads_and_blocks.dropout",
    lesson=LESSON,
    name="dropout",
    title="Dropout",
    statement=(
        "dropout(x [...], kept bool [...], share, training) -> [...]: in training 0 where kept is False, and x divided "
        "by 1 - share where it is True; in evaluation x itself."
    ),
    points=2,
    minutes=8,
    section="Dropout",
    source="S3, dropout; Srivastava et al. (2014), section 10",
    reference=blocks.drop,
    cases=_dropout_cases,
    correct=correct.DROPOUT,
    misconceptions=(
        Misconception(
            "not_rescaled",
            "Your answer drops, but does not rescale: in training everything is too small on average, by a factor of "
            "1 - share. Divide what is kept by 1 - share.",
            partial(_dropped, factors=(_ALONE, _ALONE)),
        ),
        Misconception(
            "rescaled_in_evaluation",
            "Your answer multiplies by 1 - share in evaluation instead of dividing by it in training. That is the form "
            "of the first paper, and as right; but here, as in torch, evaluation leaves x alone.",
            partial(_dropped, factors=(_ALONE, _SHRINK)),
            alone=True,
        ),
        Misconception(
            "rescaled_twice",
            "Your answer divides by 1 - share in training, as it should, and multiplies by it in evaluation as well. "
            "Evaluation leaves x alone.",
            partial(_dropped, factors=(_MAKE_UP, _SHRINK)),
        ),
        Misconception(
            "divided_in_evaluation",
            "Your answer divides by 1 - share in evaluation, too. Nothing is dropped there, so that nothing has to be "
            "made up for: return x as it is.",
            partial(_dropped, factors=(_MAKE_UP, _MAKE_UP)),
        ),
        Misconception(
            "divided_by_the_share",
            "Your answer divides by share, the part that is dropped. Divide by the part that is kept: 1 - share.",
            partial(_dropped, factors=(lambda share, kept: 1 / share, _ALONE)),
        ),
        Misconception(
            "multiplied_by_what_is_kept",
            "Your answer multiplies by 1 - share, which makes the numbers smaller still. Divide by it: what is kept "
            "must make up for what is gone.",
            partial(_dropped, factors=(_SHRINK, _ALONE)),
        ),
        Misconception(
            "divided_by_the_count",
            "Your answer divides by the share that happens to be kept this time. Divide by 1 - share, which does not "
            "depend on the lots.",
            partial(_dropped, factors=(lambda share, kept: 1 / kept.double().mean().item(), _ALONE)),
        ),
        Misconception(
            "kept_and_dropped_exchanged",
            "Your answer sets to 0 what should be kept. `kept` is True where a number stays.",
            partial(_dropped, stays=torch.logical_not),
        ),
        Misconception(
            "in_evaluation_too",
            "Your answer does in evaluation what it does in training. Where `training` is False, return x as it is.",
            partial(_dropped, phase=lambda training: True),
        ),
        Misconception(
            "dropped_in_evaluation",
            "Your answer sets numbers to 0 in evaluation, too; only its rescaling asks for `training`. Where that is "
            "False, return x as it is.",
            lambda x, kept, share, training: x * kept / (1 - share) if training else x * kept,
            alone=True,
        ),
        Misconception(
            "only_in_evaluation",
            "Your answer drops in evaluation and leaves x alone in training. It is the other way round.",
            partial(_dropped, phase=lambda training: not training),
        ),
        Misconception(
            "nothing_dropped",
            "Your answer drops nothing. In training, set the numbers to 0 where `kept` is False.",
            partial(_dropped, stays=torch.ones_like),
        ),
    ),
    listed_pairs=(
        Pair(
            "multiplied_by_what_is_kept",
            "divided_in_evaluation",
            partial(_dropped, factors=(_SHRINK, _MAKE_UP)),
        ),
    ),
    withheld=WITHHELD,
    forbidden=("dropout", "Dropout"),
)


# heads_and_blocks.add_and_norm -----------------------------------------------------------------------------


Function = Callable[[Tensor], Tensor]

_ORDERS = ((False, "post-norm"), (True, "pre-norm"))
"""`norm_first`, and what it is called. The core is post-norm, and comes first: a hint says to write it first."""


@dataclass(frozen=True, eq=False)
class _Sublayer:
    """A sublayer as small as can be: tanh(y W)."""

    W: Tensor

    def __call__(self, y: Tensor) -> Tensor:
        return torch.tanh(y @ self.W)


@dataclass(frozen=True, eq=False)
class _Norm:
    """Layer norm with gamma and beta of its own."""

    gamma: Tensor
    beta: Tensor

    def __call__(self, y: Tensor) -> Tensor:
        return blocks.layer_norm(y, self.gamma, self.beta)


@dataclass(frozen=True, eq=False)
class _Dropout:
    """Dropout whose lots are drawn: it drops the same numbers in every call."""

    kept: Tensor
    share: float

    def __call__(self, y: Tensor) -> Tensor:
        return blocks.drop(y, self.kept, self.share, True)


def _add_and_norm_case(name: str, x: Tensor, generator: Generator, norm_first: bool) -> Case:
    drawn = Kind("", generator, dtype=x.dtype)
    d_model = x.shape[-1]
    kept = torch.rand(x.shape, generator=generator) >= 0.25
    kept.view(-1)[:2] = torch.tensor([True, False])
    sublayer = Callback("sublayer", _Sublayer(drawn.normal(d_model, d_model)), most_calls=20)
    norm = Callback("norm", _Norm(drawn.normal(d_model), drawn.normal(d_model)), most_calls=20)
    dropout = Callback("dropout", _Dropout(kept, 0.25), most_calls=20)
    return Case(name, (x, sublayer, norm, dropout, norm_first), part="pre-norm" if norm_first else CORE)


def _add_and_norm_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    for norm_first, order in _ORDERS:
        if not hidden:
            x = _FOUR_NUMBERS_A_WORD
            yield _add_and_norm_case(f"{B.name} with four numbers, {order}", x, generator, norm_first)
        for kind in kinds(generator):
            words, other = kind.sizes(2)
            x = kind.normal(words, kind.d_head() + other)
            yield _add_and_norm_case(f"{kind.name}, {order}", x, generator, norm_first)


def _in_add_and_norm(
    x: Tensor,
    sublayer: Function,
    norm: Function,
    dropout: Function,
    norms: str,
    drops: str = "added",
    add: Callable[[Tensor, Tensor], Tensor] = torch.add,
    read: Tensor | None = None,
    kept: Tensor | None = None,
) -> Tensor:
    """A sublayer whose norms and dropouts stand anywhere.

    Places are what the sublayer has "read", what it has "added", what is "kept" beside it, and their "sum". A norm
    before the dropout stands at the "output", and a dropout behind the norm at the "end".
    """

    def at(place: str, y: Tensor, where: str, function: Function) -> Tensor:
        return function(y) if place in where.split() else y

    y = at("read", at("read", x if read is None else read, norms, norm), drops, dropout)
    y = at("added", at("output", sublayer(y), norms, norm), drops, dropout)
    y = at("added", y, norms, norm)
    kept = at("kept", at("kept", x if kept is None else kept, norms, norm), drops, dropout)
    return at("end", at("sum", at("sum", add(kept, y), drops, dropout), norms, norm), drops, dropout)


def _nothing_kept(x: Tensor, y: Tensor) -> Tensor:
    return y


def _added_and_normed(
    x: Tensor,
    sublayer: Function,
    norm: Function,
    dropout: Function,
    norm_first: bool,
    *,
    post: str = "sum",
    drops: str = "added",
    add: Callable[[Tensor, Tensor], Tensor] = torch.add,
) -> Tensor:
    """Add & norm with mistakes that show in post-norm already."""
    return _in_add_and_norm(x, sublayer, norm, dropout, "read" if norm_first else post, drops, add)


def _pre_normed(
    x: Tensor,
    sublayer: Function,
    norm: Function,
    dropout: Function,
    norm_first: bool,
    *,
    pre: str = "read",
    drops: str = "added",
    add: Callable[[Tensor, Tensor], Tensor] = torch.add,
) -> Tensor:
    """Add & norm with mistakes in pre-norm only: they pair with each other, for post-norm's part comes first."""
    if norm_first:
        return _in_add_and_norm(x, sublayer, norm, dropout, pre, drops, add)
    return blocks.add_and_norm(x, sublayer, norm, dropout, norm_first)


ADD_AND_NORM = Exercise(
    id="heads_and_blocks.add_and_norm",
    lesson=LESSON,
    name="add_and_norm",
    title="Add and norm",
    statement=(
        "add_and_norm(x [..., d_model], sublayer, norm, dropout, norm_first) -> [..., d_model]: "
        "norm(x + dropout(sublayer(x))), or with norm_first x + dropout(sublayer(norm(x)))."
    ),
    points=2,
    minutes=8,
    section="Add and norm, in two orders",
    source="S2, add & norm; Vaswani et al. (2017), section 5.4; Xiong et al. (2020)",
    reference=blocks.add_and_norm,
    cases=_add_and_norm_cases,
    parts={CORE: 1, "pre-norm": 1},
    correct=correct.ADD_AND_NORM,
    misconceptions=(
        Misconception(
            "always_post_norm",
            "Post-norm is right, but your answer does the same where norm_first is True. There the norm stands before "
            "the sublayer, and the sum is not normalised: x + dropout(sublayer(norm(x))).",
            partial(_pre_normed, pre="sum"),
            alone=True,
        ),
        Misconception(
            "residual_normalised_too",
            "In pre-norm your answer adds the normalised x. Only the sublayer reads that; what is added is x itself, "
            "so that a path without any norm leads through all blocks.",
            partial(_pre_normed, pre="read kept"),
        ),
        Misconception(
            "only_the_residual_normalised",
            "In pre-norm your answer normalises the x that is added, and the sublayer reads x as it is. It is the "
            "other way round: x + dropout(sublayer(norm(x))).",
            partial(_pre_normed, pre="kept"),
        ),
        Misconception(
            "pre_norm_of_the_output",
            "In pre-norm your answer normalises what the sublayer adds. The norm stands before the sublayer: "
            "x + dropout(sublayer(norm(x))).",
            partial(_pre_normed, pre="output"),
        ),
        Misconception(
            "pre_norm_normalised_twice",
            "In pre-norm your answer normalises the sum as well. There the norm stands before the sublayer only.",
            partial(_pre_normed, pre="read sum"),
        ),
        Misconception(
            "pre_norm_residual_left_out",
            "In pre-norm your answer lacks the residual connection: x is not added to what the sublayer makes of it.",
            partial(_pre_normed, add=_nothing_kept),
        ),
        Misconception(
            "pre_norm_dropout_left_out",
            "In pre-norm your answer does not call dropout. It is for what the sublayer adds, in both orders: "
            "x + dropout(sublayer(norm(x))).",
            partial(_pre_normed, drops=""),
        ),
        Misconception(
            "pre_norm_although_not_first",
            "Where norm_first is False your answer puts the norm before the sublayer, which is pre-norm. Post-norm is "
            "asked for there: norm(x + dropout(sublayer(x))). Is norm_first not used, or are the two branches "
            "exchanged?",
            partial(_added_and_normed, post="read"),
        ),
        Misconception(
            "residual_left_out",
            "Your answer lacks the residual connection: x is not added to what the sublayer makes of it.",
            partial(_added_and_normed, add=_nothing_kept),
        ),
        Misconception(
            "norm_left_out",
            "Where norm_first is False your answer never calls norm. In post-norm the sum is normalised.",
            partial(_added_and_normed, post=""),
        ),
        Misconception(
            "sum_not_normalised",
            "Your answer normalises only what the sublayer adds. In post-norm the sum is normalised: "
            "norm(x + dropout(sublayer(x))).",
            partial(_added_and_normed, post="added"),
        ),
        Misconception(
            "post_norm_reads_the_norm",
            "In post-norm your answer normalises what the sublayer reads as well. There only the sum is normalised: "
            "norm(x + dropout(sublayer(x))).",
            partial(_added_and_normed, post="read sum"),
        ),
        Misconception(
            "dropout_left_out",
            "Your answer does not call dropout. It is for what the sublayer adds: dropout(sublayer(...)).",
            partial(_added_and_normed, drops=""),
        ),
        Misconception(
            "sum_dropped",
            "Your answer calls dropout on the sum, so that x itself is dropped, too. It is only for what the sublayer "
            "adds: x + dropout(sublayer(...)).",
            partial(_added_and_normed, drops="sum"),
        ),
        Misconception(
            "dropped_after_the_norm",
            "Your answer calls dropout last, on what it returns. It is for what the sublayer adds, before the sum: "
            "x + dropout(sublayer(...)).",
            partial(_added_and_normed, drops="end"),
        ),
        Misconception(
            "input_dropped",
            "Your answer calls dropout on what the sublayer reads. It is for what the sublayer adds: "
            "dropout(sublayer(...)).",
            partial(_added_and_normed, drops="read"),
        ),
        Misconception(
            "input_dropped_as_well",
            "Your answer calls dropout on what the sublayer reads as well as on what it adds. It is only for what the "
            "sublayer adds: dropout(sublayer(...)).",
            partial(_added_and_normed, drops="read added"),
        ),
        Misconception(
            "residual_dropped",
            "Your answer calls dropout on the x that is added, and not on what the sublayer adds. It is the other way "
            "round: x + dropout(sublayer(...)).",
            partial(_added_and_normed, drops="kept"),
        ),
        Misconception(
            "subtracted",
            "Your answer subtracts the sublayer's output from x. Add it.",
            partial(_added_and_normed, add=torch.sub),
        ),
    ),
    withheld=WITHHELD,
)


# heads_and_blocks.feed_forward -----------------------------------------------------------------------------


def _drawn_weights(
    module: type[nn.Module],
    generator: Generator,
    dtype: torch.dtype = torch.float32,
    **construct: int | float | bool,
) -> dict[str, Tensor]:
    """A random state dict for a module built so; small enough for its activations to be of size 1."""
    with torch.device("meta"):
        shapes = {name: value.shape for name, value in module(**construct).state_dict().items()}
    return {
        name: torch.randn(shape, generator=generator, dtype=dtype) / math.sqrt(shape[-1] if len(shape) > 1 else 1)
        for name, shape in shapes.items()
    }


def _feed_forward_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        weights = {
            "W_1.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
            "W_1.bias": torch.tensor([0.0, 1.0, -1.0]),
            "W_2.weight": torch.tensor([[1.0, 0.0, 1.0], [0.0, 2.0, -1.0]]),
            "W_2.bias": torch.tensor([0.5, -0.5]),
        }
        yield Case(
            f"{B.name}: <s>, die, Katze, tanzte", (B.q,), construct={"d_model": 2, "d_hidden": 3}, weights=weights
        )
    for name, leading, transposed, training in (
        ("one sentence", (), False, False),
        ("a batch, in training", (integer(generator, 2, 5),), False, True),
        ("a wider layer, larger numbers", (2,), False, False),
        ("transposed in memory, double precision", (3,), True, False),
    ):
        words, d_model = sizes(generator, 2)
        larger = "larger" in name
        construct = {"d_model": d_model, "d_hidden": integer(generator, 9, 20) + 4 * d_model * larger}
        dtype = torch.float64 if "double" in name else torch.float32
        x = Kind("", generator, leading, dtype, transposed).normal(words, d_model) * (10 if larger else 1)
        weights = _drawn_weights(blocks.FeedForward, generator, dtype, **construct)
        yield Case(
            name, (x,), construct=construct, weights=weights, gradients=(0,), weight_gradients=True, training=training
        )


def _relu(y: Tensor) -> Tensor:
    return F.relu(y)


class _FeedForward(nn.Module):
    """The lesson's class with other activations, before, between and behind its layers, or without some biases."""

    def __init__(
        self,
        d_model: int,
        d_hidden: int,
        *,
        bent: tuple[Function, Function, Function] = (_unchanged, _relu, _unchanged),
        biases: tuple[bool, bool] = (True, True),
        residual: bool = False,
    ) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_hidden)
        self.W_2 = nn.Linear(d_hidden, d_model)
        self.bent, self.biases, self.residual = bent, biases, residual

    def forward(self, x: Tensor) -> Tensor:
        before, between, behind = self.bent
        b_1, b_2 = (layer.bias if kept else None for layer, kept in zip((self.W_1, self.W_2), self.biases, strict=True))
        hidden = between(F.linear(before(x), self.W_1.weight, b_1))
        out = behind(F.linear(hidden, self.W_2.weight, b_2))
        return x + out if self.residual else out


def _bent_by(between: Function) -> partial[_FeedForward]:
    return partial(_FeedForward, bent=(_unchanged, between, _unchanged))


class _FeedForwardCut(_FeedForward):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).detach()


FEED_FORWARD = Exercise(
    id="heads_and_blocks.feed_forward",
    lesson=LESSON,
    name="FeedForward",
    title="The feed-forward network",
    statement=(
        "class FeedForward(nn.Module): __init__(d_model, d_hidden) makes the linear layers W_1 and W_2; "
        "forward(x [..., d_model]) -> [..., d_model] is ReLU(x W_1 + b_1) W_2 + b_2, with gradients."
    ),
    points=2,
    minutes=8,
    section="The feed-forward network",
    source="S2, position-wise feed forward; S3; Vaswani et al. (2017), section 3.3",
    reference=blocks.FeedForward,
    cases=_feed_forward_cases,
    correct=correct.FEED_FORWARD,
    misconceptions=(
        Misconception(
            "no_activation",
            "Your answer has no activation: two linear layers in a row are one linear layer. Put a ReLU between them.",
            _bent_by(_unchanged),
        ),
        Misconception(
            "activation_at_the_end",
            "Your answer puts the ReLU behind W_2, where it cuts off all negative outputs. It stands between the two "
            "layers.",
            partial(_FeedForward, bent=(_unchanged, _unchanged, _relu)),
        ),
        Misconception(
            "activation_twice",
            "Your answer puts a ReLU behind W_2 as well, which cuts off all negative outputs. Only the first layer has "
            "one.",
            partial(_FeedForward, bent=(_unchanged, _relu, _relu)),
        ),
        Misconception(
            "activation_before",
            "Your answer puts the ReLU before W_1, where it throws away the negative part of the input. It stands "
            "between the two layers.",
            partial(_FeedForward, bent=(_relu, _unchanged, _unchanged)),
        ),
        Misconception(
            "activation_before_as_well",
            "Your answer puts a ReLU before W_1 as well, where it throws away the negative part of the input. There is "
            "one only, between the two layers.",
            partial(_FeedForward, bent=(_relu, _relu, _unchanged)),
        ),
        Misconception(
            "sigmoid",
            "Your answer reads the σ on slide S2 as the sigmoid. It stands for any activation; here, as in the paper, "
            "it is ReLU.",
            _bent_by(torch.sigmoid),
        ),
        Misconception(
            "gelu",
            "Your answer uses GELU, as slide S3 does. Here it is the paper's: ReLU.",
            _bent_by(F.gelu),
        ),
        Misconception(
            "gelu_by_tanh",
            "Your answer uses GELU, in the approximation with tanh that GPT-2 takes. Here it is the paper's: ReLU.",
            _bent_by(partial(F.gelu, approximate="tanh")),
        ),
        Misconception("tanh", "Your answer uses tanh. Here it is ReLU.", _bent_by(torch.tanh)),
        Misconception(
            "leaky_relu",
            "Your answer uses the leaky ReLU, which lets a hundredth of what is negative through. ReLU makes it 0.",
            _bent_by(F.leaky_relu),
        ),
        Misconception("silu", "Your answer uses SiLU, z · sigmoid(z). Here it is ReLU.", _bent_by(F.silu)),
        Misconception("softplus", "Your answer uses softplus. Here it is ReLU, max(0, z).", _bent_by(F.softplus)),
        Misconception("elu", "Your answer uses ELU. Here it is ReLU, max(0, z).", _bent_by(F.elu)),
        Misconception(
            "relu_up_to_six",
            "Your answer uses ReLU6, which cuts off above 6 as well. Here it is ReLU, which has no upper end.",
            _bent_by(F.relu6),
        ),
        Misconception(
            "negative_part_kept",
            "Your answer keeps what is negative and cuts off what is positive. ReLU is max(0, z): clamp(min=0).",
            _bent_by(lambda y: y.clamp(max=0)),
        ),
        Misconception(
            "softmax",
            "Your answer takes a softmax between the layers. The activation is ReLU; a softmax makes weights, which is "
            "attention's business.",
            _bent_by(lambda y: torch.softmax(y, dim=-1)),
        ),
        Misconception(
            "residual_added",
            "Your answer adds x at the end. That residual connection belongs to add & norm, around this network: "
            "return the network's output alone.",
            partial(_FeedForward, residual=True),
        ),
        Misconception(
            "biases_left_out",
            "Your answer uses the layers' weights without their biases. Call the layers themselves, self.W_1(x), which "
            "add them.",
            partial(_FeedForward, biases=(False, False)),
        ),
        Misconception(
            "first_bias_left_out",
            "Your answer lacks b_1, the bias of W_1.",
            partial(_FeedForward, biases=(False, True)),
        ),
        Misconception(
            "second_bias_left_out",
            "Your answer lacks b_2, the bias of W_2.",
            partial(_FeedForward, biases=(True, False)),
        ),
        Misconception(
            "gradients_cut",
            "The values are right, but no gradient reaches the weights: the computation leaves torch on its way "
            "(.detach(), .data, numpy or no_grad).",
            _FeedForwardCut,
            alone=True,
        ),
    ),
    withheld=WITHHELD,
)


# heads_and_blocks.encoder_block ----------------------------------------------------------------------------


def _encoder_block_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    for norm_first, order in _ORDERS:
        if not hidden:
            x = torch.stack([_FOUR_NUMBERS_A_WORD, _FOUR_NUMBERS_A_WORD.flip(0)])
            mask = torch.tensor([[True, True, True, False], [True, True, False, False]])
            yield _encoder_block_case(f"{B.name} with padding, {order}", generator, (x, mask), 2, norm_first)
        for name, heads, transposed, gradients in (
            ("a batch", 2, False, False),
            ("with gradients", 3, False, True),
            ("transposed in memory, double precision", 2, True, False),
        ):
            dtype = torch.float64 if transposed else torch.float32
            inputs = _padded(Kind("", generator, dtype=dtype, transposed=transposed), 4 * heads)
            yield _encoder_block_case(f"{name}, {order}", generator, inputs, heads, norm_first, gradients)
        name = f"in training, where almost everything is dropped, {order}"
        inputs = _padded(Kind("", generator), 8)
        yield _encoder_block_case(name, generator, inputs, 2, norm_first, training=True)
        name = f"in training, where the sublayers add only zeros, and dropping changes none, {order}"
        x, mask = _padded(Kind("", generator), 8)
        word = x[:1, :1]
        case = _encoder_block_case(name, generator, (word.expand_as(x).clone(), mask), 2, norm_first, training=True)
        construct = {**case.construct, "dropout": 0.5}
        yield replace(case, construct=construct, weights=_adding_zeros(case.weights, word, construct))


def _padded(kind: Kind, d_model: int) -> tuple[Tensor, Tensor]:
    """A batch of sentences and its mask, with padding after all of them."""
    batch, words = integer(kind.generator, 2, 5), integer(kind.generator, 5, 8)
    lengths = torch.randint(1, words, (batch, 1), generator=kind.generator)
    return replace(kind, leading=(batch,)).normal(words, d_model), torch.arange(words) < lengths


def _encoder_block_case(
    name: str,
    generator: Generator,
    inputs: tuple[Tensor, Tensor],
    heads: int,
    norm_first: bool,
    gradients: bool = False,
    training: bool = False,
) -> Case:
    """One call with random weights; who drops where nothing is to be dropped loses almost everything."""
    construct: dict[str, int | float | bool] = {
        "d_model": inputs[0].shape[-1],
        "heads": heads,
        "d_hidden": integer(generator, 9, 20),
        "dropout": ALMOST_EVERYTHING,
        "norm_first": norm_first,
    }
    return Case(
        name,
        inputs,
        construct=construct,
        weights=_drawn_weights(blocks.PlainEncoderBlock, generator, inputs[0].dtype, **construct),
        gradients=(0,) if gradients else (),
        weight_gradients=gradients,
        training=training,
        part="pre-norm" if norm_first else "dropout" if training else CORE,
    )


@torch.no_grad()
def _adding_zeros(
    weights: Mapping[str, Tensor], word: Tensor, construct: Mapping[str, int | float | bool]
) -> dict[str, Tensor]:
    """These weights, with biases that take away what each sublayer makes of sentences of this word, [1, 1, d_model].

    Where a sublayer reads anything else, or drops anything on the way, its output is not 0.
    """
    block = blocks.PlainEncoderBlock(**construct).eval()  # type: ignore[arg-type]
    block.load_state_dict(weights)
    alone = torch.ones(1, 1, dtype=torch.bool)
    first = block.norm_1(word)
    attended = _attended(block, first if block.norm_first else word, alone, word)
    block.attention.out_proj.bias.sub_(attended[0, 0])
    block.W_2.bias.sub_(_fed(block, block.norm_2(word) if block.norm_first else first)[0, 0])
    return block.state_dict()


Attend = Callable[[blocks.PlainEncoderBlock, Tensor, Tensor, Tensor], Tensor]
"""The attention of a block: from what the sublayer reads, the mask, and x as it came into the sublayer."""

Both = tuple[str, str]
"""Places (see `_in_add_and_norm`) for the first sublayer, and for the second."""


def _attended(self: blocks.PlainEncoderBlock, y: Tensor, mask: Tensor, x: Tensor) -> Tensor:
    out: Tensor = self.attention(y, y, y, key_padding_mask=~mask)[0]
    return out


def _inverted(self: blocks.PlainEncoderBlock, y: Tensor, mask: Tensor, x: Tensor) -> Tensor:
    return _attended(self, y, ~mask, x)


def _unmasked(self: blocks.PlainEncoderBlock, y: Tensor, mask: Tensor, x: Tensor) -> Tensor:
    return _attended(self, y, torch.ones_like(mask), x)


def _only_queries_normed(self: blocks.PlainEncoderBlock, y: Tensor, mask: Tensor, x: Tensor) -> Tensor:
    out: Tensor = self.attention(y, x, x, key_padding_mask=~mask)[0]
    return out


def _values_not_normed(self: blocks.PlainEncoderBlock, y: Tensor, mask: Tensor, x: Tensor) -> Tensor:
    out: Tensor = self.attention(y, y, x, key_padding_mask=~mask)[0]
    return out


def _weights_dropped(self: blocks.PlainEncoderBlock, y: Tensor, mask: Tensor, x: Tensor) -> Tensor:
    self.attention.dropout = self.dropout.p
    return _attended(self, y, mask, x)


def _fed(self: blocks.PlainEncoderBlock, y: Tensor) -> Tensor:
    out: Tensor = self.W_2(F.relu(self.W_1(y)))
    return out


def _not_bent(self: blocks.PlainEncoderBlock, y: Tensor) -> Tensor:
    out: Tensor = self.W_2(self.W_1(y))
    return out


def _fed_with_gelu(self: blocks.PlainEncoderBlock, y: Tensor) -> Tensor:
    out: Tensor = self.W_2(F.gelu(self.W_1(y)))
    return out


def _bent_at_the_end(self: blocks.PlainEncoderBlock, y: Tensor) -> Tensor:
    return F.relu(_not_bent(self, y))


def _hidden_dropped(self: blocks.PlainEncoderBlock, y: Tensor) -> Tensor:
    out: Tensor = self.W_2(self.dropout(F.relu(self.W_1(y))))
    return out


class _EncoderBlock(blocks.PlainEncoderBlock):
    """The block with other sublayers, or with norms, dropouts and residual connections elsewhere."""

    def __init__(
        self,
        d_model: int,
        heads: int,
        d_hidden: int,
        dropout: float,
        norm_first: bool,
        *,
        attend: Attend = _attended,
        feed: Callable[[blocks.PlainEncoderBlock, Tensor], Tensor] = _fed,
        post: Both = ("sum", "sum"),
        pre: Both = ("read", "read"),
        drops: tuple[Both, Both] = (("added", "added"), ("added", "added")),
        kept: tuple[bool, bool] = (True, True),
        names: tuple[str, str] = ("norm_1", "norm_2"),
        order: tuple[int, ...] = (0, 1),
        start: str = "",
        evaluation: bool = False,
    ) -> None:
        super().__init__(d_model, heads, d_hidden, dropout, norm_first)
        self.sublayers = attend, feed
        self.norms, self.drops = (pre, drops[1]) if norm_first else (post, drops[0])
        self.kept, self.names, self.order, self.start, self.evaluation = kept, names, order, start, evaluation

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        attend, feed = self.sublayers
        beginning = x

        def attention(y: Tensor) -> Tensor:
            return attend(self, y, mask, x)

        def network(y: Tensor) -> Tensor:
            return feed(self, y)

        def dropout(y: Tensor) -> Tensor:
            return F.dropout(y, self.dropout.p, self.training or self.evaluation)

        for place in self.order:
            x = _in_add_and_norm(
                x,
                (attention, network)[place],
                getattr(self, self.names[place]),
                dropout,
                self.norms[place],
                self.drops[place],
                torch.add if self.kept[place] else _nothing_kept,
                **({self.start: beginning} if place and self.start else {}),
            )
        return x


class _EncoderBlockBeyond(_EncoderBlock):
    """The same, for mistakes that show in pre-norm or in training only: they pair with each other.

    Beside one that shows in post-norm, they are not looked at: that part comes first.
    """


class _PaddingSetToZero(blocks.PlainEncoderBlock):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return super().forward(x, mask) * mask.unsqueeze(-1)


def _dropping(place: str) -> tuple[Both, Both]:
    return ((place, place),) * 2


ENCODER_BLOCK = Exercise(
    id="heads_and_blocks.encoder_block",
    lesson=LESSON,
    name="EncoderBlock",
    title="The encoder block",
    statement=(
        "class EncoderBlock(nn.Module): __init__(d_model, heads, d_hidden, dropout, norm_first) makes the parts; "
        "forward(x [batch, words, d_model], mask bool [batch, words]) -> [batch, words, d_model] is self-attention "
        "among the words and the feed-forward network, each in add & norm; with gradients. Each sentence has a word."
    ),
    points=5,
    minutes=25,
    section="The transformer block",
    source="S2 and S3, the transformer block; Vaswani et al. (2017), section 3.1",
    reference=blocks.PlainEncoderBlock,
    cases=_encoder_block_cases,
    parts={CORE: 3, "dropout": 1, "pre-norm": 1},
    correct=correct.ENCODER_BLOCK,
    misconceptions=(
        Misconception(
            "always_post_norm",
            "Your answer does in pre-norm what it does in post-norm. Where norm_first is True each sublayer reads a "
            "normalised x, and is added to x itself.",
            partial(_EncoderBlockBeyond, pre=("sum", "sum")),
        ),
        Misconception(
            "residual_normalised_too",
            "In pre-norm your answer overwrites x by the normalised x, and adds to that. Only the sublayer reads "
            "norm(x); add its output to x as it was.",
            partial(_EncoderBlockBeyond, pre=("read kept", "read kept")),
        ),
        Misconception(
            "second_residual_normalised_too",
            "In pre-norm, around the feed-forward network, your answer overwrites x by the normalised x, and adds to "
            "that. Only the network reads norm_2(x); add its output to x as it was.",
            partial(_EncoderBlockBeyond, pre=("read", "read kept")),
        ),
        Misconception(
            "second_norm_left_out",
            "In pre-norm the feed-forward network of your answer reads x as it is. It, too, reads a normalised x: "
            "norm_2(x).",
            partial(_EncoderBlockBeyond, pre=("read", "")),
        ),
        Misconception(
            "feed_forward_in_post_norm",
            "In pre-norm your answer normalises behind the feed-forward network, as post-norm does, and not before it. "
            "Both norms stand before their sublayers there.",
            partial(_EncoderBlockBeyond, pre=("read", "sum")),
        ),
        Misconception(
            "norm_at_the_end_too",
            "In pre-norm your answer normalises at the end once more. There the norms stand before the sublayers only.",
            partial(_EncoderBlockBeyond, pre=("read", "read sum")),
        ),
        Misconception(
            "only_the_queries_normed",
            "In pre-norm only the queries of your answer are normalised. The sublayer reads norm_1(x), and queries, "
            "keys and values are all made from what it reads.",
            partial(_EncoderBlockBeyond, attend=_only_queries_normed),
        ),
        Misconception(
            "values_not_normed",
            "In pre-norm your answer makes the values from x itself. The sublayer reads norm_1(x), and queries, keys "
            "and values are all made from what it reads.",
            partial(_EncoderBlockBeyond, attend=_values_not_normed),
        ),
        Misconception(
            "dropout_left_out",
            "In training your answer drops nothing of what the sublayers add. That is what self.dropout is for: "
            "x + self.dropout(...).",
            partial(_EncoderBlockBeyond, drops=_dropping("")),
        ),
        Misconception(
            "dropout_left_out_in_pre_norm",
            "In pre-norm your answer drops nothing in training. self.dropout is for what each sublayer adds, in both "
            "orders.",
            partial(_EncoderBlockBeyond, drops=(("added", "added"), ("", ""))),
        ),
        Misconception(
            "only_the_attention_dropped",
            "In training your answer drops nothing of what the feed-forward network adds. self.dropout is for both "
            "sublayers.",
            partial(_EncoderBlockBeyond, drops=(("added", ""),) * 2),
        ),
        Misconception(
            "only_the_feed_forward_network_dropped",
            "In training your answer drops nothing of what the attention adds. self.dropout is for both sublayers.",
            partial(_EncoderBlockBeyond, drops=(("", "added"),) * 2),
        ),
        Misconception(
            "sum_dropped",
            "In training your answer drops the sum, so that x itself is dropped, too. Dropout is only for what a "
            "sublayer adds: x + self.dropout(...).",
            partial(_EncoderBlockBeyond, drops=_dropping("sum")),
        ),
        Misconception(
            "dropped_after_the_norm",
            "In training your answer drops what it returns. Dropout is for what a sublayer adds, before the sum: "
            "x + self.dropout(...).",
            partial(_EncoderBlockBeyond, drops=_dropping("end")),
        ),
        Misconception(
            "norms_dropped",
            "In training your answer drops what comes out of the norms. Dropout is for what a sublayer adds: "
            "x + self.dropout(...).",
            partial(_EncoderBlockBeyond, drops=(("end", "end"), ("read", "read"))),
        ),
        Misconception(
            "input_dropped",
            "In training your answer drops what the sublayers read. Dropout is for what they add: "
            "x + self.dropout(...).",
            partial(_EncoderBlockBeyond, drops=_dropping("read")),
        ),
        Misconception(
            "input_dropped_as_well",
            "In training your answer drops what the sublayers read as well as what they add. Dropout is only for what "
            "they add: x + self.dropout(...).",
            partial(_EncoderBlockBeyond, drops=_dropping("read added")),
        ),
        Misconception(
            "dropped_in_evaluation",
            "Your answer drops in evaluation, too. self.dropout does so only in training; F.dropout has to be told: "
            "F.dropout(y, p, training=self.training).",
            partial(_EncoderBlock, evaluation=True),
        ),
        Misconception(
            "attention_weights_dropped",
            "In training your answer also drops weights of the attention. Leave the constructor as it is: dropout is "
            "only for what the sublayers add.",
            partial(_EncoderBlockBeyond, attend=_weights_dropped),
        ),
        Misconception(
            "hidden_dropped",
            "In training your answer drops numbers of the hidden layer, before W_2. Dropout is only for what the "
            "sublayers add, after W_2.",
            partial(_EncoderBlockBeyond, feed=_hidden_dropped),
        ),
        Misconception(
            "pre_norm_although_not_first",
            "Where norm_first is False your answer puts the norms before the sublayers, which is pre-norm. Post-norm "
            "is asked for there: norm(x + dropout(sublayer(x))). Is norm_first not used, or are the two branches "
            "exchanged?",
            partial(_EncoderBlock, post=("read", "read")),
        ),
        Misconception(
            "outputs_normed",
            "In post-norm your answer normalises only what the sublayers add. There the sums are normalised: "
            "norm(x + dropout(sublayer(x))).",
            partial(_EncoderBlock, post=("added", "added")),
        ),
        Misconception(
            "post_norm_reads_the_norm",
            "In post-norm your answer normalises what the sublayers read as well. There only the sums are normalised: "
            "norm(x + dropout(sublayer(x))).",
            partial(_EncoderBlock, post=("read sum", "read sum")),
        ),
        Misconception(
            "first_sum_not_normed",
            "In post-norm your answer does not normalise the sum of x and what the attention adds. Each of the two "
            "sums has its norm: this one norm_1.",
            partial(_EncoderBlock, post=("", "sum")),
        ),
        Misconception(
            "second_sum_not_normed",
            "In post-norm your answer does not normalise at the end. Each of the two sums has its norm: the second one "
            "norm_2.",
            partial(_EncoderBlock, post=("sum", "")),
        ),
        Misconception(
            "mask_inverted",
            "Your answer lets the words look at the padding and at nothing else. Our mask is True at words; torch's "
            "key_padding_mask is True at what is to be left out: pass ~mask.",
            partial(_EncoderBlock, attend=_inverted),
        ),
        Misconception(
            "mask_ignored",
            "Your answer lets the words look at padding: the mask is not used. Pass it to the attention, as "
            "key_padding_mask=~mask.",
            partial(_EncoderBlock, attend=_unmasked),
        ),
        Misconception(
            "padding_set_to_zero",
            "Your answer sets the padding's vectors to 0 at the end. Leave them as they come out of the block: what is "
            "there does not matter to anybody, but is compared all the same.",
            _PaddingSetToZero,
            alone=True,
        ),
        Misconception(
            "no_activation",
            "Your answer has no activation between W_1 and W_2. Without it the two are one linear layer: F.relu.",
            partial(_EncoderBlock, feed=_not_bent),
        ),
        Misconception(
            "gelu",
            "Your answer uses GELU, as slide S3 does. Here it is the paper's: ReLU.",
            partial(_EncoderBlock, feed=_fed_with_gelu),
        ),
        Misconception(
            "activation_at_the_end",
            "Your answer puts the ReLU behind W_2. It stands between the two layers: W_2(F.relu(W_1(...))).",
            partial(_EncoderBlock, feed=_bent_at_the_end),
        ),
        Misconception(
            "network_reads_the_start",
            "The feed-forward network of your answer reads the block's input. It reads what the first sublayer's add & "
            "norm has made of it.",
            partial(_EncoderBlock, start="read"),
        ),
        Misconception(
            "no_residuals",
            "Your answer lacks both residual connections: x is not added to what the sublayers make of it.",
            partial(_EncoderBlock, kept=(False, False)),
        ),
        Misconception(
            "residual_of_attention_left_out",
            "Your answer lacks the residual connection around the attention: add x to its output.",
            partial(_EncoderBlock, kept=(False, True)),
        ),
        Misconception(
            "residual_of_feed_forward_left_out",
            "Your answer lacks the residual connection around the feed-forward network: add what it reads to its "
            "output.",
            partial(_EncoderBlock, kept=(True, False)),
        ),
        Misconception(
            "second_residual_from_the_start",
            "Your answer adds the block's input to the feed-forward network's output. Around the second sublayer it is "
            "the output of the first that is added.",
            partial(_EncoderBlock, start="kept"),
        ),
        Misconception(
            "norms_exchanged",
            "Your answer exchanges the norms. norm_1 belongs to the attention, norm_2 to the feed-forward network.",
            partial(_EncoderBlock, names=("norm_2", "norm_1")),
        ),
        Misconception(
            "one_norm_for_both",
            "Your answer uses norm_1 for both sublayers. The feed-forward network has a norm of its own, norm_2.",
            partial(_EncoderBlock, names=("norm_1", "norm_1")),
        ),
        Misconception(
            "one_norm_for_both_in_pre_norm",
            "In pre-norm your answer uses norm_1 for both sublayers. The feed-forward network has a norm of its own, "
            "norm_2.",
            lambda d_model, heads, d_hidden, dropout, norm_first: _EncoderBlock(
                d_model, heads, d_hidden, dropout, norm_first, names=("norm_1", "norm_1" if norm_first else "norm_2")
            ),
        ),
        Misconception(
            "sublayers_exchanged",
            "Your answer has the feed-forward network before the attention. In a block the attention comes first.",
            partial(_EncoderBlock, order=(1, 0)),
        ),
        Misconception(
            "attention_left_out",
            "Your answer is the second half of the block: the feed-forward network in its add & norm. Before it comes "
            "the attention.",
            partial(_EncoderBlock, order=(1,)),
            alone=True,
        ),
        Misconception(
            "feed_forward_left_out",
            "Your answer is the first half of the block: the attention in its add & norm. After it comes the "
            "feed-forward network.",
            partial(_EncoderBlock, order=(0,)),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
    forbidden=("TransformerEncoderLayer", "TransformerEncoder", "_transformer_encoder_layer_fwd"),
)


# heads_and_blocks.count_parameters -------------------------------------------------------------------------


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the paper's base model, 512, 8, 2048", (512, 8, 2048))
        yield Case("one head, a narrow hidden layer", (6, 1, 5))
    for number in range(3):
        heads, d_head = sizes(generator, 2)
        yield Case(f"other sizes {number + 1}", (heads * d_head, heads, integer(generator, 50, 90)))


Count = Callable[[int, int, int], int]


def _counted(d_model: int, heads: int, d_hidden: int, **changed: Count) -> dict[str, int]:
    """The right counts but for some."""
    right = blocks.block_parameters(d_model, heads, d_hidden)
    return right | {name: count(d_model, heads, d_hidden) for name, count in changed.items()}


def _four_matrices(d: int, h: int, f: int) -> int:
    return 4 * d * d


def _two_matrices(d: int, h: int, f: int) -> int:
    return 2 * d * f


def _for_each_head(d: int, h: int, f: int) -> int:
    return 4 * h * (d * d + d)


COUNT_PARAMETERS = Exercise(
    id="heads_and_blocks.count_parameters",
    lesson=LESSON,
    name="block_parameters",
    title="Counting parameters",
    statement=(
        "block_parameters(d_model, heads, d_hidden) -> dict of int: how many numbers an encoder block learns in its "
        '"attention", "projections", "feed_forward" and "layer_norms", biases included.'
    ),
    points=3,
    minutes=12,
    section="What it costs",
    source="S2, no parameters in attention; S1 and S4; Vaswani et al. (2017), section 3.2.2",
    reference=blocks.block_parameters,
    cases=_count_cases,
    correct=correct.COUNT_PARAMETERS,
    misconceptions=(
        Misconception(
            "one_projection_for_each_head",
            "Your answer gives every head projections of d_model × d_model. The heads divide them: a head's piece is "
            "d_model × d_head, and all heads together are d_model × d_model again, however many there are.",
            partial(_counted, projections=_for_each_head),
        ),
        Misconception(
            "three_projections",
            "Your answer counts three projections, W_q, W_k and W_v. There is a fourth, W_o, which mixes the heads.",
            partial(_counted, projections=lambda d, h, f: 3 * (d * d + d)),
        ),
        Misconception(
            "projections_of_one_head",
            "Your answer counts the projections of a single head, d_model × d_head. There are `heads` of them, and "
            "together they are d_model × d_model.",
            partial(_counted, projections=lambda d, h, f: 4 * (d * (d // h) + d // h)),
        ),
        Misconception(
            "one_head_and_w_o",
            "Your answer counts W_q, W_k and W_v of a single head, d_model × d_head. There are `heads` of them, and "
            "together they are d_model × d_model.",
            partial(_counted, projections=lambda d, h, f: 3 * (d * (d // h) + d // h) + d * d + d),
        ),
        Misconception(
            "no_biases",
            "Your answer leaves out the biases of the linear layers. Each has one number for each of its outputs.",
            partial(_counted, projections=_four_matrices, feed_forward=_two_matrices),
        ),
        Misconception(
            "no_biases_in_the_projections",
            "Your answer leaves out the biases of the projections. Each of the four has d_model.",
            partial(_counted, projections=_four_matrices),
        ),
        Misconception(
            "no_bias_in_w_o",
            "Your answer gives only three of the four projections a bias. W_o has one as well, of d_model numbers.",
            partial(_counted, projections=lambda d, h, f: 4 * d * d + 3 * d),
        ),
        Misconception(
            "a_bias_in_w_o_alone",
            "Your answer gives only one of the four projections a bias. Each of the four has one, of d_model numbers.",
            partial(_counted, projections=lambda d, h, f: 4 * d * d + d),
        ),
        Misconception(
            "attention_has_some",
            "Your answer gives attention itself as many parameters as the projections. softmax(q kᵀ / √d_head) v has "
            "nothing to learn: attention has 0, the projections have them all.",
            partial(_counted, attention=lambda d, h, f: 4 * (d * d + d)),
        ),
        Misconception(
            "projections_as_attention",
            "Your answer counts the projections as attention's own. softmax(q kᵀ / √d_head) v has nothing to learn: "
            "what is learned makes q, k and v and mixes the heads, and belongs to the projections.",
            partial(_counted, attention=lambda d, h, f: 4 * (d * d + d), projections=lambda d, h, f: 0),
        ),
        Misconception(
            "only_w_o_as_projection",
            "Your answer counts W_q, W_k and W_v as attention's own, and only W_o as a projection. softmax(q kᵀ / "
            "√d_head) v has nothing to learn: all four are projections.",
            partial(_counted, attention=lambda d, h, f: 3 * (d * d + d), projections=lambda d, h, f: d * d + d),
        ),
        Misconception(
            "one_for_each_head",
            "Your answer gives attention itself one parameter for each head. √d_head follows from the sizes, and "
            "nothing in attention is learned: it has 0.",
            partial(_counted, attention=lambda d, h, f: h),
        ),
        Misconception(
            "one_for_the_scale",
            "Your answer gives attention itself one parameter. √d_head follows from the sizes, and nothing in "
            "attention is learned: it has 0.",
            partial(_counted, attention=lambda d, h, f: 1),
        ),
        Misconception(
            "four_times_d_model",
            "Your answer takes 4 d_model for the hidden width. That is usual, but the width is handed to you: use "
            "d_hidden, which may be anything.",
            partial(_counted, feed_forward=lambda d, h, f: d * 4 * d + 4 * d + 4 * d * d + d),
        ),
        Misconception(
            "one_layer_of_feed_forward",
            "Your answer counts only the first layer of the feed-forward network. The second leads back from d_hidden "
            "to d_model, with d_model biases.",
            partial(_counted, feed_forward=lambda d, h, f: d * f + f),
        ),
        Misconception(
            "equal_biases",
            "Your answer gives both layers of the feed-forward network d_hidden biases. A layer has one bias for each "
            "output: d_hidden in the first, d_model in the second.",
            partial(_counted, feed_forward=lambda d, h, f: 2 * d * f + 2 * f),
        ),
        Misconception(
            "equal_biases_of_d_model",
            "Your answer gives both layers of the feed-forward network d_model biases. A layer has one bias for each "
            "output: d_hidden in the first, d_model in the second.",
            partial(_counted, feed_forward=lambda d, h, f: 2 * d * f + 2 * d),
        ),
        Misconception(
            "no_biases_in_the_feed_forward_network",
            "Your answer leaves out the biases of the feed-forward network. A layer has one for each output: d_hidden "
            "in the first, d_model in the second.",
            lambda d, h, f: _counted(d, h, f, feed_forward=_two_matrices),  # beside other biases it is `no_biases`
        ),
        Misconception(
            "first_bias_left_out",
            "Your answer leaves out the d_hidden biases of the feed-forward network's first layer.",
            partial(_counted, feed_forward=lambda d, h, f: 2 * d * f + d),
        ),
        Misconception(
            "second_bias_left_out",
            "Your answer leaves out the d_model biases of the feed-forward network's second layer.",
            partial(_counted, feed_forward=lambda d, h, f: 2 * d * f + f),
        ),
        Misconception(
            "one_layer_norm",
            "Your answer counts 2 d_model for the layer norms. A block has two of them, one for each sublayer, and "
            "each has a gamma and a beta of d_model numbers.",
            partial(_counted, layer_norms=lambda d, h, f: 2 * d),
        ),
        Misconception(
            "two_numbers_a_norm",
            "Your answer gives a layer norm two numbers. Gamma and beta have d_model each, one for each number of a "
            "word.",
            partial(_counted, layer_norms=lambda d, h, f: 4),
        ),
        Misconception(
            "norms_have_none",
            "Your answer says that layer norms learn nothing. Mean and variance are computed, but gamma and beta are "
            "learned.",
            partial(_counted, layer_norms=lambda d, h, f: 0),
        ),
        Misconception(
            "three_layer_norms",
            "Your answer counts three layer norms. A block has two, one for each sublayer.",
            partial(_counted, layer_norms=lambda d, h, f: 6 * d),
        ),
        Misconception(
            "second_norm_as_wide_as_the_hidden_layer",
            "Your answer gives the second layer norm d_hidden numbers for gamma and beta each. What it normalises has "
            "d_model numbers again.",
            partial(_counted, layer_norms=lambda d, h, f: 2 * d + 2 * f),
        ),
        Misconception(
            "total",
            "Your answer is the total. Return the four counts by name, in a dict.",
            lambda d_model, heads, d_hidden: sum(blocks.block_parameters(d_model, heads, d_hidden).values()),
        ),
        Misconception(
            "without_names",
            "Your four counts come without their names. Return a dict: {'attention': ..., 'projections': ..., "
            "'feed_forward': ..., 'layer_norms': ...}.",
            lambda d_model, heads, d_hidden: tuple(blocks.block_parameters(d_model, heads, d_hidden).values()),
        ),
        Misconception(
            "three_projections_for_each_head",
            "Your answer gives every head a W_q, W_k and W_v of d_model × d_model. The heads divide these: a head's "
            "piece is d_model × d_head, and all heads together are d_model × d_model again, however many there are.",
            partial(_counted, projections=lambda d, h, f: 3 * h * (d * d + d) + d * d + d),
        ),
        Misconception(
            "wide_heads",
            "Your answer gives every head projections of d_model × d_model, and a W_o that mixes as many numbers as "
            "they make. The heads divide d_model: a head's piece is d_model × d_head, and W_o is d_model × d_model.",
            partial(_counted, projections=lambda d, h, f: 3 * h * (d * d + d) + h * d * d + d),
        ),
    ),
    listed_pairs=(
        Pair(
            "three_projections",
            "no_biases_in_the_projections",
            partial(_counted, projections=lambda d, h, f: 3 * d * d),
        ),
        Pair(
            "three_projections",
            "no_biases",
            partial(_counted, projections=lambda d, h, f: 3 * d * d, feed_forward=_two_matrices),
        ),
        Pair(
            "one_projection_for_each_head",
            "three_projections",
            partial(_counted, projections=lambda d, h, f: 3 * h * (d * d + d)),
        ),
        Pair(
            "one_projection_for_each_head",
            "no_biases_in_the_projections",
            partial(_counted, projections=lambda d, h, f: 4 * h * d * d),
        ),
        Pair(
            "one_projection_for_each_head",
            "no_biases",
            partial(_counted, projections=lambda d, h, f: 4 * h * d * d, feed_forward=_two_matrices),
        ),
    ),
    withheld=WITHHELD,
)


EXERCISES = (
    PROJECT,
    SPLIT_HEADS,
    MULTI_HEAD_ATTENTION,
    LAYER_NORM,
    DROPOUT,
    ADD_AND_NORM,
    FEED_FORWARD,
    ENCODER_BLOCK,
    COUNT_PARAMETERS,
)
"""In the order of the lesson."""
