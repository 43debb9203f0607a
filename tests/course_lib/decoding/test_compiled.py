"""Decoding with a compiled model: the same words, in steps that are compiled once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from course_lib.decoding.beam import beam_search
from course_lib.decoding.greedy import greedy_decode
from course_lib.models import GPT, GPTConfig
from tests.course_lib.writers import SOURCES, transformer

GPT2 = GPTConfig(31, 100, 16, 4, 2, 24, end_id=2, padding_id=0)
MODERN = replace(
    GPTConfig.llama(31, 16, 4, 2, 24, 100), key_value_heads=2, qk_norm=True, window=5, end_id=2, padding_id=0
)
PROMPTS = torch.tensor([[5, 17, 30, 9, 4], [0, 0, 12, 3, 25], [7, 7, 0, 0, 0]])


def scattered(model: nn.Module) -> nn.Module:
    """With weights that make its words differ."""
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
def graphs() -> list[fx.GraphModule]:
    """What is compiled, in order."""
    torch.compiler.reset()
    return []


def compiled(model: nn.Module, graphs: list[fx.GraphModule]) -> nn.Module:
    def backend(graph: fx.GraphModule, _: list[Tensor]) -> Any:
        graphs.append(graph)
        return graph

    model.compile(backend=backend, fullgraph=True)  # in one piece, so that no step asks the device for a number
    return model


def test_the_same_words_in_steps_compiled_once(case: tuple[nn.Module, Tensor], graphs: list[fx.GraphModule]) -> None:
    model, inputs = case
    expected = greedy_decode(model, inputs, 12)
    assert torch.equal(greedy_decode(compiled(model, graphs), inputs, 12), expected)
    assert len(graphs) == 1


def test_another_length_needs_no_other_step(case: tuple[nn.Module, Tensor], graphs: list[fx.GraphModule]) -> None:
    model, inputs = case
    expected = greedy_decode(model, inputs, 30)
    compiled(model, graphs)
    greedy_decode(model, inputs, 8)
    assert torch.equal(greedy_decode(model, inputs, 30), expected)
    assert len(graphs) == 1


def test_beam_search_changes_places_within_the_same_memory(
    case: tuple[nn.Module, Tensor], graphs: list[fx.GraphModule]
) -> None:
    model, inputs = case
    expected = beam_search(model, inputs, beams=3, max_length=10)
    found = beam_search(compiled(model, graphs), inputs, beams=3, max_length=10)
    assert torch.equal(found.words, expected.words)
    assert len(graphs) == 1
