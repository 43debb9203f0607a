"""Speaking on the wire in the sandbox's place."""

from __future__ import annotations

from course_lib.judging.observation import Outcome
from tests.boxes import FORGE
from tests.dishonest.attempt import DIED, OUT_OF_MEMORY, WRONG, Attempt, in_call

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
    _says("silence", "Closes the connection without a word.", "os.close(wire)"),
    _says("forged_result", "Reports a passed case with full points.", "send(report(passed=True, points=100))"),
    _says(
        "answers_in_advance",
        "Answers all cases at once, and those of other exercises as well.",
        "told = report()\nfor _ in range(50): send(told)",
        WRONG,
    ),
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
        "failed_box",
        "Says that the sandbox itself has failed, so that nobody is to blame.",
        "send({'kind': 'failed', 'reason': 'the grader is broken'})",
    ),
    _says("ready_again", "Begins the conversation anew.", "send({'kind': 'ready'})"),
    _says("surrogates", "Sends text that no file can hold.", "send(report(value='\\ud800'))", WRONG),
    _says("memory_status", "Ends as a sandbox does that has run out of memory.", "os._exit(86)", OUT_OF_MEMORY),
)
