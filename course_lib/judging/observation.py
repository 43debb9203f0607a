"""Calls an answer once, and records what happened as plain data.

The same function observes the reference, the misconceptions, and a student's answer in a notebook or in a sandbox. A
check may look only at what it returns.
"""

import inspect
import itertools
import linecache
import os
import sysconfig
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from course_lib.judging.arrays import Array, array_name, can_be_kept, give_arrays, keep_arrays
from course_lib.judging.elsewhere import MIXED, Elsewhere, MixedDevices, left_here, on_the_cpu, put
from course_lib.judging.exercise import Callback, Case, NotRecorded, Value, is_key
from course_lib.judging.given import Given
from course_lib.judging.trap import RuleBroken, Trap

_LIBRARY = Path(__file__).parents[1]
_NOT_ITS_OWN = tuple(
    str(folder) + os.sep for folder in (_LIBRARY, _LIBRARY.parent / "autograder", Path(sysconfig.get_path("stdlib")))
)
"""Lines in these folders are not the answer's own. They include the grader's sandbox, which calls callbacks."""


class Outcome(StrEnum):
    """Outcomes of a graded exercise. The names are public."""

    PASSED = "passed"
    WRONG = "wrong"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    DIED = "died"
    NEVER_DEFINED = "never_defined"
    NOT_ATTEMPTED = "not_attempted"
    RULE_BROKEN = "rule_broken"
    UNREADABLE = "unreadable"
    UNGRADED = "ungraded"

    @property
    def has_score(self) -> bool:
        """True if this outcome carries points; the others score null, which is not zero."""
        return self not in (Outcome.UNREADABLE, Outcome.UNGRADED)


ENDINGS = frozenset({Outcome.TIMED_OUT, Outcome.DIED, Outcome.NEVER_DEFINED, Outcome.RULE_BROKEN})
"""Failures after which further calls would tell nothing new, or get no reply."""


@dataclass(frozen=True)
class Foreign:
    """Stands for a returned object that is not plain data; only its type's name is kept."""

    type_name: str


def with_article(name: str) -> str:
    """Return a type's name with its article: "an int", "a list"."""
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


class Unfit(TypeError):
    """Raised by the check if an answer's object cannot be called as the task says."""


@dataclass(frozen=True)
class Raised:
    """An exception, as text.

    Attributes:
        type_name: the exception's class, such as "IndexError".
        message: its message, shortened.
        line: the line of the answer that raised it, counted within its cell or file; 0 if unknown.
        code: the text of that line; empty if unknown.
    """

    type_name: str
    message: str
    line: int = 0
    code: str = ""


@dataclass(frozen=True)
class Observation:
    """The observation of one call.

    Attributes:
        returned: whether the call returned; if not, `failure` and perhaps `raised` say why.
        value: the result, as plain data.
        gradients: one entry for each name in `gradient_names(case)`: the gradient, or None if the result does not
            depend on the argument (or is detached from it).
        modified: positions in `args` that the call changed in place.
        failure: the outcome for this failure, if the call did not return.
        raised: the exception, if there was one.
        seconds: wall-clock time of the call.
    """

    returned: bool
    value: Value = None
    gradients: tuple[Tensor | None, ...] = ()
    modified: tuple[int, ...] = ()
    failure: Outcome | None = None
    raised: Raised | None = None
    seconds: float = 0.0


Answer = Callable[[Case], Observation]
"""Observes an answer on a case: a function in this process, or a proxy for one in a sandbox."""


def nothing_written(observations: Sequence[Observation]) -> bool:
    """Return whether an answer raised in every case what an empty stub raises."""
    return all(observation.failure is Outcome.NOT_ATTEMPTED for observation in observations)


def gradient_names(case: Case, parameters: Sequence[str] = ()) -> list[str]:
    """Return the names of the gradients that a case compares, in the order of `Observation.gradients`.

    Args:
        case: says which gradients are compared.
        parameters: the names of the answer's parameters, if known (`Exercise.parameters`).
    """
    names = [argument_name(position, parameters) for position in case.gradients]
    if case.weight_gradients:
        names += sorted(case.weights)
    return names


def argument_name(position: int, parameters: Sequence[str]) -> str:
    """Return the name of a positional argument, or "argument 1" if it has none."""
    return parameters[position] if position < len(parameters) else f"argument {position + 1}"


def observe(answer: Callable[..., Value], case: Case, forbidden: Collection[str] = ()) -> Observation:
    """Call `answer` once as `case` says, and observe what happens.

    Gradients are those of the sum of the first returned tensor, weighted by fixed numbers
    (see `cotangent`), so that no symmetry hides a mistake.

    Args:
        answer: a function, or a class if the case has `construct` or `weights`.
        case: what to call it with. Its tensors are copied first and never changed.
        forbidden: names of torch functions that the answer may not call.

    Returns:
        The observation. Exceptions are recorded, not raised; only KeyboardInterrupt passes through.
    """
    seen, arguments = call(answer, case, forbidden)
    return replace(seen, modified=modified(case, arguments)) if seen.returned else seen


def modified(case: Case, arguments: Sequence[Value]) -> tuple[int, ...]:
    """Return the positions of the arguments that a call changed in place.

    Args:
        case: the case that was called.
        arguments: the positional arguments after the call, as plain data.
    """
    return tuple(i for i, (old, new) in enumerate(zip(case.args, arguments, strict=True)) if not _identical(old, new))


@torch.inference_mode(False)  # a notebook may have left it on, which would forbid gradients
def call(
    answer: Callable[..., Value], case: Case, forbidden: Collection[str] = ()
) -> tuple[Observation, tuple[Value, ...]]:
    """Observe an answer, but return the arguments, for the caller to find out which were changed.

    A sandbox uses this: no code that runs beside an answer can be trusted to compare them.

    Returns:
        The observation, and the positional arguments after the call as plain data; none if it did not return.
    """
    case = _as_it_was_asked_for(answer, case)
    away = Elsewhere() if case.elsewhere else None
    leaves = {position: case.args[position].detach().clone().requires_grad_() for position in case.gradients}
    trap = Trap(forbidden) if forbidden else None
    unknown: list[str] = []
    copied = partial(fresh, trap=trap, unknown=unknown)
    # An answer gets a copy of the leaf, since torch refuses in-place changes to a leaf with a misleading error.
    args = [leaves[i].clone() if i in leaves else copied(value) for i, value in enumerate(case.args)]
    kwargs = {name: copied(value) for name, value in case.kwargs.items()}
    start = time.perf_counter()
    try:
        callee, weights = _prepared(answer, case, {name: copied(value) for name, value in case.construct.items()})
        if case.again and isinstance(callee, nn.Module):
            with _surroundings(case, trap):
                _use(callee, case.args, _OTHERWISE[case.again - 1])
        if away is not None:
            put([args, kwargs, callee])
        with _surroundings(case, trap), away or nullcontext():
            result = callee(*args, **kwargs)
        if away is not None and (away.mixed or left_here(result)):
            away.mixed = True
            raise MixedDevices(MIXED)
        wanted = list(leaves.values())
        wanted += [weights[name] for name in sorted(case.weights)] if case.weight_gradients else []
        with torch._C.DisableTorchFunctionSubclass():  # code of a Tensor subclass must not run
            gradients = _gradients(result, wanted)
            value, arguments = _plain(result), tuple(map(_argument_after, args))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a student's answer may raise anything, SystemExit included
        if away is not None and not away.mixed and not (trap and trap.used):
            here = replace(case, elsewhere=False, kwargs=on_the_cpu(dict(case.kwargs)))
            return call(answer, here, forbidden)  # the simulated device is not that perfect
        if unknown and not (trap and trap.used):
            return _not_known(unknown), ()
        failed = Observation(
            returned=False,
            failure=Outcome.RULE_BROKEN if trap and trap.used else failure_of(error),
            raised=raised_by(error),
            seconds=time.perf_counter() - start,
        )
        return failed, ()
    if trap and trap.used:
        return Observation(False, failure=Outcome.RULE_BROKEN, raised=Raised(RuleBroken.__name__, trap.used)), ()
    if unknown:  # even if the answer caught the exception
        return _not_known(unknown), ()
    return Observation(True, value, gradients, seconds=time.perf_counter() - start), arguments


def _argument_after(value: Value) -> Value:
    """Return an argument as plain data, whatever the answer did to it."""
    try:
        return _plain(value)
    except RecursionError:
        return Foreign("value that holds itself")


def _not_known(unknown: Sequence[str]) -> Observation:
    """Return the observation for a call whose callback had no recorded result."""
    return Observation(False, failure=Outcome.UNGRADED, raised=Raised(NotRecorded.__name__, unknown[0]))


def _use(module: nn.Module, args: Sequence[Value], other: Callable[[Tensor], Tensor]) -> None:
    """Call a module on other tensors, so that anything it caches from its first call shows in the next one.

    The tensors are made from those of a case. They may make no sense to the module, which may then refuse them.
    """
    with suppress(Exception):
        module(*(other(value) if isinstance(value, Tensor) else fresh(value) for value in args))


def turned_around(value: Tensor) -> Tensor:
    """Return the same numbers in the opposite order, along every dimension."""
    return value.detach().flip(tuple(range(value.ndim)))


def _shortened(value: Tensor) -> Tensor:
    """Cut a batch to its first item, without the last position."""
    first = value.detach()[:1] if value.ndim else value.detach()
    return (first[:, :-1] if first.ndim > 1 and first.shape[1] > 1 else first).clone()


_OTHERWISE = (turned_around, _shortened)
"""What a module is called with before a repetition: other contents of the same shapes, and other shapes."""


@contextmanager
def _surroundings(case: Case, trap: Trap | None) -> Iterator[None]:
    """Set up a call's gradient mode, its random numbers, and the trap for forbidden functions."""
    with _grad_mode(case), _lots(case), trap or nullcontext():
        yield


def _grad_mode(case: Case) -> AbstractContextManager[object]:
    """Enable gradients, whatever the notebook has set, so that an answer may use autograd itself.

    They are off only for a class whose gradients are not compared: it may convert its parameters to numpy.
    """
    return torch.no_grad() if case.weights and not gradient_names(case) else torch.enable_grad()


@contextmanager
def _lots(case: Case) -> Iterator[None]:
    """In training, make the same draws in every run, so that a mistake's numbers can be recognized."""
    if not case.training:
        yield
        return
    with torch.random.fork_rng(devices=()):  # the notebook's own draws continue unchanged
        torch.default_generator.manual_seed(_SEED_OF_LOTS)
        yield


_SEED_OF_LOTS = 0


def cotangent(value: Tensor) -> Tensor:
    """Return the fixed weights, of the shape of `value`, with which a result is summed before taking gradients."""
    steps = torch.arange(1, value.numel() + 1, dtype=torch.float64, device=value.device)
    return torch.cos(steps).reshape(value.shape).to(value.dtype)


def _prepared(
    answer: Callable[..., Value], case: Case, construct: Mapping[str, Value]
) -> tuple[Callable[..., Value], dict[str, Tensor]]:
    """Return the callable that the case calls, and the parameters whose gradients it may compare."""
    if not case.construct and not case.weights:
        return answer, {}
    module = answer(**_under_its_names(answer, construct, case.formerly))
    if not isinstance(module, nn.Module):
        raise Unfit(f"A torch.nn.Module was expected, but {with_article(type(module).__name__)} was built.")
    if case.weights and {weight.dtype for weight in case.weights.values()} == {torch.float64}:
        module.double()  # load_state_dict rounds to the module's precision
    try:
        buffers = {name for name, _ in module.named_buffers()}  # a buffer that is not in the case keeps its dtype
        kept = {name: tensor for name, tensor in module.state_dict().items() if name in buffers}
        module.load_state_dict({**kept, **case.weights})
    except RuntimeError as error:
        raise Unfit(_other_weights(case.weights, module.state_dict()) or str(error)) from None
    module.train(case.training)
    return module, dict(module.named_parameters())


def _under_its_names(
    answer: Callable[..., Value], construct: Mapping[str, Value], formerly: Mapping[str, str]
) -> dict[str, Value]:
    """Return a constructor's arguments, under their former names if the answer has those."""
    if not formerly:
        return dict(construct)
    taken = inspect.signature(answer).parameters
    return {
        formerly[name] if formerly.get(name) in taken and name not in taken else name: value
        for name, value in construct.items()
    }


def _as_it_was_asked_for(answer: Callable[..., Value], case: Case) -> Case:
    """Return the case without arguments that a function for an earlier version does not take, such as a device."""
    new = {name for name, former in case.formerly.items() if not former} & case.kwargs.keys()
    if not new:
        return case
    try:
        parameters = inspect.signature(answer).parameters
    except (TypeError, ValueError):  # some functions in C have no signature
        return case
    if new <= parameters.keys() or any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return case
    known = {name: value for name, value in case.kwargs.items() if name not in new or name in parameters}
    return replace(case, kwargs=known, elsewhere=False)


def _other_weights(wanted: Mapping[str, Tensor], actual: Mapping[str, Tensor]) -> str:
    """Describe parameters of a module with wrong names or shapes; empty if there are none."""
    expected, found = ({name: list(tensor.shape) for name, tensor in state.items()} for state in (wanted, actual))
    missing = _names([f"{name} {shape}" for name, shape in expected.items() if found.get(name) != shape])
    extra = _names([f"{name} {shape}" for name, shape in found.items() if expected.get(name) != shape])
    if not missing and not extra:
        return ""
    problem = f"yours also has {extra}"
    if missing:
        problem = f"expected {missing}; yours has {extra}" if extra else f"expected {missing}, which yours lacks"
    return f"Keep the names and shapes of the parameters as the task gives them: {problem}."


def _names(names: Sequence[str]) -> str:
    """Return the first few names."""
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


_NAMES_SHOWN = 4
"""The number of parameters with wrong names or shapes to name."""


def _gradients(result: Value, wanted: list[Tensor]) -> tuple[Tensor | None, ...]:
    if not wanted:
        return ()
    first = result[0] if isinstance(result, (tuple, list)) and result else result
    if not isinstance(first, Tensor) or not first.requires_grad:
        return tuple(None for _ in wanted)
    total = (first * cotangent(first.detach())).sum()
    return tuple(
        None if gradient is None else gradient.detach()
        for gradient in torch.autograd.grad(total, wanted, allow_unused=True)
    )


def fresh(value: Value, trap: Trap | None = None, unknown: list[str] | None = None) -> Value:
    """Return a copy that shares nothing with `value`, but keeps a transposed memory layout."""
    if isinstance(value, Array):
        return give_arrays(value)
    if isinstance(value, Given):
        return value.module()
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return type(value)(fresh(item, trap, unknown) for item in value)
    if isinstance(value, dict):
        return {key: fresh(item, trap, unknown) for key, item in value.items()}
    return _callable(value, trap, unknown) if isinstance(value, Callback) else value


def _callable(callback: Callback, trap: Trap | None, unknown: list[str] | None) -> Callable[..., Value]:
    """Return a callback as the answer sees it: a function of plain data that counts its calls.

    What the callback does breaks no rule of the answer, so the trap is paused, but only once the arguments are known to
    be plain: anything else could run the answer's code.
    """
    calls = itertools.count(1)

    def call(*args: Value, **kwargs: Value) -> Value:
        given = [_argument(callback, value) for value in args]
        named = {name: _argument(callback, value) for name, value in kwargs.items()}
        with trap.paused() if trap is not None else nullcontext():
            try:
                return fresh(callback.call(next(calls), given, named))
            except NotRecorded as error:
                if unknown is not None:
                    unknown.append(str(error))
                raise

    call.__name__ = call.__qualname__ = callback.name
    return call


def foreign_in(value: Value) -> str:
    """Return the type of the first thing in a case's argument that cannot enter a sandbox; empty if all can."""
    if isinstance(value, (Callback, Given, Array)):
        return ""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else None
    return _foreign(_plain(value)) if inside is None else next(filter(None, map(foreign_in, inside)), "")


def _argument(callback: Callback, value: Value) -> Value:
    plain = _plain(value)
    foreign = _foreign(plain)
    if foreign:
        raise TypeError(
            f"{callback.name} takes tensors, arrays, numbers, text, and lists and dicts of those, not a {foreign}"
        )
    return plain


def _foreign(value: Value) -> str:
    """Return the type of the first thing in a value that is not plain data; empty if there is none."""
    if isinstance(value, Foreign):
        return value.type_name
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return next(filter(None, map(_foreign, inside)), "")


def _identical(old: Value, new: Value) -> bool:
    """Return whether an argument is the same after a call; `new` is plain data."""
    if isinstance(old, (Callback, Given)):
        return True  # an answer cannot change these
    if isinstance(old, Tensor):
        return (
            isinstance(new, Tensor)
            and isinstance(new, Array) == isinstance(old, Array)
            and old.shape == new.shape
            and old.dtype == new.dtype
            and (torch.equal(old, new) or bool(((old == new) | ((old != old) & (new != new))).all()))
        )
    if isinstance(old, dict):
        return (
            isinstance(new, dict) and old.keys() == new.keys() and all(_identical(old[name], new[name]) for name in old)
        )
    if isinstance(old, (list, tuple)):
        return type(old) is type(new) and len(old) == len(new) and all(map(_identical, old, new))
    plain = _plain(old)
    return type(plain) is type(new) and bool(plain == new or (plain != plain and new != new))


_DICTS = (dict, Counter, defaultdict, OrderedDict)
"""Exact types that count as a dict; a `Counter` is a fine way to count."""


_NUMPYS: tuple[tuple[type, type], ...] = (
    *((numpys, int) for numpys in (numpy.int8, numpy.int16, numpy.int32, numpy.int64)),
    *((numpys, int) for numpys in (numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64)),
    *((numpys, float) for numpys in (numpy.float32, numpy.float64)),
    (numpy.bool_, bool),
    (numpy.str_, str),
)
"""Numpy's scalars, with Python's type for each: `scores.argmax()` of an array counts as an int. A tensor of one entry
does not, since the lessons distinguish the two; its `.item()` does."""


def _plain(value: Value) -> Value:
    """Return `value` as plain data, with `Foreign` in place of anything else.

    A subclass of a tensor or a tuple, such as a parameter or a named tuple, is read by torch's and Python's own
    methods; code that it defines does not run. Other types must be exact.
    """
    kind = type(value)
    if _is_a(kind, Tensor) and kind.__torch_dispatch__ is Tensor.__torch_dispatch__:
        detached = Tensor.detach(value)
        return (detached if type(detached) is Tensor else detached.as_subclass(Tensor)).clone()
    if kind is numpy.ndarray and can_be_kept(value):
        return keep_arrays(value)
    if value is None or _is_one_of(kind, (bool, int, float, str)):
        return value
    for numpys, python in _NUMPYS:
        if kind is numpys:
            return python(value)
    if kind is list:
        return list(map(_plain, value))
    if _is_a(kind, tuple):
        return tuple(map(_plain, tuple.__iter__(value)))
    if _is_one_of(kind, _DICTS):
        keys = list(map(_plain_key, value))
        if all(map(is_key, keys)):
            return dict(zip(keys, map(_plain, value.values()), strict=True))
        return Foreign("dict whose keys are not all strings or tuples of strings")
    if kind is numpy.ndarray:
        return Foreign(array_name(value))
    return Foreign(f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.").removeprefix("__main__."))


def _is_one_of(kind: type, exact: Iterable[type]) -> bool:
    """Return whether this is one of these types; `in` would call the type's `==`, which may be the answer's code."""
    return any(kind is one for one in exact)


def _is_a(kind: type, base: type) -> bool:
    """Return whether this is a type or a subclass of it, without running the type's own `==` or `issubclass` hooks."""
    return _is_one_of(base, type.mro(kind))


def _plain_key(key: Any) -> Any:
    """Return a dict's key, with numpy's strings as Python's."""
    if type(key) is tuple:
        return tuple(map(_plain_key, key))
    return str(key) if type(key) is numpy.str_ else key


def failure_of(error: BaseException) -> Outcome:
    """Return the outcome for an exception."""
    if type(error) is NotImplementedError and not str(error):  # the stub's has no message, torch's have one
        return Outcome.NOT_ATTEMPTED
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return Outcome.OUT_OF_MEMORY
    return Outcome.RAISED


def raised_by(error: BaseException) -> Raised:
    """Describe an exception, with the innermost line of the answer's own code, or with the line of a syntax error."""
    line, code = 0, ""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "site-packages" not in file and not file.startswith(_NOT_ITS_OWN):
            line = trace.tb_lineno
            code = linecache.getline(file, line).strip()
        trace = trace.tb_next
    if not line and isinstance(error, SyntaxError) and type(error.lineno) is int and type(error.text) is str:
        # The exception's text would name the cell's file, which IPython invents.
        return Raised(type(error).__name__, str(error.msg)[:500], error.lineno, error.text.strip()[:500])
    return Raised(type(error).__name__, str(error)[:500], line, code)
