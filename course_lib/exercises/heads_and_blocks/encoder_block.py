"""Lesson 04, heads_and_blocks.encoder_block: The encoder block."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import blocks
from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.checking.ready_made import (
    ENCODER_LAYERS,
)
from course_lib.exercises.common import ALMOST_EVERYTHING, Kind, as_it_is, integer
from course_lib.exercises.heads_and_blocks.shared import (
    FOUR_NUMBERS_A_WORD,
    LESSON,
    ORDERS,
    WITHHELD,
    Function,
    drawn_weights,
    in_add_and_norm,
    misplaced_dropouts,
    nothing_kept,
)
from course_lib.exercises.worked_examples import B


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
            f"a single word, alone in its batch, with one head, {order}", generator, inputs, 1, norm_first
        )
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
    """One call with random weights; an answer that drops where nothing should be dropped loses almost everything."""
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
        weights=drawn_weights(blocks.PlainEncoderBlock, generator, inputs[0].dtype, **construct),
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
"""Places (see `in_add_and_norm`) for the first sublayer, and for the second."""


def _attended(
    self: blocks.PlainEncoderBlock,
    y: Tensor,
    mask: Tensor,
    x: Tensor,
    *,
    seen: Function = as_it_is,
    raw: tuple[bool, bool] = (False, False),
) -> Tensor:
    """With something else than the mask, or with keys and values made from x, whatever the sublayer reads."""
    keys, values = (x if unread else y for unread in raw)
    out: Tensor = self.attention(y, keys, values, key_padding_mask=~seen(mask))[0]
    return out


def _weights_dropped(self: blocks.PlainEncoderBlock, y: Tensor, mask: Tensor, x: Tensor) -> Tensor:
    self.attention.dropout = self.dropout.p
    return _attended(self, y, mask, x)


def _fed(
    self: blocks.PlainEncoderBlock, y: Tensor, *, between: Function = F.relu, behind: Function = as_it_is
) -> Tensor:
    return behind(self.W_2(between(self.W_1(y))))


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
            x = in_add_and_norm(
                x,
                (attention, network)[place],
                getattr(self, self.names[place]),
                dropout,
                self.norms[place],
                self.drops[place],
                torch.add if self.kept[place] else nothing_kept,
                **({self.start: beginning} if place and self.start else {}),
            )
        return x


class _EncoderBlockBeyond(_EncoderBlock):
    """The same, for mistakes that show in pre-norm or in training only: they pair with each other.

    Next to one that shows in post-norm, they are not looked at: that part comes first.
    """


class _PaddingSetToZero(blocks.PlainEncoderBlock):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return super().forward(x, mask) * mask.unsqueeze(-1)


def _dropping(place: str) -> tuple[Both, Both]:
    return ((place, place),) * 2


class _BlockLineByLine(blocks.PlainEncoderBlock):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        if self.norm_first:
            y = self.norm_1(x)
            y, _ = self.attention(y, y, y, key_padding_mask=~mask)
            x = x + self.dropout(y)
            x = x + self.dropout(self.W_2(torch.relu(self.W_1(self.norm_2(x)))))
        else:
            y, _ = self.attention(x, x, x, key_padding_mask=~mask)
            x = self.norm_1(x + self.dropout(y))
            x = self.norm_2(x + self.dropout(self.W_2(torch.relu(self.W_1(x)))))
        return x


class _BlockSentenceBySentence(blocks.PlainEncoderBlock):
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


class _BlockByHand(blocks.PlainEncoderBlock):
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


class _BlockDroppingByHand(blocks.PlainEncoderBlock):
    """With the formula of the lesson's own dropout; the feed-forward network's draw comes first."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        share = self.dropout.p
        kept = {name: torch.rand(x.shape) >= share for name in ("feed-forward network", "attention")}

        def add(x: Tensor, y: Tensor, name: str) -> Tensor:
            return x + (torch.where(kept[name], y, 0.0) / (1 - share) if self.training else y)

        first = self.norm_first
        y = self.norm_1(x) if first else x
        x = add(x, self.attention(y, y, y, key_padding_mask=~mask)[0], "attention")
        x = x if first else self.norm_1(x)
        x = add(x, self.W_2(torch.relu(self.W_1(self.norm_2(x) if first else x))), "feed-forward network")
        return x if first else self.norm_2(x)


CORRECT = (
    _BlockLineByLine,
    _BlockSentenceBySentence,
    _BlockByHand,
    _BlockDroppingByHand,
)


EXERCISE = Exercise(
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
            "Everything is `[batch, words, d_model]`. The attention is called with the same tensor as query, key and "
            "value, and its `key_padding_mask` means the opposite of ours: True where a word is hidden. It returns a "
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
            partial(_EncoderBlockBeyond, pre=("sum", "sum")),
        ),
        Misconception(
            "residual_normalised_too",
            "In pre-norm your answer overwrites x with the normalised x, and adds to that. Only the sublayer reads "
            "norm(x); add its output to x as it was.",
            partial(_EncoderBlockBeyond, pre=("read kept", "read kept")),
        ),
        Misconception(
            "second_residual_normalised_too",
            "In pre-norm, around the feed-forward network, your answer overwrites x with the normalised x, and adds "
            "to that. Only the network reads norm_2(x); add its output to x as it was.",
            partial(_EncoderBlockBeyond, pre=("read", "read kept")),
        ),
        Misconception(
            "second_norm_left_out",
            "In pre-norm your answer's feed-forward network reads x as it is. It should also read a normalised x: "
            "norm_2(x).",
            partial(_EncoderBlockBeyond, pre=("read", "")),
        ),
        Misconception(
            "feed_forward_in_post_norm",
            "In pre-norm your answer normalises after the feed-forward network, as post-norm does, not before it. "
            "There, both norms stand before their sublayers.",
            partial(_EncoderBlockBeyond, pre=("read", "sum")),
        ),
        Misconception(
            "norm_at_the_end_too",
            "In pre-norm your answer normalises once more at the end. There the norms stand only before the sublayers.",
            partial(_EncoderBlockBeyond, pre=("read", "read sum")),
        ),
        Misconception(
            "only_the_queries_normed",
            "In pre-norm only the queries of your answer are normalised. The sublayer reads norm_1(x), and queries, "
            "keys and values are all made from what it reads.",
            partial(_EncoderBlockBeyond, attend=partial(_attended, raw=(True, True))),
        ),
        Misconception(
            "values_not_normed",
            "In pre-norm your answer makes the values from x itself. The sublayer reads norm_1(x), and queries, keys "
            "and values are all made from what it reads.",
            partial(_EncoderBlockBeyond, attend=partial(_attended, raw=(False, True))),
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
        *misplaced_dropouts(lambda place: partial(_EncoderBlockBeyond, drops=_dropping(place))),
        Misconception(
            "norms_dropped",
            "In training your answer drops what comes out of the norms. Dropout is for what a sublayer adds: "
            "x + self.dropout(...).",
            partial(_EncoderBlockBeyond, drops=(("end", "end"), ("read", "read"))),
        ),
        Misconception(
            "dropped_in_evaluation",
            "Your answer drops in evaluation as well. self.dropout does so only in training; F.dropout has to be "
            "told: F.dropout(y, p, training=self.training).",
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
            "Where norm_first is False your answer puts the norms before the sublayers, which is pre-norm. It should "
            "be post-norm there: norm(x + dropout(sublayer(x))). Is norm_first not used, or are the two branches "
            "swapped?",
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
            "key_padding_mask is True at what should be left out: pass ~mask.",
            partial(_EncoderBlock, attend=partial(_attended, seen=torch.logical_not)),
        ),
        Misconception(
            "mask_ignored",
            "Your answer lets the words look at padding: the mask is not used. Pass it to the attention, as "
            "key_padding_mask=~mask.",
            partial(_EncoderBlock, attend=partial(_attended, seen=torch.ones_like)),
        ),
        Misconception(
            "padding_set_to_zero",
            "Your answer sets the padding's vectors to 0 at the end. Leave them as they come out of the block: what "
            "is there does not matter to anybody, but it is compared all the same.",
            _PaddingSetToZero,
            alone=True,
        ),
        Misconception(
            "no_activation",
            "Your answer has no activation between W_1 and W_2. Without it the two are one linear layer: F.relu.",
            partial(_EncoderBlock, feed=partial(_fed, between=as_it_is)),
        ),
        Misconception(
            "gelu",
            "Your answer uses GELU, as slide S3 does. Here it is the paper's: ReLU.",
            partial(_EncoderBlock, feed=partial(_fed, between=F.gelu)),
        ),
        Misconception(
            "activation_at_the_end",
            "Your answer puts the ReLU after W_2. It stands between the two layers: W_2(F.relu(W_1(...))).",
            partial(_EncoderBlock, feed=partial(_fed, between=as_it_is, behind=F.relu)),
        ),
        Misconception(
            "network_reads_the_start",
            "Your answer's feed-forward network reads the block's input. It should read what the first sublayer's add "
            "& norm has made of it.",
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
            "Your answer adds the block's input to the feed-forward network's output. Around the second sublayer, add "
            "the output of the first.",
            partial(_EncoderBlock, start="kept"),
        ),
        Misconception(
            "norms_exchanged",
            "Your answer swaps the norms. norm_1 belongs to the attention, norm_2 to the feed-forward network.",
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
            lambda **construct: _EncoderBlock(**construct, order=(1, 0)),
        ),
        Misconception(
            "sublayers_and_norms_exchanged",
            "Your answer has the feed-forward network first, with norm_1, and then the attention, with norm_2. In a "
            "block the attention comes first.",
            lambda **construct: _EncoderBlock(**construct, order=(1, 0), names=("norm_2", "norm_1")),
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
    forbidden=(ENCODER_LAYERS,),
)
