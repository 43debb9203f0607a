"""Graded tasks: an exercise, its cases, and the mistakes it knows by name.

An exercise is data. It is written once, in `course_lib/exercises/`, and read by the student's
`check`, by the grader, by the certificate, by the docs and by the report.
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
"""Plain data that can cross from a sandbox: None, bool, int, float, str, Tensor, numpy's arrays of numbers, and lists,
tuples and dicts of those. A dict's keys are strings, or tuples of strings (see `is_key`).
Among the arguments of a case there may be a `Callback` or a module (`given.py`) as well. In a `Case` and in what is
observed an array is an `Array` (see `arrays.py`)."""

CaseMaker = Callable[[torch.Generator, bool], Iterable["Case"]]
"""`cases(generator, hidden)`: the visible cases (`hidden=False`) or the hidden ones, drawn from the generator."""

CALLS, ENTRIES = 1000, 10_000
"""How often an answer may call a callback, and with how many entries each time, unless the callback says otherwise."""

_WORDS = 624
"""What makes up the state of torch's generator, in words of 32 bits."""

CORE = "values"
"""The part of an exercise that must be right before any other part earns points."""


def is_key(key: object) -> bool:
    """Return whether a dict of plain data may have this key: a string, or a tuple of strings.

    No numbers: a sender could choose them to all fall on one place of the dict, and make it slow.
    """
    return type(key) is str or (type(key) is tuple and all(type(part) is str for part in key))


class CallRefused(RuntimeError):
    """Raised in an answer that calls a callback too often, or with too much."""


class NotRecorded(BaseException):
    """Raised by a recorded callback (`recorded/`) for a call that was not recorded. The answer is not at fault."""


@dataclass(frozen=True)
class Callback:
    """A function that a case passes *in*: a decoder's step function, say, as an argument of a case or inside one.

    The function itself stays with the checker. An answer in a sandbox calls it over the wire, with plain data both
    ways, so that no gradient flows through it. The answer may pass anything: if the function cannot use it, it must
    raise an exception, and soon.

    Attributes:
        name: as the student reads it, such as "step".
        function: takes and returns values; called again with the same arguments it returns the same.
        most_calls: how often one call of the answer may call it.
        most_entries: how many entries it may be given at a time: of tensors, lists and dicts, and characters.
    """

    name: str
    function: Callable[..., Value]
    most_calls: int = CALLS
    most_entries: int = ENTRIES

    def call(self, number: int, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """Call the function, for the `number`-th time, with values that share nothing with the answer's.

        Raises:
            CallRefused: that is too often, or too much.
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
    """Count the entries of tensors, lists and dicts, and the characters, in a value; at least one."""
    if isinstance(value, Tensor):
        return max(value.numel(), 1)
    if isinstance(value, str):
        return max(len(value), 1)
    if isinstance(value, dict):
        return 1 + sum(entries(key) + entries(item) for key, item in value.items())
    return 1 + sum(map(entries, value)) if isinstance(value, (list, tuple)) else 1


@dataclass(frozen=True, eq=False)
class Case:
    """One call of the answer, with everything that it needs. Two cases are the same only if they are one object.

    A function is called as `answer(*args, **kwargs)`. A class is built as `answer(**construct)`, given
    `weights` as its state dict, put in eval mode (unless `training`), and then called the same way.

    Attributes:
        name: what this case shows, as the student reads it ("worked example A", "a batch of 2 x 3").
        args: positional arguments; a function among them is a `Callback`.
        kwargs: keyword arguments.
        construct: keyword arguments for the constructor; only for classes.
        weights: state dict loaded after construction; only for classes.
        formerly: what names in `construct` were in an earlier version, by their names now: a class written then is
            built with those. Empty for a name in `kwargs` that there was none of: a function written then goes without.
        gradients: positions in `args` whose gradients are compared; for a class, the gradients of all
            its `weights` are compared as well as soon as one position is named or `weight_gradients` is set.
        weight_gradients: compare the gradients of the weights (classes only).
        training: leave a class in training mode, where dropout drops. The draws are the same in every run, but drawing
            in another order gives others: the result must depend on none. Drop everything, or nothing but zeros.
        part: the part of the exercise that this case belongs to (`Exercise.parts`).
        refused: the name of the built-in exception with which this call must end, such as "ValueError"; by default it
            must return.
        secret: say only whether the value was right, not what the right one is: for predictions, which could otherwise
            be read off by trying.
        entrywise: compare every entry of a result with its own size, not with the largest of its tensor: where
            numbers of many magnitudes are side by side and each is computed without cancellation.
        elsewhere: call it with tensors on another device, as far as it can see (`elsewhere.py`): whatever it makes
            itself must be made there.
        again: 0 in a first call; else how often it is made again. Before that, a class is called with other tensors,
            which differ each time.

    Numpy's arrays among the arguments are copied, and kept as `Array`; the answer is given arrays.
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
        """The same call, to be made again: what is right must be right again. A class can keep things in two ways."""
        times = 2 if self.construct or self.weights else 1
        return [replace(self, name=f"{self.name}, called again", again=time) for time in range(1, times + 1)]


def generator_of(seed: int) -> torch.Generator:
    """A generator that depends on every bit of a seed, however many there are; seeds of 32 bits are torch's own.

    `torch.Generator.manual_seed` drops all bits but the low 32, so that somebody could try all seeds. The state of
    the Mersenne Twister (Matsumoto and Nishimura, 1998), 624 words of 32 bits, is filled from a hash of a longer seed.

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
    """A known mistake: a wrong answer, and the sentence that its author should read.

    Two mistakes of an exercise can be made at once where both are edits of one right answer (`Edited`), in different
    places, or settings of one function: then their answers are `partial(function, setting=...)` (see `Exercise.pairs`).

    Attributes:
        id: a short name in snake_case, public from its first release.
        message: one or two sentences to the student: what the answer does, and what to do instead.
        answer: the wrong implementation, called like the exercise's reference.
        alone: the message is true only of an answer that makes no other mistake ("The values are right, but ...").
    """

    id: str
    message: str
    answer: Callable[..., Value]
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Pair:
    """Two known mistakes that students make at once, if they are not settings of one function.

    Attributes:
        first: the id of one of them.
        second: the id of the other.
        answer: the implementation that makes both.
    """

    first: str
    second: str
    answer: Callable[..., Value]


DEPTHS = {"idea": "The idea", "shapes": "What goes in, what comes out", "outline": "Step by step"}
"""How deep a hint goes, with its title: what to think of, the shapes of each step, all the steps in order."""


@dataclass(frozen=True)
class Hint:
    """A push for somebody who is stuck. `code` is in backticks; nothing else in it is marked up.

    Attributes:
        depth: one of `DEPTHS`.
        text: one to three plain sentences; of an outline, the steps, one a line. No code that could be handed in.
        answers: the ids of the misconceptions that it helps with: an answer with one of them is given this hint first.
    """

    depth: str
    text: str
    answers: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its title, in a few words."""
        return DEPTHS[self.depth]

    @property
    def steps(self) -> list[str]:
        """Its text, line by line."""
        return self.text.splitlines()


HIGHEST = 5
"""Of an exercise's difficulty and importance."""


@dataclass(frozen=True, eq=False)
class Exercise:
    """A graded task.

    Attributes:
        id: "module.task", public from its first release.
        name: what the student must define; by default what the reference is called.
        title: a few words for headings and reports.
        statement: one line that says what to write, with shapes.
        points: the most that can be earned; where there are `parts`, by default their sum.
        minutes: how long a typical student needs.
        difficulty: how hard it is, from 1 to 5; 0 where nobody has said.
        importance: how much later lessons, and the field, depend on it, from 1 to 5; 0 where nobody has said.
        section: the heading in the lesson that explains it.
        source: the paper section or slide it comes from.
        reference: the function or class in `course_lib`.
        cases: makes the visible and the hidden cases.
        misconceptions: known wrong answers, most specific first.
        listed_pairs: two of them at once, besides the pairs that follow from their settings.
        correct: answers that are right and honestly different from the reference; they certify the check.
        hints: for a student who is stuck, from the idea to the outline; each depth at most once.
        steps: the reference's variables that are shown beside an answer that fails, in order (see `steps.py`).
        parts: points for each part; the part `values` must be right before any other counts.
        lesson: the folder of its lesson, such as "01_attention"; the catalogue that finds the exercise says which.
        withheld: modules that may not be used for the answer; they are absent in the sandbox.
        forbidden: what the answer has to compute by itself, such as the softmax. The task says so.
        needs: no longer used: no exercise takes from another what it forbids. Grading says so where it is set.
        allowed: no longer used, as `needs`.
        entrywise: what each of its cases says, see `Case.entrywise`.
        formerly: what each of its cases says, see `Case.formerly`.
        memorisable: why a table of some thousand inputs could hold all hidden ones, such as "Its whole input is one
            small number"; empty where none could.
        few_mistakes: why fewer mistakes are known than a certificate asks for; empty where it need not say.
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
        """Its difficulty and importance in words; empty where nobody has said."""
        said = {"difficulty": self.difficulty, "importance": self.importance}
        return " · ".join(f"{name} {rating}/{HIGHEST}" for name, rating in said.items() if rating)

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
        """The function that a case calls of the reference: itself, or its class's `forward`."""
        return self.reference.forward if isinstance(self.reference, type) else self.reference  # type: ignore[attr-defined]

    @cached_property
    def pairs(self) -> tuple[Misconception, ...]:
        """Two mistakes at once: those that are listed, then all whose settings do not conflict."""
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
        """The known mistake, or pair of mistakes, of this id; None where there is none."""
        return next((mistake for mistake in (*self.misconceptions, *self.pairs) if mistake.id == name), None)

    def next_hint(self, mistake: str = "", opened: Container[str] = ()) -> Hint | None:
        """The hint that comes next: one that answers a mistake, else the shallowest; None after the last.

        Args:
            mistake: the id of the mistake, or pair of mistakes, that was named.
            opened: how deep the hints go that have been opened.
        """
        left = [hint for hint in self.hints if hint.depth not in opened]
        named = set(mistake.split("+"))  # of two mistakes at once, both
        return next((hint for hint in left if named & set(hint.answers)), left[0] if left else None)

    def visible_cases(self) -> list[Case]:
        """The cases a student sees, the same for everyone and in every run."""
        return self._made(0, False)

    def hidden_cases(self, seed: int) -> list[Case]:
        """The cases only the grader runs.

        Args:
            seed: chooses their inputs, by all its bits; the grader derives it from the course's secret.
        """
        return self._made(seed, True)

    def _made(self, seed: int, hidden: bool) -> list[Case]:
        cases = self.cases(generator_of(seed), hidden)
        own: dict[str, Any] = {"entrywise": True} if self.entrywise else {}
        own |= {"formerly": self.formerly} if self.formerly else {}
        return [replace(case, **own) for case in cases]


def _both(first: Misconception, second: Misconception, answer: Callable[..., Value]) -> Misconception:
    message = f"It does what two mistakes at once do. First: {first.message} Second: {second.message}"
    return Misconception(f"{first.id}+{second.id}", message, answer)


def _both_settings(first: Misconception, second: Misconception) -> Misconception | None:
    """Both mistakes at once, where they are different settings of one function; None elsewhere."""
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
