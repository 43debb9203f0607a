"""Compiled decoding: the same tokens, in steps that are compiled once."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from course_lib import decoding_states
from course_lib.models import GPT, GPTConfig
from tests.course_lib.writers import SOURCES, transformer

GPT2 = GPTConfig(31, 100, 16, 4, 2, 24, end_id=2, padding_id=0)
MODERN = replace(
    GPTConfig.llama(31, 16, 4, 2, 24, 100), key_value_heads=2, qk_norm=True, window=5, end_id=2, padding_id=0
)
PROMPTS = torch.tensor([[5, 17, 30, 9, 4], [0, 0, 12, 3, 25], [7, 7, 0, 0, 0]])


def scattered(model: nn.Module) -> nn.Module:
    """With weights that make its tokens differ."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.5 * torch.randn(parameter.shape, generator=generator)
    return model.eval()


MODELS: dict[str, tuple[Callable[[], nn.Module], Tensor]] = {
    "gpt2": (lambda: GPT(GPT2), PROMPTS),
    "modern": (lambda: GPT(MODERN), PROMPTS),
    "translator": (transformer, SOURCES),
}


@pytest.fixture(params=MODELS.values(), ids=MODELS.keys())
def case(request: pytest.FixtureRequest) -> tuple[nn.Module, Tensor]:
    torch.manual_seed(0)
    make, inputs = request.param
    return scattered(make()), inputs


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[fx.GraphModule]]:
    """What is compiled, in order: in one piece, so that no step asks the device for a number."""
    found: list[fx.GraphModule] = []

    def backend(graph: fx.GraphModule, _: list[Tensor]) -> Any:
        found.append(graph)
        return graph

    torch.compiler.reset()
    decoding_states._compiled.cache_clear()
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend, fullgraph=True))
    yield found
    decoding_states._compiled.cache_clear()


def drawn(**settings: Any) -> dict[str, Any]:
    return {"generator": torch.Generator().manual_seed(0), **settings}


def test_the_same_tokens_in_steps_compiled_once(case: tuple[Any, Tensor], graphs: list[fx.GraphModule]) -> None:
    model, inputs = case
    for settings in (
        lambda: {},
        lambda: drawn(temperature=1.5),
        lambda: drawn(top_k=5, top_p=0.9, repetition_penalty=1.3),
        lambda: {"stop_strings": [[7], [9, 3]]},
        lambda: {"max_new_tokens": 2},
    ):
        expected = model.generate(inputs, **{"max_new_tokens": 12, **settings()})
        found = model.generate(inputs, **{"max_new_tokens": 12, **settings()}, compiled=True)
        assert torch.equal(found, expected)
    heard: list[Tensor] = []
    streamer = SimpleNamespace(put=heard.append, end=lambda: heard.append(torch.tensor([])))
    written = model.generate(inputs, max_new_tokens=12, streamer=streamer, compiled=True)
    assert torch.equal(torch.cat([heard[0], torch.stack(heard[1:-1], dim=1)], dim=1), written)
    # Other texts, of another width, after which more is written: all within the same sizes.
    others, reversed_ = inputs.flip(0)[:, :3], {"attention_mask": (inputs.flip(0)[:, :3] != 0).long()}
    expected = model.generate(others, **reversed_, max_new_tokens=30)
    assert torch.equal(model.generate(others, **reversed_, max_new_tokens=30, compiled=True), expected)
    assert len(graphs) == 2  # one to begin with, and one that goes on


def test_beam_search_changes_places_within_the_same_memory(
    case: tuple[Any, Tensor], graphs: list[fx.GraphModule]
) -> None:
    model, inputs = case
    places = set()
    for beams, length, early in ((3, 10, False), (3, 25, "never"), (3, 1, True)):
        settings: dict[str, Any] = {"num_beams": beams, "max_new_tokens": length, "early_stopping": early}
        expected = model.generate(inputs, **settings)
        assert torch.equal(model.generate(inputs, **settings, compiled=True), expected)
        places.add(tuple(tensor.data_ptr() for tensor in decoding_states._kept[model].tensors()))
    assert len(places) == 1
    assert len(graphs) == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="a CUDA graph needs a GPU")
@pytest.mark.parametrize("beams", [1, 3])
def test_on_a_gpu_as_without(case: tuple[Any, Tensor], beams: int) -> None:
    model, inputs = case[0].cuda().double(), case[1].cuda()
    for texts in (inputs, inputs.flip(0), inputs[:, :3]):
        settings: dict[str, Any] = {"max_new_tokens": 20, "num_beams": beams}
        expected = model.generate(texts, **settings)
        assert torch.equal(model.generate(texts, **settings, compiled=True), expected)
    if beams == 1:
        draws = []
        for how in (False, True):
            generator = torch.Generator("cuda").manual_seed(0)
            draws.append(model.generate(inputs, max_new_tokens=20, top_k=9, generator=generator, compiled=how))
        assert torch.equal(*draws)
