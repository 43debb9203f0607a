"""Lesson 04, heads_and_blocks.feed_forward: The feed-forward network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import blocks
from course_lib.checking.exercise import Case, Exercise, Hint, Misconception
from course_lib.exercises.common import SMALLEST, Kind, and_turned_around, as_it_is, integer, sizes
from course_lib.exercises.heads_and_blocks.shared import LESSON, WITHHELD, Function, drawn_weights, gradients_cut
from course_lib.exercises.worked_examples import B


def _feed_forward_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        weights = {
            "W_1.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
            "W_1.bias": torch.tensor([0.0, 1.0, -1.0]),
            "W_2.weight": torch.tensor([[1.0, 0.0, 1.0], [0.0, 2.0, -1.0]]),
            "W_2.bias": torch.tensor([0.5, -0.5]),
        }
        yield Case(f"{B.name}: <s>, die, Katze, tanzte", (B.q,), construct={"d_model": 2, "d_ff": 3}, weights=weights)
    for name, leading, transposed, training in (
        ("one sentence", (), False, False),
        (SMALLEST, (1,), False, False),
        ("a batch, in training", (integer(generator, 2, 5),), False, True),
        ("a wider layer, larger numbers", (2,), False, False),
        ("transposed in memory, double precision", (3,), True, False),
    ):
        ones, larger = name == SMALLEST, "larger" in name
        tokens, d_model = (1, 1) if ones else sizes(generator, 2)
        construct = {"d_model": d_model, "d_ff": 1 if ones else integer(generator, 9, 20) + 4 * d_model * larger}
        dtype = torch.float64 if "double" in name else torch.float32
        x = Kind("", generator, leading, dtype, transposed).normal(tokens, d_model) * (10 if larger else 1)
        weights = drawn_weights(blocks.FeedForward, generator, dtype, **construct)
        yield Case(
            name, (x,), construct=construct, weights=weights, gradients=(0,), weight_gradients=True, training=training
        )
        if name == "one sentence":
            yield Case("a single vector", (x[0],), construct=construct, weights=weights)


def _relu(y: Tensor) -> Tensor:
    return F.relu(y)


class _FeedForward(nn.Module):
    """The lesson's class with other activations, before, between and after its layers, or without some biases."""

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        bent: tuple[Function, Function, Function] = (as_it_is, _relu, as_it_is),
        biases: tuple[bool, bool] = (True, True),
        residual: bool = False,
    ) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.bent, self.biases, self.residual = bent, biases, residual

    def forward(self, x: Tensor) -> Tensor:
        before, between, behind = self.bent
        b_1, b_2 = (layer.bias if kept else None for layer, kept in zip((self.W_1, self.W_2), self.biases, strict=True))
        hidden = between(F.linear(before(x), self.W_1.weight, b_1))
        out = behind(F.linear(hidden, self.W_2.weight, b_2))
        return x + out if self.residual else out


def _bent_by(between: Function) -> partial[_FeedForward]:
    return partial(_FeedForward, bent=(as_it_is, between, as_it_is))


class _FeedForwardCut(_FeedForward):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).detach()


def _feed_forward(forward: Callable[[Tensor, nn.Linear, nn.Linear], Tensor]) -> type[nn.Module]:
    """The lesson's class with this forward."""

    class FeedForward(nn.Module):
        def __init__(self, d_model: int, d_ff: int) -> None:
            super().__init__()
            self.W_1 = nn.Linear(d_model, d_ff)
            self.W_2 = nn.Linear(d_ff, d_model)

        def forward(self, x: Tensor) -> Tensor:
            return forward(x, self.W_1, self.W_2)

    return FeedForward


def _fed_by_einsum(x: Tensor, W_1: nn.Linear, W_2: nn.Linear) -> Tensor:
    hidden = torch.einsum("...d,hd->...h", x, W_1.weight) + W_1.bias
    return torch.einsum("...h,dh->...d", hidden * (hidden > 0), W_2.weight) + W_2.bias


def _fed_token_by_token(x: Tensor, W_1: nn.Linear, W_2: nn.Linear) -> Tensor:
    tokens = [W_2(nn.ReLU()(W_1(token))) for token in x.reshape(-1, x.shape[-1])]
    return torch.stack(tokens).reshape(x.shape)


def _fed_in_double(x: Tensor, W_1: nn.Linear, W_2: nn.Linear) -> Tensor:
    hidden = F.relu(F.linear(x.double(), W_1.weight.double(), W_1.bias.double()))
    return F.linear(hidden, W_2.weight.double(), W_2.bias.double()).to(x.dtype)


def _fed_in_place(x: Tensor, W_1: nn.Linear, W_2: nn.Linear) -> Tensor:
    hidden = W_1(x)
    hidden = hidden.clone()
    hidden[hidden < 0] = 0
    out: Tensor = W_2(hidden)
    return out


CORRECT = (
    _feed_forward(_fed_by_einsum),
    _feed_forward(_fed_token_by_token),
    _feed_forward(_fed_in_double),
    _feed_forward(_fed_in_place),
)


EXERCISE = Exercise(
    id="heads_and_blocks.feed_forward",
    lesson=LESSON,
    name="FeedForward",
    title="The feed-forward network",
    statement=(
        "class FeedForward(nn.Module): __init__(d_model, d_ff) makes the linear layers W_1 and W_2; "
        "forward(x [..., d_model]) -> [..., d_model] is ReLU(x W_1 + b_1) W_2 + b_2, with gradients."
    ),
    points=2,
    minutes=8,
    section="The feed-forward network",
    source="S2, position-wise feed forward; S3; Vaswani et al. (2017), section 3.3",
    reference=blocks.FeedForward,
    cases=and_turned_around(_feed_forward_cases),
    formerly={"d_ff": "d_hidden"},
    correct=CORRECT,
    steps=("hidden",),
    hints=(
        Hint(
            "idea",
            "Three things in a row, and the one in the middle has no weights: it sets everything negative to 0.",
        ),
    ),
    misconceptions=(
        Misconception(
            "no_activation",
            "Your answer has no activation: two linear layers in a row are one linear layer. Put a ReLU between them.",
            _bent_by(as_it_is),
        ),
        Misconception(
            "activation_at_the_end",
            "Your answer puts the ReLU after W_2, where it cuts off all negative outputs. It stands between the two "
            "layers.",
            partial(_FeedForward, bent=(as_it_is, as_it_is, _relu)),
        ),
        Misconception(
            "activation_twice",
            "Your answer puts a ReLU after W_2 as well, which cuts off all negative outputs. Only the first layer has "
            "one.",
            partial(_FeedForward, bent=(as_it_is, _relu, _relu)),
        ),
        Misconception(
            "activation_before",
            "Your answer puts the ReLU before W_1, where it throws away the negative part of the input. It stands "
            "between the two layers.",
            partial(_FeedForward, bent=(_relu, as_it_is, as_it_is)),
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
            "Your answer uses GELU, in the approximation with tanh that GPT-2 uses. Here it is the paper's: ReLU.",
            _bent_by(partial(F.gelu, approximate="tanh")),
        ),
        Misconception("tanh", "Your answer uses tanh. Here it is ReLU.", _bent_by(torch.tanh)),
        Misconception(
            "leaky_relu",
            "Your answer uses the leaky ReLU, which lets through a hundredth of what is negative. ReLU makes it 0.",
            _bent_by(F.leaky_relu),
        ),
        Misconception("silu", "Your answer uses SiLU, z · sigmoid(z). Here it is ReLU.", _bent_by(F.silu)),
        Misconception("softplus", "Your answer uses softplus. Here it is ReLU, max(0, z).", _bent_by(F.softplus)),
        Misconception("elu", "Your answer uses ELU. Here it is ReLU, max(0, z).", _bent_by(F.elu)),
        Misconception(
            "relu_up_to_six",
            "Your answer uses ReLU6, which cuts off above 6 as well. Here it is ReLU, which has no upper limit.",
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
            "return only the network's output.",
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
        gradients_cut(_FeedForwardCut, "the weights"),
    ),
    withheld=WITHHELD,
)
