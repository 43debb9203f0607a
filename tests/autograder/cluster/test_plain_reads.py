"""Nothing that a cluster sends runs here."""

import copyreg
import io
import os
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import distributed.protocol.pickle as dasks
import pytest
from distributed.scheduler import KilledWorker

from autograder.cluster.plain_reads import Unread, read_plain, reading_plain_data


class Made:
    """Is pickled as the call of a function."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.parts = function, args

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.parts


@pytest.mark.parametrize(
    "value", [b"reply", {"a": [1, 2.5, None, True, "b"]}, (b"", {"c"}), bytearray(b"e"), frozenset({1})], ids=str
)
def test_plain_data_arrives(value: object) -> None:
    assert read_plain(pickle.dumps(value)) == value or type(value) is bytearray


@pytest.mark.parametrize(
    "error", [OSError(28, "full"), ImportError("no torch", name="torch"), KilledWorker("k", None, 3)]
)
def test_what_went_wrong_arrives_as_it_is(error: Exception) -> None:
    arrived = read_plain(pickle.dumps(error))
    assert (type(arrived), arrived.args) == (type(error), error.args)


@pytest.mark.parametrize(
    "call",
    [
        (open, "{marker}", "w"),
        (os.mkdir, "{marker}"),
        (eval, "__import__('os').mkdir('{marker}')"),
        (copyreg._reconstructor, Path, object, None),
        (getattr, os, "mkdir"),
        (pickle.loads, b"cos\nmkdir\n(S'{marker}'\ntR."),
        (io.FileIO, "{marker}", "w"),
        (Fraction, "1/3"),
    ],
    ids=lambda call: call[0].__name__,
)
@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_nothing_else_is_made_or_called(call: tuple[Any, ...], protocol: int, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    function, *args = call
    args = [one.replace("{marker}", str(marker)) if isinstance(one, str) else one for one in args]
    bomb = pickle.dumps(["kept", Made(function, *(one for one in args if one is not os))], protocol)
    with reading_plain_data():
        kept, arrived = dasks.loads(bomb)
    assert kept == "kept"
    assert isinstance(arrived, Unread)
    assert not marker.exists()
    assert dasks.loads(pickle.dumps(Fraction(1, 3))) == Fraction(1, 3), "afterwards Dask reads as before"


def test_names_that_lead_on_from_a_harmless_one_are_not_followed() -> None:
    """`ValueError.__init__.__globals__` would be a name in `builtins` as well."""
    name = b"ValueError.mro.__self__"
    arrived = read_plain(b"\x80\x04\x8c\x08builtins\x8c" + bytes([len(name)]) + name + b"\x93.")
    assert issubclass(arrived, Unread)
