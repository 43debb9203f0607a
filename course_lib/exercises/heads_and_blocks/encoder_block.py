"""Lesson 04, heads_and_blocks.encoder_block: The encoder block."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.exercises.common import ALMOST_EVERYTHING, Kind, and_turned_around, integer
from course_lib.exercises.heads_and_blocks.shared import (
    FOUR_NUMBERS_A_WORD,
    LESSON,
    ORDERS,
    WITHHELD,
    drawn_weights,
    misplaced_dropouts,
)
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.judging.ready_made import ENCODER_LAYERS
from course_lib.references import heads_and_blocks


def _encoder_block_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    for norm_first, order in ORDERS:
        if not hidden:
            x = torch.stack([FOUR_NUMBERS_A_WORD, FOUR_NUMBERS_A_WORD.flip(0)])
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
        inputs = (torch.randn(1, 1, 2, generator=generator), torch.ones(1, 1, dtype=torch.bool))
        yield _encoder_block_case(
            f"a single token, alone in its batch, with one head, {order}", generator, inputs, 1, norm_first
        )
        name = f"in training, where almost everything is dropped, {order}"
        inputs = _padded(Kind("", generator), 8)
        yield _encoder_block_case(name, generator, inputs, 2, norm_first, training=True)
        name = f"in training, where the sublayers add only zeros, and dropping changes none, {order}"
        x, mask = _padded(Kind("", generator), 8)
        token = x[:1, :1]
        case = _encoder_block_case(name, generator, (token.expand_as(x).clone(), mask), 2, norm_first, training=True)
        construct = {**case.construct, "dropout": 0.5}
        yield replace(case, construct=construct, weights=_adding_zeros(case.weights, token, construct))


def _padded(kind: Kind, d_model: int) -> tuple[Tensor, Tensor]:
    """A batch of sentences and its mask, with padding after all of them."""
    batch, tokens = integer(kind.generator, 2, 5), integer(kind.generator, 5, 8)
    lengths = torch.randint(1, tokens, (batch, 1), generator=kind.generator)
    return replace(kind, leading=(batch,)).normal(tokens, d_model), torch.arange(tokens) < lengths


def _encoder_block_case(
    name: str,
    generator: Generator,
    inputs: tuple[Tensor, Tensor],
    heads: int,
    norm_first: bool,
    gradients: bool = False,
    training: bool = False,
) -> Case:
    """One call with random weights; an answer that drops where nothing should be dropped loses almost everything."""
    construct: dict[str, int | float | bool] = {
        "d_model": inputs[0].shape[-1],
        "heads": heads,
        "d_ff": integer(generator, 9, 20),
        "dropout": ALMOST_EVERYTHING,
        "norm_first": norm_first,
    }
    return Case(
        name,
        inputs,
        construct=construct,
        weights=drawn_weights(heads_and_blocks.EncoderBlock, generator, inputs[0].dtype, **construct),
        gradients=(0,) if gradients else (),
        weight_gradients=gradients,
        training=training,
        part="pre-norm" if norm_first else "dropout" if training else CORE,
    )


@torch.no_grad()
def _adding_zeros(
    weights: Mapping[str, Tensor], token: Tensor, construct: Mapping[str, int | float | bool]
) -> dict[str, Tensor]:
    """These weights, with biases that take away what each sublayer makes of sentences of this token, [1, 1, d_model].

    Where a sublayer reads anything else, or drops anything on the way, its output is not 0.
    """
    block = heads_and_blocks.EncoderBlock(**construct).eval()  # type: ignore[arg-type]
    block.load_state_dict(weights)
    first = block.norm_1(token)
    read = first if block.norm_first else token
    block.attention.out_proj.bias.sub_(block.attention(read, read, read)[0][0, 0])
    block.W_2.bias.sub_(block.W_2(F.relu(block.W_1(block.norm_2(token) if block.norm_first else first)))[0, 0])
    return block.state_dict()


class _BlockLineByLine(heads_and_blocks.EncoderBlock):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        read = self.norm_1(x) if self.norm_first else x
        attended = self.attention(read, read, read, key_padding_mask=~mask)[0]
        added = self.dropout(attended)
        summed = x + added
        half = summed if self.norm_first else self.norm_1(summed)
        second = self.norm_2(half) if self.norm_first else half
        fed = self.W_2(F.relu(self.W_1(second)))
        more = self.dropout(fed)
        total: Tensor = half + more
        return total if self.norm_first else self.norm_2(total)


_slip = partial(Edited, _BlockLineByLine)
"""One that shows in post-norm."""

_slip_beyond = partial(Edited, _BlockLineByLine, beside="beyond post-norm")
"""One that shows in pre-norm or in training only. Next to one that shows in post-norm it is not looked at: that comes
first."""

_FORWARD = "def forward(self, x: Tensor, mask: Tensor) -> Tensor:"
_HALF = "half = summed if self.norm_first else self.norm_1(summed)"
_SECOND = "self.norm_2(half) if self.norm_first else half"
_RETURN = "return total if self.norm_first else self.norm_2(total)"
_UNDROPPED = (("self.dropout(attended)", "attended"), ("self.dropout(fed)", "fed"))
_NORMS_EXCHANGED = (
    ("self.norm_1(x)", "self.norm_2(x)"),
    ("self.norm_1(summed)", "self.norm_2(summed)"),
    ("self.norm_2(half)", "self.norm_1(half)"),
    ("self.norm_2(total)", "self.norm_1(total)"),
)
_SUBLAYERS_EXCHANGED = (
    ("self.attention(read, read, read, key_padding_mask=~mask)[0]", "self.W_2(F.relu(self.W_1(read)))"),
    ("self.W_2(F.relu(self.W_1(second)))", "self.attention(second, second, second, key_padding_mask=~mask)[0]"),
)


class _BlockSentenceBySentence(heads_and_blocks.EncoderBlock):
    """Each sentence without its padding as keys; the queries of padding are kept."""

    def attend(self, y: Tensor, mask: Tensor) -> Tensor:
        rows: list[Any] = [
            self.attention(sentence, sentence[allowed], sentence[allowed])[0]
            for sentence, allowed in zip(y, mask, strict=True)
        ]
        return torch.stack(rows)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        for norm, layer in ((self.norm_1, self.attend), (self.norm_2, self.feed)):
            y = self.dropout(layer(norm(x) if self.norm_first else x, mask))
            x = x + y if self.norm_first else norm(x + y)
        return x

    def feed(self, y: Tensor, mask: Tensor) -> Tensor:
        hidden: Tensor = self.W_1(y)
        out: Tensor = self.W_2(hidden.clamp(min=0))
        return out


class _BlockByHand(heads_and_blocks.EncoderBlock):
    """Multi-head attention from the weights, without calling the module."""

    def attend(self, y: Tensor, mask: Tensor) -> Tensor:
        q, k, v = (
            part.unflatten(-1, (self.attention.num_heads, -1)).transpose(1, 2)
            for part in F.linear(y, self.attention.in_proj_weight, self.attention.in_proj_bias).chunk(3, dim=-1)
        )
        scaled = q @ k.mT / math.sqrt(q.shape[-1])
        alpha = torch.softmax(scaled.masked_fill(~mask[:, None, None], -math.inf), dim=-1)
        out: Tensor = self.attention.out_proj((alpha @ v).transpose(1, 2).flatten(2))
        return out

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        def normal(y: Tensor, norm: nn.LayerNorm) -> Tensor:
            return F.layer_norm(y, norm.normalized_shape, norm.weight, norm.bias, norm.eps)

        first = self.norm_first
        attended = x + self.dropout(self.attend(normal(x, self.norm_1) if first else x, mask))
        x = attended if first else normal(attended, self.norm_1)
        hidden = torch.relu(self.W_1(normal(x, self.norm_2) if first else x))
        fed: Tensor = x + self.dropout(self.W_2(hidden))
        return fed if first else normal(fed, self.norm_2)


CORRECT = (_BlockLineByLine, _BlockSentenceBySentence, _BlockByHand)


EXERCISE = Exercise(
    id="heads_and_blocks.encoder_block",
    lesson=LESSON,
    name="EncoderBlock",
    title="The encoder block",
    statement=(
        "class EncoderBlock(nn.Module): __init__(d_model, heads, d_ff, dropout, norm_first) makes the parts; "
        "forward(x [batch, tokens, d_model], mask bool [batch, tokens]) -> [batch, tokens, d_model] is self-attention "
        "among the tokens and the feed-forward network, each in add & norm; with gradients. Each sentence has a token."
    ),
    points=5,
    minutes=25,
    section="The transformer block",
    source="S2 and S3, the transformer block; Vaswani et al. (2017), section 3.1",
    reference=heads_and_blocks.EncoderBlock,
    cases=and_turned_around(_encoder_block_cases),
    formerly={"d_ff": "d_hidden"},
    parts={CORE: 3, "dropout": 1, "pre-norm": 1},
    correct=CORRECT,
    steps=("attended",),
    hints=(
        Hint(
            "idea",
            "The block is `add_and_norm` twice: once around attention, once around the feed-forward network. Write "
            "the post-norm order first, which earns its points alone, and then decide what changes in pre-norm.",
        ),
        Hint(
            "shapes",
            "Everything is `[batch, tokens, d_model]`. The attention is called with the same tensor as query, key and "
            "value, and its `key_padding_mask` means the opposite of ours: True where a token is hidden. It returns a "
            "tuple, of which you need the first item.",
            answers=("mask_inverted", "mask_ignored", "padding_set_to_zero"),
        ),
        Hint(
            "outline",
            "Let y be what the sublayer reads: `x` in post-norm, `norm_1` of `x` in pre-norm. Give it a name of its "
            "own, so that `x` stays for the sum.\n"
            "Attend from y to y, with the mask inverted.\n"
            "Add the result to `x` after dropout; in post-norm, `norm_1` of that sum.\n"
            "The same again with the feed-forward network (`W_1`, ReLU, `W_2`) and `norm_2`, starting from what you "
            "have now.",
            answers=(
                "residual_normalised_too",
                "second_residual_from_the_start",
                "network_reads_the_start",
                "no_residuals",
                "second_norm_left_out",
                "norms_exchanged",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "always_post_norm",
            "Your answer does in pre-norm what it does in post-norm. Where norm_first is True each sublayer reads a "
            "normalised x, and is added to x itself.",
            _slip_beyond((_FORWARD, f"{_FORWARD}\n        self.norm_first = False")),
        ),
        Misconception(
            "residual_normalised_too",
            "In pre-norm your answer overwrites x with the normalised x, and adds to that. Only the sublayer reads "
            "norm(x); add its output to x as it was.",
            _slip_beyond(("x + added", "read + added"), ("half + more", "second + more")),
        ),
        Misconception(
            "second_norm_left_out",
            "In pre-norm your answer's feed-forward network reads x as it is. It should also read a normalised x: "
            "norm_2(x).",
            _slip_beyond((_SECOND, "half")),
        ),
        Misconception(
            "feed_forward_in_post_norm",
            "In pre-norm your answer normalises after the feed-forward network, as post-norm does, not before it. "
            "There, both norms stand before their sublayers.",
            _slip_beyond((_SECOND, "half"), (_RETURN, "return self.norm_2(total)")),
        ),
        Misconception(
            "norm_at_the_end_too",
            "In pre-norm your answer normalises once more at the end. There the norms stand only before the sublayers.",
            _slip_beyond((_RETURN, "return self.norm_2(total)")),
        ),
        Misconception(
            "only_the_queries_normed",
            "In pre-norm only the queries of your answer are normalised. The sublayer reads norm_1(x), and queries, "
            "keys and values are all made from what it reads.",
            _slip_beyond(("(read, read, read,", "(read, x, x,")),
        ),
        Misconception(
            "dropout_left_out",
            "In training your answer drops nothing of what the sublayers add. That is what self.dropout is for: "
            "x + self.dropout(...).",
            _slip_beyond(*_UNDROPPED),
        ),
        Misconception(
            "dropout_left_out_in_pre_norm",
            "In pre-norm your answer drops nothing in training. self.dropout is for what each sublayer adds, in both "
            "orders.",
            _slip_beyond(
                ("self.dropout(attended)", "attended if self.norm_first else self.dropout(attended)"),
                ("self.dropout(fed)", "fed if self.norm_first else self.dropout(fed)"),
            ),
        ),
        Misconception(
            "only_the_attention_dropped",
            "In training your answer drops nothing of what the feed-forward network adds. self.dropout is for both "
            "sublayers.",
            _slip_beyond(_UNDROPPED[1]),
        ),
        Misconception(
            "only_the_feed_forward_network_dropped",
            "In training your answer drops nothing of what the attention adds. self.dropout is for both sublayers.",
            _slip_beyond(_UNDROPPED[0]),
        ),
        *misplaced_dropouts(
            {
                "sum": _slip_beyond(
                    *_UNDROPPED, ("x + added", "self.dropout(x + added)"), ("half + more", "self.dropout(half + more)")
                ),
                "end": _slip_beyond(
                    *_UNDROPPED,
                    (_HALF, f"{_HALF}\n        half = self.dropout(half)"),
                    (_RETURN, "return self.dropout(total if self.norm_first else self.norm_2(total))"),
                ),
                "read": _slip_beyond(
                    *_UNDROPPED,
                    ("        attended =", "        read = self.dropout(read)\n        attended ="),
                    ("        fed =", "        second = self.dropout(second)\n        fed ="),
                ),
            }.__getitem__
        ),
        Misconception(
            "norms_dropped",
            "In training your answer drops what comes out of the norms. Dropout is for what a sublayer adds: "
            "x + self.dropout(...).",
            _slip_beyond(*_UNDROPPED, *((old, f"self.dropout({old})") for old, _ in _NORMS_EXCHANGED)),
        ),
        Misconception(
            "dropped_in_evaluation",
            "Your answer drops in evaluation as well. self.dropout does so only in training; F.dropout has to be "
            "told: F.dropout(y, p, training=self.training).",
            _slip(
                ("self.dropout(attended)", "F.dropout(attended, self.dropout.p)"),
                ("self.dropout(fed)", "F.dropout(fed, self.dropout.p)"),
            ),
        ),
        Misconception(
            "attention_weights_dropped",
            "In training your answer also drops weights of the attention. Leave the constructor as it is: dropout is "
            "only for what the sublayers add.",
            _slip_beyond((_FORWARD, f"{_FORWARD}\n        self.attention.dropout = self.dropout.p")),
        ),
        Misconception(
            "hidden_dropped",
            "In training your answer drops numbers of the hidden layer, before W_2. Dropout is only for what the "
            "sublayers add, after W_2.",
            _slip_beyond(("F.relu(self.W_1(second))", "self.dropout(F.relu(self.W_1(second)))")),
        ),
        Misconception(
            "pre_norm_although_not_first",
            "Where norm_first is False your answer puts the norms before the sublayers, which is pre-norm. It should "
            "be post-norm there: norm(x + dropout(sublayer(x))). Is norm_first not used, or are the two branches "
            "swapped?",
            _slip((_FORWARD, f"{_FORWARD}\n        self.norm_first = True")),
        ),
        Misconception(
            "outputs_normed",
            "In post-norm your answer normalises only what the sublayers add. There the sums are normalised: "
            "norm(x + dropout(sublayer(x))).",
            _slip(
                ("self.norm_1(summed)", "x + self.norm_1(added)"), ("self.norm_2(total)", "half + self.norm_2(more)")
            ),
        ),
        Misconception(
            "post_norm_reads_the_norm",
            "In post-norm your answer normalises what the sublayers read as well. There only the sums are normalised: "
            "norm(x + dropout(sublayer(x))).",
            _slip(("self.norm_1(x) if self.norm_first else x", "self.norm_1(x)"), (_SECOND, "self.norm_2(half)")),
        ),
        Misconception(
            "first_sum_not_normed",
            "In post-norm your answer does not normalise the sum of x and what the attention adds. Each of the two "
            "sums has its norm: this one norm_1.",
            _slip((_HALF, "half = summed")),
        ),
        Misconception(
            "second_sum_not_normed",
            "In post-norm your answer does not normalise at the end. Each of the two sums has its norm: the second one "
            "norm_2.",
            _slip((_RETURN, "return total")),
        ),
        Misconception(
            "mask_inverted",
            "Your answer lets the tokens look at the padding and at nothing else. Our mask is True at tokens; torch's "
            "key_padding_mask is True at what should be left out: pass ~mask.",
            _slip(("~mask", "mask")),
        ),
        Misconception(
            "mask_ignored",
            "Your answer lets the tokens look at padding: the mask is not used. Pass it to the attention, as "
            "key_padding_mask=~mask.",
            _slip((", key_padding_mask=~mask", "")),
        ),
        Misconception(
            "padding_set_to_zero",
            "Your answer sets the padding's vectors to 0 at the end. Leave them as they come out of the block: what "
            "is there does not matter to anybody, but it is compared all the same.",
            _slip((_RETURN, "return (total if self.norm_first else self.norm_2(total)) * mask.unsqueeze(-1)")),
            alone=True,
        ),
        Misconception(
            "no_activation",
            "Your answer has no activation between W_1 and W_2. Without it the two are one linear layer: F.relu.",
            _slip(("F.relu(self.W_1(second))", "self.W_1(second)")),
        ),
        Misconception(
            "gelu",
            "Your answer uses GELU, as slide S3 does. Here it is the paper's: ReLU.",
            _slip(("F.relu", "F.gelu")),
        ),
        Misconception(
            "activation_at_the_end",
            "Your answer puts the ReLU after W_2. It stands between the two layers: W_2(F.relu(W_1(...))).",
            _slip(("self.W_2(F.relu(self.W_1(second)))", "F.relu(self.W_2(self.W_1(second)))")),
        ),
        Misconception(
            "network_reads_the_start",
            "Your answer's feed-forward network reads the block's input. It should read what the first sublayer's add "
            "& norm has made of it.",
            _slip((_SECOND, "self.norm_2(x) if self.norm_first else x")),
        ),
        Misconception(
            "no_residuals",
            "Your answer lacks both residual connections: x is not added to what the sublayers make of it.",
            _slip(("x + added", "added"), ("half + more", "more")),
        ),
        Misconception(
            "residual_of_attention_left_out",
            "Your answer lacks the residual connection around the attention: add x to its output.",
            _slip(("x + added", "added")),
        ),
        Misconception(
            "residual_of_feed_forward_left_out",
            "Your answer lacks the residual connection around the feed-forward network: add what it reads to its "
            "output.",
            _slip(("half + more", "more")),
        ),
        Misconception(
            "second_residual_from_the_start",
            "Your answer adds the block's input to the feed-forward network's output. Around the second sublayer, add "
            "the output of the first.",
            _slip(("half + more", "x + more")),
        ),
        Misconception(
            "norms_exchanged",
            "Your answer swaps the norms. norm_1 belongs to the attention, norm_2 to the feed-forward network.",
            _slip(*_NORMS_EXCHANGED),
        ),
        Misconception(
            "one_norm_for_both",
            "Your answer uses norm_1 for both sublayers. The feed-forward network has a norm of its own, norm_2.",
            _slip(*_NORMS_EXCHANGED[2:]),
        ),
        Misconception(
            "sublayers_exchanged",
            "Your answer has the feed-forward network before the attention. In a block the attention comes first.",
            _slip(*_SUBLAYERS_EXCHANGED, *_NORMS_EXCHANGED, paired=False),
        ),
        Misconception(
            "sublayers_and_norms_exchanged",
            "Your answer has the feed-forward network first, with norm_1, and then the attention, with norm_2. In a "
            "block the attention comes first.",
            _slip(*_SUBLAYERS_EXCHANGED, paired=False),
        ),
        Misconception(
            "feed_forward_left_out",
            "Your answer is the first half of the block: the attention in its add & norm. After it comes the "
            "feed-forward network.",
            _slip(("half = summed", "return summed")),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
    forbidden=(ENCODER_LAYERS,),
)
