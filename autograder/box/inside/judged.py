"""Runs a test cell without anything in IPython that student code can replace.

Code in the same interpreter can replace the exception handler, the traceback, events, source and syntax tree
transformers, and `run_cell` itself. So a test does not go through them. It has passed if its code reached its end here,
whatever its outputs show. docs/plain_nbgrader.md says what this cannot prevent.
"""

import linecache
import math
import sys
import time
from ast import Expr, Expression, Module, PyCF_ALLOW_TOP_LEVEL_AWAIT, PyCF_ONLY_AST
from collections.abc import Iterator
from inspect import CO_COROUTINE
from types import CodeType
from typing import Any

from autograder.box.inside.shell import BoxShell, cell_result, record_error
from autograder.box.protocol import CellResult

_compile, _eval, _int, _float = compile, eval, int, float  # as they are before a student's code replaces them
_any, _list, _is_finite = any, list, math.isfinite
_set_trace, _set_profile = sys.settrace, sys.setprofile


class NotFinished(Exception):
    """A test neither finished nor raised: the code that runs coroutines was replaced."""


def run_test(shell: BoxShell, source: str) -> CellResult:
    """Run a test cell.

    Args:
        shell: has the names that it uses, and takes its outputs.
        source: plain Python, without magics.
    """
    _set_trace(None)  # what traces calls can jump over an assertion
    _set_profile(None)
    recorder, count, error, number = shell.recorder, shell.execution_count, None, None
    recorder.start()
    begin = time.perf_counter()
    try:
        shell.execution_count += count - shell.displayhook.prompt_count  # some versions count before a cell runs
        shell.history_manager.store_inputs(count, source)  # type: ignore[union-attr]
        value = _value(shell, _list(_codes(source, f"<ipython-input-{count}-test>")))
        if value is not None:
            number = _number(value)
            shell.displayhook(value)
    except BaseException as raised:
        error = raised
        record_error(recorder, raised)
    shell.events.trigger("post_execute")  # shows figures
    shell.execution_count = count + 1
    return cell_result(recorder, error, time.perf_counter() - begin, number)


def _codes(source: str, name: str) -> Iterator[CodeType]:
    """Yield the code of the statements, and of a final expression, whose value is the cell's."""
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    tree: Module = _compile(source, name, "exec", PyCF_ONLY_AST | PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
    match tree.body:  # its classes are compared without `isinstance`, which may be anything
        case [*_, Expr() as last]:
            del tree.body[-1]
            yield _compile(tree, name, "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
            yield _compile(Expression(last.value), name, "eval", PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
        case _:
            yield _compile(tree, name, "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT, True)


def _value(shell: BoxShell, codes: list[CodeType]) -> Any:
    """Run the code to its end; return the last value.

    Raises:
        NotFinished: it did not reach its end.
    """
    ended = []

    async def run() -> None:
        for code in codes:
            value = _eval(code, shell.user_ns)
            if code.co_flags & CO_COROUTINE:
                value = await value
        ended.append(value)

    if not _any(code.co_flags & CO_COROUTINE for code in codes):
        return [_eval(code, shell.user_ns) for code in codes][-1]
    shell.loop_runner(run())
    if not ended:
        raise NotFinished("the test did not come to its end")
    return ended[0]


def _number(value: Any) -> float | None:
    """Return the points that a test's last value gives, whatever it displays; None if it is not such a number."""
    kind = value.__class__
    if kind is _int and _int.bit_length(value) < 64:
        return _int.__float__(value)
    return value if kind is _float and _is_finite(value) else None
