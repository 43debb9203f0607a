"""A reason is given where it holds, and where it does not another is, or none.

Tests `sizes.py` as well.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Generator, Tensor, nn

from course_lib import exercises
from course_lib.judging.exercise import CORE, Case, Exercise
from tests.course_lib.judging.samples import DOUBLE, SCALE, verdict_on


def masked_sum(x: Tensor, mask: Tensor | None) -> Tensor:
    return (x if mask is None else x * mask).sum(dim=-1)


def _cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    for batch, words, name in ((2, 3, "a batch"), (4, 4, "a square"), (1, 5, "a batch of one")):
        x = torch.randn(batch, words, generator=generator)
        yield Case(name, (x, None), gradients=(0,))
        yield Case(f"{name}, with a mask", (x.double(), torch.rand(batch, words, generator=generator) < 0.6))
        yield Case(f"{name}, in the hundreds", (100 + x, None), part="large numbers")


SUM = replace(
    DOUBLE,
    name="masked_sum",
    statement="masked_sum(x [batch, words], mask bool or None) -> [batch]: the sum of each row where the mask is True.",
    reference=masked_sum,
    cases=_cases,
    misconceptions=(),
    parts={"values": 2, "large numbers": 1},
)

CALLS = itertools.count()


def told(answer: Callable[..., Any], exercise: Exercise = SUM) -> str:
    return verdict_on(answer, exercise).note


def remembers(x: Tensor, mask: Tensor | None, seen: list[Tensor] = []) -> Tensor:  # noqa: B006  the mistake itself
    seen.append(x)
    return masked_sum(x, mask) + len(seen) - 1


AGAIN = "The same call gives a different result the second time"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (remembers, AGAIN),
        (lambda x, mask: masked_sum(x, mask) * (1 if next(CALLS) == 0 else 2), AGAIN),
        (lambda x, mask: masked_sum(x, mask) + torch.rand(()), AGAIN),
        (lambda x, mask: 2 * masked_sum(x, mask), ""),
        (lambda x, mask: 0.5, "Your answer returns the same result for every input."),
        (lambda x, mask: torch.zeros(3), "Your answer returns the same result for every input."),
        (lambda x, mask: None, "Your answer returns nothing. End it with a return"),
        (lambda x, mask: torch.zeros(len(x)), ""),
        (lambda x, mask: x.sum(dim=-1), "Right in all 6 cases without mask (None), wrong in all 3 cases with mask."),
        (
            lambda x, mask: masked_sum(x, mask).clamp(max=50),
            "Wrong in all 3 cases of the part “large numbers”, right in all 6 cases of the other parts.",
        ),
        (
            lambda x, mask: masked_sum(x, mask) if x.shape[0] != x.shape[1] else x.sum(0),
            "Wrong in all 3 cases with as many batches as words",
        ),
        (lambda x, mask: masked_sum(x, mask).squeeze(), "Wrong in all 3 cases in which batch is 1"),
        (lambda x, mask: masked_sum(x, mask).half().to(x.dtype), "The numbers are right to about 3 digits"),
        (lambda x, mask: masked_sum(x, mask) * (1 + 5e-5), "The numbers are right to about 4 digits"),
        (lambda x, mask: masked_sum(x, mask) * 1.5, ""),
        (
            lambda x, mask: masked_sum(x.double() / 3, mask).float().to(x.dtype) * 3,
            "The numbers are right to about 7 digits",
        ),
        (lambda x, mask: "text", "Your answer returns the same result for every input."),
        (
            lambda x, mask: masked_sum(x, mask) + x[0, 0] ** 2,
            "In all 9 cases that fail, every wrong number is too large.",
        ),
        (
            lambda x, mask: masked_sum(x, mask).clamp(max=-3),
            "In all 8 cases that fail, every wrong number is too small.",
        ),
        (
            lambda x, mask: masked_sum(x, mask) + (mask is None and x.shape == (4, 4) and bool((x < 50).all())),
            "Wrong in one case only, “a square”, and right in the 8 others.",
        ),
        (
            lambda x, mask: masked_sum(x, mask) + (mask is not None and len(x) == 1),
            "Wrong in one case only, “a batch of one, with a mask”, and right in the 8 others.",
        ),
        (
            lambda x, mask: masked_sum(x, mask) + (x.shape == (2, 3) and bool((x > 50).any())),
            "Wrong in one case only, “a batch, in the hundreds”, and right in the 8 others.",
        ),
    ],
)
def test_the_first_reason_that_holds_is_given(answer: Callable[..., Any], reason: str) -> None:
    found = told(answer)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda x: 3 * x, "Your answer is the right result plus x."),
        (lambda x: x.clone(), "Your answer is the right result minus x."),
        (lambda x: 5 * x, ""),
    ],
)
def test_an_argument_that_is_too_many_or_too_few_is_named(answer: Callable[[Tensor], Tensor], reason: str) -> None:
    assert told(answer, replace(DOUBLE, misconceptions=())) == reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda start, x: torch.cat([x[:1] + start, x[1:]]), "the first position along dimension -2 is right, and all"),
        (lambda start, x: torch.cat([x[:2] + start, x[2:]]), "the first 2 positions along dimension -2 are right"),
        (lambda start, x: x + start * (torch.arange(x.shape[-1]) < 2), "the first 2 positions along dimension -1 are"),
        (lambda start, x: torch.cat([x[: len(x) // 2] + start, x[len(x) // 2 :]]), "the result is right up to some"),
        (lambda start, x: torch.cat([x[:-1] + start, x[-1:]]), ""),  # one wrong row is no rest
        (lambda start, x: torch.cat([x[:1], x[1:] + start]), ""),
        (lambda start, x: torch.cat([x[:1] + start, x[1:2], x[2:] + start]), ""),
        (lambda start, x: x, ""),
    ],
)
def test_what_is_right_up_to_some_position_is_told(answer: Callable[[int, Tensor], Tensor], reason: str) -> None:
    sizes = ((4, 5), (6, 4), (4, 4))
    exercise = replace(
        DOUBLE,
        statement="start_at(start, x [words, d_model]) -> [words, d_model]",
        reference=lambda start, x: x + start,
        cases=lambda generator, hidden: (Case("any", (5, torch.randn(*size, generator=generator))) for size in sizes),
        misconceptions=(),
        parts={"values": 3},
    )
    assert reason in told(answer, exercise)
    assert ("position" in told(answer, exercise)) is bool(reason)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda step, end: float(step), "Wrong in both cases in which step is larger than end, right in all 3 cases"),
        (lambda step, end: step - 0.5 if step < end else float(end), "Wrong in both cases in which step is smaller"),
        (
            lambda step, end: float(min(step, end)) + (step == 3),
            "Wrong in one case only, “3 of 5”, and right in the 4 others.",
        ),
        (lambda step, end: float(min(step, end)) + (step in (3, 6)), ""),
        (
            lambda step, end: float(min(step, end)) + (end == 3),
            "Wrong in one case only, “6 of 3”, and right in the 4 others.",
        ),
    ],
)
def test_two_numbers_are_compared(answer: Callable[[int, int], float], reason: str) -> None:
    exercise = replace(
        DOUBLE,
        reference=lambda step, end: float(min(step, end)),
        cases=lambda generator, hidden: (
            Case("{} of {}".format(*pair), pair) for pair in ((1, 4), (3, 5), (4, 4), (9, 4), (6, 3))
        ),
        misconceptions=(),
        parts={"values": 3},
    )
    assert told(answer, exercise).startswith(reason)
    assert bool(told(answer, exercise)) == bool(reason)


def test_numbers_of_two_kinds_are_not_compared() -> None:
    exercise = exercises.find("subwords.windowed_bits")

    def stripped(losses: Callable[..., float], ids: list[int], text: str, context: int, stride: int) -> float:
        return float(exercise.reference(losses, ids, text.strip(), context, stride))

    told_of = told(stripped, exercise)
    assert told_of == "Wrong in one case only, “two tokens further each time”, and right in the 7 others."


def test_a_module_that_keeps_something_of_its_calls_is_found() -> None:
    class Scale(nn.Module):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(size))
            self.kept: Tensor | None = None

        def forward(self, x: Tensor) -> Tensor:
            self.kept = x if self.kept is None else self.kept
            return self.kept * self.weight

    assert told(Scale, replace(SCALE, misconceptions=())).startswith("Called again with the same input, the module")


SIZES = ((2, 3), (4, 5), (3, 5), (5, 5), (2, 7), (6, 4), (2, 3))


@pytest.mark.parametrize(
    ("sizes", "key", "reason"),
    [
        (SIZES[:6], lambda x: x.shape[1], "Wrong in both cases in which words is as large as in an earlier one, right"),
        (SIZES, lambda x: x.shape, "Wrong in the one case in which all sizes are those of an earlier one, right in"),
        (SIZES[:5], lambda x: len(x), "Wrong in one case only, “(2, 7)”, and right in the 4 others."),
        (SIZES[:6], lambda x: x, ""),
    ],
)
def test_what_is_kept_under_a_size_is_told_where_only_cases_of_that_size_fail(
    sizes: tuple[tuple[int, int], ...], key: Callable[[Tensor], Any], reason: str
) -> None:
    kept: dict[Any, Tensor] = {}
    cases = [Case(str(size), (torch.rand(size), None)) for size in sizes]
    found = told(
        lambda x, mask: kept.setdefault(key(x), x.sum(dim=-1)),
        replace(SUM, cases=lambda g, h: cases, parts={"values": 3}),
    )
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


def test_no_cache_is_suspected_where_a_part_of_its_own_fails() -> None:
    cases = [Case(str(size), (torch.rand(size), None)) for size in SIZES[:6]]
    large = Case("large numbers", (1e4 + torch.rand(2, 3), None), part="large")
    parted = replace(SUM, cases=lambda g, h: [*cases, large], parts={CORE: 2, "large": 1})
    found = told(lambda x, mask: x.clamp(max=10).sum(dim=-1), parted)
    assert found == "Wrong in one case only, “large numbers”, and right in the 6 others."


def test_nothing_is_said_about_a_prediction() -> None:
    secret = replace(SUM, cases=lambda generator, hidden: (replace(c, secret=True) for c in _cases(generator, hidden)))
    assert told(lambda x, mask: x.sum(dim=-1), secret) == "" == told(lambda x, mask: 0.5, secret)


def test_values_that_nobody_expects_are_no_obstacle() -> None:
    for strange in (
        torch.ones(2, dtype=torch.complex64),
        [object()],
        {"a": [None]},
        torch.ones(1).to(torch.float8_e4m3fn),
    ):
        told(lambda x, mask, strange=strange: strange)
