"""A frame is measured before anything is made of it."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.box import frames
from autograder.box.frames import ProtocolError
from tests.autograder.box.test_protocol import raw, read

ROOT = Path(__file__).parents[3]


def tensors_blob(entries: str, data: bytes = b"") -> bytes:
    header = entries.encode()
    return struct.pack("<Q", len(header)) + header + data


def described(dtype: str = "F32", shape: str = "[1]", place: str = "[0,4]", more: str = "") -> str:
    return f'{{"0":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{place}{more}}}}}'


@pytest.mark.parametrize(
    "blob",
    [
        tensors_blob(described(), bytes(5)),
        tensors_blob(described(), bytes(3)),
        tensors_blob(described(place="[1,5]"), bytes(5)),
        tensors_blob(described(place="[0,4,4]"), bytes(4)),
        tensors_blob(described(place="[4,0]"), bytes(4)),
        tensors_blob(described(place="[0,true]"), bytes(4)),
        tensors_blob(described(shape="[-1]"), bytes(4)),
        tensors_blob(described(shape="[1.0]"), bytes(4)),
        tensors_blob(described(shape='"1"'), bytes(4)),
        tensors_blob(described(dtype="F8_E4M3", place="[0,1]"), bytes(1)),
        tensors_blob(described(more=',"more":1'), bytes(4)),
        tensors_blob('{"__metadata__":{"a":"b"},' + described()[1:], bytes(4)),
        tensors_blob('{"__metadata__":{"a":"b"}}'),
        tensors_blob('{"1":' + described()[5:], bytes(4)),
        tensors_blob("[]"),
        tensors_blob(described())[:9],
        struct.pack("<Q", 1 << 63) + b"{}",
        b"{}",
    ],
    ids=repr,
)
def test_tensors_are_measured_before_they_are_made(blob: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "load", None)
    with pytest.raises(ProtocolError):
        read(raw(b"{}", blob), limit=1 << 20)


EMPTY = '"{}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'
LARGE = {
    "a million empty tensors": "raw(b'{}', blob('{' + ','.join(EMPTY.format(n) for n in range(1_000_000)) + '}'))",
    "metadata": "raw(b'{}', blob('{\"__metadata__\":{\"a\":\"' + 'x' * (55 << 20) + '\"}}'))",
    "millions of lists": "raw(b'{\"a\":[' + b'[],' * 2_700_000 + b'[]]}')",
    "millions of strings": "raw(b'{\"a\":[' + b'\"\",' * 2_000_000 + b'\"\"]}')",
    "deep": "raw(b'[' * (8 << 20))",
    "a text of wide characters": "raw(b'{\"a\":\"' + b'x' * (7 << 20) + '🐈'.encode() + b'\"}')",
    "many quotes": "raw(b'\"\\\\' * (2 << 20))",
    "tensors that fill it": "raw(b'{}', save({str(n): torch.zeros(4_000_000) for n in range(4)}))",
}
MEASURED = """
import json, os, resource, sys
from safetensors.torch import save
import torch
from autograder.box.frames import ProtocolError
from autograder.limits import Limits
from tests.autograder.box.test_frames import EMPTY, LARGE, tensors_blob as blob
from tests.autograder.box.test_protocol import raw, read
limit = Limits().frame_bytes
torch.set_num_threads(1)  # it forks
for name, made in LARGE.items():
    if os.fork():
        os.wait()
        continue
    data = eval(made)
    assert len(data) <= limit
    before = resource.getrusage(resource.RUSAGE_SELF)
    try:
        read(data, limit)
    except ProtocolError:
        pass
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([name, (after.ru_maxrss - before.ru_maxrss) * 1024 / limit]), flush=True)
    os._exit(0)
"""


@pytest.mark.usefixtures("processes")
def test_a_worker_grows_by_at_most_twice_a_frame() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    grown = dict(map(json.loads, done.stdout.splitlines()))
    assert grown.keys() == LARGE.keys(), done.stderr[-500:]
    assert {name: growth for name, growth in grown.items() if growth > 2} == {}
