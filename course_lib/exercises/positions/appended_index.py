"""Lesson 03, positions.appended_index: A number for each position."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import positions
from course_lib.exercises.common import (
    ANOTHER_DEVICE,
    and_turned_around,
    edits_of,
    elsewhere,
    hints,
    integer,
    kinds,
    made_on_the_cpu,
    mistake,
)
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import CORE, Case, Exercise


def _appended_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: the, cat, danced", (A.k,))
    for kind in kinds(generator):
        (tokens,) = kind.sizes(1)
        yield Case(kind.name, (kind.normal(tokens, kind.d_head()),), gradients=() if kind.leading else (0,))
    tokens = integer(generator, 260, 300)
    yield Case(f"a long text of {tokens} tokens", (torch.randn(tokens, 1, generator=generator),))
    yield elsewhere(Case("a batch", (torch.randn(2, 5, 3, generator=generator),)))


def _numbered(x: Tensor) -> Tensor:
    positions = torch.arange(x.shape[-2], device=x.device)
    column = positions.to(x.dtype).unsqueeze(-1).expand(*x.shape[:-1], 1)
    joined = torch.cat([x, column], dim=-1)
    return joined


_slip = edits_of(_numbered)
_PLACES = "torch.arange(x.shape[-2], device=x.device)"


def _appended_by_loop(x: Tensor) -> Tensor:
    tokens = [F.pad(token, (0, 1), value=position) for position, token in enumerate(x.unbind(dim=-2))]
    return torch.stack(tokens, dim=-2)


EXERCISE = Exercise(
    id="positions.appended_index",
    title="A number for each position",
    statement=(
        "appended_index(x [..., tokens, d_model]) -> [..., tokens, d_model + 1]: each token's vector with its "
        "position, counting from 0, appended as one more number; with the dtype and device of x."
    ),
    minutes=8,
    difficulty=1,
    importance=2,
    section="The easiest idea",
    source="S4, the easiest way to encode a position",
    reference=positions.appended_index,
    cases=and_turned_around(_appended_cases),
    parts={CORE: 1, ANOTHER_DEVICE: 1},
    correct=(
        _numbered,
        _appended_by_loop,
        lambda x: torch.cat([x, torch.ones_like(x[..., :1]).cumsum(dim=-2) - 1], dim=-1),
    ),
    hints=hints(
        idea=(
            "`torch.cat` along the last dimension requires all other dimensions to be equal. So make the index a "
            "column, and repeat it for every sentence of a batch."
        ),
        shapes=(
            "As a column, the index is `[tokens, 1]`. Use `expand` to give it the leading dimensions of `x`, with a 1 "
            "at the end. Joining `[..., tokens, d_model]` and `[..., tokens, 1]` gives `[..., tokens, d_model + 1]`.",
            ("always_single", "small_integers", "length_appended"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer counts positions from 1. Start at 0.", counted_from_one=_slip((_PLACES, f"{_PLACES} + 1"))
        ),
        *mistake(
            "Your answer puts the position in front of each vector. Append it at the end: torch.cat([x, index], "
            "dim=-1).",
            in_front=_slip(("[x, column]", "[column, x]")),
        ),
        *mistake(
            "Your answer adds the position to every component. Append it as one more component: [..., tokens, d_model "
            "+ 1].",
            added=_slip(("torch.cat([x, column], dim=-1)", "x + column")),
        ),
        *mistake(
            "Your answer scales the positions so that the last one is 1. Then the size of a step depends on the "
            "length of the sentence. Use the positions themselves: 0, 1, 2, ...",
            shrunk_to_one=_slip(("positions.to(x.dtype)", "(positions.to(x.dtype) / max(1, x.shape[-2] - 1))")),
        ),
        *mistake(
            "Your answer divides the positions by the number of tokens. Then the size of a step depends on the length "
            "of the sentence. Use the positions themselves: 0, 1, 2, ...",
            divided_by_length=_slip(("positions.to(x.dtype)", "(positions.to(x.dtype) / x.shape[-2])")),
        ),
        *mistake(
            "Your answer counts the sentences of a batch: x.shape[0]. Count the tokens instead: x.shape[-2].",
            sentences_counted=lambda x: torch.cat(
                [x, torch.arange(x.shape[0]).view(-1, *[1] * (x.ndim - 1)).to(x.dtype).expand(*x.shape[:-1], 1)], -1
            ),
        ),
        *mistake(
            "Your answer appends the length of the sentence to every token. Append each token's own position: 0, 1, "
            "2, ...",
            length_appended=_slip((_PLACES, "torch.full((x.shape[-2],), x.shape[-2])")),
        ),
        *mistake(
            "Your answer counts from the end of the sentence. Give the first token position 0.",
            backwards=_slip((_PLACES, f"{_PLACES}.flip(0)")),
        ),
        *mistake(
            "Your answer is always float32. Give the positions the dtype of x: torch.arange(tokens, dtype=x.dtype).",
            always_single=_slip(("return joined", "return joined.float()")),
        ),
        *mistake(
            "Your positions are 8-bit integers (int8 or uint8), which overflow in a long text. Use the dtype of x, or "
            "torch.arange's default.",
            small_integers=_slip((_PLACES, f"{_PLACES}.to(torch.int8)"), paired=False),
        ),
        made_on_the_cpu(_numbered, "x.device"),
        *mistake(
            "Your answer overwrites the last component of each vector. Append the position as one more component: "
            "[..., tokens, d_model + 1].",
            last_component_overwritten=_slip(("[x, column]", "[x[..., :-1], column]"), paired=False),
        ),
        *mistake(
            "Your answer keeps counting from one sentence of the batch to the next. Start each sentence at position 0.",
            counted_through_the_batch=lambda x: torch.cat(
                [x, torch.arange(x[..., 0].numel()).view(*x.shape[:-1], 1).to(x.dtype)], dim=-1
            ),
        ),
    ),
)
