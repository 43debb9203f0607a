"""Graded tasks: an exercise, its cases, and its known mistakes.

An exercise is data. It is written once, in `course_lib/exercises/`, and used by the student's `check`, the grader, the
certificate, the docs and the report.
"""

from __future__ import annotations

import hashlib
import inspect
import struct
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from course_lib.judging.arrays import give_arrays, keep_arrays
from course_lib.judging.edits import Edited
from course_lib.judging.ready_made import ReadyMade

Value = Any
"""Plain data that can leave a sandbox: None, bool, int, float, str, Tensor, numpy's arrays of numbers, and lists,
tuples and dicts of those. A dict's keys are strings, or tuples of strings (see `is_key`). The arguments of a case may
also include a `Callback` or a module (`given.py`). In a `Case` and in an observation, an array is an `Array` (see
`arrays.py`)."""

CaseMaker = Callable[[torch.Generator, bool], Iterable["Case"]]
"""`cases(generator, hidden)`: the visible cases (`hidden=False`) or the hidden ones, drawn from the generator."""

CALLS, ENTRIES = 1000, 10_000
"""The most calls of a callback, and the most entries in one call, unless the callback sets its own."""

_WORDS = 624
"""The size of the state of torch's generator, in words of 32 bits."""

CORE = "values"
"""The part of an exercise that must be right before any other part earns points."""


def is_key(key: object) -> bool:
    """Return whether a dict of plain data may have this key: a string, or a tuple of strings.

    Numbers are not allowed: a sender could choose them so that they all collide in the dict, and make it slow.
    """
    return type(key) is str or (type(key) is tuple and all(type(part) is str for part in key))


class CallRefused(RuntimeError):
    """Raised in an answer that calls a callback too often, or with too much data."""


class NotRecorded(BaseException):
    """Raised by a recorded callback (`recorded/`) for a call that was not recorded. The answer is not at fault."""


@dataclass(frozen=True)
class Callback:
    """A function that a case passes *in*, such as a decoder's step function, as an argument or inside one.

    The function itself stays with the checker. An answer in a sandbox calls it remotely, with plain data both ways, so
    no gradient flows through it. The answer may pass anything; if the function cannot use it, it must quickly raise an
    exception.

    Attributes:
        name: the name that the student reads, such as "step".
        function: takes and returns values; the same arguments give the same result.
        most_calls: how often one call of the answer may call it.
        most_entries: the most entries (of tensors, lists and dicts) and characters in one call.
    """

    name: str
    function: Callable[..., Value]
    most_calls: int = CALLS
    most_entries: int = ENTRIES

    def call(self, number: int, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """Call the function for the `number`-th time, with values that share nothing with the answer's.

        Raises:
            CallRefused: this is too often, or too much data.
            Exception: whatever the function raises.
        """
        if number > self.most_calls:
            raise CallRefused(f"{self.name} may be called at most {self.most_calls} times: does a loop never end?")
        if entries([*args, *kwargs.values()]) > self.most_entries:
            raise CallRefused(
                f"{self.name} was given more than {self.most_entries} numbers, items and characters at once"
            )
        with torch.no_grad():
            return keep_arrays(self.function(*give_arrays(tuple(args)), **give_arrays(dict(kwargs))))


def entries(value: Value) -> int:
    """Count the entries of tensors, lists and dicts, and the characters, in a value; an empty value counts as one."""
    if isinstance(value, Tensor):
        return max(value.numel(), 1)
    if isinstance(value, str):
        return max(len(value), 1)
    if isinstance(value, dict):
        return 1 + sum(entries(key) + entries(item) for key, item in value.items())
    return 1 + sum(map(entries, value)) if isinstance(value, (list, tuple)) else 1


@dataclass(frozen=True, eq=False)
class Case:
    """One call of the answer, with everything that it needs. Cases compare by identity.

    A function is called as `answer(*args, **kwargs)`. A class is built as `answer(**construct)`, given
    `weights` as its state dict, put in eval mode (unless `training`), and then called the same way.

    Attributes:
        name: what this case shows, as the student reads it ("worked example A", "a batch of 2 x 3").
        args: positional arguments; a function among them is a `Callback`.
        kwargs: keyword arguments.
        construct: keyword arguments for the constructor; only for classes.
        weights: state dict loaded after construction; only for classes.
        formerly: former names of arguments, by their present names. A class written for an earlier version is built
            with the former names in `construct`; a function written for one is called without those in `kwargs` whose
            former name is empty.
        gradients: positions in `args` whose gradients are compared; for a class, the gradients of all its `weights` are
            compared as well if a position is named or `weight_gradients` is set.
        weight_gradients: whether to compare the gradients of the weights (classes only).
        training: leave a class in training mode, where dropout drops. The draws are the same in every run, but differ
            if the answer draws in another order, so the result must not depend on them: drop everything, or only zeros.
        part: the part of the exercise that this case belongs to (`Exercise.parts`).
        refused: the name of the built-in exception that this call must raise, such as "ValueError"; by default it must
            return.
        secret: say only whether the value was right, not what the right one is: for predictions, which could otherwise
            be found by trying.
        entrywise: scale the tolerance by each entry, not by the largest in its tensor: for results of many magnitudes
            that are each computed without cancellation.
        elsewhere: call the answer with tensors on a simulated other device (`elsewhere.py`), where it must create its
            own tensors, too.
        again: 0 for a first call, else the number of the repetition. Before a repetition, a class is called with other
            tensors, which differ each time.

    Numpy's arrays among the arguments are copied, and kept as `Array`; the answer gets arrays.
    """

    name: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    construct: Mapping[str, Value] = field(default_factory=dict)
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    formerly: Mapping[str, str] = field(default_factory=dict)
    gradients: tuple[int, ...] = ()
    weight_gradients: bool = False
    training: bool = False
    part: str = CORE
    refused: str = ""
    secret: bool = False
    entrywise: bool = False
    elsewhere: bool = False
    again: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "args", keep_arrays(self.args))
        object.__setattr__(self, "kwargs", keep_arrays(self.kwargs))
        object.__setattr__(self, "construct", keep_arrays(self.construct))

    def once_more(self) -> list[Case]:
        """Return repetitions of this call, which must be right again; two for a class, which can cache in two ways."""
        times = 2 if self.construct or self.weights else 1
        return [replace(self, name=f"{self.name}, called again", again=time) for time in range(1, times + 1)]


def generator_of(seed: int) -> torch.Generator:
    """Return a generator that depends on all bits of a seed, even beyond the 32 bits that torch uses.

    `torch.Generator.manual_seed` keeps only the low 32 bits, so somebody could try all seeds. The state of the Mersenne
    Twister (Matsumoto and Nishimura, 1998), 624 words of 32 bits, is filled from a hash of a longer seed.

    Args:
        seed: 0 or more.
    """
    generator = torch.Generator().manual_seed(seed % 2**32)
    if seed >= 2**32:
        words = hashlib.shake_256(b"%d" % seed).digest(4 * _WORDS)
        state = generator.get_state()
        # torch keeps 24 bytes of bookkeeping, then each word in 8 bytes (ATen/CPUGeneratorImpl.cpp)
        state.view(torch.int64)[3 : 3 + _WORDS] = torch.tensor(struct.unpack(f"<{_WORDS}I", words))
        generator.set_state(state)
    return generator


@dataclass(frozen=True, eq=False)
class Misconception:
    """A known mistake: a wrong answer, and a sentence for its author.

    Two mistakes of an exercise can be combined if both are edits of one right answer (`Edited`) in different places, or
    settings of one function, with answers `partial(function, setting=...)` (see `Exercise.pairs`).

    Attributes:
        id: a short name in snake_case, public from its first release.
        message: one or two sentences to the student: what the answer does, and what to do instead.
        answer: the wrong implementation, called like the exercise's reference.
        alone: whether the message is true only if the answer makes no other mistake ("The values are right, but ...").
    """

    id: str
    message: str
    answer: Callable[..., Value]
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Pair:
    """Two known mistakes that students make together, for mistakes that are not settings of one function.

    Attributes:
        first: the id of one mistake.
        second: the id of the other mistake.
        answer: the implementation that makes both.
    """

    first: str
    second: str
    answer: Callable[..., Value]


DEPTHS = {"idea": "The idea", "shapes": "What goes in, what comes out", "outline": "Step by step"}
"""The depths of hints, with their titles: what to think of, the shapes of each step, all the steps in order."""


@dataclass(frozen=True)
class Hint:
    """A push for somebody who is stuck. Text in backticks is code; there is no other markup.

    Attributes:
        depth: one of `DEPTHS`.
        text: one to three plain sentences; for an outline, the steps, one per line. No code that could be handed in.
        answers: the ids of the misconceptions that it helps with: an answer with one of them gets this hint first.
    """

    depth: str
    text: str
    answers: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The hint's title, in a few words."""
        return DEPTHS[self.depth]

    @property
    def steps(self) -> list[str]:
        """The hint's text, line by line."""
        return self.text.splitlines()


HIGHEST = 5
"""The highest difficulty and importance of an exercise."""


@dataclass(frozen=True, eq=False)
class Exercise:
    """A graded task.

    Attributes:
        id: "module.task", public from its first release.
        name: what the student must define; by default the reference's name.
        title: a few words for headings and reports.
        statement: one line that says what to write, with shapes.
        points: the most that can be earned; with `parts`, by default their sum.
        minutes: how long a typical student needs.
        difficulty: how hard it is, from 1 to 5; 0 if not rated.
        importance: how much later lessons, and the field, depend on it, from 1 to 5; 0 if not rated.
        section: the heading in the lesson that explains it.
        source: the paper section or slide that it comes from.
        reference: the function or class in `course_lib`.
        cases: makes the visible and the hidden cases.
        misconceptions: known wrong answers, most specific first.
        listed_pairs: pairs of misconceptions, besides those that follow from edits and settings.
        correct: answers that are right and honestly different from the reference; they certify the check.
        hints: for a student who is stuck, from the idea to the outline; each depth at most once.
        steps: the reference's variables to show beside a failing answer, in order (see `steps.py`).
        parts: the points of each part; the part `values` must be right before any other counts.
        lesson: the folder of its lesson, such as "01_attention"; set by the catalogue that finds the exercise.
        withheld: modules that may not be used for the answer; they are absent in the sandbox.
        forbidden: what the answer must compute by itself, such as the softmax. The task says so.
        needs: no longer used, since no exercise takes from another what it forbids. Grading reports it if it is set.
        allowed: no longer used, like `needs`.
        entrywise: sets `Case.entrywise` for all its cases.
        formerly: sets `Case.formerly` for all its cases.
        memorisable: why a table of a few thousand inputs could hold all hidden ones, such as "Its whole input is one
            small number"; empty if none could.
        few_mistakes: why fewer mistakes are known than a certificate asks for; empty if there are enough.
    """

    id: str
    title: str
    statement: str
    minutes: int
    section: str
    source: str
    reference: Callable[..., Value]
    cases: CaseMaker
    misconceptions: tuple[Misconception, ...]
    correct: tuple[Callable[..., Value], ...]
    name: str = ""
    points: int = 0
    hints: tuple[Hint, ...] = ()
    steps: tuple[str, ...] = ()
    parts: Mapping[str, int] = field(default_factory=dict)
    lesson: str = ""
    withheld: tuple[str, ...] = ()
    forbidden: tuple[ReadyMade, ...] = ()
    needs: tuple[ReadyMade, ...] = ()
    allowed: tuple[str, ...] = ()
    listed_pairs: tuple[Pair, ...] = ()
    entrywise: bool = False
    formerly: Mapping[str, str] = field(default_factory=dict)
    memorisable: str = ""
    few_mistakes: str = ""
    difficulty: int = 0
    importance: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.reference.__name__)
        if not self.parts:
            object.__setattr__(self, "parts", {CORE: self.points})
        elif not self.points:
            object.__setattr__(self, "points", sum(self.parts.values()))
        for points in (self.points, *self.parts.values()):
            if type(points) is not int or points < 1:
                raise ValueError(f"{self.id}: points are whole numbers of at least 1, not {points!r}")
        if CORE not in self.parts or sum(self.parts.values()) != self.points:
            raise ValueError(
                f"{self.id}: parts {dict(self.parts)} must include {CORE!r} and add up to {self.points} points"
            )
        for rating in (self.difficulty, self.importance):
            if type(rating) is not int or not 0 <= rating <= HIGHEST:
                raise ValueError(f"{self.id}: difficulty and importance go from 1 to {HIGHEST}, not {rating!r}")
        depths = [hint.depth for hint in self.hints]
        if depths != [depth for depth in DEPTHS if depth in depths]:
            raise ValueError(f"{self.id}: hints go from {' to '.join(DEPTHS)}, each at most once, not {depths}")
        for hint in self.hints:
            unknown = set(hint.answers) - {mistake.id for mistake in self.misconceptions}
            if unknown or not hint.text.strip():
                raise ValueError(f"{self.id}: the hint {hint.depth!r} is empty or answers unknown {sorted(unknown)}")

    @property
    def rating(self) -> str:
        """The difficulty and importance in words; empty if not rated."""
        ratings = {"difficulty": self.difficulty, "importance": self.importance}
        return " · ".join(f"{name} {rating}/{HIGHEST}" for name, rating in ratings.items() if rating)

    @property
    def is_class(self) -> bool:
        """True if the student writes a class (an `nn.Module`) rather than a function."""
        return isinstance(self.reference, type)

    @property
    def forbidden_names(self) -> tuple[str, ...]:
        """The names that the answer may not use, such as "softmax"."""
        return tuple(name for family in self.forbidden for name in family.names)

    @property
    def parameters(self) -> list[str]:
        """The names of the arguments that a case passes: the function's, or those of the class's `forward`."""
        return [name for name in inspect.signature(self.called).parameters if name != "self"]

    @property
    def called(self) -> Callable[..., Value]:
        """The function that a case calls: the reference, or its class's `forward`."""
        return self.reference.forward if isinstance(self.reference, type) else self.reference  # type: ignore[attr-defined]

    @cached_property
    def pairs(self) -> tuple[Misconception, ...]:
        """Pairs of mistakes: those that are listed, then all that can be combined."""
        known = {mistake.id: mistake for mistake in self.misconceptions}
        listed = [_both(known[pair.first], known[pair.second], pair.answer) for pair in self.listed_pairs]
        settings = (_both_settings(first, second) for first, second in combinations(self.misconceptions, 2))
        alone = [set(one.answer.edits) for one in self.misconceptions if isinstance(one.answer, Edited)]
        made = (pair for pair in settings if pair is not None)
        return (
            *listed,
            *(pair for pair in made if not (isinstance(pair.answer, Edited) and set(pair.answer.edits) in alone)),
        )

    def mistake(self, name: str) -> Misconception | None:
        """Return the known mistake, or pair of mistakes, with this id; None if there is none."""
        return next((mistake for mistake in (*self.misconceptions, *self.pairs) if mistake.id == name), None)

    def next_hint(self, mistake: str = "", opened: Container[str] = ()) -> Hint | None:
        """Return the next hint: one that addresses a mistake, else the shallowest; None after the last.

        Args:
            mistake: the id of the mistake, or pair of mistakes, that was named.
            opened: the depths of the hints opened so far.
        """
        left = [hint for hint in self.hints if hint.depth not in opened]
        named = set(mistake.split("+"))  # of a pair of mistakes, both
        return next((hint for hint in left if named & set(hint.answers)), left[0] if left else None)

    def visible_cases(self) -> list[Case]:
        """Return the cases that a student sees, the same for everyone and in every run."""
        return self._made(0, False)

    def hidden_cases(self, seed: int) -> list[Case]:
        """Return the cases that only the grader runs.

        Args:
            seed: determines the inputs, by all its bits; the grader derives it from the course's secret.
        """
        return self._made(seed, True)

    def _made(self, seed: int, hidden: bool) -> list[Case]:
        cases = self.cases(generator_of(seed), hidden)
        settings: dict[str, Any] = {"entrywise": True} if self.entrywise else {}
        settings |= {"formerly": self.formerly} if self.formerly else {}
        return [replace(case, **settings) for case in cases]


def _both(first: Misconception, second: Misconception, answer: Callable[..., Value]) -> Misconception:
    if first.message == second.message:  # the same slip in two places
        message = first.message
    else:
        message = f"It does what two mistakes at once do. First: {first.message} Second: {second.message}"
    return Misconception(f"{first.id}+{second.id}", message, answer)


def _both_settings(first: Misconception, second: Misconception) -> Misconception | None:
    """Combine two mistakes that are different edits or settings of one function; None for others."""
    one, other = first.answer, second.answer
    if first.alone or second.alone:
        return None
    if isinstance(one, Edited):
        both = one.together_with(other)
        return None if both is None else _both(first, second, both)
    if not isinstance(one, partial) or not isinstance(other, partial):
        return None
    if one.func is not other.func or one.keywords.keys() & other.keywords.keys():
        return None
    return _both(first, second, partial(one.func, **one.keywords, **other.keywords))
