"""A mistake that is an edit of a right answer does what the edit says, and one that does not fit is told, not made."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from course_lib.judging.edits import EditDoesNotFit, Edited
from course_lib.judging.exercise import Case, Misconception
from tests.course_lib.judging.samples import DOUBLE, named


def line(x: Tensor) -> Tensor:
    slope = 2
    shift = 0.0
    return slope * x + shift


class Line(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 2 * x


TRIPLED, SHIFTED = Edited(line, ("slope = 2", "slope = 3")), Edited(line, ("shift = 0.0", "shift = 1.0"))
LINE = replace(
    DOUBLE,
    reference=line,
    parts={"values": 3},
    cases=lambda generator, hidden: [Case(f"{n}", (torch.randn(n, generator=generator),)) for n in (2, 3, 4)],
    misconceptions=(
        Misconception("tripled", "You tripled x.", TRIPLED),
        Misconception("shifted", "You added 1.", SHIFTED),
        Misconception("both", "You tripled and added 1.", Edited(line, *TRIPLED.edits, *SHIFTED.edits)),
        Misconception("halved", "You halved x.", Edited(line, ("slope = 2", "slope = 0.5"))),
        Misconception("alone", "You negated x.", Edited(line, ("return slope", "return -slope"), paired=False)),
        Misconception("apart", "You squared x.", Edited(line, ("* x", "* x * x"), beside="another part")),
    ),
    listed_pairs=(),
)


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        (TRIPLED, 3.0),
        (Edited(line, ("    slope = 2\n    shift = 0.0", "    slope, shift = 1, 4")), 5.0),
        (Edited(line, ("slope = 2", "slope = 2\n    x = torch.square(x + 1)")), 8.0),
        (Edited(line, (" + shift", ""), ("* x", "- x")), 1.0),
        (lambda x: Edited(Line, ("2 * x", "7 * x"))()(x), 7.0),
    ],
)
def test_what_is_made_is_the_right_answer_with_the_change(edited: Callable[[Tensor], Tensor], expected: float) -> None:
    assert edited(torch.ones(1)).item() == expected


def test_what_is_asked_for_its_source_is_the_right_answer_s() -> None:
    assert (TRIPLED.__module__, TRIPLED.__name__) == (line.__module__, "line")


def test_two_at_once_are_two_edits_unless_they_meet_or_are_known_together() -> None:
    assert [pair.id for pair in LINE.pairs] == ["shifted+halved"]
    assert named(lambda x: 0.5 * x + 1, LINE) == "shifted+halved"
    assert named(lambda x: 3 * x + 1, LINE) == "both"
    assert [named(mistake.answer, LINE) for mistake in LINE.misconceptions] == [one.id for one in LINE.misconceptions]


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (("slope = 4", "slope = 3"), "'slope = 4' stands 0 times in line, not once: rewrite the edit"),
        (("slope", "pitch"), "'slope' stands 2 times in line"),
        ((" ", ""), "times in line"),
        (("slope = 2", "slope = 3\n    a = 1\n    b = 2\n    c = 3"), "is longer than 3 lines"),
    ],
)
def test_an_edit_that_does_not_fit_is_told_and_names_nothing(edit: tuple[str, str], told: str) -> None:
    broken = Edited(line, edit)
    with pytest.raises(EditDoesNotFit, match=told):
        broken(torch.ones(1))
    mistakes = (Misconception("broken", "You did it.", broken), *LINE.misconceptions[:2])
    assert named(lambda x: 3 * x + 1, replace(LINE, misconceptions=mistakes)) == "tripled+shifted"
