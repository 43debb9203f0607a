"""The trace of greedy decoding: the same words, and at every step the distribution and the attention behind them."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from course_lib.decoding.greedy import greedy_decode
from course_lib.decoding.tracing import trace_greedy
from tests.course_lib.writers import PROMPTS_LEFT, SOURCES, gpt, transformer


def test_a_translation_step_by_step() -> None:
    model = transformer().eval()
    trace = trace_greedy(model, SOURCES[0], max_length=6)
    assert trace.source == (4, 5, 6, 7)
    assert trace.words == [word for word in greedy_decode(model, SOURCES[:1], max_length=6)[0].tolist() if word]
    for place, step in enumerate(trace.steps):
        assert step.read == (1, *trace.words[:place])
        logits = model(SOURCES[:1], torch.tensor([step.read]))[0, -1]
        assert_close(step.distribution, torch.softmax(logits, dim=-1))
        assert [alpha.shape for alpha in step.self_alpha] == [(2, place + 1)] * 2
        assert [alpha.shape for alpha in step.cross_alpha] == [(2, 4)] * 2


def test_the_attention_is_that_of_the_last_word() -> None:
    model = transformer(1).eval()
    step = trace_greedy(model, SOURCES[0], max_length=3).steps[2]
    states = model.target_states(torch.tensor([step.read]), model.encode(SOURCES[:1]), need_weights=True)
    for ours, whole in zip(step.self_alpha + step.cross_alpha, states.self_alpha + states.cross_alpha, strict=True):
        assert_close(ours, whole[0, :, -1])


def test_a_language_model_has_no_source_to_attend_to() -> None:
    model = gpt(end_id=None)
    trace = trace_greedy(model, PROMPTS_LEFT[0], max_length=3)
    assert [step.read for step in trace.steps] == [(4, 5, 6, 7), *((4, 5, 6, 7, *trace.words[:n]) for n in (1, 2))]
    assert [step.self_alpha[0].shape for step in trace.steps] == [(2, 4), (2, 5), (2, 6)]
    assert all(step.cross_alpha == () for step in trace.steps)
    assert trace.words == greedy_decode(model, PROMPTS_LEFT[:1], max_length=3)[0].tolist()


def test_one_text_at_a_time() -> None:
    with pytest.raises(ValueError, match=r"must be \[words\], not \[3, 4\]"):
        trace_greedy(transformer(), SOURCES)
