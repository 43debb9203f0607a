"""Slips in a student's own handwriting are named, and honest answers pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.judging.observation import Outcome
from course_lib.references.gpt import CausalLanguageModel
from tests.course_lib.exercises.judging import named, verdict


class _Model(CausalLanguageModel):
    """A student's own, with a method for each part that one may get wrong."""

    def mask(self, tokens: int) -> Tensor | None:
        return self.embedding.weight.new_ones(tokens, tokens).tril().bool() if self.causal else None

    def embedded(self, ids: Tensor) -> Tensor:
        return self.positions(self.embedding(ids))  # type: ignore[no-any-return]

    def logits(self, x: Tensor) -> Tensor:
        return F.linear(self.norm(x), self.embedding.weight)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedded(ids)
        for block in self.blocks:
            mask = self.mask(ids.shape[1])
            x = block(x, None if mask is None else mask.unsqueeze(0))
        return self.logits(x)


class _Inverted(_Model):
    def mask(self, tokens: int) -> Tensor | None:
        return torch.triu(torch.ones(tokens, tokens), diagonal=1) == 1 if self.causal else None


class _MaskOnTheCPU(_Model):
    def mask(self, tokens: int) -> Tensor | None:
        return torch.ones(tokens, tokens).tril().bool() if self.causal else None


class _WithoutNorm(_Model):
    def logits(self, x: Tensor) -> Tensor:
        return torch.einsum("bwd,vd->bwv", x, self.embedding.weight)


class _FlagInverted(_Model):
    def mask(self, tokens: int) -> Tensor | None:
        return None if self.causal else torch.ones(tokens, tokens).tril().bool()


class _CopiedOutput(_Model):
    def logits(self, x: Tensor) -> Tensor:
        return self.norm(x) @ torch.tensor(self.embedding.weight.tolist(), dtype=x.dtype).T  # type: ignore[no-any-return]


def _behind_the_prompt(
    model: Callable[[Tensor], Tensor], prompt: Tensor, max_new_tokens: int, context_length: int
) -> Tensor:
    position = len(prompt) - 1
    for _ in range(max_new_tokens):
        prompt = torch.cat([prompt, model(prompt[None, -context_length:])[0, position].argmax().view(1)])
    return prompt


def _as_a_mean(class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float) -> Tensor:
    tokens = nn.CrossEntropyLoss()(lm_logits.permute(0, 2, 1), targets)
    return weight * tokens + (1 - weight) * nn.CrossEntropyLoss()(class_logits, labels)  # type: ignore[no-any-return]


def _moved(model: Callable[[Tensor], Tensor], ids: Tensor, vocab_size: int, other: int | None = None) -> Tensor:
    texts = ids.repeat(len(ids), 1)
    texts.fill_diagonal_(other) if other is not None else texts.diagonal().add_(1).remainder_(vocab_size)
    return (model(texts) - model(ids[None])).abs().amax(dim=-1).T


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("gpt.tied_logits", lambda h, w: F.linear(h, w) * h.shape[-1] ** -0.5, "scaled"),
        ("gpt.causal_language_model", _Inverted, "mask_inverted"),
        ("gpt.causal_language_model", _WithoutNorm, "no_final_norm"),
        ("gpt.causal_language_model", _FlagInverted, "no_mask"),
        ("gpt.causal_language_model", _CopiedOutput, "output_detached"),
        ("gpt.generate", _behind_the_prompt, "one_reading"),
        ("gpt.fine_tuning_loss", _as_a_mean, "mixture"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


def _cached_windows(model: Any, prompt: Tensor, max_new_tokens: int, context_length: int) -> Tensor:
    for step in range(max_new_tokens):
        window = prompt if len(prompt) < context_length else prompt[len(prompt) - context_length :]
        token = torch.argmax(model(window.reshape(1, -1)).squeeze(0)[len(window) - 1])
        prompt = torch.cat([prompt, token.unsqueeze(0)])
        assert len(window) <= context_length, step
    return prompt


def test_a_mask_on_the_cpu_is_named_and_costs_a_point() -> None:
    found = verdict("gpt.causal_language_model", _MaskOnTheCPU)
    assert (found.outcome, found.points) == (Outcome.RAISED, 4)
    assert found.misconception is not None
    assert found.misconception.id == "mask_on_the_cpu"
    assert "same device" in " ".join(found.text().split())


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [
        ("gpt.causal_language_model", _Model),
        ("gpt.generate", _cached_windows),
        ("gpt.loss_without_mask", lambda honest: honest * (torch.arange(honest.shape[-1]) + 1 == honest.shape[-1])),
        ("gpt.influence", _moved),
    ],
)
def test_honest_answers_pass(exercise_id: str, answer: Callable[..., object]) -> None:
    for seed in range(6):
        assert verdict(exercise_id, answer, seed).passed
