"""Lesson 05, encoder_decoder.decoder_block: The decoder block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from course_lib.blocks import FeedForward
from course_lib.exercises.common import ALMOST_EVERYTHING, Kind, alike, and_turned_around, integer
from course_lib.exercises.encoder_decoder.shared import LESSON, WITHHELD, random_weights
from course_lib.exercises.worked_examples import A, B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.masking import causal_mask, padding_mask
from course_lib.multihead import MultiHeadAttention
from course_lib.references import encoder_decoder
from course_lib.references.encoder_decoder import AddAndNorm


class _Block(nn.Module):
    """The block step by step."""

    def __init__(self, d_model: int, heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        attended = self.self_attention(x, None, mask).out
        a = self.join(self.add_and_norm_1, x, attended)
        crossed = self.cross_attention(a, memory, memory_mask).out
        c = self.join(self.add_and_norm_2, a, crossed)
        fed = self.feed_forward(c)
        return self.join(self.add_and_norm_3, c, fed)

    def join(self, layer: AddAndNorm, went_in: Tensor, came_out: Tensor) -> Tensor:
        joined: Tensor = layer(went_in, came_out)
        return joined


_slip = partial(Edited, _Block)

_slip_alone = partial(Edited, _Block, paired=False)
"""One that is not tried together with others."""

_JOIN = "layer(went_in, came_out)"
_SELF, _CROSS = "self.self_attention(x, None, mask).out", "self.cross_attention(a, memory, memory_mask).out"
_CROSS_FIRST = (
    (_SELF, "self.cross_attention(x, memory, memory_mask).out"),
    (_CROSS, "self.self_attention(a, None, mask).out"),
)
_FEED_SECOND = (
    (_CROSS, "self.feed_forward(a)"),
    ("self.feed_forward(c)", "self.cross_attention(c, memory, memory_mask).out"),
)
_NO_CROSS = ("self.join(self.add_and_norm_2, a, crossed)", "a")
_NEITHER_MASK = (("None, mask", "None, None"), ("memory_mask).out", "None).out"))


def _block_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        # A norm of two numbers leaves nothing but their sign, so each token's vector is given two more.
        x, memory = (torch.cat([tokens, 0.5 * tokens.flip(1)], dim=-1) for tokens in (B.q, A.k))
        x, memory = torch.stack([x, 0.5 * x.flip(0)]), torch.stack([memory, memory.flip(0)])
        inputs = (x, memory, causal_mask(4), torch.ones(2, 1, 3, dtype=torch.bool))
        name = "worked example: <s> die Katze tanzte, looking at the cat danced"
        yield _block_case(name, generator, inputs, heads=2, d_ff=5)
    for name, heads, target, source in (
        ("a batch with padding in the source", 2, 5, 3),
        ("a source longer than the target", 3, 4, 7),
        (ANY_MASKS, 2, 4, 4),
    ):
        inputs = _block_inputs(generator, heads, target, source, any_mask=name == ANY_MASKS)
        yield _block_case(name, generator, inputs, heads, d_ff=4 * heads + 1)
    one = torch.ones(1, 1, 1, dtype=torch.bool)
    inputs = (*torch.randn(2, 1, 1, 4, generator=generator), one, one)
    yield _block_case("single tokens, alone in their batch, with one head", generator, inputs, 1, 3)
    yield _in_double(_block_case("double precision", generator, _block_inputs(generator, 2, 3, 5), 2, 9))
    inputs = _block_inputs(generator, 2, 5, 4)
    yield _block_case("in training, where almost everything is dropped", generator, inputs, 2, 9, training=True)
    x, memory, mask, memory_mask = _block_inputs(generator, 2, 4, 6)
    token, read = x[:1, :1], memory[:1, :1]
    inputs = (token.expand_as(x).clone(), read.expand_as(memory).clone(), mask, memory_mask)
    name = "in training, where the sublayers add only zeros, and dropping changes none"
    case = _block_case(name, generator, inputs, 2, 9, training=True)
    construct = {**case.construct, "dropout": 0.5}
    yield replace(case, construct=construct, weights=_adding_zeros(case.weights, token, read, construct))


ANY_MASKS = "any masks, different in each sentence and for each token"
"""As many tokens in the source as in the target, so that an answer that swaps something is not stopped by a shape."""


Inputs = tuple[Tensor, Tensor, Tensor, Tensor]
"""x, memory, mask, memory_mask"""


def _block_inputs(generator: Generator, heads: int, target: int, source: int, any_mask: bool = False) -> Inputs:
    """A batch of random tokens, with padding in all its sources but one."""
    kind = Kind("", generator, (integer(generator, 2, 4),))
    d_model = heads * integer(generator, 4, 6)
    lengths = torch.full((kind.leading[0],), source)
    lengths[:-1] = integer(generator, 1, source)
    x, memory = kind.normal(target, d_model), kind.normal(source, d_model)
    if any_mask:
        return x, memory, kind.mask(target, target), kind.mask(target, source)
    return x, memory, causal_mask(target), padding_mask(lengths, source).unsqueeze(1)


def _block_case(name: str, generator: Generator, inputs: Inputs, heads: int, d_ff: int, training: bool = False) -> Case:
    """One call with random weights; an answer that drops where nothing should be dropped loses almost everything."""
    sizes_of: dict[str, Any] = {"d_model": inputs[0].shape[-1], "heads": heads, "d_ff": d_ff}
    construct = {**sizes_of, "dropout": ALMOST_EVERYTHING}
    return Case(
        name,
        inputs,
        construct=construct,
        weights=random_weights(_Block(**construct), generator),
        gradients=() if training else (0, 1),
        weight_gradients=not training,
        training=training,
        part="dropout" if training else CORE,
    )


def _in_double(case: Case) -> Case:
    args = tuple(tensor.double() if tensor.is_floating_point() else tensor for tensor in case.args)
    return replace(case, args=args, weights={name: weight.double() for name, weight in case.weights.items()})


@torch.no_grad()
def _adding_zeros(
    weights: Mapping[str, Tensor], token: Tensor, read: Tensor, construct: Mapping[str, Any]
) -> dict[str, Tensor]:
    """These weights, with biases that take away what each sublayer makes of these tokens, [1, 1, d_model] both.

    Where a sublayer reads anything else, or drops anything on the way, its output is not 0.
    """
    block = _Block(**construct).eval()
    block.load_state_dict(weights)
    block.self_attention.W_o.bias.sub_(block.self_attention(token).out[0, 0])
    token = block.add_and_norm_1.norm(token)
    block.cross_attention.W_o.bias.sub_(block.cross_attention(token, read).out[0, 0])
    token = block.add_and_norm_2.norm(token)
    block.feed_forward.W_2.bias.sub_(block.feed_forward(token)[0, 0])
    return block.state_dict()


def _arguments_swapped(number: int, sublayer: str, right: str, swapped: str) -> Misconception:
    return Misconception(
        f"arguments_of_add_and_norm_{number}_swapped",
        f"Your answer is right in evaluation, but hands add_and_norm_{number} its two vectors in the wrong order, so "
        f"that training drops what went into the {sublayer}. What came out of it is the second one.",
        _slip_alone((right, swapped)),
        alone=True,
    )


class _BlockDroppingByLots(_Block):
    """Dropout by its formula, with a norm that is called by itself; the last sublayer's draw comes first."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        layers = [self.add_and_norm_1, self.add_and_norm_2, self.add_and_norm_3]
        lots = [torch.rand_like(x) for _ in layers][::-1]

        def join(x: Tensor, y: Tensor) -> Tensor:
            layer, drawn = layers.pop(0), lots.pop(0)
            share = layer.dropout.p
            out: Tensor = layer.norm(x + (y * (drawn >= share) / (1 - share) if self.training else y))
            return out

        x = join(x, self.self_attention(x, mask=mask).out)
        x = join(x, self.cross_attention(x, memory, memory_mask).out)
        return join(x, self.feed_forward(x))


class _BlockSentenceBySentence(_Block):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        batch, target, source = x.shape[0], x.shape[1], memory.shape[1]
        own, other = mask.expand(batch, target, target), memory_mask.expand(batch, target, source)
        rows = []
        for i in range(batch):
            y = x[i : i + 1]
            y = self.add_and_norm_1(y, self.self_attention(y, mask=own[i]).out)
            y = self.add_and_norm_2(y, self.cross_attention(y, memory[i : i + 1], other[i]).out)
            rows.append(self.add_and_norm_3(y, self.feed_forward(y)))
        return torch.cat(rows)


CORRECT = (_Block, _BlockDroppingByLots, _BlockSentenceBySentence)


EXERCISE = Exercise(
    id="encoder_decoder.decoder_block",
    lesson=LESSON,
    name="DecoderBlock",
    title="The decoder block",
    statement=(
        "class DecoderBlock(nn.Module): forward(x [batch, target, d_model], memory [batch, source, d_model], mask, "
        "memory_mask) -> [batch, target, d_model]: masked self-attention, cross-attention to the memory, feed-forward "
        "network, each with add & norm after it."
    ),
    points=5,
    parts={CORE: 4, "dropout": 1},
    minutes=20,
    difficulty=4,
    importance=5,
    section="The decoder block",
    source="S2, T-ED; S4, the decoder; Vaswani et al. (2017), section 3.1",
    reference=encoder_decoder.DecoderBlock,
    cases=and_turned_around(_block_cases),
    formerly={"d_ff": "d_hidden"},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "The forward of the encoder's block is two thirds of it. A sublayer comes in between, in which the target "
            "asks the source, and the numbers of the norms change.",
        ),
        Hint(
            "shapes",
            "Self-attention is `[batch, target, target]` and takes `mask`; cross-attention is "
            "`[batch, target, source]` and takes `memory_mask`. Queries of the cross-attention come from what the "
            "first add & norm returned, keys and values from `memory`.",
            answers=(
                "masks_exchanged",
                "future_seen",
                "padding_seen",
                "cross_attention_to_itself",
                "memory_asks",
                "cross_attention_causal",
            ),
        ),
        Hint(
            "outline",
            "Self-attention of `x` under `mask`; of what it returns, `.out`.\n"
            "The first add & norm of `x` and that output, put back into `x`.\n"
            "Cross-attention: `x` asks, `memory` is looked at, under `memory_mask`.\n"
            "The second add & norm of `x` and that output, put back into `x`.\n"
            "The feed-forward network of `x`, and the third add & norm.",
            answers=(
                "asks_with_the_input",
                "input_added_to_the_second",
                "first_added_to_the_third",
                "cross_attention_first",
                "feed_forward_second",
                "cross_attention_not_added",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "future_seen",
            "Your answer leaves out `mask` in the self-attention, so that each token sees those after it, including "
            "its own answer. Pass it on.",
            _slip(_NEITHER_MASK[0]),
        ),
        Misconception(
            "padding_seen",
            "Your answer leaves out `memory_mask` in the cross-attention, so that the source's padding gets weight. "
            "Pass it on.",
            _slip(_NEITHER_MASK[1]),
        ),
        Misconception(
            "masks_inverted",
            "Your answer inverts both masks, as torch's own modules want them. In this course True means `may "
            "attend`: leave out the ~.",
            _slip(("None, mask", "None, ~mask"), ("memory_mask).out", "~memory_mask).out")),
        ),
        Misconception(
            "own_causal_mask",
            "Your answer makes a causal mask of its own for the self-attention, by causal_mask or is_causal=True, "
            "say. Use `mask` as it comes: it may forbid other things as well.",
            _slip_alone(("None, mask", "None, causal_mask(mask.shape[-1])")),
        ),
        Misconception(
            "masks_exchanged",
            "Your answer gives `memory_mask` to the self-attention and `mask` to the cross-attention. It is the other "
            "way round: `mask` is for the target's tokens, `memory_mask` for the source's.",
            _slip_alone(("None, mask", "None, memory_mask"), ("memory, memory_mask", "memory, mask")),
        ),
        Misconception(
            "cross_attention_causal",
            "Your answer's cross-attention is causal: position t may look only at the first t + 1 tokens of the "
            "source. All of the source is there from the beginning: `memory_mask` alone says where a token may look.",
            _slip_alone(
                ("memory, memory_mask", "memory, memory_mask & causal_mask(64)[: x.shape[1], : memory.shape[1]]")
            ),
        ),
        *alike(
            "Your answer looks first at the source and then at its own words. It is the other way round: "
            "self-attention begins each decoder block.",
            cross_attention_first=_slip(*_CROSS_FIRST, ("norm_1, x", "norm_2, x"), ("norm_2, a", "norm_1, a")),
            cross_attention_first_by_number=_slip(*_CROSS_FIRST),
        ),
        *alike(
            "Your answer has the feed-forward network between the two attentions. It comes last: self-attention, "
            "cross-attention, feed-forward network.",
            feed_forward_second=_slip_alone(*_FEED_SECOND),
            feed_forward_second_with_its_norm=_slip_alone(
                *_FEED_SECOND, ("norm_2, a", "norm_3, a"), ("norm_3, c", "norm_2, c")
            ),
        ),
        *alike(
            "Your answer never looks at the memory: it is an encoder block. Between the self-attention and the "
            "feed-forward network stands the cross-attention, with the second add & norm.",
            no_cross_attention=_slip_alone(_NO_CROSS),
            no_cross_attention_by_number=_slip_alone(_NO_CROSS, ("norm_3, c", "norm_2, c")),
        ),
        *alike(
            "Your answer calls the cross-attention without the memory, so that the tokens attend to each other. Keys "
            "and values come from the source: cross_attention(x, memory, memory_mask).",
            cross_attention_to_itself=_slip_alone(("a, memory, memory_mask", "a, None, mask")),
            cross_attention_to_itself_by_memory_mask=_slip_alone(("a, memory, memory_mask", "a, None, memory_mask")),
        ),
        Misconception(
            "memory_asks",
            "Your answer has the cross-attention the wrong way round: the memory asks, and the target's tokens are "
            "looked at. What asks comes first: cross_attention(x, memory, memory_mask).",
            _slip_alone(("a, memory, memory_mask", "memory, a, memory_mask")),
        ),
        Misconception(
            "no_feed_forward",
            "Your answer ends after the cross-attention. The feed-forward network and its add & norm are missing.",
            _slip_alone(("self.join(self.add_and_norm_3, c, fed)", "c")),
        ),
        Misconception(
            "no_residuals",
            "Your answer has the norms but not the residual connections: what goes into a sublayer must be added to "
            "what comes out of it, before the norm.",
            _slip_alone((_JOIN, "layer.norm(came_out)")),
        ),
        Misconception(
            "no_norms",
            "Your answer adds, but never normalises. Use add_and_norm_1 to 3, which do both.",
            _slip_alone((_JOIN, "went_in + came_out")),
        ),
        Misconception(
            "pre_norm",
            "Your answer normalises what goes into each sublayer (pre-norm, as GPT-2 does). Here the norm comes after "
            "the sum, as in the paper: norm(x + sublayer(x)).",
            _slip(
                (_JOIN, "went_in + came_out"),
                ("self_attention(x", "self_attention(self.add_and_norm_1.norm(x)"),
                ("cross_attention(a", "cross_attention(self.add_and_norm_2.norm(a)"),
                ("feed_forward(c", "feed_forward(self.add_and_norm_3.norm(c)"),
            ),
        ),
        Misconception(
            "one_norm_for_all",
            "Your answer uses add_and_norm_1 three times. Each sublayer has its own, with weights of its own.",
            _slip(("norm_2,", "norm_1,"), ("norm_3,", "norm_1,")),
        ),
        Misconception(
            "second_norm_twice",
            "Your answer uses add_and_norm_2 twice, but never add_and_norm_3. The third is the feed-forward network's.",
            _slip(("norm_3,", "norm_2,")),
        ),
        Misconception(
            "norms_swapped",
            "Your answer uses add_and_norm_3 after the cross-attention and add_and_norm_2 at the end. They are "
            "numbered in the order of the sublayers.",
            _slip(("norm_2,", "norm_3,"), ("norm_3,", "norm_2,")),
        ),
        Misconception(
            "added_twice",
            "Your answer adds what went into each sublayer twice: add_and_norm already does so. Pass it only what "
            "came out of the sublayer.",
            _slip_alone((_JOIN, "layer(went_in, went_in + came_out)")),
        ),
        Misconception(
            "cross_attention_not_added",
            "Your answer goes on with only what came out of the cross-attention. Its add & norm is missing.",
            _slip_alone(("self.join(self.add_and_norm_2, a, crossed)", "crossed")),
        ),
        Misconception(
            "cross_attention_not_added_but_normed",
            "After the cross-attention your answer normalises only what came out of it. The residual connection is "
            "missing: what went in is added before the norm, and add_and_norm_2 does both.",
            _slip_alone(("self.join(self.add_and_norm_2, a, crossed)", "self.add_and_norm_2.norm(crossed)")),
        ),
        Misconception(
            "asks_with_the_input",
            "Your answer makes the cross-attention's queries from the block's input. Make them from what the "
            "self-attention and its add & norm gave.",
            _slip(("attention(a", "attention(x")),
        ),
        Misconception(
            "input_added_to_the_second",
            "After the cross-attention your answer adds the block's own input. Add what the first add & norm returned.",
            _slip(("a, crossed", "x, crossed")),
        ),
        Misconception(
            "first_added_to_the_third",
            "After the feed-forward network your answer adds what the first add & norm returned. Add what went into "
            "that sublayer: what the second add & norm returned.",
            _slip(("c, fed", "a, fed")),
        ),
        Misconception(
            "one_attention_for_both",
            "Your answer uses self_attention's projections for the cross-attention too. It has a layer of its own, "
            "cross_attention.",
            _slip(("crossed = self.cross", "crossed = self.self")),
        ),
        Misconception(
            "memory_detached",
            "In your answer no gradient reaches the memory (.detach() or no_grad), so that the encoder could never "
            "learn. Leave that out.",
            _slip((" memory,", " memory.detach(),")),
        ),
        Misconception(
            "last_add_and_norm_missing",
            "Your answer returns what the feed-forward network gives. add_and_norm_3 is missing: it adds what went "
            "into the network, and normalises.",
            _slip_alone(("self.join(self.add_and_norm_3, c, fed)", "fed")),
        ),
        Misconception(
            "add_and_norm_never_used",
            "Your answer has the three sublayers, but no add & norm. After each of them comes its own: "
            "add_and_norm_1 to 3, which take what went in and what came out.",
            _slip_alone((_JOIN, "came_out")),
        ),
        Misconception(
            "dropout_left_out",
            "Your answer is right in evaluation, but drops nothing in training. Use add_and_norm_1 to 3 as they are: "
            "they drop what came out of the sublayer, add and normalise.",
            _slip_alone((_JOIN, "layer.norm(went_in + came_out)")),
            alone=True,
        ),
        Misconception(
            "arguments_swapped",
            "Your answer is right in evaluation, but hands each add_and_norm its two vectors in the wrong order, so "
            "that training drops what went into the sublayers. First what went in, then what came out.",
            _slip_alone((_JOIN, "layer(came_out, went_in)")),
            alone=True,
        ),
        _arguments_swapped(1, "self-attention", "x, attended", "attended, x"),
        _arguments_swapped(2, "cross-attention", "a, crossed", "crossed, a"),
        _arguments_swapped(3, "feed-forward network", "c, fed", "fed, c"),
        Misconception(
            "sum_dropped",
            "Your answer is right in evaluation, but in training it drops the sum, so that what went into the "
            "sublayer is dropped as well. Dropout is only for what came out.",
            _slip_alone((_JOIN, "layer.norm(layer.dropout(went_in + came_out))")),
            alone=True,
        ),
        Misconception(
            "attention_weights_dropped",
            "Your answer is right in evaluation, but in training it also drops weights of both attentions. Leave the "
            "constructor as it is: dropout is only for what came out of a sublayer.",
            _slip_alone(
                (
                    "self_attention = MultiHeadAttention(d_model, heads",
                    "self_attention = MultiHeadAttention(d_model, heads, dropout",
                ),
                (
                    "cross_attention = MultiHeadAttention(d_model, heads",
                    "cross_attention = MultiHeadAttention(d_model, heads, dropout",
                ),
            ),
            alone=True,
        ),
        Misconception(
            "dropped_in_evaluation",
            "Your answer drops in evaluation as well. F.dropout has to be told when it is training "
            "(training=self.training); add_and_norm_1 to 3 know.",
            _slip_alone((_JOIN, "layer.norm(went_in + nn.functional.dropout(came_out, layer.dropout.p))")),
        ),
    ),
    withheld=WITHHELD,
)
