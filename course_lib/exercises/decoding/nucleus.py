"""Lesson 06, decoding.nucleus: Nucleus."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, hints, integer, mistake, slips
from course_lib.exercises.decoding.shared import AFTER_DIE_KATZE, DIVISION, TEN_TOKENS, distributions, divided_wrongly
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import decoding

EDGE = "p reached exactly, or not quite"
"""The part of `nucleus` where the mass may be exactly p, or miss 1 by rounding."""


def _nucleus_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{TEN_TOKENS}, p = 0.75", (AFTER_DIE_KATZE, 0.75))
    for name, probabilities in distributions(generator, 6):
        yield Case(name, (probabilities, _clear_of(probabilities, generator)))
    flat = torch.softmax(0.3 * torch.randn(9, generator=generator), dim=-1)
    yield Case("nearly equal tokens", (flat, _clear_of(flat, generator)))
    sharp = torch.softmax(torch.randn(2, 7, generator=generator), dim=-1) * 0.2
    sharp[0, 4] += 0.8
    sharp[1, 2] += 0.8
    yield Case("one token has more than p", (sharp, 0.6))
    nearly = torch.softmax(torch.randn(2, 6, generator=generator), dim=-1) * (1 - 2**-20)
    yield Case("p = 1, which the sum may miss by rounding", (nearly, 1.0), part=EDGE)
    exact = torch.tensor([0.5, 0.25, 0.125, 0.09375, 0.03125])  # no sum of these is rounded
    exact = torch.stack([exact[torch.randperm(5, generator=generator)] for _ in range(2)])
    yield Case("two tokens sum to p exactly", (exact, 0.75), part=EDGE)


def _clear_of(probabilities: Tensor, generator: Generator) -> float:
    """A mass that no sum of the most probable tokens is near, so that rounding decides nothing."""
    sums = probabilities.sort(dim=-1, descending=True).values.cumsum(dim=-1)
    while True:
        p = integer(generator, 45, 93) / 100
        if float((sums - p).abs().min()) > 0.004:
            return p


def _nucleus_by_masses(probabilities: Tensor, p: float) -> Tensor:
    ordered, positions = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    stay = torch.zeros_like(before, dtype=torch.bool).scatter(-1, positions, before < p)
    kept = probabilities * stay
    restricted = kept / kept.sum(dim=-1, keepdim=True)
    return restricted


_slip, _slips = partial(Edited, _nucleus_by_masses), partial(slips, _nucleus_by_masses)
_STAYS = "before < p"
_RETURN = "return restricted"
_IS_BEST = "ordered == ordered[..., :1]"
_ARGMAX = "torch.arange(ordered.shape[-1]) <= (ordered.cumsum(-1) >= p).int().argmax(dim=-1, keepdim=True)"
_AS_THEY_ARE = "probabilities, torch.arange(probabilities.shape[-1]).expand_as(probabilities)"


def _nucleus_by_loop(probabilities: Tensor, p: float) -> Tensor:
    kept = torch.zeros_like(probabilities).reshape(-1, probabilities.shape[-1])
    for row, out in zip(probabilities.reshape(-1, probabilities.shape[-1]), kept, strict=True):
        total = 0.0
        for token in row.argsort(descending=True).tolist():
            out[token] = row[token]
            total += row[token].item()
            if total >= p:
                break
        out /= out.sum()
    return kept.reshape(probabilities.shape)


def _nucleus_by_counting(probabilities: Tensor, p: float) -> Tensor:
    ordered = probabilities.sort(dim=-1, descending=True).values
    count = (ordered.cumsum(-1) < p).sum(-1, keepdim=True) + 1
    kept = probabilities * (probabilities.argsort(-1, descending=True).argsort(-1) < count)
    return kept / kept.sum(-1, keepdim=True)


EXERCISE = Exercise(
    id="decoding.nucleus",
    title="Nucleus",
    statement=(
        "nucleus(probabilities [..., vocab_size], p) -> [..., vocab_size]: keep the fewest most probable tokens whose "
        "probabilities sum to at least p, divided by their sum; all others are 0."
    ),
    minutes=18,
    difficulty=3,
    importance=4,
    section="The nucleus",
    source="Holtzman et al. (2020)",
    reference=decoding.nucleus,
    cases=and_turned_around(_nucleus_cases),
    parts={CORE: 2, EDGE: 1},
    correct=(_nucleus_by_masses, _nucleus_by_loop, _nucleus_by_counting),
    steps=("before",),
    hints=hints(
        idea=(
            "Sort the tokens, best first. A token belongs to the nucleus if the mass before it is still below p. So "
            "the first token always belongs to it, and the token that reaches p is the last."
        ),
        shapes=(
            "Sorting gives values and positions, both `[..., vocab_size]`. The mass before each token is the "
            "cumulative sum minus the token's own probability. `scatter` puts the values you keep back in the order "
            "of the vocabulary.",
            ("sorted_order", "gathered", "along_the_first_dimension", "not_sorted", "first_in_the_vocabulary"),
        ),
        outline=(
            "Sort each row, largest first, and keep the positions.\n"
            "Compute the mass before each token: the cumulative sum minus the token itself.\n"
            "Set a token to 0 if the mass before it is p or more. If p is 1, keep them all.\n"
            "Divide by the sum of the row, with keepdim.\n"
            "Put the values back at their positions.",
            (
                "stops_below_p",
                "stops_below_p_but_keeps_one",
                "one_too_many",
                "one_too_many_at_p",
                "none_reaches_1",
                "divided_by_p",
            ),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer leaves out the token that takes the sum to p. It belongs to the nucleus: compare p with the "
            "sum *before* each token.",
            stops_below_p=_slip((" - ordered", "")),
            stops_below_p_but_keeps_one=_slip((" - ordered", ""), (_STAYS, f"({_STAYS}) | ({_IS_BEST})")),
        ),
        *mistake(
            "Your answer keeps a token after the sum has reached p. Keep a token only if the sum before it is < p.",
            one_too_many=_slip((_STAYS, "torch.cat([before[..., :1] < p, before[..., :-1] < p], dim=-1)")),
            one_too_many_at_p=_slip((_STAYS, "before <= p")),
        ),
        *mistake(
            "Your answer doesn't start with the most probable token. Sort in descending order first.",
            not_sorted=_slip(("probabilities.sort(dim=-1, descending=True)", _AS_THEY_ARE)),
            least_probable_first=_slip(("descending=True", "descending=False")),
        ),
        *mistake(
            "Your answer puts the probabilities at the wrong positions. Use scatter to put each one back at the "
            "position of its token; gather would reorder them again.",
            sorted_order=_slip((_RETURN, "return restricted.sort(dim=-1, descending=True).values")),
            gathered=_slip((_RETURN, "return restricted.sort(dim=-1, descending=True).values.gather(-1, positions)")),
        ),
        *mistake(
            "Your answer compares each probability with a threshold. Add them up, from the largest down, until the "
            "sum reaches p.",
            threshold=_slip((_STAYS, "ordered >= p")),
            share_of_the_best=_slip((_STAYS, "ordered >= p * ordered[..., :1]")),
        ),
        *_slips(
            none_reaches_1=(
                "Your answer keeps only the best token when p = 1. Keep them all, even if rounding leaves their sum "
                "just below 1. (If no sum reaches p, argmax returns 0.)",
                (_STAYS, _ARGMAX),
            ),
            first_in_the_vocabulary=(
                "Your answer keeps the first tokens of the vocabulary, because your mask is in sorted order. Put it "
                "in the order of the vocabulary with scatter.",
                ("torch.zeros_like(before, dtype=torch.bool).scatter(-1, positions, before < p)", "before < p"),
            ),
            divided_by_p=(
                "Your answer divides by p. The tokens you keep may sum to more than p: divide by their sum.",
                (DIVISION, "kept / p"),
            ),
            one_number_for_all_rows=(
                "Your answer keeps the same number of tokens in every row. Find each row's own nucleus.",
                (_STAYS, "(before.reshape(-1, before.shape[-1])[0] < p).expand_as(before)"),
            ),
        ),
        *divided_wrongly(_nucleus_by_masses),
        *mistake(
            "Your answer sorts and sums along the first dimension, which mixes the texts of a batch. Sort and sum "
            "along the vocabulary, dim=-1.",
            along_the_first_dimension=_slip(
                ("sort(dim=-1", "sort(dim=0"),
                ("cumsum(dim=-1", "cumsum(dim=0"),
                ("scatter(-1", "scatter(0"),
                ("kept.sum(dim=-1", "kept.sum(dim=0"),
            ),
            alone=True,
        ),
    ),
)
