"""Lesson 05, encoder_decoder.decoder_block: The decoder block."""

from collections.abc import Iterator
from functools import partial
from inspect import signature
from typing import Any

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.common import Kind, and_turned_around, hints, integer, mistake, slips
from course_lib.exercises.heads_and_blocks.shared import drawn_weights, gradients_cut
from course_lib.exercises.worked_examples import A, B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.given import Given
from course_lib.masking import causal_mask, padding_mask
from course_lib.references.encoder_decoder import DecoderBlock

Mask = Tensor | None


def _block_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    case = partial(_block_case, generator)
    if not hidden:
        x, memory = (torch.cat([tokens, 0.5 * tokens.flip(1)], dim=-1) for tokens in (B.q, A.k))
        x, memory = torch.stack([x, 0.5 * x.flip(0)]), torch.stack([memory, memory.flip(0)])
        masks = causal_mask(4).unsqueeze(0), torch.ones(2, 1, 3, dtype=torch.bool)
        yield case("worked example: <s> die Katze tanzte, looking at the cat danced", 2, x, memory, *masks)
    for name, heads, target, source, dtype in (
        ("a batch with padding in the source", 2, 5, 3, torch.float32),
        ("a source longer than the target, with gradients", 3, 4, 7, torch.float32),
        # As many tokens in the source as in the target, so that an answer that swaps something meets no wrong shape.
        ("any masks, different in each sentence and for each token", 2, 4, 4, torch.float32),
        ("double precision", 2, 3, 5, torch.float64),
    ):
        kind = Kind("", generator, (integer(generator, 2, 4),), dtype)
        x, memory = (kind.normal(tokens, 4 * heads) for tokens in (target, source))
        lengths = torch.full((len(x),), source)
        lengths[:-1] = integer(generator, 1, source)
        masks = causal_mask(target).unsqueeze(0), padding_mask(lengths, source).unsqueeze(1)
        if target == source:
            masks = kind.mask(target, target), kind.mask(target, source)
        yield case(name, heads, x, memory, *masks)
    yield case("no masks", 3, *torch.randn(2, 3, 5, 6, generator=generator), None, None)
    one, tokens = torch.ones(1, 1, 1, dtype=torch.bool), torch.randn(2, 1, 1, 2, generator=generator)
    yield case("single tokens, alone in their batch, with one head", 1, *tokens, one, one)


def _block_case(generator: Generator, name: str, heads: int, x: Tensor, memory: Tensor, *masks: Mask) -> Case:
    """One call with parts that are given. Where gradients are compared the attentions have no biases: the keys' changes
    nothing, so its gradient is rounding alone.
    """
    d_model, graded = x.shape[-1], "gradients" in name
    attention = Given("TorchAttention", {"d_model": d_model, "heads": heads, "bias": not graded})
    join = Given("Join", {"d_model": d_model})
    linear = Given("nn.Linear", {"in_features": d_model, "out_features": d_model})
    parts = (attention, join, attention, join, linear, join)
    construct: dict[str, Any] = dict(zip(signature(DecoderBlock).parameters, parts, strict=True))
    weights = drawn_weights(DecoderBlock, generator, x.dtype, **construct)
    gradients, inputs = (0, 1) if graded else (), (x, memory, *masks)
    return Case(name, inputs, construct=construct, weights=weights, gradients=gradients, weight_gradients=graded)


class _BlockLineByLine(DecoderBlock):
    def forward(self, x: Tensor, memory: Tensor, mask: Mask = None, memory_mask: Mask = None) -> Any:
        a = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        c = self.add_and_norm_2(a, lambda y: self.cross_attention(y, memory, memory_mask))
        return self.add_and_norm_3(c, self.feed_forward)


class _BlockInALoop(DecoderBlock):
    def forward(self, x: Tensor, memory: Tensor, mask: Mask = None, memory_mask: Mask = None) -> Tensor:
        sublayers = {
            self.add_and_norm_1: lambda y: self.self_attention(y, y, mask=mask),
            self.add_and_norm_2: lambda y: self.cross_attention(y, memory, mask=memory_mask),
            self.add_and_norm_3: self.feed_forward,
        }
        for join, sublayer in sublayers.items():
            x = join(x, sublayer)
        return x


class _BlockSentenceBySentence(DecoderBlock):
    def forward(self, x: Tensor, memory: Tensor, mask: Mask = None, memory_mask: Mask = None) -> Tensor:
        rows = []
        for i in range(len(x)):
            own, other = (None if one is None else one.expand(len(x), -1, -1)[i : i + 1] for one in (mask, memory_mask))
            row = self.add_and_norm_1(x[i : i + 1], lambda y, own=own: self.self_attention(y, y, own))
            row = self.add_and_norm_2(row, partial(self.cross_attention, memory=memory[i : i + 1], mask=other))
            rows.append(self.add_and_norm_3(row, lambda y: nn.functional.linear(y, *self.feed_forward.parameters())))
        return torch.cat(rows)


_slip, _slips = partial(Edited, _BlockLineByLine), partial(slips, _BlockLineByLine)
_slip_alone = partial(_slip, paired=False)

_ATTEND, _ASK = "self.self_attention(y, y, mask)", "self.cross_attention(y, memory, memory_mask)"
_FIRST, _SECOND = f"self.add_and_norm_1(x, lambda y: {_ATTEND})", f"self.add_and_norm_2(a, lambda y: {_ASK})"
_THIRD = "self.add_and_norm_3(c, self.feed_forward)"
_CROSS_FIRST = ((_ATTEND, _ASK), (_ASK, _ATTEND), ("norm_1(", "norm_2("), ("norm_2(", "norm_1("))
_FEED_SECOND = ((f"lambda y: {_ASK}", "self.feed_forward"), ("c, self.feed_forward", f"c, lambda y: {_ASK}"))
_ATTENDED_EARLY, _ASKED_EARLY = ("(y, y, mask)", "(x, x, mask)"), ("(y, memory", "(a, memory")
_FED_EARLY = (("c, self", "c, lambda _: self"), ("feed_forward)", "feed_forward(c))"))


EXERCISE = Exercise(
    id="encoder_decoder.decoder_block",
    title="The decoder block",
    statement=(
        "class DecoderBlock(nn.Module): __init__(self_attention, add_and_norm_1, cross_attention, add_and_norm_2, "
        "feed_forward, add_and_norm_3) keeps the parts; forward(x [batch, target, d_model], memory [batch, source, "
        "d_model], mask, memory_mask) -> [batch, target, d_model]: masked self-attention, cross-attention to the "
        "memory, feed-forward network, each in its add & norm; with gradients."
    ),
    points=4,
    minutes=15,
    difficulty=3,
    importance=5,
    section="The decoder block",
    source="S2, T-ED; S4, the decoder; Vaswani et al. (2017), section 3.1",
    reference=DecoderBlock,
    cases=and_turned_around(_block_cases),
    correct=(_BlockLineByLine, _BlockInALoop, _BlockSentenceBySentence),
    steps=("attended", "crossed"),
    hints=hints(
        idea=(
            "The `forward` of your encoder block is two thirds of the answer. Insert a sublayer in which the target "
            "attends to the source, and renumber the norms."
        ),
        shapes=(
            "The weights of self-attention are `[batch, target, target]`, like `mask`. The weights of cross-attention "
            "are `[batch, target, source]`, like `memory_mask`. An add & norm calls its sublayer with one tensor, so "
            "wrap each attention in a function of one argument. In cross-attention, that argument gives the queries.",
            ("masks_exchanged", "future_seen", "padding_seen", "cross_attention_to_itself", "memory_asks"),
        ),
        outline=(
            "Give the first add & norm `x` and a function in which `y` attends to `y` under `mask`.\n"
            "Give the second add & norm the result of the first, and a function in which `y` attends to `memory` "
            "under `memory_mask`.\n"
            "Give the third add & norm the result of the second, and the feed-forward network itself.",
            ("asks_with_the_input", "input_added_to_the_second", "no_cross_attention", "cross_attention_first"),
        ),
    ),
    misconceptions=(
        *_slips(
            future_seen=(
                "Your answer leaves out `mask`, so each token sees later tokens. Pass `mask` to the self-attention.",
                ("y, y, mask", "y, y, None"),
            ),
            padding_seen=(
                "Your answer leaves out `memory_mask`, so tokens attend to padding. Pass `memory_mask` to "
                "cross_attention.",
                ("memory, memory_mask)", "memory, None)"),
            ),
            asks_with_the_input=(
                "Your cross-attention's queries come from the block's input. Use the tensor that its add & norm "
                "passes in.",
                ("attention(y, memory", "attention(x, memory"),
            ),
            input_added_to_the_second=(
                "Your answer passes the block's input to the second add & norm. Pass the first add & norm's result.",
                ("norm_2(a", "norm_2(x"),
            ),
            one_attention_for_both=(
                "Your answer uses self_attention for the cross-attention too. Use cross_attention for it.",
                ("self.cross_attention(", "self.self_attention("),
            ),
        ),
        *mistake(
            "Your answer uses one add & norm for several sublayers. Give each sublayer its own.",
            one_norm_for_all=_slip(("norm_2(", "norm_1("), ("norm_3(", "norm_1(")),
            second_norm_twice=_slip(("norm_3(", "norm_2(")),
        ),
        *_slips(
            paired=False,
            masks_inverted=(
                "Your answer inverts both masks, as torch's modules expect. Here, True means `may attend`: drop the ~.",
                ("y, y, mask", "y, y, None if mask is None else ~mask"),
                ("memory, memory_mask)", "memory, None if memory_mask is None else ~memory_mask)"),
            ),
            own_causal_mask=(
                "Your answer creates its own causal mask. Use `mask`, which may forbid other positions too.",
                ("y, y, mask", "y, y, causal_mask(y.shape[1]).unsqueeze(0)"),
            ),
            masks_exchanged=(
                "Your answer swaps the masks. Give `mask` to self_attention and `memory_mask` to cross_attention.",
                ("y, y, mask", "y, y, memory_mask"),
                ("memory, memory_mask)", "memory, mask)"),
            ),
            no_feed_forward=("Your answer has no feed-forward network. Pass it to add_and_norm_3.", (_THIRD, "c")),
            no_residuals=(
                "Your answer calls the sublayers without their add & norms. Pass each sublayer to its add & norm.",
                (_FIRST, "self.self_attention(x, x, mask)"),
                (_SECOND, "self.cross_attention(a, memory, memory_mask)"),
                (_THIRD, "self.feed_forward(c)"),
            ),
        ),
        *mistake(
            "Your cross-attention has the wrong arguments. Call cross_attention(y, memory, memory_mask).",
            cross_attention_to_itself=_slip_alone(("y, memory, memory_mask)", "y, y, mask)")),
            memory_asks=_slip_alone(("y, memory, memory_mask)", "memory, y, memory_mask)")),
        ),
        *mistake(
            "Your sublayers are in the wrong order. Self-attention comes first, and the feed-forward network last.",
            cross_attention_first=_slip_alone(*_CROSS_FIRST),
            feed_forward_second=_slip_alone(*_FEED_SECOND),
        ),
        *mistake(
            "Your answer calls a sublayer before its norm. Pass the add & norm a function of y that uses y itself.",
            attended_before_the_norm=_slip_alone(_ATTENDED_EARLY),
            asked_before_the_norm=_slip_alone(_ASKED_EARLY),
            called_before_the_norm=_slip_alone(_ATTENDED_EARLY, _ASKED_EARLY, *_FED_EARLY),
        ),
        *mistake(
            "Your result ignores the cross-attention. Pass the second add & norm's result to the third.",
            no_cross_attention=_slip_alone((_SECOND, "a")),
            no_cross_attention_by_number=_slip_alone((_SECOND, "a"), ("norm_3(", "norm_2(")),
        ),
        gradients_cut(_slip_alone((_THIRD, f"{_THIRD}.detach()")), "the parts"),
    ),
)
