"""What grading keeps of what a sandbox says."""

from typing import Any

import torch

from autograder.grading.kept_outputs import OutputKeeper, keep_observation
from course_lib.judging.observation import Foreign, Observation


def stream(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_a_result_that_is_too_large_becomes_a_word() -> None:
    observation = Observation(True, {"a": [torch.zeros(1000, 1000), 1]}, (torch.ones(3), None))
    assert keep_observation(observation) is observation
    large = torch.zeros(1000, 1000, dtype=torch.float64)
    for value, gradients in (([large, (large,)], (None,)), (torch.zeros(2), (torch.zeros(3000, 1000),))):
        kept = keep_observation(Observation(True, value, gradients))
        assert isinstance(kept.value, Foreign)
        assert kept.value.type_name.startswith("result of 1")
        assert kept.gradients == (None,)


def test_outputs_are_kept_until_they_are_too_much_together() -> None:
    keeper = OutputKeeper()
    megabytes = "x" * (20 << 20)
    for place in (0, 1, 2, 2, 1):
        assert keeper.keep(place, [stream(megabytes)]) == [stream(megabytes)]
    for place in (3, 4):
        [note] = keeper.keep(place, [stream(megabytes)])
        assert note["text"] == "[katze] The outputs of this cell were left out: together they exceed 64 MB.\n"
    assert keeper.keep(5, [stream("x")]) == [stream("x")]


def test_of_data_that_no_page_shows_the_type_is_kept() -> None:
    data = {"application/json": [[]] * 1000, "text/plain": "1", "text/html": "<p>"}
    output = {"output_type": "execute_result", "data": data, "metadata": {"a": [[]]}, "execution_count": 3}
    [kept] = OutputKeeper().keep(0, [output])
    assert kept == {**output, "data": {**data, "application/json": ""}, "metadata": {}}
    assert data["application/json"]
