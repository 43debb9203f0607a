"""Primer, primer.critic: A critic of two layers."""

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.common import SMALLEST, edits_of, hints, sizes, slips
from course_lib.judging.exercise import Case, Exercise, Misconception
from course_lib.references import primer


def _weights(generator: Generator, vocab_size: int, d_hidden: int, classes: int) -> dict[str, Tensor]:
    shapes = {
        "hidden.weight": (d_hidden, vocab_size),
        "hidden.bias": (d_hidden,),
        "output.weight": (classes, d_hidden),
        "output.bias": (classes,),
    }
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def _critic_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: the cat danced, the cat slept",
            (torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]),),
            construct={"vocab_size": 3, "d_hidden": 2, "classes": 2},
            weights={
                "hidden.weight": torch.tensor([[0.5, 2.0, -1.0], [0.5, -2.0, 1.0]]),
                "hidden.bias": torch.tensor([0.0, 0.25]),
                "output.weight": torch.tensor([[-1.0, 1.0], [1.0, -1.0]]),
                "output.bias": torch.tensor([0.5, 0.0]),
            },
            weight_gradients=True,
        )
    for name, dtype in (("several sentences", torch.float32), ("double precision", torch.float64)):
        sentences, vocab_size, d_hidden, classes = sizes(generator, 4)
        weights = _weights(generator, vocab_size, d_hidden + 3, classes)
        yield Case(
            name,
            (torch.randn(sentences, vocab_size, generator=generator, dtype=dtype),),
            construct={"vocab_size": vocab_size, "d_hidden": d_hidden + 3, "classes": classes},
            weights={name: weight.to(dtype) for name, weight in weights.items()},
            weight_gradients=True,
        )
    yield Case(
        SMALLEST,
        (torch.ones(1, 1),),
        construct={"vocab_size": 1, "d_hidden": 1, "classes": 1},
        weights={name: weight.abs() for name, weight in _weights(generator, 1, 1, 1).items()},
        weight_gradients=True,
    )


class _LayerByLayer(nn.Module):
    def __init__(self, vocab_size: int, d_hidden: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(vocab_size, d_hidden)
        self.output = nn.Linear(d_hidden, classes)

    def forward(self, bags: Tensor) -> Tensor:
        first = self.hidden(bags)
        bent = torch.relu(first)
        logits: Tensor = self.output(bent)
        return logits


_slip = edits_of(_LayerByLayer)
_RELU = "torch.relu(first)"


def _critic(forward: Callable[[nn.Linear, nn.Linear, Tensor], Tensor]) -> type[nn.Module]:
    class Critic(_LayerByLayer):
        def forward(self, bags: Tensor) -> Tensor:
            return forward(self.hidden, self.output, bags)

    return Critic


EXERCISE = Exercise(
    id="primer.critic",
    title="A critic of two layers",
    statement=(
        "class Critic(nn.Module): __init__(vocab_size, d_hidden, classes) makes the linear layers `hidden` and "
        "`output`; forward(bags [sentences, vocab_size]) -> [sentences, classes]: output(relu(hidden(bags)))."
    ),
    points=2,
    minutes=6,
    difficulty=2,
    importance=5,
    section="A model is an nn.Module",
    source="PyTorch's documentation, torch.nn.Module",
    reference=primer.Critic,
    cases=_critic_cases,
    correct=(
        _LayerByLayer,
        _critic(lambda hidden, output, bags: output(hidden(bags).clamp(min=0))),
        _critic(
            lambda hidden, output, bags: (
                torch.where((first := bags @ hidden.weight.T + hidden.bias) > 0, first, 0.0) @ output.weight.T
                + output.bias
            )
        ),
    ),
    steps=("hidden",),
    hints=hints(
        idea=(
            "Call layers like functions. Pass the bags through the first layer, then a ReLU, then the second layer. "
            "Write `self.` before the names of the layers."
        ),
        shapes=(
            "The first layer turns `[sentences, vocab_size]` into `[sentences, d_hidden]`. The ReLU keeps that shape, "
            "and the second layer gives `[sentences, classes]`.",
            ("hidden_layer_only", "largest_class"),
        ),
    ),
    misconceptions=(
        *slips(
            _LayerByLayer,
            relu_left_out=(
                "Your answer has no ReLU between the layers. Add a ReLU: without it, two linear layers can do no more "
                "than one.",
                (_RELU, "first"),
            ),
            relu_at_the_end=(
                "Your answer applies the ReLU after the second layer, so no logit can be negative. Put the ReLU "
                "between the two layers.",
                (_RELU, "first"),
                ("return logits", "return torch.relu(logits)"),
            ),
            relu_twice=(
                "Your answer applies a second ReLU after the last layer, so no logit can be negative. Keep only the "
                "ReLU between the layers.",
                ("return logits", "return torch.relu(logits)"),
            ),
        ),
        *(
            Misconception(name, f"Your answer has {what} between the layers. Use a ReLU: torch.relu.", _slip(edit))
            for name, what, edit in (
                ("sigmoid", "a sigmoid", (_RELU, "torch.sigmoid(first)")),
                ("tanh", "a tanh", (_RELU, "torch.tanh(first)")),
                ("gelu", "a GELU", (_RELU, "nn.functional.gelu(first)")),
            )
        ),
        *slips(
            _LayerByLayer,
            softmax_at_the_end=(
                "Your answer ends in a softmax. Return the logits: the cross-entropy applies the softmax itself.",
                ("return logits", "return logits.softmax(dim=-1)"),
            ),
            largest_class=(
                "Your answer is the index of the largest logit. Return all logits: no gradient passes through an "
                "argmax.",
                ("return logits", "return logits.argmax(dim=-1)"),
            ),
            hidden_layer_only=(
                "Your answer stops after the ReLU. Pass the result through the second layer, self.output.",
                ("self.output(bent)", "bent"),
            ),
            absolute_values=(
                "Your answer takes absolute values between the layers. Use a ReLU, which sets negative numbers to 0.",
                (_RELU, "first.abs()"),
            ),
            detached=(
                "No gradient reaches the first layer, so it never learns. Look for .detach(), .data, no_grad or "
                "torch.tensor(...).",
                ("self.output(bent)", "self.output(bent.detach())"),
            ),
        ),
    ),
)
