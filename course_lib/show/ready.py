"""Pictures that use functions that a student is still writing."""

import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec

import matplotlib.pyplot as plt


def when_ready(picture: Callable[[], None]) -> None:
    """Run `picture` at once; if it fails, say why in a sentence.

    A missing answer is borrowed from the course while the picture runs, and a line says so. In the grader's sandbox
    nothing is borrowed. The picture fails if an answer is written but wrong, or a cell above was not run. Use it as a
    decorator, so that "run all" reaches the end of an unfinished notebook:

        @show.when_ready
        def scores_as_a_picture():
            show.matrices(show.Panel("scores", dot_product_scores(q, k), queries, keys), alt="...")

    Args:
        picture: a function without arguments. Its result is dropped; of its exceptions, only KeyboardInterrupt passes.
    """
    try:
        with _borrowing(picture):
            picture()
    except Exception as error:  # a student's unfinished answer may raise anything
        plt.close("all")
        print(_notice(error, picture))


def _borrowing(picture: Callable[[], None]) -> AbstractContextManager[None]:
    """Lend a picture the answers that it lacks; lend nothing when grading."""
    if find_spec("course_lib.exercises") is None:
        return nullcontext()
    from course_lib.learner.borrowed import borrowed

    return borrowed(picture)


def _notice(error: Exception, picture: Callable[[], None]) -> str:
    if type(error) is NameError and _innermost(error) == picture.__qualname__:
        return f"This cell needs {error.name}, which a cell above it makes. Run the cells above first, then this one."
    if type(error) is NotImplementedError and not str(error):
        return f"This cell is waiting for your {_innermost(error)}. Run it again once you have written it."
    if isinstance(error, ModuleNotFoundError):
        return f"Nothing to show yet: {error}. Run this cell again once it is there."
    reason = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"Nothing to show yet ({reason}). Run this cell again once the check above passes."


def _innermost(error: Exception) -> str:
    """Return the name of the function that raised the error, with its class if it is a method."""
    frames = [frame for frame, _line in traceback.walk_tb(error.__traceback__)]
    return frames[-1].f_code.co_qualname
