"""Lets this process read nothing but plain data from a cluster, no matter who sent it.

Dask unpickles what scheduler and workers send, in a dozen places, and to unpickle is to run code: here, where the
course's secret and its gradebook are. While a client is connected, all of these places read with an unpickler that
knows plain data alone. Anything else becomes an `Unread`, and nothing of it is imported or called.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import pickle
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any


class Unread(Exception):
    """Stands for something that was not plain data: a subclass of its type's name, with what it was made of."""

    def __setstate__(self, state: object) -> None:
        """Take nothing over."""


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """The stand-in for the global of this name."""
        if (module, name) in _HARMLESS or (module == "builtins" and name in _EXCEPTIONS):
            return super().find_class(module, name)
        return _OF_EXCEPTIONS.get(name) or type(name, (Unread,), {})


_EXCEPTIONS = {name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, Exception)}
"""How a worker says what went wrong there: these take their arguments, and do nothing with them."""

_OF_EXCEPTIONS = {
    "unpickle_traceback": lambda *parts: None,  # Dask goes on without one, and with nothing else in its place
    "unpickle_exception": lambda kind, args, *more: kind(*args),
    "unpickle_exception_with_attrs": lambda kind, attributes, *more: kind(*attributes["args"]),
}
"""What Dask (by tblib) has an exception made with, in our own words."""

_HARMLESS = {("builtins", "bytes"), ("distributed.scheduler", "KilledWorker")}
"""What is made as it is besides: replies, and Dask's own word for a submission that has ended its workers."""


def read_plain(content: Any, buffers: Any = ()) -> Any:
    """Like `pickle.loads`, but only for plain data."""
    return _PlainUnpickler(io.BytesIO(content), buffers=buffers).load()


@contextlib.contextmanager
def reading_plain_data() -> Iterator[None]:
    """Have Dask read nothing but plain data in this process, which must have neither a scheduler nor workers in it."""
    import distributed.protocol.pickle

    dasks = vars(distributed.protocol.pickle)
    dasks["pickle"] = SimpleNamespace(**{**vars(pickle), "loads": read_plain})
    try:
        yield
    finally:
        dasks["pickle"] = pickle
