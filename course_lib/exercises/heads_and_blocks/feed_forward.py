"""Lesson 04, heads_and_blocks.feed_forward: The feed-forward network."""

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.exercises.common import (
    SMALLEST,
    Kind,
    and_turned_around,
    edits_of,
    hints,
    integer,
    mistake,
    sizes,
    slips,
)
from course_lib.exercises.heads_and_blocks.shared import drawn_weights, gradients_cut
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.given import Given
from course_lib.references import heads_and_blocks


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
        weights = drawn_weights(heads_and_blocks.FeedForward, generator, dtype, **construct)
        yield Case(
            name, (x,), construct=construct, weights=weights, gradients=(0,), weight_gradients=True, training=training
        )
        if name == "one sentence":
            yield Case("a single vector", (x[0],), construct=construct, weights=weights)
        if larger:
            gelu = Given("nn.GELU", {"approximate": "tanh"})
            other = {**construct, "activation": gelu}
            yield Case(OTHER_ACTIVATION, (x,), construct=other, weights=weights, part=OTHER_ACTIVATION)


OTHER_ACTIVATION = "another activation"


class _FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.relu) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.W_1(x)
        bent = self.activation(hidden)
        out: Tensor = self.W_2(bent)
        return out


_slip = edits_of(_FeedForward)
_BENT = "self.activation(hidden)"
_WITHOUT_BIASES = (
    ("self.W_1(x)", "F.linear(x, self.W_1.weight)"),
    ("self.W_2(bent)", "F.linear(bent, self.W_2.weight)"),
)


class _FedByEinsum(_FeedForward):
    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.einsum("...d,hd->...h", x, self.W_1.weight) + self.W_1.bias
        return torch.einsum("...h,dh->...d", self.activation(hidden), self.W_2.weight) + self.W_2.bias


class _FedInDouble(_FeedForward):
    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(F.linear(x.double(), self.W_1.weight.double(), self.W_1.bias.double()))
        return F.linear(hidden, self.W_2.weight.double(), self.W_2.bias.double()).to(x.dtype)


EXERCISE = Exercise(
    id="heads_and_blocks.feed_forward",
    title="The feed-forward network",
    statement=(
        "class FeedForward(nn.Module): __init__(d_model, d_ff, activation=F.relu) creates the linear layers W_1 and "
        "W_2; forward(x [..., d_model]) -> [..., d_model] is activation(x W_1 + b_1) W_2 + b_2, with gradients."
    ),
    minutes=12,
    difficulty=2,
    importance=5,
    section="The feed-forward network",
    source="S2, position-wise feed forward; S3; Vaswani et al. (2017), section 3.3",
    reference=heads_and_blocks.FeedForward,
    cases=and_turned_around(_feed_forward_cases),
    formerly={"d_ff": "d_hidden"},
    parts={CORE: 2, OTHER_ACTIVATION: 1},
    correct=(_FeedForward, _FedByEinsum, _FedInDouble),
    steps=("hidden",),
    hints=hints(
        idea=(
            "Apply three steps in a row; the middle one has no weights. Assign the parts to `self` in the "
            "constructor, and call them in `forward`."
        ),
        shapes=(
            "`nn.Linear(a, b)` turns `[..., a]` into `[..., b]`. The first layer goes from `d_model` to `d_ff`, and "
            "the second goes back. Name them `W_1` and `W_2`, because the check finds parameters by name."
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer always uses ReLU. Call self.activation, which is ReLU by default.",
            always_relu=_slip((_BENT, "F.relu(hidden)")),
            alone=True,
        ),
        *slips(
            _FeedForward,
            no_activation=(
                "Your answer has no activation, so its two linear layers can do no more than a single one. Put a ReLU "
                "between them.",
                (_BENT, "hidden"),
            ),
            activation_at_the_end=(
                "Your answer applies the ReLU after W_2, which cuts off all negative outputs. Put it between the two "
                "layers.",
                (_BENT, "hidden"),
                ("return out", "return self.activation(out)"),
            ),
            activation_twice=(
                "Your answer applies a second ReLU after W_2, which cuts off all negative outputs. Use only one ReLU, "
                "between the layers.",
                ("return out", "return self.activation(out)"),
            ),
            activation_before=(
                "Your answer applies the ReLU before W_1, which throws away the negative part of the input. Put it "
                "between the two layers.",
                ("self.W_1(x)", "self.W_1(self.activation(x))"),
                (_BENT, "hidden"),
            ),
            sigmoid=(
                "Your answer uses a sigmoid. In the formula, σ is any activation; the paper and this exercise use "
                "ReLU.",
                (_BENT, "hidden.sigmoid()"),
            ),
            gelu=("Your answer uses GELU. Use ReLU, as the paper does.", (_BENT, "F.gelu(hidden)")),
            silu=("Your answer uses SiLU, z · sigmoid(z). Use ReLU.", (_BENT, "F.silu(hidden)")),
            relu_up_to_six=(
                "Your answer uses ReLU6, which also cuts off above 6. Use ReLU, which has no upper limit.",
                (_BENT, "F.relu6(hidden)"),
            ),
            negative_part_kept=(
                "Your answer keeps negative numbers and cuts off positive ones. ReLU is max(0, z): clamp(min=0).",
                (_BENT, "hidden.clamp(max=0)"),
            ),
            softmax=(
                "Your answer takes a softmax between the layers. Use ReLU: a softmax is for weights that sum to 1.",
                (_BENT, "hidden.softmax(dim=-1)"),
            ),
            residual_added=(
                "Your answer adds x at the end. The residual connection belongs to add & norm, around this network: "
                "return only the network's output.",
                ("return out", "return x + out"),
            ),
            biases_left_out=(
                "Your answer uses the layers' weights without their biases. Call the layers, self.W_1(x): they add "
                "the biases.",
                *_WITHOUT_BIASES,
            ),
            first_bias_left_out=(
                "Your answer leaves out b_1, the bias of W_1. Call the layer itself: self.W_1(x).",
                _WITHOUT_BIASES[0],
            ),
            second_bias_left_out=(
                "Your answer leaves out b_2, the bias of W_2. Call the layer itself, self.W_2(...).",
                _WITHOUT_BIASES[1],
            ),
        ),
        gradients_cut(_slip(("return out", "return out.detach()")), "the weights"),
    ),
)
