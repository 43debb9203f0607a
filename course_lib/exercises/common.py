"""Helpers for all exercises: inputs of every kind, and the names that several of them forbid."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, wraps
from types import ModuleType
from typing import Any

import torch
from torch import Generator, Tensor, nn

from course_lib.judging.edits import Edited
from course_lib.judging.elsewhere import DEVICE
from course_lib.judging.exercise import Case, CaseMaker, Exercise, Hint, Misconception, Value
from course_lib.judging.observation import turned_around

SIZES = (2, 3, 5, 6, 7)
"""Sizes to draw from."""


LITTLE_LEFT = (
    "Your answer fills forbidden scores with a number such as -10 or -20. That isn't low enough: exp(-10) is 0.00005, "
    "so forbidden keys keep a little weight. Fill with -inf or torch.finfo(scaled.dtype).min."
)
"""The message on a fill of -10 or -20, in masking and in the heads."""


def collect(*modules: ModuleType, withheld: tuple[str, ...]) -> tuple[Exercise, ...]:
    """The exercises of a lesson, each the `EXERCISE` of its module, in order; nobody may use what is withheld."""
    return tuple(replace(module.EXERCISE, withheld=withheld) for module in modules)


@dataclass(frozen=True)
class Kind:
    """A kind of input that an answer must handle, and how to draw one.

    Attributes:
        name: as the student reads it.
        generator: where the numbers come from.
        leading: the leading dimensions, such as (batch, heads).
        dtype: of the numbers.
        transposed: lay tensors out transposed in memory: the same numbers, but not contiguous.
        ones: every size is 1, so that a dimension that gets lost shows.
    """

    name: str
    generator: Generator
    leading: tuple[int, ...] = ()
    dtype: torch.dtype = torch.float32
    transposed: bool = False
    ones: bool = False

    def normal(self, *shape: int) -> Tensor:
        """Standard normal numbers, [*leading, *shape]."""
        drawn = torch.randn(*self.leading, *shape, generator=self.generator, dtype=self.dtype)
        return drawn.mT.contiguous().mT if self.transposed and drawn.ndim > 1 else drawn

    def mask(self, queries: int, keys: int) -> Tensor:
        """A random mask, [*leading, queries, keys], in which every row and every column allows something."""
        drawn = torch.rand(*self.leading, queries, keys, generator=self.generator) < 0.4
        row, column = torch.arange(queries).unsqueeze(-1), torch.arange(keys)
        return drawn | (row % keys == column % queries)

    def sizes(self, count: int) -> list[int]:
        """`count` different small sizes; squares in double precision, and no squares otherwise.

        The root of a square is exact in every precision, so a root taken in single precision, as
        `torch.sqrt(torch.tensor(d_head))` does, is just as right there as `math.sqrt(d_head)`. Elsewhere a root
        that is cut down to an integer must show.
        """
        if self.ones:
            return [1] * count
        return _choice(self.generator, (4, 9, 25) if self.dtype == torch.float64 else SIZES, count)

    def d_head(self) -> int:
        """A size unlike any of `sizes`, and a square in double precision only, for the same reason."""
        if self.ones:
            return 1
        return 16 if self.dtype == torch.float64 else integer(self.generator, 10, 15)


def kinds(generator: Generator) -> Iterator[Kind]:
    """One sequence, the smallest batch, batches, double precision, and an unusual layout in memory."""
    few, several = sizes(generator, 2)
    yield Kind("one sequence", generator)
    yield Kind(SMALLEST, generator, (1, 1), ones=True)
    yield Kind("a batch of several heads", generator, (few, 2))
    yield Kind("a batch in double precision", generator, (several,), dtype=torch.float64)
    yield Kind("a batch, transposed in memory", generator, (2,), transposed=True)


def unbatched_kinds(generator: Generator) -> Iterator[Kind]:
    """Like `kinds`, for what has no leading dimensions."""
    yield Kind("one sequence", generator)
    yield Kind("transposed in memory", generator, transposed=True)
    yield Kind(SMALLEST, generator, ones=True)
    yield Kind("double precision", generator, dtype=torch.float64)


SMALLEST = "every size is 1"
"""The case in which a `squeeze()` takes away what should stay."""


def predicted(cases: CaseMaker) -> CaseMaker:
    """These cases of a prediction: no check gives away what was to be predicted."""
    return lambda generator, hidden: (replace(case, secret=True) for case in cases(generator, hidden))


def and_turned_around(cases: CaseMaker) -> CaseMaker:
    """These cases, and the first visible one with other numbers of the same sizes: its own in the opposite order.

    It shows whatever an answer keeps under the sizes of its arguments.
    """

    @wraps(cases)  # the exercise's file is known by it
    def make(generator: Generator, hidden: bool) -> Iterator[Case]:
        made = list(cases(generator, hidden))
        yield from made
        if not hidden:
            yield replace(
                made[0], name=f"{made[0].name}, its numbers in reverse order", args=_turned_around(made[0].args)
            )

    return make


def _turned_around(value: Value) -> Value:
    if isinstance(value, Tensor):
        return turned_around(value) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {name: _turned_around(item) for name, item in value.items()}
    return type(value)(map(_turned_around, value)) if isinstance(value, (list, tuple)) else value


def sizes(generator: Generator, count: int) -> list[int]:
    """`count` different small sizes, so that dividing or summing over the wrong dimension shows."""
    return _choice(generator, SIZES, count)


def integer(generator: Generator, low: int, high: int) -> int:
    """One of low, low + 1, ..., high - 1."""
    return int(torch.randint(low, high, (), generator=generator))


Advice = str | tuple[str, tuple[str, ...]]
"""A hint's text, alone or with the ids of the mistakes that it helps with."""


def hints(*, idea: Advice = "", shapes: Advice = "", outline: Advice = "") -> tuple[Hint, ...]:
    """The hints of these depths."""
    given = {"idea": idea, "shapes": shapes, "outline": outline}
    return tuple(Hint(depth, *((hint,) if isinstance(hint, str) else hint)) for depth, hint in given.items() if hint)


def mistake(message: str, alone: bool = False, **answers: Callable[..., Value]) -> tuple[Misconception, ...]:
    """A mistake, or one that shows in different results: the same message for each, under the answers' names as ids.

    Args:
        message: what the student reads.
        alone: whether that is true only of an answer that makes no other mistake.
        **answers: wrong answers, by their ids.
    """
    return tuple(Misconception(name, message, answer, alone) for name, answer in answers.items())


def slips(
    right: Callable[..., Value], beside: str = "", paired: bool = True, alone: bool = False, **mistakes: tuple[Any, ...]
) -> tuple[Misconception, ...]:
    """Mistakes, most of them edits of one right answer: under each id its message, then the edits, or a wrong answer.

    Args:
        right: one of the exercise's right answers.
        beside: only edits with the same word are tried together.
        paired: whether edits are tried together with others at all.
        alone: whether the messages are true only of an answer that makes no other mistake.
        **mistakes: of each, `(message, (old, new), ...)` or `(message, answer)`.
    """

    def answer(*edits: Any) -> Callable[..., Value]:
        return edits[0] if callable(edits[0]) else Edited(right, *edits, beside=beside, paired=paired)

    return tuple(Misconception(name, message, answer(*edits), alone) for name, (message, *edits) in mistakes.items())


def edits_of(right: Callable[..., Value]) -> Callable[..., Edited]:
    """A function that makes mistakes of a right answer: it takes the edits, and the settings of `Edited`."""
    return partial(Edited, right)


ANOTHER_DEVICE = "another device"
"""The part for answers that make what they make where their input is."""

NO_DEVICE_THEN = {"device": ""}
"""`Exercise.formerly` where functions of an earlier version take no device."""


def elsewhere(case: Case, part: str = ANOTHER_DEVICE) -> Case:
    """The same call with its tensors on another device, or with that device named where its input is only numbers."""
    named = {} if any(isinstance(value, Tensor) for value in case.args) else {"device": str(DEVICE)}
    return replace(case, name=f"{case.name}, on another device", kwargs=named, elsewhere=True, part=part)


def made_on_the_cpu(right: Callable[..., Value], device: str, *, paired: bool = False) -> Misconception:
    """A tensor on the CPU, for an answer that says `device=...` once.

    Args:
        right: one of the exercise's right answers.
        device: what it says there, such as "x.device".
        paired: whether it is tried together with other mistakes: where it has no part of its own.
    """
    message = (
        "Your answer always makes a tensor on the CPU. On a GPU that raises an error, because one operation can't mix "
        f"tensors on two devices. Make it with device={device}."
    )
    return Misconception("on_the_cpu", message, Edited(right, (f", device={device}", ""), paired=paired))


def pooling(pool: Callable[[Tensor, Tensor, Tensor], Tensor]) -> type[nn.Module]:
    """A class like `course_lib.masking.AttentionPooling` whose forward is `pool(x, mask, query)`."""

    class AttentionPooling(nn.Module):
        def __init__(self, d_model: int) -> None:
            super().__init__()
            self.query = nn.Parameter(torch.zeros(d_model))

        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            return pool(x, mask, self.query)

    return AttentionPooling


def _choice(generator: Generator, choice: tuple[int, ...], count: int) -> list[int]:
    return torch.tensor(choice)[torch.randperm(len(choice), generator=generator)[:count]].tolist()
