"""Lesson 12, since_2017.swiglu: A gate."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, edits_of, hints, kinds, mistake, slips
from course_lib.exercises.since_2017.shared import no_gradient
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import since_2017


def _swiglu_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        W_1 = torch.tensor([[1.0, -1.0, 0.0], [0.0, 1.0, 2.0]])
        V = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]])
        W_2 = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        yield Case(B.name, (B.q, W_1, V, W_2))
    for kind in kinds(generator):
        tokens, d_model = kind.sizes(2)
        d_ff = kind.d_head()
        up = torch.randn(2, d_model, d_ff, generator=generator, dtype=kind.dtype)
        down = torch.randn(d_ff, d_model, generator=generator, dtype=kind.dtype)
        yield Case(kind.name, (kind.normal(tokens, d_model), *up, down), gradients=() if kind.leading else (0, 1, 2, 3))
    up, down = torch.randn(2, 4, 5, generator=generator), torch.randn(5, 4, generator=generator)
    yield Case("a single vector", (torch.randn(4, generator=generator), *up, down))


def _gated_in_steps(x: Tensor, W_1: Tensor, V: Tensor, W_2: Tensor) -> Tensor:
    gate, passed = x @ W_1, x @ V
    hidden = F.silu(gate) * passed
    out = hidden @ W_2
    return out


_slip = edits_of(_gated_in_steps)


def _gated_by_einsum(x: Tensor, W_1: Tensor, V: Tensor, W_2: Tensor) -> Tensor:
    gate, passed = (torch.einsum("...d,dh->...h", x, W) for W in (W_1, V))
    return torch.einsum("...h,...h,hd->...d", gate * torch.sigmoid(gate), passed, W_2)


def _gated_in_one_projection(x: Tensor, W_1: Tensor, V: Tensor, W_2: Tensor) -> Tensor:
    gate, passed = (x @ torch.cat([W_1, V], dim=1)).chunk(2, dim=-1)
    return (gate / (1 + torch.exp(-gate)) * passed) @ W_2


EXERCISE = Exercise(
    id="since_2017.swiglu",
    title="A gate",
    statement=(
        "swiglu(x [..., d_model], W_1 [d_model, d_ff], V [d_model, d_ff], W_2 [d_ff, d_model]) -> [..., d_model]: "
        "(SiLU(x W_1) ⊙ x V) W_2, with SiLU(z) = z sigmoid(z); gradients must flow."
    ),
    points=1,
    minutes=7,
    difficulty=1,
    importance=4,
    section="A gate in every token",
    source="Shazeer (2020), equation 6",
    reference=since_2017.swiglu,
    cases=and_turned_around(_swiglu_cases),
    correct=(_gated_in_steps, _gated_by_einsum, _gated_in_one_projection),
    steps=("gate", "value"),
    hints=hints(
        idea=(
            "Multiply two projections of the same x, element by element. One goes through the activation first: it "
            "sets how much of the other passes."
        ),
        shapes=(
            "Both projections are `[..., d_ff]`, and so is their product. The last matrix maps it back to `[..., "
            "d_model]`.",
            ("no_way_back",),
        ),
    ),
    misconceptions=(
        *slips(
            _gated_in_steps,
            gates_exchanged=(
                "Your answer takes the SiLU of x V instead of x W_1. W_1 computes the gate: SiLU(x W_1) ⊙ x V.",
                ("gate, passed =", "passed, gate ="),
            ),
            sigmoid=(
                "Your gate is a sigmoid, as in the older GLU. SiLU multiplies the sigmoid by its own input: z "
                "sigmoid(z).",
                ("F.silu", "torch.sigmoid"),
            ),
            relu=(
                "Your gate is a ReLU, which the paper calls ReGLU. SwiGLU uses SiLU: z sigmoid(z).",
                ("F.silu", "F.relu"),
            ),
            gelu=(
                "Your gate is a GELU, which the paper calls GEGLU. SwiGLU uses SiLU: z sigmoid(z).",
                ("F.silu", "F.gelu"),
            ),
            no_activation=("Your gate has no activation. Take the SiLU of x W_1 before you multiply.", ("F.silu", "")),
            gate_left_out=(
                "Your answer leaves out V, so nothing is gated. Multiply SiLU(x W_1) by x V.",
                (" * passed", ""),
            ),
            added=(
                "Your answer adds the two projections. Multiply them: ⊙ is element by element.",
                (" * passed", " + passed"),
            ),
        ),
        *mistake(
            "Your answer takes the SiLU of both projections. Leave x V as it is.",
            activation_of_both=_slip((" * passed", " * F.silu(passed)"), paired=False),
        ),
        *mistake(
            "Your answer takes the SiLU of the product. Take the SiLU of x W_1 only, then multiply by x V.",
            activation_of_the_product=_slip(("F.silu(gate) * passed", "F.silu(gate * passed)"), paired=False),
        ),
        *mistake(
            "Your answer still has d_ff numbers per token. Multiply by W_2 to return to d_model.",
            no_way_back=_slip(("hidden @ W_2", "hidden")),
        ),
        *mistake(
            "Your answer adds x. The block already adds it: return only the network's output.",
            residual_added=_slip(("return out", "return x + out"), paired=False),
        ),
        no_gradient(_slip(("return out", "return out.detach()")), "x or the matrices"),
    ),
)
