"""Lets this process read only plain data from a cluster, no matter who sent it.

Dask unpickles messages from the scheduler and the workers in a dozen places, and unpickling runs code: here, where the
course's secret and gradebook are. While a client is connected, all of these places use an unpickler that knows only
plain data. Anything else becomes an `Unread`, and nothing in it is imported or called.
"""

import builtins
import contextlib
import io
import pickle
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any


class Unread(Exception):
    """Stands in for an object that was not plain data: a subclass with its type's name, and its arguments."""

    def __setstate__(self, state: object) -> None:
        """Ignore the state."""


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return the global with this name if it is harmless, else a stand-in."""
        if (module, name) in _HARMLESS or (module == "builtins" and name in _EXCEPTIONS):
            return super().find_class(module, name)
        return _OF_EXCEPTIONS.get(name) or type(name, (Unread,), {})


_EXCEPTIONS = {name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, Exception)}
"""Exceptions by which a worker reports errors; they only store their arguments."""

_OF_EXCEPTIONS = {
    "unpickle_traceback": lambda *parts: None,  # Dask does without a traceback, but takes nothing else in its place
    "unpickle_exception": lambda kind, args, *more: kind(*args),
    "unpickle_exception_with_attrs": lambda kind, attributes, *more: kind(*attributes["args"]),
}
"""Replacements for the functions by which Dask (through tblib) rebuilds exceptions."""

_HARMLESS = {("builtins", "bytes"), ("distributed.scheduler", "KilledWorker")}
"""Other types that are built as they are: replies, and Dask's exception for a submission that killed its workers."""


def read_plain(content: Any, buffers: Any = ()) -> Any:
    """Unpickle plain data, like `pickle.loads`; replace anything else by an `Unread`."""
    return _PlainUnpickler(io.BytesIO(content), buffers=buffers).load()


@contextlib.contextmanager
def reading_plain_data() -> Iterator[None]:
    """Make Dask read only plain data in this process, which must not contain a scheduler or workers."""
    import distributed.protocol.pickle

    dasks = vars(distributed.protocol.pickle)
    dasks["pickle"] = SimpleNamespace(**{**vars(pickle), "loads": read_plain})
    try:
        yield
    finally:
        dasks["pickle"] = pickle
