"""Lesson 04, heads_and_blocks.encoder_block: The encoder block."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.common import Kind, and_turned_around, hints, integer, slips
from course_lib.exercises.heads_and_blocks.shared import FOUR_NUMBERS_A_WORD, drawn_weights, gradients_cut
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise
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
        dtype = torch.float64 if transposed else torch.float32
        kind = Kind("", generator, (integer(generator, 2, 5),), dtype, transposed)
        tokens = integer(generator, 5, 8)
        mask = torch.arange(tokens) < torch.randint(1, tokens, (kind.leading[0], 1, 1), generator=generator)
        graded = "gradients" in name
        yield _encoder_block_case(name, generator, kind.normal(tokens, 4 * heads), mask, heads, graded)
    kind = Kind("", generator, (integer(generator, 2, 5),))
    yield _encoder_block_case("a mask for each query", generator, kind.normal(6, 8), kind.mask(6, 6), 2)
    yield _encoder_block_case("no mask", generator, kind.normal(5, 6), None, 3)
    one, allowed = torch.randn(1, 1, 2, generator=generator), torch.ones(1, 1, 1, dtype=torch.bool)
    yield _encoder_block_case("a single token, alone in its batch, with one head", generator, one, allowed, 1)


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
            row = self.add_and_norm_1(x[i : i + 1], lambda y, own=own: self.self_attention(y, y, own))
            rows.append(self.add_and_norm_2(row, lambda y: nn.functional.linear(y, *self.feed_forward.parameters())))
        return torch.cat(rows)


_slips = partial(slips, _BlockLineByLine)


EXERCISE = Exercise(
    id="heads_and_blocks.encoder_block",
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
    correct=(_BlockLineByLine, _BlockInALoop, _BlockSentenceBySentence),
    steps=("attended",),
    hints=hints(
        idea=(
            "Call two add & norms; the second starts from the result of the first. Each add & norm takes `x` and its "
            "sublayer. Your job is to define the sublayers."
        ),
        shapes=(
            "Everything is `[batch, tokens, d_model]`. An add & norm calls its sublayer with one tensor, but "
            "attention takes three arguments: the same tensor twice, and the mask. Wrap the attention in a function "
            "of one argument, or a `lambda`.",
            ("mask_inverted", "mask_ignored", "attends_to_the_input"),
        ),
        outline=(
            "Define a function of `y` that returns the attention of `y` to itself under `mask`.\n"
            "Pass `x` and this function to the first add & norm.\n"
            "Pass its result, and the feed-forward network itself, to the second add & norm.\n"
            "Return the result.",
            ("second_residual_from_the_start", "no_residuals", "feed_forward_left_out"),
        ),
    ),
    misconceptions=(
        *_slips(
            mask_inverted=(
                "Your answer inverts the mask. True means `may attend`: pass the mask on unchanged.",
                ("self.self_attention(y, y, mask)", "self.self_attention(y, y, None if mask is None else ~mask)"),
            ),
            mask_ignored=(
                "Your answer ignores the mask, so tokens attend to padding. Pass the mask to the attention.",
                ("(y, y, mask)", "(y, y)"),
            ),
            attends_to_the_input=(
                "Your answer computes keys and values from the block's input. In pre-norm, use what the add & norm "
                "passes to the attention: self_attention(y, y, mask).",
                ("(y, y, mask)", "(y, x, mask)"),
            ),
            attended_before_the_norm=(
                "Your answer calls the attention before the norm. Instead, pass the add & norm a function of y that "
                "returns self_attention(y, y, mask).",
                ("(y, y, mask)", "(x, x, mask)"),
            ),
            no_residuals=(
                "Your answer calls the sublayers without their add & norms. Pass each sublayer to its own add & norm.",
                ("self.add_and_norm_1(x, attend)", "attend(x)"),
                ("self.add_and_norm_2(half, self.feed_forward)", "self.feed_forward(half)"),
            ),
            residual_added=(
                "Your answer adds x a second time. The add & norms already do that: return the result of the second "
                "add & norm.",
                ("return whole", "return x + whole"),
            ),
            second_residual_from_the_start=(
                "Your answer passes the block's input to the second add & norm. Pass the result of the first add & "
                "norm instead.",
                ("half, self.feed_forward", "x, self.feed_forward"),
            ),
            network_reads_the_start=(
                "Your feed-forward network reads the block's input. Pass the network itself to its add & norm.",
                ("half, self.feed_forward", "half, lambda _: self.feed_forward(x)"),
            ),
            one_norm_for_both=(
                "Your answer uses add_and_norm_1 for both sublayers. Use add_and_norm_2 for the feed-forward network.",
                ("self.add_and_norm_2", "self.add_and_norm_1"),
            ),
            feed_forward_left_out=(
                "Your answer stops after the attention. Add the feed-forward network, inside its own add & norm.",
                ("return whole", "return half"),
            ),
        ),
        *_slips(
            beside="the order",
            sublayers_and_norms_exchanged=(
                "Your answer has the feed-forward network before the attention. Put the attention first.",
                ("x, attend", "x, self.feed_forward"),
                ("half, self.feed_forward", "half, attend"),
            ),
        ),
        gradients_cut(Edited(_BlockLineByLine, ("return whole", "return whole.detach()")), "the parts"),
    ),
    forbidden=(ENCODER_LAYERS,),
)
