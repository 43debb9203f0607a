"""A frame is measured before anything is made of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from autograder.box.frames import ProtocolError
from tests.autograder.box.test_protocol import raw, read

ROOT = Path(__file__).parents[3]


def described(*tensors: str) -> bytes:
    return f'{{"tensors":[{",".join(tensors)}]}}'.encode()


@pytest.mark.parametrize(
    ("header", "payload"),
    [
        (described('["F32",[1]]'), bytes(5)),
        (described('["F32",[1]]'), bytes(3)),
        (described('["F32",[1]]', '["F32",[1]]'), bytes(4)),
        (described('["F32",[-1]]'), bytes(4)),
        (described('["F32",[true]]'), bytes(4)),
        (described('["F32",[1.0]]'), bytes(4)),
        (described('["F32","1"]'), bytes(4)),
        (described('["F32",[1],0]'), bytes(4)),
        (described('["F8_E4M3",[1]]'), bytes(1)),
        (described('[["F32"],[1]]'), bytes(4)),
        (described('{"F32":[1]}'), bytes(4)),
        (described("7"), b""),
        (b'{"tensors":{}}', b""),
        (b'{"tensors":7}', b""),
        (b"{}", bytes(4)),
    ],
    ids=repr,
)
def test_tensors_are_measured_before_they_are_made(
    header: bytes, payload: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "frombuffer", None)
    with pytest.raises(ProtocolError):
        read(raw(header, payload), limit=1 << 20)


LARGE = {
    "a million empty tensors": "raw(described(*['[\"F32\",[0]]'] * 600_000))",
    "millions of lists": "raw(b'{\"a\":[' + b'[],' * 2_700_000 + b'[]]}')",
    "millions of strings": "raw(b'{\"a\":[' + b'\"\",' * 2_000_000 + b'\"\"]}')",
    "deep": "raw(b'[' * (8 << 20))",
    "a text of wide characters": "raw(b'{\"a\":\"' + b'x' * (7 << 20) + '🐈'.encode() + b'\"}')",
    "many quotes": "raw(b'\"\\\\' * (2 << 20))",
    "tensors that fill it": "raw(described(*['[\"F32\",[4000000]]'] * 4), bytes(64_000_000))",
}
MEASURED = """
import json, os, resource, sys
import torch
from autograder.box.frames import ProtocolError
from autograder.limits import Limits
from tests.autograder.box.test_frames import LARGE, described
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
