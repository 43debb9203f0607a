"""The failing case that says most is shown, and what it says is contradicted by none."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch
from torch import Generator, Tensor

from course_lib.judging.exercise import Case
from tests.course_lib.judging.samples import DOUBLE, verdict_on


def _cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    for rows, columns in ((4, 5), (1, 1), (2, 3), (3, 3)):
        yield Case(f"{rows} x {columns}", (torch.randn(rows, columns, generator=generator),))
    yield Case("in the hundreds", (torch.tensor([100.0, 200.0]),), part="huge numbers")


ROWS = replace(DOUBLE, cases=_cases, misconceptions=())


def raises_on_six(x: Tensor) -> Tensor:
    if x.numel() == 6:
        raise ValueError("six")
    return x + 1


@pytest.mark.parametrize(
    ("answer", "shown", "relation"),
    [
        (lambda x: x + 1, "2 x 3", ""),  # a single number says little
        (lambda x: 3 * x, "2 x 3", "Each number is 1.5 times what it should be"),
        (lambda x: 2 * x.flip(-1), "2 x 3", "in reverse order along dimension 1"),
        (lambda x: (3 if x.numel() == 6 else 2) * x, "2 x 3", "Each number is 1.5 times"),
        (lambda x: 3 * x if x.numel() == 6 else x.sin(), "2 x 3", ""),  # the larger ones do not bear it out
        (lambda x: 3 * x if x.numel() > 6 else x.sin(), "3 x 3", ""),  # nor a smaller one
        (lambda x: -2 * x if x.numel() == 6 else 3 * x, "3 x 3", ""),  # most say one thing, one another
        (lambda x: 2 * x if x.numel() > 1 else 0 * x, "1 x 1", "Your answer is 0 everywhere."),
        (lambda x: 2 * x if x.ndim > 1 else x, "in the hundreds", ""),
        (raises_on_six, "3 x 3", ""),
    ],
)
def test_the_most_telling_case_is_shown(answer: Callable[[Tensor], Tensor], shown: str, relation: str) -> None:
    verdict = verdict_on(answer, ROWS)
    assert verdict.shown.case.name == shown
    assert relation in verdict.relation
    assert bool(relation) == bool(verdict.relation)
    for page in (verdict.html(), " ".join(verdict.text().split())):
        assert relation in page
    told = {case["name"]: case["message"] for case in verdict.record()["cases"]}
    assert [name for name, message in told.items() if relation and relation in message] in ([shown], [])
