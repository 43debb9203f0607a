"""Explains a wrong answer that fits no known mistake: a fact about all its cases, in one sentence.

Each sentence is a fact about the answer's results that no case contradicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from course_lib.judging.compare import RELATIVE_TOLERANCE, Kind, Strictness, value_difference, wrong_entries
from course_lib.judging.exercise import CORE, Case, Exercise, Value
from course_lib.judging.observation import Outcome, argument_name
from course_lib.judging.wording.sizes import LEADING, named_sizes

if TYPE_CHECKING:  # the verdict imports this module
    from course_lib.judging.verdict import CaseResult

Results = Sequence["CaseResult"]


def reason(exercise: Exercise, results: Results) -> str:
    """Return the first fact that applies: always the same result, which cases are wrong, by how much, or in what way.

    Args:
        exercise: the exercise.
        results: its visible cases, as far as they were called, and the first one called again.
    """
    once = [result for result in results if not result.case.again]
    modified = any(result.difference is not None and result.difference.kind is Kind.MODIFIED for result in once)
    if not once or modified or any(result.case.secret for result in once):
        return ""  # the verdict has its own words for changed arguments
    try:
        return next(filter(None, _reasons(exercise, once)), "")
    except Exception:  # a defect here must not cost anybody a grade, whatever an answer returns
        return ""


def _reasons(exercise: Exercise, once: Results) -> Iterator[str]:
    failures = [result for result in once if not result.passed]
    yield _constant(once)
    yield _kept(exercise, once)
    yield _where(exercise, once)
    yield _nearly(failures)
    yield _besides(exercise, failures)
    yield _up_to(failures)
    yield _only_in(once, failures)
    yield _to_one_side(failures)


def changes(results: Results) -> str:
    """Describe a first call that gives another result when repeated; empty if it does not."""
    first = results[0]
    for again in results:
        if not again.case.again or not (first.actual.returned and again.actual.returned) or first.case.secret:
            continue
        if _same(first.actual.value, again.actual.value):
            continue
        if again.case.construct:
            return (
                "Called again with the same input, the module gives a different result: it keeps something between "
                "calls, or draws random numbers."
            )
        return (
            "The same call gives a different result the second time: your answer keeps something between calls (a "
            "global, a list or dict as a default argument), or draws random numbers."
        )
    return ""


_CALLS = 3
"""The least number of results to draw conclusions from."""


def _constant(once: Results) -> str:
    values = [result.actual.value for result in once if result.actual.returned]
    expected = [result.expected.value for result in once if result.actual.returned]
    if len(values) < _CALLS or not all(_same(values[0], value) for value in values[1:]):
        return ""
    different = sum(not _same(expected[0], value) for value in expected[1:])
    if different < _EACH:
        return ""
    if values[0] is None:
        return "Your answer returns nothing. End it with a return: otherwise what it computes or prints is lost."
    return "Your answer returns the same result for every input."


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, Tensor) and one.is_floating_point() and one.dtype not in RELATIVE_TOLERANCE:
        return True  # the dtype cannot be compared
    return value_difference(one, other, "the result") is None


def _kept(exercise: Exercise, once: Results) -> str:
    """Find failures in exactly the cases whose size occurred before, since something is cached by size.

    The size is one that the statement names, or all of them together.
    """
    sizes = [named_sizes(exercise, result.case) for result in once]
    failed = [result.case for result in once if not result.passed]
    if len(once) - len(failed) < _CALLS or any(result.outcome in _NOT_JUDGED for result in once):
        return ""
    if CORE in exercise.parts and any(case.part != CORE for case in failed):
        return ""  # what those parts ask for tells more
    for dimension in (*(name for name in sizes[0] if name != LEADING), ""):
        keys = [found.get(dimension) if dimension else tuple(sorted(found.items())) for found in sizes]
        before = [key in keys[:number] for number, key in enumerate(keys)]
        if failed and before == [not result.passed for result in once] and (len(failed) >= _EACH or not dimension):
            alike = f"{dimension} is as large as" if dimension else "all sizes are those"
            return (
                f"Wrong in {_cases(failed)} in which {alike} {'in' if dimension else 'of'} an earlier one, right in "
                "all others: does your answer cache something from an earlier call by its size?"
            )
    return ""


def _where(exercise: Exercise, once: Results) -> str:
    """Find a feature that all failing cases have, and no passing one."""
    failed, passed = ([result.case for result in once if result.passed is right] for right in (False, True))
    if len(passed) < _EACH or not failed or any(result.outcome in _NOT_JUDGED for result in once):
        return ""
    traits = [dict(_traits(exercise, case)) for case in (*failed, *passed)]
    for trait in traits[0]:
        held = [found.get(trait) for found in traits]
        if None in held:
            continue
        if len(failed) >= _EACH and all(held[: len(failed)]) and not any(held[len(failed) :]):
            return f"Wrong in {_cases(failed)} {trait[0]}, right in {_cases(passed)} {trait[1]}."
        if not any(held[: len(failed)]) and all(held[len(failed) :]):
            return f"Right in {_cases(passed)} {trait[0]}, wrong in {_cases(failed)} {trait[1]}."
    return ""


def _cases(cases: Sequence[Case]) -> str:
    return {1: "the one case", 2: "both cases"}.get(len(cases), f"all {len(cases)} cases")


_EACH = 2
"""The least number of cases that must share a feature: a single one may be large, square or transposed by chance."""

_NOT_JUDGED = (Outcome.NOT_ATTEMPTED, Outcome.UNGRADED)

Trait = tuple[str, str]
"""The wording for cases that have a feature, and for those that do not."""


def _traits(exercise: Exercise, case: Case) -> Iterator[tuple[Trait, bool]]:
    """Yield the features that may tell cases apart, the plainest first, with whether the case has them."""
    for part in exercise.parts:
        if part != CORE:
            yield (f"of the part “{part}”", "of the other parts"), case.part == part
    given = [(argument_name(n, exercise.parameters), value) for n, value in enumerate(case.args)]
    for name, value in (*given, *case.kwargs.items()):
        yield (f"without {name} (None)", f"with {name}"), value is None
        if type(value) is bool:
            yield (f"in which {name} is True", f"in which {name} is False"), value
        elif type(value) in (int, float):
            yield (f"in which {name} is 0", f"in which {name} is not"), value == 0
            yield (f"in which {name} is 1", f"in which {name} is not"), value == 1
        elif isinstance(value, (list, str)):
            yield (f"in which {name} is empty", f"in which {name} is not"), not value
        elif isinstance(value, Tensor) and value.dtype == torch.bool and value.ndim:
            yield (f"in which {name} is True everywhere", f"in which {name} is not"), bool(value.all())
            yield (f"in which a row of {name} is all False", "without such a row"), not bool(value.any(-1).all())
    numbers = [(name, value) for name, value in (*given, *case.kwargs.items()) if type(value) in (int, float)]
    for (one, left), (other, right) in combinations(numbers, 2):
        if type(left) is not type(right):
            continue  # comparing a loss with a count, say, is meaningless
        yield (f"in which {one} is smaller than {other}", f"in which {one} is not"), left < right
        yield (f"in which {one} is larger than {other}", f"in which {one} is not"), left > right
    sizes = named_sizes(exercise, case)
    leading = sizes.pop(LEADING, None)
    if leading is not None:
        yield ("without leading dimensions (batch, heads)", "with leading dimensions"), leading == 0
        yield ("with several leading dimensions", "with one or none"), leading > 1
    for one, other in combinations(sizes, 2):
        yield (
            (f"with as many {_plural(one)} as {_plural(other)}", f"with a different number of {_plural(one)}"),
            sizes[one] == sizes[other],
        )
    for dimension, size in sizes.items():
        yield (f"in which {dimension} is 1", f"in which {dimension} is larger"), size == 1
    tensors = [value for value in (*case.args, *case.weights.values()) if isinstance(value, Tensor)]
    floats = [tensor for tensor in tensors if tensor.is_floating_point()]
    yield ("in double precision", "in single precision"), any(tensor.dtype == torch.float64 for tensor in floats)
    yield ("transposed in memory", "that are not transposed"), any(not tensor.is_contiguous() for tensor in tensors)
    yield ("in training", "in evaluation"), case.training


def _plural(dimension: str) -> str:
    if dimension.endswith("s") or "_" in dimension:
        return dimension
    return f"{dimension}es" if dimension.endswith("ch") else f"{dimension}s"


def _nearly(failures: Results) -> str:
    """Find failures that all have the right shape and the right first digits."""
    if not failures:
        return ""
    digits = [_digits(result) for result in failures]
    least = min(digits)
    if not (2 if len(failures) >= _EACH else _OF_ONE) <= least <= _MOST_DIGITS:
        return ""
    if least >= _SINGLE and all(getattr(result.expected.value, "dtype", None) == torch.float64 for result in failures):
        return (
            f"The numbers are right to about {least} digits: is something computed in single precision although the "
            "inputs are in double, or is a small number left where there should be 0?"
        )
    return (
        f"The numbers are right to about {least} digits: is something rounded, truncated or in half precision, or is a "
        "small number such as an epsilon missing, extra or in the wrong place?"
    )


_OF_ONE, _SINGLE, _MOST_DIGITS = 4, 6, 9


def _digits(result: CaseResult) -> int:
    """Return to how many digits the largest numbers of a wrong result are right; 0 if it is wrong in another way."""
    expected, actual = result.expected.value, result.actual.value
    if result.difference is None or result.difference.kind is not Kind.VALUE or type(expected) is not type(actual):
        return 0
    if isinstance(expected, float):
        expected, actual = torch.tensor(expected, dtype=torch.float64), torch.tensor(actual, dtype=torch.float64)
    if not isinstance(expected, Tensor) or not expected.is_floating_point() or not expected.numel():
        return 0
    error, largest = (actual.double() - expected.double()).abs().max().item(), expected.abs().max().item()
    return math.floor(-math.log10(error / largest)) if 0 < error < largest < math.inf else 0


def _besides(exercise: Exercise, failures: Results) -> str:
    """Find failures that are all the right result plus or minus an argument."""
    if len(failures) < _EACH:
        return ""
    places: set[tuple[int, int]] = set(_added(failures[0]))
    for result in failures[1:]:
        places &= set(_added(result))
    if not places:
        return ""
    place, sign = min(places)
    name = argument_name(place, exercise.parameters)
    return f"Your answer is the right result {'plus' if sign > 0 else 'minus'} {name}."


def _added(result: CaseResult) -> Iterator[tuple[int, int]]:
    """Yield the positions of arguments that explain the difference, each with a sign."""
    expected, actual = result.expected.value, result.actual.value
    if result.difference is None or result.difference.kind is not Kind.VALUE or not isinstance(expected, Tensor):
        return
    for place, argument in enumerate(result.case.args):
        if isinstance(argument, Tensor) and argument.shape == expected.shape and argument.dtype == expected.dtype:
            for sign in (1, -1):
                if bool(argument.any()) and _same(expected + sign * argument, actual):
                    yield place, sign


def _to_one_side(failures: Results) -> str:
    """Find wrong numbers that are all too large, or all too small."""
    sides = [side for result in failures for side in _sides(result.expected.value, result.actual.value, result)]
    if len(failures) < _EACH or len(sides) < _CALLS or sides[0] is None or len(set(sides)) > 1:
        return ""
    return f"In {_cases([result.case for result in failures])} that fail, every wrong number is {sides[0]}."


def _sides(expected: Value, actual: Value, result: CaseResult) -> Iterator[str | None]:
    """Yield the side of every wrong number in a value; None if it is neither too large nor too small."""
    if result.difference is None or result.difference.kind is not Kind.VALUE:
        yield None
    elif isinstance(expected, Tensor) and (expected.is_floating_point() or expected.dtype == torch.bool):
        wrong = wrong_entries(expected, actual, Strictness.of(result.case))
        pairs = zip(expected[wrong].tolist(), actual[wrong].tolist(), strict=True)
        yield from (_side(one, other) for one, other in pairs)
    elif isinstance(expected, (bool, int, float)):
        yield from [] if _same(expected, actual) else [_side(expected, actual)]
    elif isinstance(expected, tuple):
        for one, other in zip(expected, actual, strict=True):
            yield from _sides(one, other, result)
    else:
        yield None


def _side(expected: float, actual: float) -> str | None:
    if isinstance(expected, bool):
        return "True instead of False" if actual else "False instead of True"
    return "too large" if actual > expected else "too small" if actual < expected else None


def _up_to(failures: Results) -> str:
    """Find failures that are all right up to some position along one dimension, and wrong from there on."""
    found = [dict(_rights(result)) for result in failures]
    for dimension in found[0] if found else ():
        rights = {one.get(dimension, 0) for one in found}
        if not all(rights) or (len(failures) < _EACH and max(rights) < _EACH):
            continue
        where = f"In {_cases([result.case for result in failures])} that {'fail' if failures[1:] else 'fails'}"
        if len(rights) > 1:
            return f"{where}, the result is right up to some position{dimension}, and wrong after that."
        right = f"first {max(rights)} positions{dimension} are" if max(rights) > 1 else f"first position{dimension} is"
        return f"{where}, the {right} right, and all later ones are wrong."
    return ""


def _only_in(once: Results, failures: Results) -> str:
    """Name the cases that fail, if nearly all are right."""
    right = len(once) - len(failures)
    if not 1 <= len(failures) <= right // _EACH or len(failures) > _EACH:
        return ""
    if any(result.outcome in _NOT_JUDGED for result in once):
        return ""
    names = " and ".join(f"“{result.case.name}”" for result in failures)
    count = "one case" if len(failures) == 1 else "two cases"
    return f"Wrong in {count} only, {names}, and right in the {right} others."


def _rights(result: CaseResult) -> Iterator[tuple[str, int]]:
    """Yield the number of right positions at the start of each dimension whose rest, two or more, is all wrong."""
    expected, actual = result.expected.value, result.actual.value
    if result.difference is None or result.difference.kind is not Kind.VALUE:
        return
    wrong: dict[str, list[bool]] = {}
    if isinstance(expected, Tensor):
        entries = wrong_entries(expected, actual, Strictness.of(result.case))
        dimensions = range(-1, -1 - expected.ndim, -1)
        for one in dimensions:
            others = [other for other in dimensions if other != one]
            wrong[f" along dimension {one}"] = (entries.any(dim=others) if others else entries).tolist()
    elif isinstance(expected, list) and all(isinstance(item, (str, int)) for item in expected):
        wrong[""] = [item != other for item, other in zip(expected, actual, strict=True)]
    for dimension, places in wrong.items():
        right = places.index(True) if any(places) else 0
        if right and len(places) - right >= _EACH and all(places[right:]):
            yield dimension, right
