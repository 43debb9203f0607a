"""Encoder and decoder as boxes: every layer and shape is there, and the memory goes where it is said to."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import FancyBboxPatch

from course_lib import show
from course_lib.show import Layer, Stack

ENCODER = Stack("encoder", "the cat", [Layer("embedding", "[2, 8]"), Layer("self-attention", "[2, 8]")], (1, 1), "6 ×")
DECODER = Stack(
    "decoder",
    "<s> die",
    [Layer("embedding", "[3, 8]"), Layer("cross-attention", "[3, 8]"), Layer("output", "[3, 99]")],
    (1, 1),
    "6 ×",
    output="scores",
)


def test_all_is_written(drawn) -> None:
    (axes,) = drawn(show.stacks, ENCODER, DECODER, into=1, alt="two stacks").axes
    texts = [text.get_text() for text in axes.texts]
    for stack in (ENCODER, DECODER):
        assert {stack.title, stack.input, stack.output, *(layer.name for layer in stack.layers)} <= set(texts)
    assert texts.count("6 ×") == 2
    assert texts.count("[2, 8]") == 2, "once within the encoder, once beside the memory"
    assert texts.count("[3, 8]") == 2
    assert "[3, 99]" in texts
    assert "memory" in texts
    assert sum(isinstance(patch, FancyBboxPatch) for patch in axes.patches) >= 5


def test_the_memory_ends_at_its_reader(drawn) -> None:
    ends = []
    for into in (0, 1):
        (axes,) = drawn(show.stacks, ENCODER, DECODER, into, alt="two stacks").axes
        (line,) = axes.lines
        ends.append(np.asarray(line.get_ydata()).tolist()[-1])
    assert ends[1] > ends[0]
