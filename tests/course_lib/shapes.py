"""Run tests with every annotated shape of `course_lib` checked at every call: `python -m tests.course_lib.shapes`.

jaxtyping's import hook hands each function to `checked`. What was called, and what was never called though its shapes
are annotated, is printed as JSON behind the tests' own output.
"""

import functools
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from beartype import beartype
from jaxtyping import TypeCheckError, install_import_hook

annotated: set[str] = set()
called: set[str] = set()


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its shapes checked; those without shapes pass unchanged, and so do the answers of exercises."""
    if function.__module__.startswith("course_lib.exercises."):
        return function
    hints = getattr(function, "__annotations__", {})
    if not any("[Tensor," in str(hint) for hint in hints.values()):
        return function
    function.__annotations__ = {name: hint if "[Tensor," in str(hint) else Any for name, hint in hints.items()}
    name = f"{function.__module__}.{function.__qualname__}"
    annotated.add(name)
    strict = beartype(function)

    @functools.wraps(strict)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        called.add(name)
        return strict(*args, **kwargs)

    return recorded


@contextmanager
def raises(expected: type[BaseException] | tuple[type[BaseException], ...], match: str = "") -> Iterator[Any]:
    """`pytest.raises`, which does not mind that an annotation refuses a wrong shape before the function does."""
    kinds = expected if isinstance(expected, tuple) else (expected,)
    with original_raises((*kinds, TypeCheckError)) as caught:
        yield caught
    if not isinstance(caught.value, TypeCheckError):
        assert re.search(match, str(caught.value))


original_raises = pytest.raises


def main(arguments: list[str]) -> int:
    from tests.course_lib import shapes  # this file runs as __main__; the hook imports it by its name

    install_import_hook("course_lib", "tests.course_lib.shapes.checked")
    pytest.raises = raises
    status = pytest.main(arguments)
    print("\nSHAPES", json.dumps({"annotated": sorted(shapes.annotated), "called": sorted(shapes.called)}))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
