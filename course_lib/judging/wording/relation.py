"""Relates a wrong value to the right one, if that is obvious: transposed, twice as large, one item short.

Each sentence is a fact about the two values, and true whatever code computed them.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from course_lib.judging.arrays import Array
from course_lib.judging.compare import Difference, Kind, Strictness, wrong_entries
from course_lib.judging.exercise import Case, Value
from course_lib.judging.observation import argument_name

Alike = Callable[[Tensor, Tensor], bool]
"""Returns whether two tensors have the same shape and are as close as a right answer must be."""

_FACTORS = {
    1 / math.log(2): ", which is 1 / ln 2: did you take a logarithm to base 2 instead of the natural one?",
    math.log(2): ", which is ln 2: did you take a natural logarithm instead of one to base 2?",
    1 / math.log(10): ", which is 1 / ln 10: did you take a logarithm to base 10 instead of the natural one?",
}
"""Factors with a special explanation."""

_TELLING = 3
"""This many different numbers are not in the right order by chance."""

_MOST = 4096
"""Larger tensors, in entries, are not related."""


def relation(case: Case, found: Difference, expected: Value, actual: Value, parameters: Sequence[str]) -> str:
    """Return a sentence on how a wrong result relates to the right one; empty if nothing is obvious.

    Args:
        case: the case that was called; nothing is said about a secret one.
        found: where the two differ.
        expected: the right result.
        actual: the answer's result.
        parameters: the names of the answer's parameters.
    """
    if case.secret or found.kind not in (Kind.SHAPE, Kind.VALUE):
        return ""
    for key in found.path:
        expected, actual = expected[key], actual[key]
    if isinstance(expected, Tensor) and isinstance(actual, Tensor):
        if max(expected.numel(), actual.numel()) > _MOST or expected.dtype.is_complex:
            return ""
        return next(_of_tensors(case, expected, actual, parameters), "")
    if type(expected) is type(actual) and isinstance(expected, (list, tuple)):
        return next(_of_sequences(list(expected), list(actual)), "")
    return next(_of_numbers(expected, actual), "")


def _of_tensors(case: Case, expected: Tensor, actual: Tensor, parameters: Sequence[str]) -> Iterator[str]:
    strict = Strictness.of(case)

    def alike(one: Tensor, other: Tensor) -> bool:
        return one.shape == other.shape and not bool(wrong_entries(one, other, strict).any())

    for place, argument in enumerate(case.args):
        if not isinstance(argument, Tensor) or argument.dtype != actual.dtype:
            continue
        right = argument.numel() == expected.numel() and alike(argument.flatten(), expected.flatten())
        if not right and _is_telling(argument) and alike(argument, actual):
            yield f"The result equals {argument_name(place, parameters)}, unchanged."
    if expected.shape != actual.shape:
        yield from _of_shapes(expected, actual, alike)
    elif expected.dtype == torch.bool:
        yield from _of_truths(expected, actual, alike)
    else:
        yield from _not_finite(case, expected, actual)
        yield from _elsewhere(expected, actual, alike)
        yield from _scaled(expected, actual, alike)
        yield from _scaled_by_row(expected, actual, alike)
        yield from _only_some(expected, wrong_entries(expected, actual, strict))


def _is_telling(argument: Tensor) -> bool:
    """Return whether values are too varied to match by chance: several numbers, or over two mixed truth values."""
    if argument.dtype == torch.bool:
        return argument.numel() > _TELLING and bool(argument.any()) and not bool(argument.all())
    return int(argument.unique().numel()) >= _TELLING


def _of_shapes(expected: Tensor, actual: Tensor, alike: Alike) -> Iterator[str]:
    wanted, got = list(expected.shape), list(actual.shape)
    if expected.numel() == actual.numel() and alike(expected.flatten(), actual.flatten()):
        if len(got) > len(wanted) and actual.squeeze().shape == expected.squeeze().shape:
            ways = "a keepdims=True or a reshape" if isinstance(expected, Array) else "a keepdim=True or an unsqueeze"
            yield (
                f"The numbers are right, but there is an extra dimension of size 1: is there {ways} too many, or is an "
                "index [...] missing?"
            )
        elif len(got) < len(wanted) and actual.squeeze().shape == expected.squeeze().shape:
            yield (
                "The numbers are right, but a dimension of size 1 is missing: does an index drop it, or a squeeze() "
                "without a dimension?"
            )
        yield "The numbers are right and in the right order; only the shape is wrong."
    if actual.ndim == expected.ndim:
        yield from _transposed(expected, actual, alike)
        yield from _longer(expected, actual, alike)
    if actual.ndim == expected.ndim + 1 and expected.is_floating_point():
        for dim in range(actual.ndim):
            if actual.shape[:dim] + actual.shape[dim + 1 :] != expected.shape or actual.shape[dim] < 2:
                continue
            if alike(expected, actual.sum(dim)):
                yield f"Summed over dimension {dim}, your answer is right: a sum is missing."
            if alike(expected, actual.mean(dim)):
                yield f"Averaged over dimension {dim}, your answer is right: a mean is missing."
            for place, word in ((0, "first"), (-1, "last")):
                if alike(expected, actual.select(dim, place)):
                    yield f"The right result is the {word} of the {got[dim]} along dimension {dim} of your answer."
    if expected.ndim == actual.ndim + 1 and expected.is_floating_point():
        for dim in range(expected.ndim):
            if expected.shape[:dim] + expected.shape[dim + 1 :] != actual.shape or expected.shape[dim] < 2:
                continue
            for word, joined in (("sum", expected.sum(dim)), ("mean", expected.mean(dim))):
                if alike(joined, actual):
                    yield f"Your answer is the right result's {word} over dimension {dim}: leave out that {word}."
            for place, word in ((0, "first"), (-1, "last")):
                if alike(expected.select(dim, place), actual):
                    yield f"Your answer is only the {word} of the right result's {wanted[dim]} along dimension {dim}."


def _transposed(expected: Tensor, actual: Tensor, alike: Alike) -> Iterator[str]:
    if expected.ndim < 2 or alike(expected, actual):
        return
    dims = range(expected.ndim)
    pairs = sorted(((a, b) for a in dims for b in dims if a < b), reverse=True)
    for first, second in pairs:
        if min(expected.shape[first], expected.shape[second]) > 1 and alike(expected, actual.transpose(first, second)):
            way = f"{'swapaxes' if isinstance(expected, Array) else 'transpose'}({first}, {second})"
            yield f"The numbers are right, but dimensions {first} and {second} are swapped: {way} of yours is right."


def _longer(expected: Tensor, actual: Tensor, alike: Alike) -> Iterator[str]:
    """Find where one of two tensors is a piece of the other along one dimension."""
    other = [d for d in range(expected.ndim) if expected.shape[d] != actual.shape[d]]
    if len(other) != 1 or not min(expected.numel(), actual.numel()):
        return
    (dim,) = other
    wanted, got = expected.shape[dim], actual.shape[dim]
    for start, end, word in ((0, 0, "end"), (1, 1, "beginning")):
        if got > wanted and alike(expected, actual.narrow(dim, (got - wanted) * start, wanted)):
            yield f"Dimension {dim} is too long by {got - wanted}, at the {word}; the rest is right."
        if got < wanted and alike(actual, expected.narrow(dim, (wanted - got) * end, got)):
            yield f"Dimension {dim} is too short by {wanted - got}, at the {word}; the rest is right."


def _of_truths(expected: Tensor, actual: Tensor, alike: Alike) -> Iterator[str]:
    if expected.numel() > 1 and alike(~expected, actual):
        yield "It is exactly inverted: True where it should be False, and False where it should be True."
    yield from _elsewhere(expected, actual, alike)
    if bool(expected.any()) and not bool(actual.any()):
        yield "It is False everywhere."
    if not bool(expected.all()) and bool(actual.all()):
        yield "It is True everywhere."
    wrong = expected != actual
    if bool((expected | ~wrong).all()):
        yield "Where it is wrong, it is False and should be True: too little is let through."
    if bool((~expected | ~wrong).all()):
        yield "Where it is wrong, it is True and should be False: too much is let through."


_NOT_A_NUMBER = (
    "NaN (not a number) usually comes from 0 / 0, from inf - inf, from 0 times inf, or from the root, the logarithm or "
    "a fractional power of a negative number: look for the step in which it first appears."
)


def _not_finite(case: Case, expected: Tensor, actual: Tensor) -> Iterator[str]:
    if not expected.is_floating_point():
        return
    given = [argument for argument in case.args if isinstance(argument, Tensor) and argument.is_floating_point()]
    if bool((actual.isnan() & ~expected.isnan()).any()):
        if any(bool(argument.isnan().any()) for argument in given):
            yield "The input contains NaN. Anything computed from NaN is NaN, even 0 times NaN: use torch.where first."
        yield _NOT_A_NUMBER
    if bool((actual.isinf() & expected.isfinite()).any()) and not any(bool(one.isinf().any()) for one in given):
        yield ("An infinity usually comes from exp of a large number, from a division by 0 or from the logarithm of 0.")


def _elsewhere(expected: Tensor, actual: Tensor, alike: Alike) -> Iterator[str]:
    """Find the right numbers in other positions."""
    if expected.numel() < 3 or bool((expected == expected.flatten()[0]).all()):
        return
    yield from _transposed(expected, actual, alike)
    if expected.unique().numel() < _TELLING:
        return  # two numbers often agree by chance
    for dim in range(expected.ndim):
        if expected.shape[dim] < 2:
            continue
        if alike(expected, actual.flip(dim)):
            yield f"The numbers are right, but in reverse order along dimension {dim}."
        if expected.shape[dim] > 2:
            size = expected.shape[dim] - 1
            first, last = actual.narrow(dim, 0, size), actual.narrow(dim, 1, size)
            if alike(expected.narrow(dim, 1, size), first) or alike(expected.narrow(dim, 0, size), last):
                yield f"The numbers are shifted by one position along dimension {dim}."
    if alike(expected.flatten().sort().values, actual.flatten().sort().values):
        yield "All the right numbers are there, but in the wrong positions."


def _scaled(expected: Tensor, actual: Tensor, alike: Alike) -> Iterator[str]:
    if not bool(expected.any()):
        return
    if not bool(actual.any()):
        yield "Your answer is 0 everywhere."
        return
    if alike(-expected, actual):
        yield "Only the sign is wrong."
    e, a = expected.double(), actual.double()
    if not bool(e.isfinite().all() & a.isfinite().all()):
        return
    largest = e.abs().argmax()
    factor = (a.flatten()[largest] / e.flatten()[largest]).item()
    steps = e.unique().numel()
    if factor > 0 and alike((e * factor).to(expected.dtype), actual):
        story = next((told for number, told in _FACTORS.items() if math.isclose(factor, number, rel_tol=1e-4)), "")
        if story or steps > 2:
            yield f"Each number is {factor:.4g} times what it should be{story or ': is a factor missing or extra?'}"
    offset = (a.flatten()[0] - e.flatten()[0]).item()
    if steps > 2 and alike((e + offset).to(expected.dtype), actual):
        yield f"Each number is {abs(offset):.4g} too {'large' if offset > 0 else 'small'}."


def _scaled_by_row(expected: Tensor, actual: Tensor, alike: Alike) -> Iterator[str]:
    e, a = expected.double(), actual.double()
    if not bool(e.isfinite().all() & a.isfinite().all()):
        return
    if expected.ndim and expected.shape[-1] > 2 and bool((e != 0).all() & (a != 0).all()):
        rows = a / e
        if alike((e * rows[..., :1]).to(expected.dtype), actual):
            yield "Each row is right up to a factor of its own: look at what the rows are divided by."
        if expected.ndim > 1 and expected.shape[-2] > 2 and alike((e * rows[..., :1, :]).to(expected.dtype), actual):
            yield "Each column is right up to a factor of its own: look at what the columns are divided by."


def _only_some(expected: Tensor, wrong: Tensor) -> Iterator[str]:
    """Find wrong numbers that are all in one place, such as the last row."""
    if bool(wrong.all()):
        return
    if expected.numel() > 2 and bool(((expected == 0) == wrong).all()):
        yield "It is wrong exactly where it should be 0."
    for dim in range(expected.ndim):
        size = expected.shape[dim]
        places = [place for place in range(size) if bool(wrong.select(dim, place).any())]
        if len(places) == 1 and size > 2:
            word = {0: "first", size - 1: "last"}.get(places[0])
            if word:
                yield f"Only the {word} of the {size} along dimension {dim} is wrong; look at what is special there."
        if places == list(range(1, size)) and size > 2:
            yield f"Only the first of the {size} along dimension {dim} is right."


def _of_sequences(expected: list[Value], actual: list[Value]) -> Iterator[str]:
    if not all(isinstance(item, (str, int, float, tuple, list)) for item in (*expected, *actual)):
        return
    wanted, got = len(expected), len(actual)
    if got == 0 and wanted:
        yield "It is empty."
    if got > wanted and actual[:wanted] == expected:
        yield f"The first {wanted} are right; {_things(got - wanted)} too many at the end."
    if got > wanted and actual[got - wanted :] == expected:
        yield f"The last {wanted} are right; {_things(got - wanted)} too many at the beginning."
    if 0 < got < wanted and expected[:got] == actual:
        yield f"All {got} are right, but {_things(wanted - got)} missing at the end."
    if 0 < got < wanted and expected[wanted - got :] == actual:
        yield f"All {got} are right, but {_things(wanted - got)} missing at the beginning."
    if got == wanted and got > 1:
        if actual == expected[::-1]:
            yield "All are right, but in reverse order."
        elif sorted(map(repr, actual)) == sorted(map(repr, expected)):
            yield "All are right, but in a different order."


def _things(count: int) -> str:
    return "one is" if count == 1 else f"{count} are"


def _of_numbers(expected: Value, actual: Value) -> Iterator[str]:
    if type(expected) is int and type(actual) is int and abs(expected - actual) == 1 and {expected, actual} != {0, 1}:
        yield f"It is too {'large' if actual > expected else 'small'} by 1."
    if type(expected) is float and type(actual) is float and math.isfinite(actual) and expected:
        if math.isclose(actual, -expected, rel_tol=1e-6):
            yield "Only the sign is wrong."
        for number, told in _FACTORS.items():
            if math.isclose(actual / expected, number, rel_tol=1e-5):
                yield f"It is {number:.4g} times what it should be{told}"
        for factor in (100.0, 0.01):
            if math.isclose(actual / expected, factor, rel_tol=1e-6):
                yield f"It is {factor:g} times what it should be: is it a percentage, or a share from 0 to 1?"
        if math.isclose(actual * expected, 1.0, rel_tol=1e-6):
            yield "It is 1 divided by what it should be."
        if math.isclose(actual + expected, 1.0, rel_tol=1e-6) and 0 <= expected <= 1:
            yield "It is 1 minus what it should be."
    if type(expected) is float and type(actual) is float and math.isnan(actual):
        yield _NOT_A_NUMBER
