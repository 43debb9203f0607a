"""Compares a result with the expected one, and says where they first differ.

Type, device, dtype and shape must match exactly; then values are compared, under a tolerance that follows from the
dtype.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from course_lib.judging.arrays import Array
from course_lib.judging.elsewhere import tensors_in
from course_lib.judging.exercise import Case, Value
from course_lib.judging.observation import Foreign, Observation, argument_name, gradient_names, with_article

RELATIVE_TOLERANCE = {
    torch.float64: 1e-9,
    torch.float32: 2e-5,
    torch.float16: 4e-3,
    torch.bfloat16: 2e-2,
}
"""The largest error allowed, as a share of the largest expected magnitude in the same tensor.

Wide enough for another order of summation, for einsum or for float64 intermediates; far below any wrong formula. It is
relative, so that a wrong tensor does not pass just because it is small.
"""


Key = int | str | tuple[str, ...]
"""A place inside a list, a tuple or a dict."""


class Kind(StrEnum):
    """Kinds of difference, in the order in which they are checked."""

    TYPE = "type"
    DEVICE = "device"
    DTYPE = "dtype"
    SHAPE = "shape"
    VALUE = "value"
    GRADIENT = "gradient"
    ENDING = "ending"
    MODIFIED = "modified"


@dataclass(frozen=True)
class Difference:
    """The first place where an answer differs from the expected result.

    Attributes:
        kind: what differs.
        message: a sentence for the student.
        expected: the expected value there, as short text.
        actual: the actual value there, as short text.
        path: the place inside the value: a position for each list or tuple, a key for each dict.
    """

    kind: Kind
    message: str
    expected: str = ""
    actual: str = ""
    path: tuple[Key, ...] = ()


@dataclass(frozen=True)
class Tolerance:
    """A tolerance that a course sets instead of the dtype's.

    Attributes:
        relative: the largest error allowed, as a share, as in `RELATIVE_TOLERANCE`; None to use that.
        absolute: an error up to this is also allowed; None to allow only the rounding of zero.
    """

    relative: float | None = None
    absolute: float | None = None

    def __str__(self) -> str:
        """Return it in words: "1e-05, or 0.001 of the largest number"."""
        absolute = [] if self.absolute is None else [f"{self.absolute:g}"]
        relative = [] if self.relative is None else [f"{self.relative:g} of the largest number"]
        return ", or ".join([*absolute, *relative])


OF_DTYPE = Tolerance()
"""The tolerance that follows from the dtype alone."""


@dataclass(frozen=True)
class Strictness:
    """The tolerance of a comparison.

    Attributes:
        entrywise: compare each entry with its own size, not with the largest of its tensor.
        double: a plain float comes from tensors in double precision, and must be as exact as they are.
        tolerance: used instead of the dtype's own.
    """

    entrywise: bool = False
    double: bool = False
    tolerance: Tolerance = OF_DTYPE

    @classmethod
    def of(cls, case: Case, tolerance: Tolerance = OF_DTYPE) -> Strictness:
        """Return the strictness that a case asks for."""
        return cls(case.entrywise, floating_dtypes(case) == {torch.float64}, tolerance)

    def share(self, dtype: torch.dtype) -> float:
        """Return the largest error allowed, as a share of a magnitude."""
        relative = self.tolerance.relative
        return RELATIVE_TOLERANCE[dtype] if relative is None else relative


USUAL = Strictness()
"""The default, and the strictness for gradients, which are sums in which much cancels."""


@lru_cache(maxsize=1024)  # needed in every comparison with every known mistake
def floating_dtypes(case: Case) -> frozenset[torch.dtype]:
    """Return the floating dtypes of all the tensors that a case passes in."""
    passed = (*case.args, *case.kwargs.values(), *case.construct.values(), *case.weights.values())
    return frozenset(tensor.dtype for tensor in tensors_in(passed) if tensor.dtype.is_floating_point)


def tolerance(expected: Tensor, strict: Strictness = USUAL) -> float:
    """Return the largest absolute error allowed for `expected`, from its dtype and its largest finite magnitude."""
    if not expected.dtype.is_floating_point:
        return 0.0
    magnitudes = expected.detach().abs()
    largest = magnitudes.max().item() if magnitudes.numel() else 0.0
    if not math.isfinite(largest):
        finite = magnitudes[torch.isfinite(magnitudes)]
        largest = finite.max().item() if finite.numel() else 0.0
    smallest_error = torch.finfo(expected.dtype).eps / 100
    return max(strict.share(expected.dtype) * largest, smallest_error, strict.tolerance.absolute or 0.0)


def difference(
    case: Case,
    expected: Observation,
    actual: Observation,
    parameters: Sequence[str] = (),
    tolerance: Tolerance = OF_DTYPE,
) -> Difference | None:
    """Return the first difference between two calls that both returned; None if they agree.

    Compares the value, then arguments modified in place (which may spoil gradients as well), then the gradients. If the
    call should have been refused, returning at all is the difference.

    Args:
        case: the case that was called.
        expected: the reference's observation.
        actual: the answer's observation.
        parameters: the names of the answer's parameters, for the message.
        tolerance: used instead of the dtype's own.
    """
    if case.refused:
        wanted, got = with_article(case.refused), _type_phrase(actual.value)
        told = f"This call should raise {wanted}, but your answer returned {got}."
        return Difference(Kind.ENDING, told, wanted, got)
    found = value_difference_of(case, expected, actual, parameters, tolerance)
    if found is None and actual.modified:
        names = " and ".join(argument_name(position, parameters) for position in actual.modified)
        ways = dict.fromkeys(_way_to_a_copy(case.args[position]) for position in actual.modified)
        return Difference(
            Kind.MODIFIED,
            f"Your answer changed {names} in place. The caller still needs the old values: {' '.join(ways)}",
        )
    return found or gradients_difference(case, expected, actual, parameters, tolerance)


def _way_to_a_copy(argument: Value) -> str:
    """Explain what to do instead of changing such an argument."""
    if isinstance(argument, Array):
        return "work on a copy (x.copy()). x -= y, x[...] = y, x.sort() and out=x change x itself."
    if isinstance(argument, Tensor):
        return (
            "work on a copy (x.clone()). x -= y, x[...] = y and operations with a trailing underscore change x itself."
        )
    if any(map(_can_change, argument.values() if isinstance(argument, dict) else argument)):
        return "work on a copy that shares nothing with it (copy.deepcopy(x)), or build a new one."
    return f"work on a copy ({type(argument).__name__}(x)), or build a new one."


def _can_change(value: Value) -> bool:
    """Return whether a value can be changed in place."""
    return isinstance(value, (Tensor, list, dict)) or (isinstance(value, tuple) and any(map(_can_change, value)))


def result_difference(case: Case, expected: Observation, actual: Observation) -> Difference | None:
    """Return the first `difference` in the value or the gradients."""
    return value_difference_of(case, expected, actual) or gradients_difference(case, expected, actual)


def value_difference_of(
    case: Case,
    expected: Observation,
    actual: Observation,
    parameters: Sequence[str] = (),
    tolerance: Tolerance = OF_DTYPE,
) -> Difference | None:
    """Return the first `difference` in the value."""
    found = value_difference(expected.value, actual.value, "the result", Strictness.of(case, tolerance))
    if found is None:
        return None
    return replace(found, message=f"{found.message}{_dtype_that_came_in(case, expected.value, found, parameters)}")


def values_agree(case: Case, expected: Observation, actual: Observation, tolerance: Tolerance = OF_DTYPE) -> bool:
    """Return whether there is no `difference` in the value. Known mistakes are many, and words about them cost most."""
    one, other, strict = expected.value, actual.value, Strictness.of(case, tolerance)
    if type(one) is type(other) is Tensor and _form(one) == _form(other):
        return torch.equal(one, other) or not bool(wrong_entries(one, other, strict).any())
    return value_difference(one, other, "the result", strict) is None


def _form(value: Tensor) -> tuple[torch.dtype, torch.Size, torch.device]:
    return value.dtype, value.shape, value.device


def gradients_difference(
    case: Case,
    expected: Observation,
    actual: Observation,
    parameters: Sequence[str] = (),
    tolerance: Tolerance = OF_DTYPE,
) -> Difference | None:
    """Return the first `difference` in the gradients."""
    gradients = list(zip(gradient_names(case, parameters), expected.gradients, actual.gradients, strict=True))
    strict = Strictness(tolerance=tolerance)
    if cut_off := [name for name, wanted, got in gradients if got is None and wanted is not None]:
        reached = [name for name, _, got in gradients if got is not None]
        apart = f", while {listed(reached)} get{'s' * (len(reached) == 1)} one" if reached else ""
        it = "it" if len(cut_off) == 1 else "them"
        return Difference(
            Kind.GRADIENT,
            f"No gradient reaches {listed(cut_off)}{apart}: somewhere between {it} and the result the "
            "computation leaves torch (torch.no_grad(), .detach(), .data, .item(), numpy, torch.tensor(...)). The "
            "model could not learn.",
            expected="a gradient",
            actual="none",
        )
    return _first(_gradient_difference(name, wanted, got, strict) for name, wanted, got in gradients)


def _dtype_that_came_in(case: Case, expected: Value, found: Difference, parameters: Sequence[str]) -> str:
    """Name the argument whose dtype a tensor should have; empty if there is none."""
    if found.kind is not Kind.DTYPE or not isinstance(expected, Tensor) or not expected.is_floating_point():
        return ""
    same = (i for i, value in enumerate(case.args) if isinstance(value, Tensor) and value.dtype == expected.dtype)
    place = next(same, None)
    return "" if place is None else f" It should be the dtype of {argument_name(place, parameters)}."


def value_difference(expected: Value, actual: Value, where: str, strict: Strictness = USUAL) -> Difference | None:
    """Return the first difference between two plain values; `where` names them in the message."""
    if type(expected) is float and type(actual) is int:
        actual = float(max(-_LARGEST, min(actual, _LARGEST)))  # a plain 1 instead of 1.0 is no mistake
    if type(expected) is not type(actual):
        return Difference(
            Kind.TYPE,
            _several_values(expected, actual, where)
            or f"{_sentence(where)} should be {_type_phrase(expected)}, but it is {_type_phrase(actual)}"
            f"{_way_to_a_number(expected, actual)}{_way_to_a_tensor(expected, actual) or _way_out(expected, actual)}.",
            expected=_type_phrase(expected),
            actual=_type_phrase(actual),
        )
    if isinstance(expected, Tensor):
        return _tensor_difference(expected, actual, where, strict)
    if isinstance(expected, (list, tuple)):
        if len(expected) != len(actual):
            return Difference(
                Kind.SHAPE,
                f"{_sentence(where)} should have {len(expected)} items, but it has {len(actual)}.",
                expected=str(len(expected)),
                actual=str(len(actual)),
            )
        parts = zip(range(len(expected)), expected, actual, strict=True)
        return _first(_inside(i, value_difference(e, a, f"item {i} of {where}", strict)) for i, e, a in parts)
    if isinstance(expected, dict):
        if expected.keys() != actual.keys():
            return _other_keys(expected, actual, where)
        return _first(
            _inside(key, value_difference(expected[key], actual[key], f"{key!r} of {where}", strict))
            for key in expected
        )
    if isinstance(expected, float):
        dtype = torch.float64 if strict.double else torch.float32  # it may come from such a tensor
        return _tensor_difference(torch.tensor(expected, dtype=dtype), torch.tensor(actual, dtype=dtype), where, strict)
    if expected != actual:
        wanted, got = short_repr(expected), short_repr(actual)
        return Difference(Kind.VALUE, f"{_sentence(where)} should be {wanted}, not {got}.", wanted, got)
    return None


_LARGEST = 10**300
"""The largest float; a larger int has no float."""


def _way_to_a_number(expected: Value, actual: Value) -> str:
    """Explain how to turn a tensor of one entry into the plain number asked for; empty if that is not the problem."""
    if not isinstance(actual, Tensor) or actual.numel() != 1:
        return ""
    asked = "bool" if type(expected) is bool else "number" if type(expected) in (int, float) else ""
    plain = "bool" if actual.dtype == torch.bool else "number"
    return f": its .item() is a plain {asked}" if plain == asked else ""


def _way_to_a_tensor(expected: Value, actual: Value) -> str:
    """Explain how to keep a result a tensor; empty if that is not the problem."""
    if not isinstance(expected, Tensor):
        return ""
    if expected.numel() == 1 and isinstance(actual, (bool, int, float)):
        return ": leave out .item(), float(...) or int(...)"
    if isinstance(expected, Array):
        return ": its .numpy() is one" if isinstance(actual, Tensor) else ""
    if isinstance(actual, Array):
        return ": compute with torch's functions, or turn it into a tensor with torch.from_numpy(...)"
    if isinstance(actual, Foreign) and actual.type_name.startswith("torch.Tensor ("):
        return _way_to_a_plain_tensor(actual.type_name)
    return ""


def _way_out(expected: Value, actual: Value) -> str:
    """Explain what to return instead of something that cannot leave the sandbox; empty if it can."""
    if not isinstance(actual, Foreign):
        return ""
    name = actual.type_name
    if name.startswith("numpy.ndarray of complex") or name.removeprefix("numpy.").startswith("complex"):
        return ", and complex numbers are not compared: return the real part, or both parts separately"
    if name.startswith("numpy.ndarray of "):
        return ": give it numbers of one type, with .astype(float), .astype(int) or .astype(bool)"
    if name.startswith("numpy.") and isinstance(expected, Array):
        return ": numpy.asarray(...) turns it into one"
    if name.startswith("pandas."):
        return ": its .to_numpy() is an array, and .to_dict() or .tolist() is plain"
    plain = "a tensor" if isinstance(expected, Tensor) and not isinstance(expected, Array) else _type_phrase(expected)
    return f", which cannot be compared: return {plain}, made of numbers, text, lists, tuples, dicts, arrays or tensors"


def _way_to_a_plain_tensor(described: str) -> str:
    """Explain how to turn a tensor that cannot leave the sandbox into one that can, by its dtype, layout and device."""
    _dtype, layout, device = described.removeprefix("torch.Tensor (").rstrip(")").split(", ")
    if device != "cpu":
        return f": it is on the device {device}, and .cpu() brings it back"
    if layout != "strided":
        return f": its layout is {layout}, and .to_dense() turns it into an ordinary tensor"
    return ": use a common dtype, such as that of the inputs"


def _other_keys(expected: dict[Any, Value], actual: dict[Any, Value], where: str) -> Difference:
    """Describe the first missing keys of a dict, or else the first surplus ones."""
    missing = [key for key in expected if key not in actual]
    extra = [key for key in actual if key not in expected]
    first = missing or extra
    some = ", ".join(short_repr(key) for key in first[:_KEYS_SHOWN])
    some += f" and {len(first) - _KEYS_SHOWN} more" if len(first) > _KEYS_SHOWN else ""
    keys = f"{len(first)} key{'s' if len(first) != 1 else ''}"
    return Difference(
        Kind.SHAPE,
        f"{_sentence(where)} {f'lacks {keys}' if missing else f'has {keys} too many'}: {some}.",
        expected=f"{len(expected)} keys",
        actual=f"{len(actual)} keys",
    )


_KEYS_SHOWN = 4
"""The number of missing or surplus keys to name."""


def _several_values(expected: Value, actual: Value, where: str) -> str:
    """Describe a result with more in it than was asked for; empty if that is not the problem."""
    if not isinstance(actual, (tuple, list)) or isinstance(expected, (tuple, list, dict)) or not actual:
        return ""
    if isinstance(expected, Tensor) and _only_numbers(actual):
        kind, way = type(actual).__name__, "numpy.array" if isinstance(expected, Array) else "torch.tensor"
        return (
            f"{_sentence(where)} should be {_type_phrase(expected)}, but it is a {kind} of numbers: {way}(...) makes "
            "one."
        )
    together = _tensors_to_put_together(expected, actual)
    if together:
        return f"{_sentence(where)} should be one {_type_phrase(expected).removeprefix('a ')}, but it is {together}."
    many = f"{len(actual)} values" if len(actual) > 1 else f"a {type(actual).__name__} around one value"
    told = f"{_sentence(where)} should be {_type_phrase(expected)} alone, but your answer returns {many}"
    for place, item in enumerate(actual[:_ITEMS_TRIED]):
        if _same_value(expected, item):
            which = f"item {place}, which is right" if len(actual) > 1 else "the value itself, which is right"
            return f"{told}: return only {which}."
    return f"{told}: return only the one that was asked for."


def _tensors_to_put_together(expected: Value, actual: list[Value] | tuple[Value, ...]) -> str:
    """Describe tensors that only need to be put together; empty if there is anything else, or one of them is right.

    A tuple may also come from `return a, b`: it counts only if its tensors have the shapes of parts.
    """
    if not isinstance(expected, Tensor) or not all(map(_only_tensors, actual)):
        return ""
    first, kind = actual[0], type(actual).__name__
    is_array = isinstance(expected, Array)
    parts, stack, cat = (
        ("array", "numpy.stack(...)", "numpy.concatenate(...)")
        if is_array
        else ("tensor", "torch.stack(...)", "torch.cat(...)")
    )
    shapes = {tuple(item.shape) if isinstance(item, Tensor) else None for item in actual}
    if expected.ndim > 0 and shapes == {tuple(expected.shape[1:])} and len(actual) == len(expected):
        return f"a {kind} of {len(actual)} {parts}{'s' if len(actual) > 1 else ''}: {stack} turns them into one"
    if kind == "tuple" or len(actual) == 1 or any(_same_value(expected, item) for item in actual[:_ITEMS_TRIED]):
        return ""
    if all(isinstance(item, Tensor) for item in actual):
        same = len(shapes) == 1 and expected.ndim == first.ndim + 1
        way = stack if same else f"{stack} or {cat}"
        return f"a list of {len(actual)} {parts}s: put them together with {way}"
    return f"a list of {len(actual)} {parts}s, numbers or lists of them: put them together with {stack}"


def _same_value(expected: Value, actual: Value) -> bool:
    return type(actual) is type(expected) and value_difference(expected, actual, "the result") is None


def _only_tensors(value: Value) -> bool:
    """Return whether this is a tensor or a number, or a list of only tensors and numbers."""
    if isinstance(value, list):
        return all(map(_only_tensors, value))
    return isinstance(value, (Tensor, bool, int, float))


def _only_numbers(value: Value) -> bool:
    """Return whether a list holds only numbers or truth values, however deeply nested."""
    if isinstance(value, (list, tuple)):
        return all(map(_only_numbers, value))
    return isinstance(value, (bool, int, float))


_ITEMS_TRIED = 8
"""The number of surplus values to compare with the one that was asked for."""


def _tensor_difference(expected: Tensor, actual: Tensor, where: str, strict: Strictness = USUAL) -> Difference | None:
    for kind, wanted, got in (
        (Kind.DEVICE, expected.device, actual.device),
        (Kind.DTYPE, _dtype_name(expected.dtype), _dtype_name(actual.dtype)),
        (Kind.SHAPE, list(expected.shape), list(actual.shape)),
    ):
        if wanted != got:
            return Difference(
                kind,
                f"{_sentence(where)} should have {kind} {wanted}, but its {kind} is {got}{_way_back(kind, expected)}.",
                expected=str(wanted),
                actual=str(got),
            )
    if torch.equal(expected, actual):  # the usual case, and the fastest
        return None
    wrong = wrong_entries(expected, actual, strict)
    if not bool(wrong.any()):
        return None
    index = tuple(int(i) for i in wrong.nonzero()[0])
    wanted_text, got_text = _told_apart(expected[index], actual[index])
    told = f"{_sentence(where)} should be {wanted_text}, not {got_text}."
    if wrong.numel() > 1:
        share = f"{int(wrong.sum())} of {wrong.numel()} entries differ"
        told = f"In {where} {share}, first at index {list(index)}: expected {wanted_text}, got {got_text}."
    return Difference(Kind.VALUE, f"{told}{_single_precision(expected, actual, wrong)}", wanted_text, got_text)


def _single_precision(expected: Tensor, actual: Tensor, wrong: Tensor) -> str:
    """Describe a result in double precision that is right only to about the digits of single precision."""
    if expected.dtype != torch.float64:
        return ""
    largest = tolerance(expected) / RELATIVE_TOLERANCE[torch.float64]
    error = (expected - actual).abs()[wrong].max().item() / largest
    if not _SINGLE[0] <= error <= _SINGLE[1]:  # NaN fails this test, too
        return ""
    torchs = "torch.float32, which torch.tensor(...) makes of Python's floats"
    return (
        " The numbers are right to only about 7 digits. Were they computed in single precision somewhere "
        f"({'numpy.float32' if isinstance(expected, Array) else torchs})? Compute in the dtype of the inputs. Or does "
        "your answer add a small number (1e-8) where there should be none?"
    )


_SINGLE = (1e-8, 1e-6)
"""Single precision on the way leaves an error between these shares of the largest entry."""


def _way_back(kind: Kind, expected: Tensor) -> str:
    """Explain how to move a result to the right device; empty if it is there."""
    if kind is not Kind.DEVICE:
        return ""
    way = ".cpu()" if expected.device.type == "cpu" else f'.to("{expected.device}")'
    return f": {way} brings it back. Better: create every new tensor on the device of the inputs (device=x.device)"


def wrong_entries(expected: Tensor, actual: Tensor, strict: Strictness) -> Tensor:
    """Return a boolean tensor, True where `actual` is further from `expected` than the tolerance."""
    if not expected.dtype.is_floating_point:
        return expected != actual
    e, a = expected.double(), actual.double()
    allowed: float | Tensor = tolerance(expected, strict)
    if strict.entrywise:
        smallest = torch.finfo(expected.dtype).tiny
        least = max(smallest, strict.tolerance.absolute or 0.0)
        allowed = (strict.share(expected.dtype) * e.abs().nan_to_num(posinf=0.0)).clamp_min(least)
    wrong = ~((e - a).abs() <= allowed)
    if not wrong.any() or math.isfinite(e.sum().item()):  # a sum is finite only if all its numbers are
        return wrong
    return wrong & (e != a) & ~(e.isnan() & a.isnan())  # equal infinities, and expected NaN, are right


def _gradient_difference(
    name: str, expected: Tensor | None, actual: Tensor | None, strict: Strictness
) -> Difference | None:
    if actual is None:
        return None  # `gradients_difference` reports missing gradients
    if expected is None:
        expected = torch.zeros_like(actual)
    found = _tensor_difference(expected, actual, f"the gradient of {name}", strict)
    if found is None:
        return None
    where = _NOT_FINITE if bool(actual.isnan().any()) and not bool(expected.isnan().any()) else _HIDDEN
    explanation = where if found.kind is Kind.VALUE else ""
    return replace(found, kind=Kind.GRADIENT, message=f"{found.message}{explanation}")


_HIDDEN = (
    " The values are right. Usually this means that some step blocks its part of the gradient (.item(), float() or "
    "math.exp() of a tensor, .detach(), .data, torch.no_grad()), or sets it to 0 (clamp, max)."
)
_NOT_FINITE = (
    " The values are right. Usually this means that some step is not finite where its result is not used, as under "
    "torch.where or nan_to_num, so that its gradient is NaN: put harmless numbers in before that step."
)


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _inside(key: Key, found: Difference | None) -> Difference | None:
    return None if found is None else replace(found, path=(key, *found.path))


def _first(found: Iterable[Difference | None]) -> Difference | None:
    return next((item for item in found if item is not None), None)


def _sentence(where: str) -> str:
    return where[0].upper() + where[1:]


def _type_phrase(value: Value) -> str:
    if isinstance(value, Array):
        return "a numpy.ndarray"
    if isinstance(value, Tensor):
        return "a torch.Tensor"
    if isinstance(value, Foreign):
        return with_article(value.type_name)
    if value is None:
        return "None (is there a return?)"
    return with_article(type(value).__name__)


def short_repr(value: Value) -> str:
    """Return the `repr` of a plain value, without working through an enormous one."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**30:
        return "an enormous int"
    if isinstance(value, str):
        return repr(value) if len(value) <= 200 else f"{value[:200]!r}..."
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:400]}..."


def _dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def number(entry: Tensor, digits: int = 6) -> str:
    """Return one entry as short text."""
    item = entry.item()
    return f"{item:z.{digits}g}" if isinstance(item, float) else str(item)


def _told_apart(expected: Tensor, actual: Tensor) -> tuple[str, str]:
    """Return two entries as short text, with enough digits to tell them apart."""
    texts = ((number(expected, digits), number(actual, digits)) for digits in (6, 9, 12, 17))
    return next((pair for pair in texts if pair[0] != pair[1]), (number(expected), number(actual)))
