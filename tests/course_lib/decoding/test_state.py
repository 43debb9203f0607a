"""Texts being written: the same interface to both kinds of model, with a cache or without."""

import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.decoding import beam, greedy
from course_lib.decoding.greedy import time_to_ask
from course_lib.decoding.state import begin_decoding
from course_lib.models import GPT
from tests.course_lib.writers import PROMPTS_LEFT, SOURCES, gpt, transformer

KINDS = [(transformer, SOURCES), (gpt, PROMPTS_LEFT)]


@pytest.mark.parametrize(("make", "inputs"), KINDS)
@pytest.mark.parametrize("use_cache", [True, False])
def test_copies_go_on_from_each_other(make: type[nn.Module], inputs: Tensor, use_cache: bool) -> None:
    model = make().eval()
    text = begin_decoding(model, inputs, 5, use_cache=use_cache)
    assert text.prefill().shape == (3, 12)
    text.expand(2)
    assert text.batch == 6
    text.step(torch.tensor([4, 5, 6, 7, 8, 9]))
    text.select(torch.tensor([1, 1, 2, 2, 4, 5]))
    after = text.step(torch.tensor([3, 3, 3, 4, 3, 3]))
    for row, (source, first, second) in enumerate([(0, 5, 3), (0, 5, 3), (1, 6, 3), (1, 6, 4), (2, 8, 3), (2, 9, 3)]):
        alone = begin_decoding(model, inputs[source : source + 1], 5)
        alone.prefill()
        alone.step(torch.tensor([first]))
        assert_close(after[row : row + 1], alone.step(torch.tensor([second])), rtol=1e-4, atol=1e-4)


def test_a_prompt_padded_behind_speaks_from_its_last_token() -> None:
    model = gpt().eval()
    padded = begin_decoding(model, torch.tensor([[8, 9, 0, 0], [4, 5, 6, 7]]), 3).prefill()
    alone = begin_decoding(model, torch.tensor([[8, 9]]), 3).prefill()
    assert_close(padded[:1], alone)


def test_the_end_of_a_text_before_every_prompt_is_a_token() -> None:
    model = GPT(dataclasses.replace(gpt().config, padding_id=None)).eval()
    prompts = torch.tensor([[2, 4, 5], [2, 8, 9]])
    assert_close(begin_decoding(model, prompts, 3).prefill(), model(prompts)[:, -1])


def test_decoding_does_not_wait_for_the_device_at_every_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at a number that a device computes stops the program until the device has caught up."""

    class Waits(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.count += function in (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.aminmax.default)
            return function(*args, **(kwargs or {}))

    def elsewhere(step: int, device: torch.device) -> bool:
        return time_to_ask(step, torch.device("meta"))

    monkeypatch.setattr(greedy, "time_to_ask", elsewhere)
    monkeypatch.setattr(beam, "time_to_ask", elsewhere)
    for beams in (1, 4):
        counts = []
        for tokens in (6, 22):
            with Waits() as waits:
                gpt().generate(torch.tensor([[4, 5]]), max_new_tokens=tokens, num_beams=beams)
            counts.append(waits.count)
        assert counts[1] - counts[0] <= 2


def test_the_ids_around_a_text() -> None:
    for model, inputs, given in (
        (transformer(), SOURCES, torch.ones_like(SOURCES[:, :1])),
        (gpt(), *2 * (PROMPTS_LEFT,)),
    ):
        text = begin_decoding(model.eval(), inputs, 3)
        assert (text.end_ids, text.padding_id, text.device.type) == ((2,), 0, "cpu")
        assert torch.equal(text.prompt, given)
