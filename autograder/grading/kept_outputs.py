"""Limits what grading keeps of a sandbox's replies: enough to judge and to show, without filling the memory.

A sandbox may send 64 MB in each reply, and a submission gets some hundred replies.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autograder.box.protocol import output_bytes
from autograder.limits import size
from course_lib.judging.elsewhere import tensors_in
from course_lib.judging.observation import Foreign, Observation

RESULT_BYTES = 8 << 20
"""Limit for the tensors in one result with its gradients; right results are far smaller."""

OUTPUT_BYTES = 64 << 20
"""Limit for all outputs of a submission's cells; a page shows less (`sanitise.NOTEBOOK_BYTES`)."""


def keep_observation(observation: Observation) -> Observation:
    """Return the observation, with a note in place of a result that is too large to be right."""
    size_in_bytes = sum(tensor.nbytes for tensor in tensors_in([observation.value, *observation.gradients]))
    if size_in_bytes <= RESULT_BYTES:
        return observation
    word = Foreign(f"result of {size(size_in_bytes)}")
    return replace(observation, value=word, gradients=tuple(None for _ in observation.gradients))


class OutputKeeper:
    """Keeps the outputs of cell after cell, up to a total limit."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}

    def keep(self, place: int, outputs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Keep and return the outputs of a cell, without data that no page shows; they replace its earlier outputs."""
        self._sizes[place] = sum(map(output_bytes, outputs))
        if sum(self._sizes.values()) <= OUTPUT_BYTES:
            return [_plain(output) for output in outputs]
        self._sizes[place] = 0
        text = f"[katze] The outputs of this cell were left out: together they exceed {size(OUTPUT_BYTES)}.\n"
        return [{"output_type": "stream", "name": "stdout", "text": text}]


def _plain(output: dict[str, Any]) -> dict[str, Any]:
    """Return an output with only its text data; anything else, which could be a hundred thousand lists, becomes its
    type.
    """
    if "data" not in output:
        return output
    data = {kind: content if isinstance(content, str) else "" for kind, content in output["data"].items()}
    return {**output, "data": data, "metadata": {}}
