"""Lesson 04, heads_and_blocks.multi_head_attention: Multi-head attention."""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.attention import attention_weights
from course_lib.exercises.common import LITTLE_LEFT, SMALLEST, Kind, and_turned_around, hints, integer, sizes, slips
from course_lib.exercises.heads_and_blocks.shared import FOUR_NUMBERS_A_WORD, drawn_weights, gradients_cut
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import READY_MADE_HEADS
from course_lib.references import heads_and_blocks


def _heads_case(
    name: str, kind: Kind, shape: tuple[int, int | None, int, int], mask: Tensor | None = None, part: str = CORE
) -> Case:
    """One call with random weights; without a number of keys it is self-attention. Where gradients are compared there
    are no biases: that of W_k changes nothing, so its gradient is rounding alone.
    """
    queries, keys, heads, d_head = shape
    x = kind.normal(queries, heads * d_head)
    memory = x if keys is None else kind.normal(keys, heads * d_head)
    biased = kind.dtype == torch.float64 or part == "mask"
    construct = {"d_model": heads * d_head, "heads": heads, "bias": biased}
    weights = drawn_weights(heads_and_blocks.MultiHeadAttention, kind.generator, kind.dtype, **construct)
    for projection in ("W_q.weight", "W_k.weight"):
        weights[projection] *= 2
    gradients = (0, 1) if keys and not biased else ()
    case = Case(name, (x, memory, mask), construct=construct, weights=weights, part=part)
    return replace(case, gradients=gradients, weight_gradients=not biased)


def _multi_head_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x, unit = FOUR_NUMBERS_A_WORD.unsqueeze(0), {f"W_{name}.weight": torch.eye(4) for name in "qkvo"}
        construct = {"d_model": 4, "heads": 2, "bias": False}
        name = f"{B.name} with four numbers a token: two heads, no mask"
        yield Case(name, (x, x, None), construct=construct, weights=unit)
    few, several = sizes(generator, 2)
    tokens = integer(generator, 8, 11)
    yield _heads_case("a batch", Kind("", generator, (few,)), (tokens, None, 2, 3))
    yield _heads_case(SMALLEST, Kind("", generator, (1,)), (1, None, 1, 1))
    yield _heads_case("as many tokens as d_head", Kind("", generator, (several,)), (5, None, 2, 5))
    yield _heads_case("double precision, with biases", Kind("", generator, (few,), torch.float64), (tokens, None, 3, 2))
    yield _heads_case("transposed in memory", Kind("", generator, (2,), transposed=True), (tokens, None, 2, 6))
    for name, batch, keys in (("memory of a different length", few, 5), ("memory of the same length", several, tokens)):
        yield _heads_case(name, Kind("", generator, (batch,)), (tokens, keys, 2, 3), part="cross-attention")
    for name, batch, keys, shape in (
        ("as many sentences as heads, a mask for each", 3, tokens, (3, tokens, tokens)),
        ("more sentences than heads, a mask for each", 5, tokens, (5, tokens, tokens)),
        ("a mask over a memory", 2, 6, (2, tokens, 6)),
        ("a mask for each sentence, the same for all queries", 4, tokens, (4, 1, tokens)),
        ("one mask for all sentences", 2, tokens, (1, tokens, tokens)),
    ):
        mask = Kind("", generator, shape[:1]).mask(*shape[1:])
        of_itself = None if keys == tokens else keys
        yield _heads_case(name, Kind("", generator, (batch,)), (tokens, of_itself, 3, 2), mask, "mask")


class _HeadsStepByStep(heads_and_blocks.MultiHeadAttention):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        heads = self.heads
        projected = self.W_q(x), self.W_k(memory), self.W_v(memory)
        q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in projected)
        scaled = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            room = mask.unsqueeze(1)
            scaled = scaled.masked_fill(~room, -math.inf)
        alpha = attention_weights(scaled)
        joined: Tensor = (alpha @ v).transpose(1, 2).flatten(2)
        out: Tensor = self.W_o(joined)
        return out


_SPLIT, _JOINED = "unflatten(-1, (heads, -1)).transpose(1, 2)", "transpose(1, 2).flatten(2)"
_SPLIT_IN_TURN = (_SPLIT, "unflatten(-1, (-1, heads)).mT.transpose(1, 2)")
_IN_TURN = (
    "Your answer gives head 0 the numbers 0, heads, 2 heads, ... of each token. Give head i the i-th group of d_head "
    "numbers: put the dimension of the heads before the dimension of d_head."
)
_SOURCES = "Your answer mixes up x and memory. Compute queries from x, and keys and values from memory."
_FILLED, _WEIGHTS = "scaled.masked_fill(~room, -math.inf)", "attention_weights(scaled)"
_OVER = "Your answer takes the softmax over the queries or over the heads. Take it over the keys: dim=-1."
_FROM_X = (("W_k(memory)", "W_k(x)"), ("W_v(memory)", "W_v(x)"))


class _HeadsByTheFusedKernel(heads_and_blocks.MultiHeadAttention):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        projected = (self.W_q(x), self.W_k(memory), self.W_v(memory))
        q, k, v = (y.view(len(y), -1, self.heads, x.shape[2] // self.heads).transpose(1, 2) for y in projected)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.unsqueeze(1))
        mixed: Tensor = self.W_o(out.transpose(1, 2).reshape(x.shape))
        return mixed


class _HeadByHead(heads_and_blocks.MultiHeadAttention):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        allowed = 0.0 if mask is None else torch.where(mask, 0.0, -1e9).to(x.dtype)
        parts = (y.chunk(self.heads, dim=2) for y in (self.W_q(x), self.W_k(memory), self.W_v(memory)))
        found = [
            torch.softmax(q @ k.mT * q.shape[2] ** -0.5 + allowed, dim=-1) @ v for q, k, v in zip(*parts, strict=True)
        ]
        mixed: Tensor = self.W_o(torch.cat(found, dim=2))
        return mixed


EXERCISE = Exercise(
    id="heads_and_blocks.multi_head_attention",
    title="Multi-head attention",
    statement=(
        "class MultiHeadAttention(nn.Module): __init__(d_model, heads, bias=True) creates the linear layers W_q, W_k, "
        "W_v and W_o; forward(x [batch, queries, d_model], memory [batch, keys, d_model], mask bool [batch, queries, "
        "keys] or None) -> [batch, queries, d_model]: concat(head_1, ..., head_h) W_o."
    ),
    minutes=25,
    difficulty=4,
    importance=5,
    section="Putting the heads together",
    source="S1 to S4, multi-head attention; S2 and S4, cross-attention; Vaswani et al. (2017), section 3.2.2",
    reference=heads_and_blocks.MultiHeadAttention,
    cases=and_turned_around(_multi_head_cases),
    parts={CORE: 4, "cross-attention": 1, "mask": 1},
    correct=(_HeadsStepByStep, _HeadsByTheFusedKernel, _HeadByHead),
    steps=("q", "k", "v", "attended"),
    hints=hints(
        idea=(
            "Take five steps: project, split, attend, join, mix. All heads attend at once, because they are just one "
            "more leading dimension. A head's vectors have `d_head` numbers, and that size sets the scale of its "
            "scores."
        ),
        shapes=(
            "Once split, everything is `[batch, heads, tokens, d_head]`. A mask `[batch, queries, keys]` broadcasts "
            "from the right, so its batch would line up with the heads: give it a dimension of size 1 in between. To "
            "join the heads, undo the split, including the transpose.",
            ("masks_meet_heads", "joined_without_transpose", "split_without_transpose"),
        ),
        outline=(
            "Compute queries from `x`, and keys and values from `memory`, by calling the layers: `self.W_q(x)`.\n"
            "Split the last dimension of each result in two, then move the heads before the tokens.\n"
            "If there is a mask, give it a dimension for the heads.\n"
            "Run attention on the split tensors, which gives `[batch, heads, tokens, d_head]`.\n"
            "Move the tokens back in front of the heads, and flatten the last two dimensions into one.\n"
            "Mix the heads with `self.W_o`.",
            ("W_o_left_out", "one_head", "values_from_x", "memory_ignored", "keys_and_values_exchanged"),
        ),
    ),
    misconceptions=(
        # Those that show with a memory or a mask only. Next to one that shows everywhere they are not looked at: the
        # part for self-attention comes first.
        *slips(
            _HeadsStepByStep,
            beside="beyond self-attention",
            memory_ignored=(_SOURCES, *_FROM_X),
            values_from_x=(_SOURCES, _FROM_X[1]),
            x_and_memory_exchanged=(_SOURCES, ("W_q(x)", "W_q(memory)"), *_FROM_X),
            mask_ignored=(
                "Your answer ignores the mask. In every head, forbid the keys where the mask is False.",
                ("if mask is not None", "if False"),
            ),
            mask_inverted=("Your answer inverts the mask. Allow the keys where the mask is True.", ("~room", "room")),
            mask_transposed=(
                "Your answer transposes the mask. Its rows are already queries, so use it as it is.",
                ("mask.unsqueeze(1)", "mask.mT.unsqueeze(1)"),
            ),
            mask_multiplies_the_scores=(
                "Your answer sets forbidden scores to 0, as multiplying by the mask does. But exp(0) is 1, so "
                "forbidden keys still get weight. Set their scores to -inf.",
                (_FILLED, "scaled * room"),
            ),
            mask_multiplies_the_weights=(
                "Your answer multiplies the weights by the mask, so they don't sum to 1. Mask before the softmax.",
                (f"scaled = {_FILLED}", "pass"),
                (_WEIGHTS, f"{_WEIGHTS} * (1 if mask is None else room)"),
            ),
            filled_with_ten=(LITTLE_LEFT, ("-math.inf", "-10.0")),
            masks_meet_heads=(
                "Your answer lines up the mask's batch with the heads, so sentence i's mask lands on head i, or the "
                "shapes don't fit. Add a dimension for the heads: mask.unsqueeze(1).",
                ("mask.unsqueeze(1)", "mask"),
            ),
        ),
        *slips(
            _HeadsStepByStep,
            scaled_by_d_model=("Your answer divides by √d_model. Divide by √d_head.", ("q.shape[-1]", "x.shape[-1]")),
            not_scaled=(
                "Your answer takes the softmax of the unscaled scores. Divide them by √d_head in every head.",
                (" / math.sqrt(q.shape[-1])", ""),
            ),
            divided_by_d_head=(
                "Your answer divides the scores by d_head (or twice by √d_head). Divide by √d_head, once.",
                ("math.sqrt(q.shape[-1])", "q.shape[-1]"),
            ),
            transpose_left_out=(
                "Your answer multiplies the queries by the keys without a transpose, which only works if the number "
                "of tokens equals d_head. Transpose the keys: k.mT.",
                ("k.mT", "k"),
            ),
            W_o_left_out=("Your answer doesn't mix the heads. Use W_o at the end.", ("self.W_o(joined)", "joined")),
            one_head=("Your answer has a single head. Split q, k and v into `heads` parts.", (_SPLIT, "unsqueeze(1)")),
            split_without_transpose=(
                "Your answer reshapes to [batch, heads, tokens, d_head] in one step, which gives a head whole tokens. "
                "Split the last dimension, then use transpose(1, 2).",
                (_SPLIT, "reshape(len(y), heads, y.shape[1], -1)"),
            ),
            joined_without_transpose=(
                "Your answer joins the heads by reshaping [batch, heads, tokens, d_head] in one step, which mixes the "
                "tokens. First put the tokens before the heads: transpose(1, 2).",
                (_JOINED, "reshape(x.shape)"),
            ),
            heads_behind_the_words=(
                "Your answer runs attention on [batch, tokens, heads, d_head], so the heads of each token attend to "
                "each other, and no token sees another. Put the heads before the tokens with transpose(1, 2), and "
                "move them back at the end.",
                (_SPLIT, "unflatten(-1, (heads, -1))"),
                (_JOINED, "flatten(2)"),
            ),
            interleaved=(_IN_TURN, _SPLIT_IN_TURN),
            interleaved_both_ways=(_IN_TURN, _SPLIT_IN_TURN, (_JOINED, "permute(0, 2, 3, 1).flatten(2)")),
            softmax_over_the_queries=(_OVER, (_WEIGHTS, "torch.softmax(scaled, dim=-2)")),
            softmax_over_the_heads=(_OVER, (_WEIGHTS, "torch.softmax(scaled, dim=1)")),
            keys_and_values_exchanged=(
                "Your answer computes the keys with W_v and the values with W_k. Swap them.",
                ("self.W_k(memory), self.W_v(memory)", "self.W_v(memory), self.W_k(memory)"),
            ),
            values_not_projected=(
                "Your answer averages the tokens themselves. Project the values too: self.W_v(memory).",
                ("self.W_v(memory)", "memory"),
            ),
            residual_added=(
                "Your answer adds x at the end. That is add & norm's job: return only the output of attention.",
                ("return out", "return x + out"),
            ),
        ),
        gradients_cut(Edited(_HeadsStepByStep, ("return out", "return out.detach()")), "the projections"),
    ),
    forbidden=(READY_MADE_HEADS,),
)
