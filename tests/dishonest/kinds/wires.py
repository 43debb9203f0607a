"""Speaking on the wire in the sandbox's place."""

from __future__ import annotations

from course_lib.judging.observation import Outcome
from tests.dishonest.attempt import DIED, OUT_OF_MEMORY, TIMED_OUT, WRONG, Attempt, in_call, in_cell

_WIRE = """
    import asyncio, json, os, stat, struct, time
    loop = asyncio.get_event_loop_policy().get_event_loop()
    def is_wire(descriptor):
        try:
            is_socket = stat.S_ISSOCK(os.fstat(descriptor).st_mode)
        except OSError:
            return False
        return is_socket and descriptor not in (loop._ssock.fileno(), loop._csock.fileno())
    [wire] = filter(is_wire, range(3, 5_000))
    def frame(header, payload=b""):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return struct.pack(">4sII", b"KTZ1", len(text), len(payload)) + text + payload
    def say(data):
        while data:
            data = data[os.write(wire, data):]
    def number():
        import gc
        frames = [o for o in gc.get_objects() if type(o).__name__ == "Frame" and "cases" in getattr(o, "header", {})]
        return frames[-1].header["id"] + ".0"
    def report(**fields):
        right = {"returned": True, "value": None, "gradients": [], "arguments": [None, None]}
        right |= {"failure": None, "raised": None, "seconds": 0.0}
        return {"id": number(), "kind": "observation", "observation": {**right, **fields}}
"""


def _says(name: str, tries: str, code: str, outcome: Outcome = DIED) -> Attempt:
    """An attempt whose answer says something itself, and then returns zeros."""
    return in_call(name, tries, code, outcome, _WIRE)


ATTEMPTS = (
    _says("garbage", "Sends what is no frame.", 'say(b\'{"returned": true, "points": 100}\' * 9)'),
    _says("oversize", "Announces four gigabytes.", "say(struct.pack('>4sII', b'KTZ1', 100, 2**32 - 1))"),
    _says("truncated", "Sends half a frame, and closes the connection.", "say(frame(report())[:-9])\nos.close(wire)"),
    _says("silence", "Closes the connection without a word.", "os.close(wire)"),
    _says(
        "slow",
        "Sends one byte a second, for as long as it is let.",
        "for byte in frame(report()):\n    say(bytes([byte])); time.sleep(1)",
        TIMED_OUT,
    ),
    _says("forged_result", "Reports a passed case with full points.", "say(frame(report(passed=True, points=100)))"),
    _says("forged_number", "Answers a question that was not asked.", "say(frame({**report(), 'id': '0' * 16}))"),
    _says(
        "answers_in_advance",
        "Answers all cases at once, and those of other exercises as well.",
        "say(frame(report()) * 50)",
        WRONG,
    ),
    _says(
        "duplicate_keys",
        "Says `returned` twice, each time something else.",
        'say(frame(b\'{"id":1,"id":2,"kind":"observation"}\'))',
    ),
    _says(
        "deep_json",
        "Nests its JSON a hundred thousand deep.",
        "say(frame(b'{\"a\":' * 100_000 + b'1' + b'}' * 100_000))",
    ),
    _says("wide_json", "Sends millions of values in one frame.", "say(frame(b'[' + b'0,' * 3_000_000 + b'0]'))"),
    _says(
        "nan_in_json",
        "Reports NaN as the time that it took.",
        "say(frame(json.dumps(report(seconds=float('nan'))).encode()))",
    ),
    _says(
        "endless_number", "Sends a number with a million digits.", "say(frame(b'{\"id\":' + b'9' * 1_000_000 + b'}'))"
    ),
    _says(
        "forged_tensor",
        "Sends a tensor of NaN in place of its result.",
        """
            from safetensors.torch import save
            say(frame(report(value={'tensor': 0}), save({'0': torch.full((2, 3), float('nan'))})))
        """,
        WRONG,
    ),
    _says(
        "wrong_offsets",
        "Sends tensors whose offsets lie outside the data.",
        """
            head = json.dumps({'0': {'dtype': 'F32', 'shape': [2, 3], 'data_offsets': [0, 10**12]}}).encode()
            say(frame(report(value={'tensor': 0}), struct.pack('<Q', len(head)) + head))
        """,
    ),
    _says(
        "huge_header",
        "Says that the tensors' header is longer than the memory.",
        "say(frame(report(value={'tensor': 0}), b'\\xff' * 8))",
    ),
    _says(
        "empty_giant",
        "Sends a tensor without numbers and with endless dimensions.",
        """
            head = json.dumps({'0': {'dtype': 'F32', 'shape': [0, 2**60], 'data_offsets': [0, 0]}}).encode()
            say(frame(report(value={'tensor': 0}), struct.pack('<Q', len(head)) + head))
        """,
    ),
    _says(
        "booleans",
        "Sends booleans that are neither true nor false.",
        """
            head = json.dumps({'0': {'dtype': 'BOOL', 'shape': [2, 3], 'data_offsets': [0, 6]}}).encode()
            say(frame(report(value={'tensor': 0}), struct.pack('<Q', len(head)) + head + b'\\x07' * 6))
        """,
    ),
    _says(
        "failed_box",
        "Says that the sandbox itself has failed, so that nobody is to blame.",
        "say(frame({'kind': 'failed', 'reason': 'the grader is broken'}))",
    ),
    _says("ready_again", "Begins the conversation anew.", "say(frame({'kind': 'ready'}))"),
    _says("ungraded", "Asks not to be graded.", "say(frame(report(returned=False, failure='ungraded')))"),
    _says("pickle", "Sends a pickle, in case somebody loads it.", "import pickle\nsay(pickle.dumps(eval) * 9)"),
    _says("surrogates", "Sends text that no file can hold.", "say(frame(report(value='\\ud800')))", WRONG),
    _says("memory_status", "Ends as a sandbox does that has run out of memory.", "os._exit(86)", OUT_OF_MEMORY),
    in_cell(
        "closed_in_a_cell", "Closes the connection in a cell in front of all answers.", _WIRE + "\n    os.close(wire)"
    ),
)
