"""Lends the course's references to a demo in place of missing answers, while it draws.

A picture is a function of the notebook, and finds answers among the notebook's names. While it runs, the names of
missing answers stand for the references; afterwards they are restored. So nothing borrowed is ever checked, kept or
handed in. When grading, nothing is borrowed, since a sandbox contains no exercises.
"""

from __future__ import annotations

import builtins
import dis
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from course_lib.judging.compare import listed
from course_lib.judging.render import say
from course_lib.learner.references import reference

if TYPE_CHECKING:
    from course_lib.judging.exercise import Exercise

Names = dict[str, Any]

_lent: list[str] = []  # the names lent at the moment


@contextmanager
def borrowed(picture: Callable[[], None]) -> Iterator[None]:
    """Let a picture use the course's answers for missing ones, within this block; print which.

    Args:
        picture: a function of a notebook.
    """
    names: Names = getattr(picture, "__globals__", {})
    lent = _references(_missing(picture, names), names)
    if lent:
        verb = "is" if len(lent) == 1 else "are"
        say(f"Borrowed for this cell: the course's own {listed(list(lent))}, until yours {verb} there.")
    before = {name: names[name] for name in lent if name in names}
    names.update(lent)
    _lent.extend(lent)
    try:
        yield
    finally:
        del _lent[len(_lent) - len(lent) :]
        for name in lent:
            del names[name]
        names.update(before)


def is_borrowing() -> bool:
    """Return whether a picture is being drawn with a borrowed answer."""
    return bool(_lent)


def _missing(picture: Callable[[], None], names: Names) -> list[str]:
    """Return the names that a picture or a function that it calls reads, and that are stubs or undefined."""
    read = _read_by(getattr(picture, "__code__", None), names)
    return [name for name in read if (is_stub(names[name]) if name in names else not hasattr(builtins, name))]


def _references(missing: list[str], names: Names) -> Names:
    """Return the references of missing answers, from a single lesson if several have an exercise of this name."""
    if not missing:
        return {}
    from course_lib.learner.current_catalogue import current_catalogue

    catalogue = current_catalogue()
    lessons = [catalogue.of_lesson(lesson) for lesson in catalogue.modules]
    asked = [lesson for lesson in lessons if {exercise.name for exercise in lesson} & set(missing)]
    here = max(asked, key=lambda lesson: sum(exercise.name in names for exercise in lesson), default=[])
    found = {exercise.name: _own(exercise) for exercise in here if exercise.name in missing}
    return {name: answer for name, answer in found.items() if answer is not None}


def _own(exercise: Exercise) -> Callable[..., Any] | None:
    """Return the course's own answer; None if this edition of the course withholds it."""
    from course_lib.judging.recorded.reading import RecordedExercise

    if not isinstance(exercise, RecordedExercise):
        return exercise.reference
    try:
        return reference(exercise.id)
    except LookupError:
        return None


def _read_by(code: CodeType | None, names: Names) -> list[str]:
    """Return the global names that code reads, directly and indirectly, in order."""
    read: dict[str, None] = {}
    waiting = [code] if code is not None else []
    while waiting:
        for name in _globals_of(waiting.pop(0)):
            if name not in read:
                read[name] = None
                waiting += _codes(names.get(name), names)
    return list(read)


def _globals_of(code: CodeType) -> Iterator[str]:
    """Yield the global names that code and its inner functions read, except in unreachable lines."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
        if isinstance(instruction.argval, CodeType):
            yield from _globals_of(instruction.argval)


def _codes(value: object, names: Names) -> list[CodeType]:
    """Return the code of a function from the notebook, or of the methods of a class from it, or of its instance."""
    if isinstance(value, FunctionType):
        return [function.__code__ for function in _functions(value) if function.__globals__ is names]
    kind = value if isinstance(value, type) else type(value)
    return [function.__code__ for function in _functions(kind) if function.__globals__ is names]


def _functions(value: object) -> list[FunctionType]:
    """Return a function, or the methods of a class, without their decorators' wrappers."""
    found = map(inspect.unwrap, vars(value).values() if isinstance(value, type) else [value])
    return [each for each in found if isinstance(each, FunctionType)]


def is_stub(value: object) -> bool:
    """Return whether a function, or a class's method, still raises NotImplementedError on some path."""
    return any(NotImplementedError.__name__ in _globals_of(each.__code__) for each in _functions(value))
