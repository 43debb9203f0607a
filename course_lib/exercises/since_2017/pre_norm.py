"""Lesson 12, since_2017.pre_norm: Pre-norm, and the norm at its end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, and_turned_around, edits_of, hints, kinds, mistake, slips
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Callback, Case, Exercise
from course_lib.judging.recorded.stand_ins import Tanh
from course_lib.references import since_2017
from course_lib.references.since_2017 import Layer


@dataclass(frozen=True)
class _Norm:
    """RMSNorm."""

    gamma: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return self.gamma * x / (x.square().mean(dim=-1, keepdim=True) + 1e-6).sqrt()


def _pre_norm_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
        ones = torch.ones(2)
        yield _pre_norm_case(f"{B.name}, two sublayers", B.q, [turn, 2 * turn], [ones, 2 * ones, ones])
    for kind in kinds(generator):
        tokens, d_model = kind.sizes(2)
        yield _drawn(kind.name, kind, tokens, d_model, 2 if kind.leading else 3)
    yield _drawn("no sublayers at all", Kind("", generator, (2,)), 3, 5, 0)


def _drawn(name: str, kind: Kind, tokens: int, d_model: int, layers: int) -> Case:
    matrices = torch.randn(layers, d_model, d_model, generator=kind.generator, dtype=kind.dtype)
    gains = 1 + 0.5 * torch.rand(layers + 1, d_model, generator=kind.generator, dtype=kind.dtype)
    return _pre_norm_case(name, 2 * kind.normal(tokens, d_model), list(matrices), list(gains))


def _pre_norm_case(name: str, x: Tensor, matrices: list[Tensor], gains: list[Tensor]) -> Case:
    sublayers = [Callback("sublayer", Tanh(matrix)) for matrix in matrices]
    norms = [Callback("norm", _Norm(gain)) for gain in gains]
    return Case(name, (x, sublayers, norms[:-1], norms[-1]))


def _one_after_another(x: Tensor, sublayers: Sequence[Layer], norms: Sequence[Layer], final_norm: Layer) -> Tensor:
    for sublayer, norm in zip(sublayers, norms, strict=False):
        x = x + sublayer(norm(x))
    return final_norm(x)


_slip = edits_of(_one_after_another)
_STEP, _RETURN = "x + sublayer(norm(x))", "return final_norm(x)"


def _by_recursion(x: Tensor, sublayers: Sequence[Layer], norms: Sequence[Layer], final_norm: Layer) -> Tensor:
    if not sublayers:
        return final_norm(x)
    return _by_recursion(x + sublayers[0](norms[0](x)), sublayers[1:], norms[1:], final_norm)


def _as_a_sum(x: Tensor, sublayers: Sequence[Layer], norms: Sequence[Layer], final_norm: Layer) -> Tensor:
    """Everything that was ever added to the stream, added up again at every step."""
    added = [x]
    for sublayer, norm in zip(sublayers, norms, strict=True):
        added.append(sublayer(norm(torch.stack(added).sum(dim=0))))
    return final_norm(torch.stack(added).sum(dim=0))


EXERCISE = Exercise(
    id="since_2017.pre_norm",
    title="Pre-norm, and the norm at its end",
    statement=(
        "pre_norm(x [..., tokens, d_model], sublayers, norms, final_norm) -> [..., tokens, d_model]: x + "
        "sublayer(norm(x)) for each sublayer and its norm, one after the other; then the final norm of the result."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=5,
    section="A free way through",
    source="Xiong et al. (2020), table 1",
    reference=since_2017.pre_norm,
    cases=and_turned_around(_pre_norm_cases),
    correct=(_one_after_another, _by_recursion, _as_a_sum),
    hints=hints(
        idea=(
            "Think of the residual stream as a straight road through the model. Each sublayer reads a normalized copy "
            "of it and adds its output. Normalize the stream itself only at the very end."
        )
    ),
    misconceptions=(
        *slips(
            _one_after_another,
            post_norm=(
                "Your answer normalizes after the sum, as the 2017 paper does. Normalize the sublayer's input: x + "
                "sublayer(norm(x)).",
                (_STEP, "norm(x + sublayer(x))"),
            ),
            stream_normalised=(
                "Your answer adds to the normalized x. Add to x itself: only the sublayer reads norm(x).",
                (_STEP, "norm(x) + sublayer(norm(x))"),
            ),
            norm_after_the_sublayer=(
                "Your answer normalizes the sublayer's output. Normalize its input: x + sublayer(norm(x)).",
                (_STEP, "x + norm(sublayer(x))"),
            ),
            residual_left_out=(
                "Your answer leaves out the residual connection. Add x to the sublayer's output.",
                (_STEP, "sublayer(norm(x))"),
            ),
            norms_left_out=(
                "Your sublayers read x without a norm. Each sublayer has its own norm: sublayer(norm(x)).",
                (_STEP, "x + sublayer(x)"),
            ),
            no_final_norm=(
                "Your answer leaves out the final norm. The stream itself has not been normalized so far: return "
                "final_norm(x).",
                (_RETURN, "return x"),
            ),
            one_norm_for_all=(
                "Your answer uses the first norm for every sublayer. Use norm i with sublayer i.",
                ("norms, strict", "norms[:1] * len(norms), strict"),
            ),
        ),
        *mistake(
            "Your answer applies the final norm after every sublayer. Apply it once, after the last.",
            final_norm_in_every_step=_slip((_STEP, f"final_norm({_STEP})"), (_RETURN, "return x"), paired=False),
        ),
        *mistake(
            "Your sublayers all read the original x. Each reads the result of those before it: update x in every step.",
            in_parallel=_slip(("for ", "start = x\n    for "), ("norm(x))", "norm(start))"), paired=False),
        ),
    ),
)
