"""Makes answers from an exercise's reference that compute the right thing and are wrong all the same.

Such answers from outside were once accepted: they leave torch, round to half or single precision, refuse a batch or a
mask that broadcasts, overwrite their arguments, are right only for some calls, drop a dimension of size 1, or confuse
two sizes. Each can be made from any reference without knowing what it computes.
"""

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Exercise, Value

Answer = Callable[..., Value]
Around = Callable[[Answer, tuple[Value, ...], dict[str, Value]], Value]
"""Calls a function with its arguments, and does something wrong before or after."""


WrongWay = tuple[str, Callable[[], Answer]]
"""The name of a way to be wrong, such as "detached", and what creates the wrong answer, anew each time because it may
count its calls."""


def wrong_ways(key: AnswerKey) -> Iterator[WrongWay]:
    """Yield the ways that could matter for an exercise: if it returns no tensor, for example, none can be detached."""
    exercise = key.exercise

    def changing(kind: str, change: Callable[[Tensor], Tensor]) -> WrongWay:
        return around(kind, lambda call, args, kwargs: _mapped(call(*args, **kwargs), change))

    def around(kind: str, call: Around) -> WrongWay:
        return kind, partial(_made, exercise, call)

    numbers = any(_has(seen.value, Tensor.is_floating_point, float) for seen in key.expected)
    passed = [_tensors([*case.args, *case.kwargs.values()]) for case in key.cases]
    if any(_has(seen.value, lambda tensor: tensor.ndim > 0) for seen in key.expected):
        yield changing("squeezed", Tensor.squeeze)
        yield changing("squeezed at the end", lambda result: result.squeeze(-1) if result.ndim else result)
    largest = max((tensor.ndim for seen in key.expected for tensor in _tensors(seen.value)), default=0)
    for dim in range(largest - 1 if largest > 2 else 0):
        yield changing(f"dimension {dim} of {largest} squeezed", partial(_squeezed_where_largest, largest, dim))
    if any(_has(seen.value, Tensor.is_floating_point) for seen in key.expected):
        yield changing("detached", Tensor.detach)
    if numbers:
        yield changing("half precision", partial(_rounded, torch.float16))
        yield changing("the last entry 1% off", _last_off)
    if any(_has(seen.value, lambda tensor: tensor.dtype == torch.float64) for seen in key.expected):
        yield changing("float32", partial(_rounded, torch.float32))
    if any(passed):
        most = [max(tensor.ndim for tensor in tensors) for tensors in passed if tensors]
        if max(most) > min(most):
            yield around("unbatched", partial(_unbatched, min(most)))
    inputs = [tensor for tensors in passed for tensor in tensors]
    if any(tensor.dtype == torch.bool for tensor in inputs) and any(map(Tensor.is_floating_point, inputs)):
        yield around("non-broadcasting", _non_broadcasting)
    if any(_can_change(value) for case in key.cases for value in case.args):
        yield around("overwriting", _overwriting)
    if any(_is_wider(seen.value, case.args) for case, seen in zip(key.cases, key.expected, strict=True)):
        yield around("cut to the first argument's size", _cut)
    yield "the first result forever", partial(_kept, exercise)
    if any(passed):
        yield "the first result for these sizes", partial(_kept, exercise, by_sizes=True)
    for calls in range(1, len(key.visible)):
        yield f"right for {calls} calls", partial(_worn_out, exercise, calls)


def _made(exercise: Exercise, around: Around) -> Answer:
    """Wrap the reference's call, or for a class the call of its `forward`."""
    reference: Any = exercise.reference
    if not exercise.is_class:
        return lambda *args, **kwargs: around(reference, args, kwargs)

    class Wrong(reference):  # type: ignore[misc]
        @wraps(reference.forward)
        def forward(self, *args: Value, **kwargs: Value) -> Value:
            return around(super().forward, args, kwargs)

    Wrong.__name__ = reference.__name__
    assert issubclass(Wrong, nn.Module)
    return Wrong


def _squeezed_where_largest(dimensions: int, dim: int, result: Tensor) -> Tensor:
    """Squeeze `dim`: right for a sequence or a batch, wrong for a batch of one in several heads, or for one head."""
    return result.squeeze(dim) if result.ndim == dimensions else result


def _rounded(dtype: torch.dtype, result: Tensor) -> Tensor:
    """Return the result rounded, with the dtype that it should have."""
    return result.to(dtype).to(result.dtype) if result.is_floating_point() else result


def _last_off(result: Tensor) -> Tensor:
    if not result.is_floating_point() or not result.numel():
        return result
    factors = torch.ones_like(result).flatten()
    factors[-1] = 1.01
    return result * factors.reshape(result.shape)


def _unbatched(dimensions: int, call: Answer, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if any(tensor.ndim > dimensions for tensor in _tensors([*args, *kwargs.values()])):
        raise ValueError(f"only {dimensions} dimensions")
    return call(*args, **kwargs)


def _non_broadcasting(call: Answer, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    tensors = _tensors([*args, *kwargs.values()])
    most = max((tensor.ndim for tensor in tensors if tensor.is_floating_point()), default=0)
    if any(tensor.dtype == torch.bool and tensor.ndim < most for tensor in tensors):
        raise ValueError("a mask that broadcasts")
    return call(*args, **kwargs)


def _overwriting(call: Answer, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    result = call(*args, **kwargs)
    with torch.no_grad():
        for value in args:
            if isinstance(value, Tensor):
                value.logical_not_() if value.dtype == torch.bool else value.add_(1)
            elif isinstance(value, list):
                value.append(None)
            elif isinstance(value, dict):
                value["another"] = None
    return result


def _can_change(value: Value) -> bool:
    return bool(value.numel()) if isinstance(value, Tensor) else isinstance(value, (list, dict))


def _cut(call: Answer, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Confuse d_value with d_head: return at most as many features as the first argument has."""
    result = call(*args, **kwargs)
    return result[..., : _width(args)] if _is_wider(result, args) else result


def _is_wider(result: Value, args: tuple[Value, ...]) -> bool:
    return isinstance(result, Tensor) and result.ndim > 0 and 0 < _width(args) < result.shape[-1]


def _width(args: tuple[Value, ...]) -> int:
    """Return the last size of the first tensor that has a dimension; 0 if there is none."""
    return next((value.shape[-1] for value in args if isinstance(value, Tensor) and value.ndim), 0)


def _worn_out(exercise: Exercise, calls: int) -> Answer:
    made = 0

    def around(call: Answer, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        nonlocal made
        made += 1
        result = call(*args, **kwargs)
        return result if made <= calls else None

    return _made(exercise, around)


def _kept(exercise: Exercise, by_sizes: bool = False) -> Answer:
    results: dict[Any, Value] = {}

    def around(call: Answer, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        tensors = _tensors([*args, *kwargs.values()]) if by_sizes else []
        sizes = tuple((tensor.shape, tensor.dtype) for tensor in tensors)
        if sizes not in results:
            results[sizes] = call(*args, **kwargs)
        return results[sizes]

    return _made(exercise, around)


def _mapped(value: Value, change: Callable[[Tensor], Tensor]) -> Value:
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, float):
        return change(torch.tensor(value, dtype=torch.float64)).item()
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(item, change) for item in value)
    if isinstance(value, dict):
        return {name: _mapped(item, change) for name, item in value.items()}
    return value


def _leaves(value: Value) -> Iterator[Value]:
    """Yield the items in a value that are not containers themselves."""
    if isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield value


def _tensors(value: Value) -> list[Tensor]:
    return [leaf for leaf in _leaves(value) if isinstance(leaf, Tensor)]


def _has(value: Value, wanted: Callable[[Tensor], bool], plain: type | tuple[()] = ()) -> bool:
    """Return whether a value contains a tensor that fits, or an item of a plain type."""
    return any(wanted(leaf) if isinstance(leaf, Tensor) else isinstance(leaf, plain) for leaf in _leaves(value))
