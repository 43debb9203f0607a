"""Lesson 04, heads_and_blocks.encoder_block: The encoder block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.common import Kind, and_turned_around, integer, slips
from course_lib.exercises.heads_and_blocks.shared import FOUR_NUMBERS_A_WORD, drawn_weights, gradients_cut
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint
from course_lib.judging.given import Given
from course_lib.judging.ready_made import ENCODER_LAYERS
from course_lib.references import heads_and_blocks


def _encoder_block_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x = torch.stack([FOUR_NUMBERS_A_WORD, FOUR_NUMBERS_A_WORD.flip(0)])
        mask = torch.tensor([[[True, True, True, False]], [[True, True, False, False]]])
        yield _encoder_block_case(f"{B.name} with padding", generator, x, mask, 2)
    for name, heads, transposed in (
        ("a batch with padding", 2, False),
        ("with gradients", 3, False),
        ("transposed in memory, double precision", 2, True),
    ):
        kind = Kind(
            "", generator, (integer(generator, 2, 5),), torch.float64 if transposed else torch.float32, transposed
        )
        tokens = integer(generator, 5, 8)
        mask = torch.arange(tokens) < torch.randint(1, tokens, (kind.leading[0], 1, 1), generator=generator)
        graded = "gradients" in name
        yield _encoder_block_case(name, generator, kind.normal(tokens, 4 * heads), mask, heads, graded)
    kind = Kind("", generator, (integer(generator, 2, 5),))
    yield _encoder_block_case("a mask for each query", generator, kind.normal(6, 8), kind.mask(6, 6), 2)
    yield _encoder_block_case("no mask", generator, kind.normal(5, 6), None, 3)
    one = torch.randn(1, 1, 2, generator=generator)
    yield _encoder_block_case(
        "a single token, alone in its batch, with one head", generator, one, torch.ones(1, 1, 1, dtype=torch.bool), 1
    )


def _encoder_block_case(
    name: str, generator: Generator, x: Tensor, mask: Tensor | None, heads: int, graded: bool = False
) -> Case:
    """One call with parts that are given. Where gradients are compared the attention has no biases: the keys' changes
    nothing, so its gradient is rounding alone.
    """
    d_model = x.shape[-1]
    construct: dict[str, Any] = {
        "self_attention": Given("TorchAttention", {"d_model": d_model, "heads": heads, "bias": not graded}),
        "add_and_norm_1": Given("Join", {"d_model": d_model}),
        "feed_forward": Given("nn.Linear", {"in_features": d_model, "out_features": d_model}),
        "add_and_norm_2": Given("Join", {"d_model": d_model}),
    }
    weights = drawn_weights(heads_and_blocks.EncoderBlock, generator, x.dtype, **construct)
    gradients = (0,) if graded else ()
    return Case(name, (x, mask), construct=construct, weights=weights, gradients=gradients, weight_gradients=graded)


class _BlockLineByLine(heads_and_blocks.EncoderBlock):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        def attend(y: Tensor) -> Tensor:
            attended: Tensor = self.self_attention(y, y, mask)
            return attended

        half = self.add_and_norm_1(x, attend)
        whole: Tensor = self.add_and_norm_2(half, self.feed_forward)
        return whole


_FIRST, _SECOND = "self.add_and_norm_1(x, attend)", "self.add_and_norm_2(half, self.feed_forward)"
_SUBLAYERS_EXCHANGED = (("x, attend", "x, self.feed_forward"), ("half, self.feed_forward", "half, attend"))
_NORMS_EXCHANGED = (("self.add_and_norm_1", "self.add_and_norm_2"), ("self.add_and_norm_2", "self.add_and_norm_1"))
_ORDER = "Your answer has the feed-forward network before the attention. In a block the attention comes first."


class _BlockInALoop(heads_and_blocks.EncoderBlock):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        sublayers = {
            self.add_and_norm_1: lambda y: self.self_attention(y, y, mask),
            self.add_and_norm_2: self.feed_forward,
        }
        for join, sublayer in sublayers.items():
            x = join(x, sublayer)
        return x


class _BlockSentenceBySentence(heads_and_blocks.EncoderBlock):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        rows = []
        for i in range(len(x)):
            own = None if mask is None else mask[i].expand(1, x.shape[1], x.shape[1])
            row = self.add_and_norm_1(x[i : i + 1], partial(self.attend, own))
            rows.append(self.add_and_norm_2(row, lambda y: nn.functional.linear(y, *self.feed_forward.parameters())))
        return torch.cat(rows)

    def attend(self, mask: Tensor | None, y: Tensor) -> Tensor:
        out: Tensor = self.self_attention(y, y, mask)
        return out


CORRECT = (_BlockLineByLine, _BlockInALoop, _BlockSentenceBySentence)


EXERCISE = Exercise(
    id="heads_and_blocks.encoder_block",
    name="EncoderBlock",
    title="The encoder block",
    statement=(
        "class EncoderBlock(nn.Module): __init__(self_attention, add_and_norm_1, feed_forward, add_and_norm_2) keeps "
        "the parts; forward(x [batch, tokens, d_model], mask bool [batch, tokens, tokens] or None) -> [batch, tokens, "
        "d_model] is self-attention among the tokens and the feed-forward network, each in its add & norm; with "
        "gradients."
    ),
    points=4,
    minutes=15,
    difficulty=3,
    importance=5,
    section="The transformer block",
    source="S2 and S3, the transformer block; Vaswani et al. (2017), section 3.1",
    reference=heads_and_blocks.EncoderBlock,
    cases=and_turned_around(_encoder_block_cases),
    correct=CORRECT,
    steps=("attended",),
    hints=(
        Hint(
            "idea",
            "Two calls of an add & norm, and the second begins with what the first returned. Each takes `x` and its "
            "sublayer; all that is left to think about is what a sublayer is.",
        ),
        Hint(
            "shapes",
            "Everything is `[batch, tokens, d_model]`. An add & norm calls its sublayer with one tensor, but "
            "attention takes three things: the same tensor twice, and the mask. A function of one argument inside "
            "`forward`, or a `lambda`, closes the gap.",
            answers=("mask_inverted", "mask_ignored", "attends_to_the_input"),
        ),
        Hint(
            "outline",
            "Define a function of `y` that returns the self-attention of `y` to `y` under `mask`.\n"
            "Hand `x` and this function to the first add & norm.\n"
            "Hand what it returns, and the feed-forward network itself, to the second.\n"
            "Return what that gives.",
            answers=("second_residual_from_the_start", "no_residuals", "norms_exchanged", "feed_forward_left_out"),
        ),
    ),
    misconceptions=(
        *slips(
            _BlockLineByLine,
            mask_inverted=(
                "Your answer lets the tokens look at what the mask hides, and at nothing else. Our mask is True where "
                "a token may attend, and our attention takes it so: pass it on as it is.",
                ("self.self_attention(y, y, mask)", "self.self_attention(y, y, None if mask is None else ~mask)"),
            ),
            mask_ignored=(
                "Your answer lets the tokens look at padding: the mask is not used. Pass it to the attention, as its "
                "third argument.",
                ("(y, y, mask)", "(y, y)"),
            ),
            attends_to_the_input=(
                "Your answer's keys and values come from the block's input. In pre-norm the attention must read what "
                "the add & norm hands it, for all three: self_attention(y, y, mask).",
                ("(y, y, mask)", "(y, x, mask)"),
            ),
            attended_before_the_norm=(
                "Your answer attends first and hands its add & norm what came out. In pre-norm the attention must read "
                "what the add & norm hands it: pass a function of y that returns self_attention(y, y, mask).",
                ("(y, y, mask)", "(x, x, mask)"),
            ),
            no_residuals=(
                "Your answer calls the sublayers one after the other, without their add & norms. Hand each sublayer to "
                "its own: self.add_and_norm_1(x, sublayer).",
                (_FIRST, "attend(x)"),
                (_SECOND, "self.feed_forward(half)"),
            ),
            residual_of_attention_left_out=(
                "Your answer calls the attention without its add & norm. Hand it to add_and_norm_1.",
                (_FIRST, "attend(x)"),
            ),
            residual_of_feed_forward_left_out=(
                "Your answer calls the feed-forward network without its add & norm. Hand it to add_and_norm_2.",
                (_SECOND, "self.feed_forward(half)"),
            ),
            residual_added=(
                "Your answer adds x once more. The residual connections are inside the add & norms: return what the "
                "second one gives.",
                ("return whole", "return x + whole"),
            ),
            second_residual_from_the_start=(
                "Your answer hands the block's input to the second add & norm, so that the attention is lost. "
                "Go on with what the first add & norm returned.",
                ("half, self.feed_forward", "x, self.feed_forward"),
            ),
            network_reads_the_start=(
                "Your answer's feed-forward network reads the block's input. It reads what its add & norm hands it: "
                "pass the network itself, self.feed_forward.",
                ("half, self.feed_forward", "half, lambda _: self.feed_forward(x)"),
            ),
            norms_exchanged=(
                "Your answer swaps the add & norms. The first belongs to the attention, the second to the feed-forward "
                "network.",
                *_NORMS_EXCHANGED,
            ),
            one_norm_for_both=(
                "Your answer uses add_and_norm_1 for both sublayers. The feed-forward network has its own, "
                "add_and_norm_2.",
                ("self.add_and_norm_2", "self.add_and_norm_1"),
            ),
            feed_forward_left_out=(
                "Your answer is the first half of the block: the attention in its add & norm. After it comes the "
                "feed-forward network.",
                ("return whole", "return half"),
            ),
            padding_set_to_zero=(
                "Your answer sets the vectors of hidden tokens to 0. Leave them as they come out of the block: "
                "nothing reads them, but they are compared all the same.",
                ("return whole", "return whole if mask is None else whole * mask.any(dim=1).unsqueeze(-1)"),
            ),
        ),
        *slips(
            _BlockLineByLine,
            beside="the order",
            sublayers_exchanged=(_ORDER, *_SUBLAYERS_EXCHANGED, *_NORMS_EXCHANGED),
            sublayers_and_norms_exchanged=(_ORDER, *_SUBLAYERS_EXCHANGED),
        ),
        gradients_cut(Edited(_BlockLineByLine, ("return whole", "return whole.detach()")), "the parts"),
    ),
    forbidden=(ENCODER_LAYERS,),
)
