"""Lesson 05, encoder_decoder.decoder_block: The decoder block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.blocks import FeedForward
from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import ALMOST_EVERYTHING, Kind, alike, and_turned_around, as_it_is, integer
from course_lib.exercises.encoder_decoder.shared import LESSON, WITHHELD, Change, random_weights
from course_lib.exercises.worked_examples import A, B
from course_lib.masking import causal_mask, padding_mask
from course_lib.multihead import MultiHeadAttention
from course_lib.references import encoder_decoder
from course_lib.references.encoder_decoder import AddAndNorm


class _Layers(nn.Module):
    """What the constructor in the lesson makes."""

    def __init__(self, d_model: int, heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)


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
        weights=random_weights(_Layers(**construct), generator),
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
    block = _Layers(**construct).eval()
    block.load_state_dict(weights)
    block.self_attention.W_o.bias.sub_(block.self_attention(token).out[0, 0])
    token = block.add_and_norm_1.norm(token)
    block.cross_attention.W_o.bias.sub_(block.cross_attention(token, read).out[0, 0])
    token = block.add_and_norm_2.norm(token)
    block.feed_forward.W_2.bias.sub_(block.feed_forward(token)[0, 0])
    return block.state_dict()


Join = Callable[[AddAndNorm, Tensor, Tensor], Tensor]
"""What a block does with what went into a sublayer and what came out of it."""


def _right(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer(x, y)  # type: ignore[no-any-return]


def _swapped(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer(y, x)  # type: ignore[no-any-return]


def _not_added(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer.norm(y)  # type: ignore[no-any-return]


def _not_normed(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return x + y


def _added_twice(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer(x, x + y)  # type: ignore[no-any-return]


def _alone(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return y


Attend = Callable[[_Layers, Tensor, Tensor, Tensor, Tensor], Tensor]
"""attend(block, x, memory, mask, memory_mask): what the cross-attention gives."""


def _block(
    b: _Layers,
    x: Tensor,
    memory: Tensor,
    mask: Tensor,
    memory_mask: Tensor,
    *,
    masks: tuple[Change, Change] = (as_it_is, as_it_is),
    exchanged: bool = False,
    steps: str = "s1 c2 f3",
    attend: Attend = lambda b, x, memory, mask, memory_mask: b.cross_attention(x, memory, memory_mask).out,
    joins: Mapping[str, Join] = {},
    normed_first: bool = False,
    asks: int = -1,
    added: Mapping[str, int] = {},
) -> Tensor:
    """The forward with changes.

    Args:
        masks: what is done to both masks.
        exchanged: each is used for the other.
        steps: self-attention, cross-attention and feed-forward network, each with the number of its add & norm.
        attend: the cross-attention.
        joins: how what came out of a sublayer is joined to what went in, where it is not right.
        normed_first: pre-norm.
        asks: which state asks in the cross-attention: 0 is x, 1 what the first add & norm returned, and so on.
        added: which one the residual connection of a sublayer adds.
    """
    mask, memory_mask = masks[0](mask), masks[1](memory_mask)
    if exchanged:
        mask, memory_mask = memory_mask, mask
    states = [x]
    for kind, number in map(tuple, steps.split()):
        layer = getattr(b, f"add_and_norm_{number}")
        read = states[asks if kind == "c" else -1]
        read = layer.norm(read) if normed_first else read
        if kind == "s":
            out = b.self_attention(read, None, mask).out
        else:
            out = attend(b, read, memory, mask, memory_mask) if kind == "c" else b.feed_forward(read)
        join = _not_normed if normed_first else joins.get(kind, _right)
        states.append(join(layer, states[added.get(kind, -1)], out))
    return states[-1]


class _Changed(_Layers):
    """The block with changes, see `_block`."""

    def __init__(self, d_model: int, heads: int, d_ff: int, dropout: float = 0.0, **changes: Any) -> None:
        super().__init__(d_model, heads, d_ff, dropout)
        self.changes = changes

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        return _block(self, x, memory, mask, memory_mask, **self.changes)


def _by_itself(**changes: Any) -> Callable[..., nn.Module]:
    """The block with changes that are not combined with others."""
    return lambda **construct: _Changed(**construct, **changes)


def _joined_by(first: Join, *others: Join) -> Callable[..., nn.Module]:
    """A block that is right except for how the sublayers' outputs are joined to what went in: one way, or three."""
    return _by_itself(joins=dict(zip("scf", (first, *others) if others else (first,) * 3, strict=True)))


def _arguments_swapped(number: int, sublayer: str) -> Misconception:
    return Misconception(
        f"arguments_of_add_and_norm_{number}_swapped",
        f"Your answer is right in evaluation, but hands add_and_norm_{number} its two vectors in the wrong order, so "
        f"that training drops what went into the {sublayer}. What came out of it is the second one.",
        _joined_by(*(_swapped if number == place else _right for place in (1, 2, 3))),
        alone=True,
    )


class _AttentionWeightsDropped(_Changed):
    def __init__(self, d_model: int, heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, heads, d_ff, dropout)
        self.self_attention = MultiHeadAttention(d_model, heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads, dropout)


def _not_looking_ahead(b: _Layers, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
    up_to_here = torch.ones(x.shape[1], memory.shape[1]).tril().bool()
    out: Tensor = b.cross_attention(x, memory, memory_mask & up_to_here).out
    return out


class _BlockStraight(_Layers):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        attended = self.self_attention(x, mask=mask).out
        x = self.add_and_norm_1(x, attended)
        crossed = self.cross_attention(x, memory, mask=memory_mask).out
        x = self.add_and_norm_2(x, crossed)
        out: Tensor = self.add_and_norm_3(x, self.feed_forward(x))
        return out


class _BlockByHand(_Layers):
    """Dropouts, sums and norms written out, by torch's functions."""

    def _join(self, layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
        total = x + F.dropout(y, layer.dropout.p, self.training)
        norm = layer.norm
        return F.layer_norm(total, x.shape[-1:], norm.weight, norm.bias, norm.eps)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self._join(self.add_and_norm_1, x, self.self_attention(x, x, mask).out)
        x = self._join(self.add_and_norm_2, x, self.cross_attention(x, memory, memory_mask).out)
        return self._join(self.add_and_norm_3, x, self.feed_forward(x))


class _BlockDroppingByLots(_Layers):
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


class _BlockSentenceBySentence(_Layers):
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


CORRECT = (
    _BlockStraight,
    _BlockByHand,
    _BlockDroppingByLots,
    _BlockSentenceBySentence,
)


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
            partial(_Changed, masks=(torch.ones_like, as_it_is)),
        ),
        Misconception(
            "padding_seen",
            "Your answer leaves out `memory_mask` in the cross-attention, so that the source's padding gets weight. "
            "Pass it on.",
            partial(_Changed, masks=(as_it_is, torch.ones_like)),
        ),
        Misconception(
            "both_masks_left_out",
            "Your answer uses neither mask: tokens see the future, and the source's padding. Pass `mask` to the "
            "self-attention and `memory_mask` to the cross-attention.",
            partial(_Changed, masks=(torch.ones_like, torch.ones_like)),
        ),
        Misconception(
            "masks_inverted",
            "Your answer inverts both masks, as torch's own modules want them. In this course True means `may "
            "attend`: leave out the ~.",
            partial(_Changed, masks=(torch.logical_not, torch.logical_not)),
        ),
        Misconception(
            "own_causal_mask",
            "Your answer makes a causal mask of its own for the self-attention, by causal_mask or is_causal=True, "
            "say. Use `mask` as it comes: it may forbid other things as well.",
            _by_itself(masks=(lambda mask: causal_mask(mask.shape[-1]), as_it_is)),
        ),
        Misconception(
            "masks_exchanged",
            "Your answer gives `memory_mask` to the self-attention and `mask` to the cross-attention. It is the other "
            "way round: `mask` is for the target's tokens, `memory_mask` for the source's.",
            _by_itself(exchanged=True),
        ),
        Misconception(
            "cross_attention_causal",
            "Your answer's cross-attention is causal: place t may look only at the first t + 1 tokens of the source. "
            "All of the source is there from the beginning: `memory_mask` alone says where a token may look.",
            _by_itself(attend=_not_looking_ahead),
        ),
        *alike(
            "Your answer looks first at the source and then at its own words. It is the other way round: "
            "self-attention begins each decoder block.",
            cross_attention_first=partial(_Changed, steps="c2 s1 f3"),
            cross_attention_first_by_number=partial(_Changed, steps="c1 s2 f3"),
        ),
        *alike(
            "Your answer has the feed-forward network between the two attentions. It comes last: self-attention, "
            "cross-attention, feed-forward network.",
            feed_forward_second=_by_itself(steps="s1 f2 c3"),
            feed_forward_second_with_its_norm=_by_itself(steps="s1 f3 c2"),
        ),
        *alike(
            "Your answer never looks at the memory: it is an encoder block. Between the self-attention and the "
            "feed-forward network stands the cross-attention, with the second add & norm.",
            no_cross_attention=_by_itself(steps="s1 f3"),
            no_cross_attention_by_number=_by_itself(steps="s1 f2"),
        ),
        *alike(
            "Your answer calls the cross-attention without the memory, so that the tokens attend to each other. Keys "
            "and values come from the source: cross_attention(x, memory, memory_mask).",
            cross_attention_to_itself=_by_itself(
                attend=lambda b, x, memory, mask, memory_mask: b.cross_attention(x, None, mask).out
            ),
            cross_attention_to_itself_by_memory_mask=_by_itself(
                attend=lambda b, x, memory, mask, memory_mask: b.cross_attention(x, None, memory_mask).out
            ),
        ),
        Misconception(
            "memory_asks",
            "Your answer has the cross-attention the wrong way round: the memory asks, and the target's tokens are "
            "looked at. What asks comes first: cross_attention(x, memory, memory_mask).",
            _by_itself(attend=lambda b, x, memory, mask, memory_mask: b.cross_attention(memory, x, memory_mask).out),
        ),
        Misconception(
            "no_feed_forward",
            "Your answer ends after the cross-attention. The feed-forward network and its add & norm are missing.",
            _by_itself(steps="s1 c2"),
        ),
        Misconception(
            "no_residuals",
            "Your answer has the norms but not the residual connections: what goes into a sublayer must be added to "
            "what comes out of it, before the norm.",
            _joined_by(_not_added),
        ),
        Misconception(
            "no_norms",
            "Your answer adds, but never normalises. Use add_and_norm_1 to 3, which do both.",
            _joined_by(_not_normed),
        ),
        Misconception(
            "pre_norm",
            "Your answer normalises what goes into each sublayer (pre-norm, as GPT-2 does). Here the norm comes after "
            "the sum, as in the paper: norm(x + sublayer(x)).",
            partial(_Changed, normed_first=True),
        ),
        Misconception(
            "one_norm_for_all",
            "Your answer uses add_and_norm_1 three times. Each sublayer has its own, with weights of its own.",
            partial(_Changed, steps="s1 c1 f1"),
        ),
        Misconception(
            "second_norm_twice",
            "Your answer uses add_and_norm_2 twice, but never add_and_norm_3. The third is the feed-forward network's.",
            partial(_Changed, steps="s1 c2 f2"),
        ),
        Misconception(
            "norms_swapped",
            "Your answer uses add_and_norm_3 after the cross-attention and add_and_norm_2 at the end. They are "
            "numbered in the order of the sublayers.",
            partial(_Changed, steps="s1 c3 f2"),
        ),
        Misconception(
            "added_twice",
            "Your answer adds what went into each sublayer twice: add_and_norm already does so. Pass it only what "
            "came out of the sublayer.",
            _joined_by(_added_twice),
        ),
        Misconception(
            "added_twice_to_the_self_attention",
            "Your answer adds x to what came out of the self-attention, and add_and_norm_1 adds it once more. Pass it "
            "only what came out of the sublayer.",
            _joined_by(_added_twice, _right, _right),
        ),
        Misconception(
            "cross_attention_not_added",
            "Your answer goes on with only what came out of the cross-attention. Its add & norm is missing.",
            _joined_by(_right, _alone, _right),
        ),
        Misconception(
            "cross_attention_not_added_but_normed",
            "After the cross-attention your answer normalises only what came out of it. The residual connection is "
            "missing: what went in is added before the norm, and add_and_norm_2 does both.",
            _joined_by(_right, _not_added, _right),
        ),
        Misconception(
            "asks_with_the_input",
            "Your answer makes the cross-attention's queries from the block's input. Make them from what the "
            "self-attention and its add & norm gave.",
            partial(_Changed, asks=0),
        ),
        Misconception(
            "input_added_to_the_second",
            "After the cross-attention your answer adds the block's own input. Add what the first add & norm returned.",
            partial(_Changed, added={"c": 0}),
        ),
        Misconception(
            "first_added_to_the_third",
            "After the feed-forward network your answer adds what the first add & norm returned. Add what went into "
            "that sublayer: what the second add & norm returned.",
            partial(_Changed, added={"f": 1}),
        ),
        Misconception(
            "one_attention_for_both",
            "Your answer uses self_attention's projections for the cross-attention too. It has a layer of its own, "
            "cross_attention.",
            partial(
                _Changed, attend=lambda b, x, memory, mask, memory_mask: b.self_attention(x, memory, memory_mask).out
            ),
        ),
        Misconception(
            "memory_detached",
            "In your answer no gradient reaches the memory (.detach() or no_grad), so that the encoder could never "
            "learn. Leave that out.",
            partial(
                _Changed,
                attend=lambda b, x, memory, mask, memory_mask: b.cross_attention(x, memory.detach(), memory_mask).out,
            ),
        ),
        Misconception(
            "last_add_and_norm_missing",
            "Your answer returns what the feed-forward network gives. add_and_norm_3 is missing: it adds what went "
            "into the network, and normalises.",
            _joined_by(_right, _right, _alone),
        ),
        Misconception(
            "add_and_norm_never_used",
            "Your answer has the three sublayers, but no add & norm. After each of them comes its own: "
            "add_and_norm_1 to 3, which take what went in and what came out.",
            _joined_by(_alone),
        ),
        Misconception(
            "dropout_left_out",
            "Your answer is right in evaluation, but drops nothing in training. Use add_and_norm_1 to 3 as they are: "
            "they drop what came out of the sublayer, add and normalise.",
            _joined_by(lambda layer, x, y: layer.norm(x + y)),
            alone=True,
        ),
        Misconception(
            "arguments_swapped",
            "Your answer is right in evaluation, but hands each add_and_norm its two vectors in the wrong order, so "
            "that training drops what went into the sublayers. First what went in, then what came out.",
            _joined_by(_swapped),
            alone=True,
        ),
        *map(_arguments_swapped, (1, 2, 3), ("self-attention", "cross-attention", "feed-forward network")),
        Misconception(
            "sum_dropped",
            "Your answer is right in evaluation, but in training it drops the sum, so that what went into the "
            "sublayer is dropped as well. Dropout is only for what came out.",
            _joined_by(lambda layer, x, y: layer.norm(layer.dropout(x + y))),
            alone=True,
        ),
        Misconception(
            "attention_weights_dropped",
            "Your answer is right in evaluation, but in training it also drops weights of both attentions. Leave the "
            "constructor as it is: dropout is only for what came out of a sublayer.",
            _AttentionWeightsDropped,
            alone=True,
        ),
        Misconception(
            "dropped_in_evaluation",
            "Your answer drops in evaluation as well. F.dropout has to be told when it is training "
            "(training=self.training); add_and_norm_1 to 3 know.",
            _joined_by(lambda layer, x, y: layer.norm(x + F.dropout(y, layer.dropout.p))),
        ),
    ),
    withheld=WITHHELD,
)
