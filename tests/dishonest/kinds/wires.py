"""Speaking on the wire in the sandbox's place."""

from course_lib.judging.observation import Outcome
from tests.boxes import FORGE
from tests.dishonest.attempt import DIED, OUT_OF_MEMORY, TIMED_OUT, WRONG, Attempt, in_call, in_cell

_WIRE = f"""{FORGE}
def number():
    import gc
    headers = [getattr(o, "header", {{}}) for o in gc.get_objects() if type(o).__name__ == "Frame"]
    return [header["id"] for header in headers if "forbidden" in header][-1] + ".0"
def report(**fields):
    right = {{"returned": True, "value": None, "gradients": [], "arguments": [None, None]}}
    right |= {{"failure": None, "raised": None, "seconds": 0.0}}
    return {{"id": number(), "kind": "observation", "observation": {{**right, **fields}}}}
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
        "import time\nfor byte in frame(report()):\n    say(bytes([byte])); time.sleep(1)",
        TIMED_OUT,
    ),
    _says("forged_result", "Reports a passed case with full points.", "send(report(passed=True, points=100))"),
    _says("forged_number", "Answers a question that was not asked.", "send({**report(), 'id': '0' * 16})"),
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
    _says("wide_json", "Sends millions of values in one frame.", "send(b'[' + b'0,' * 3_000_000 + b'0]')"),
    _says(
        "nan_in_json",
        "Reports NaN as the time that it took.",
        "send(json.dumps(report(seconds=float('nan'))).encode())",
    ),
    _says("endless_number", "Sends a number with a million digits.", "send(b'{\"id\":' + b'9' * 1_000_000 + b'}')"),
    _says(
        "forged_tensor",
        "Sends a tensor of NaN in place of its result.",
        """
            told = {'tensors': [['F32', [2, 3]]], **report(value={'tensor': 0})}
            send(told, torch.full((2, 3), float('nan')).numpy().tobytes())
        """,
        WRONG,
    ),
    _says(
        "missing_numbers",
        "Announces a tensor, and sends no numbers.",
        "send({'tensors': [['F32', [2, 3]]], **report(value={'tensor': 0})})",
    ),
    _says(
        "empty_giant",
        "Sends a tensor without numbers and with endless dimensions.",
        "send({'tensors': [['F32', [0, 2**60]]], **report(value={'tensor': 0})})",
    ),
    _says(
        "booleans",
        "Sends booleans that are neither true nor false.",
        "send({'tensors': [['BOOL', [2, 3]]], **report(value={'tensor': 0})}, b'\\x07' * 6)",
    ),
    _says(
        "failed_box",
        "Says that the sandbox itself has failed, so that nobody is to blame.",
        "send({'kind': 'failed', 'reason': 'the grader is broken'})",
    ),
    _says("ready_again", "Begins the conversation anew.", "send({'kind': 'ready'})"),
    _says("ungraded", "Asks not to be graded.", "send(report(returned=False, failure='ungraded'))"),
    _says("pickle", "Sends a pickle, in case somebody loads it.", "import pickle\nsay(pickle.dumps(eval) * 9)"),
    _says("surrogates", "Sends text that no file can hold.", "send(report(value='\\ud800'))", WRONG),
    _says("memory_status", "Ends as a sandbox does that has run out of memory.", "os._exit(86)", OUT_OF_MEMORY),
    in_cell("closed_in_a_cell", "Closes the connection in a cell before all answers.", _WIRE + "os.close(wire)"),
)
