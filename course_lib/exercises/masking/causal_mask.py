"""Lesson 02, masking.causal_mask: Causal mask."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import (
    NO_DEVICE_THEN,
    edits_of,
    elsewhere,
    hints,
    integer,
    made_on_the_cpu,
    sizes,
    slips,
)
from course_lib.exercises.masking.shared import Device, wrong_dtypes
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise, Pair


def _causal_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if hidden:
        lengths = (8 + torch.randperm(192, generator=generator)[:4]).tolist()
    else:
        yield Case(f"{B.name}: 4 tokens", (4,))
        lengths = [1, *sizes(generator, 2), integer(generator, 10, 30)]
    for length in lengths:
        yield Case(f"length {length}", (length,))
    yield elsewhere(Case("as long", (lengths[-1],)), CORE)


def _triangle(length: int, device: Device = None) -> Tensor:
    ones = torch.ones(length, length, dtype=torch.bool, device=device)
    mask = ones.tril()
    return mask


_slip = edits_of(_triangle)


def _causal_by_loop(length: int, device: Device = None) -> Tensor:
    return torch.tensor([[key <= query for key in range(length)] for query in range(length)], device=device)


def _causal_by_comparison(length: int) -> Tensor:
    """From before there was a device to ask for."""
    return torch.arange(length).unsqueeze(1) >= torch.arange(length)


EXERCISE = Exercise(
    id="masking.causal_mask",
    title="Causal mask",
    statement=(
        "causal_mask(length, device=None) -> bool [length, length], on that device: True where query i (row) may "
        "attend to key j (column): to itself and everything before it."
    ),
    points=1,
    minutes=4,
    difficulty=1,
    importance=5,
    section="The causal mask",
    source="S2, masked self-attention; S0 and S4, why a model must not look ahead",
    reference=masking.causal_mask,
    cases=_causal_cases,
    formerly=NO_DEVICE_THEN,
    correct=(_triangle, _causal_by_loop, _causal_by_comparison),
    hints=hints(
        idea=(
            "A token may see itself and everything before it. That is the lower triangle of a square, including the "
            "diagonal. `tril` keeps exactly that part of a matrix. Make sure that the dtype is `torch.bool`."
        )
    ),
    misconceptions=(
        *slips(
            _triangle,
            itself_forbidden=(
                "Your mask keeps each token from attending to itself, which leaves the first token with nothing. "
                "Include the diagonal: query i attends to keys 0 to i.",
                ("ones.tril()", "ones.tril(-1)"),
            ),
            one_word_ahead=(
                "Your mask also allows the next token, which is the one to predict. Query i may attend only to keys 0 "
                "to i.",
                ("ones.tril()", "ones.tril(1)"),
            ),
            keys_as_rows=(
                "Your mask is upper-triangular: it allows the future and forbids the past. Its rows are queries, so "
                "allow the lower triangle.",
                ("ones.tril()", "ones.triu()"),
            ),
            inverted=(
                "Your mask is True where attention is forbidden, as in nn.MultiheadAttention. Here, True means `may "
                "attend`: invert the mask with ~.",
                ("ones.tril()", "ones.triu(1)"),
            ),
        ),
        *wrong_dtypes(_triangle),
        made_on_the_cpu(_triangle, "device", paired=True),
        *slips(
            _triangle,
            additive=(
                "Your mask contains 0 and -inf, to be added to scores. Make it boolean: True where a query may attend.",
                ("return mask", "return torch.zeros_like(mask, dtype=torch.float).masked_fill(~mask, -torch.inf)"),
            ),
            first_word_sees_itself=(
                "Your mask keeps every token but the first from attending to itself. Include the whole diagonal: "
                "query i attends to keys 0 to i.",
                ("ones.tril()", "ones.tril(-1)"),
                ("return mask", "mask[0, 0] = True\n    return mask"),
            ),
            two_words=(
                "Your mask lets each token attend only to itself and the one before it. Allow everything before it: "
                "the whole lower triangle.",
                ("ones.tril()", "ones.tril().triu(-1)"),
            ),
            only_itself=(
                "Your mask lets each token attend only to itself. Allow everything before it too: the whole lower "
                "triangle.",
                ("ones.tril()", "ones.tril().triu()"),
            ),
        ),
    ),
    listed_pairs=(
        Pair("keys_as_rows", "one_word_ahead", _slip(("ones.tril()", "ones.triu(-1)"))),
        Pair("inverted", "one_word_ahead", _slip(("ones.tril()", "ones.triu(2)"))),
    ),
    memorisable="Its whole input is one small number: a table needs the masks of all lengths from 8 to 199.",
)
