"""The slide's numbers, and what is accepted or refused of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.exercises.encoder_decoder.shared import meowed_table
from course_lib.masking import causal_mask
from course_lib.references import encoder_decoder
from tests.course_lib.exercises.judging import verdict


class TestTheSlides:
    def test_a_loss_of_the_table_is_as_the_lesson_says(self) -> None:
        p, targets = meowed_table()
        assert p.sum(dim=1).tolist() == pytest.approx([1.0] * 8)
        loss, perplexity = encoder_decoder.loss_and_perplexity(p.log().unsqueeze(0), targets.unsqueeze(0))
        assert float(loss) == pytest.approx(1.5783, abs=5e-5)
        assert float(perplexity) == pytest.approx(4.847, abs=5e-4)

    def test_torchs_smoothing_is_accepted_once_it_is_converted(self) -> None:
        def converted(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
            classes = logits.shape[1]
            return F.cross_entropy(logits, expected, label_smoothing=smoothing * classes / (classes - 1))

        assert verdict("encoder_decoder.label_smoothing", converted).passed


def test_parameters_are_tensors() -> None:
    def loop(
        W: Tensor, b: Tensor, batches: list[tuple[Tensor, Tensor]], rate: float, clip: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        parameters = [nn.Parameter(W.clone()), nn.Parameter(b.clone())]
        optimizer, losses = torch.optim.SGD(parameters, lr=rate), []
        for x, expected in batches:
            optimizer.zero_grad()
            losses.append(F.cross_entropy(x @ parameters[0] + parameters[1], expected))
            losses[-1].backward()
            nn.utils.clip_grad_norm_(parameters, clip)
            optimizer.step()
        return *parameters, torch.stack(losses)

    assert verdict("encoder_decoder.training_loop", loop).passed


class TestMasksOfAnotherKind:
    """They are refused by the blocks, with a sentence that says what a mask is."""

    @pytest.mark.parametrize(
        ("mask", "told"),
        [
            (lambda source: (source != 0).unsqueeze(1).float(), "a mask is a boolean tensor"),
            (lambda source: source != 0, "]: unsqueeze(0) adds the batch, unsqueeze(1) the queries"),
            (lambda source: causal_mask(source.shape[1]), "]: unsqueeze(0) adds the batch, unsqueeze(1) the queries"),
            (lambda source: source[0] != 0, "a mask is [batch, queries, keys], where batch and"),
            (lambda source: (source != 0)[:, None, None], "a mask is [batch, queries, keys], where batch and"),
        ],
    )
    def test_refused(self, mask: Callable[[Tensor], Tensor], told: str) -> None:
        def answer(source: Tensor, target: Tensor, embed_source: Any, encoder: Any, *rest: object) -> Any:
            return encoder[0](embed_source(source), mask(source))

        found = verdict("encoder_decoder.encode_and_decode", answer)
        raised = [result.actual.raised.message for result in found.cases if result.actual.raised]
        assert raised
        assert all(told in message for message in raised)
