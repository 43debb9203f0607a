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
from tests.course_lib.exercises.judging import mistake, named, verdict


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


class _Unmasked(_Model):
    def mask(self, tokens: int) -> Tensor | None:
        return None


class _Inverted(_Model):
    def mask(self, tokens: int) -> Tensor | None:
        return torch.triu(torch.ones(tokens, tokens), diagonal=1) == 1 if self.causal else None


class _MaskAlways(_Model):
    def mask(self, tokens: int) -> Tensor | None:
        position = torch.arange(tokens).to(self.embedding.weight.device)
        return position.unsqueeze(1) >= position


class _MaskOnTheCPU(_Model):
    def mask(self, tokens: int) -> Tensor | None:
        return torch.ones(tokens, tokens).tril().bool() if self.causal else None


class _WithoutPositions(_Model):
    def embedded(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.embedding.weight)


class _WithoutNorm(_Model):
    def logits(self, x: Tensor) -> Tensor:
        return torch.einsum("bwd,vd->bwv", x, self.embedding.weight)


class _NormFirst(_Model):
    def embedded(self, ids: Tensor) -> Tensor:
        return self.norm(super().embedded(ids))  # type: ignore[no-any-return]

    def logits(self, x: Tensor) -> Tensor:
        return x @ self.embedding.weight.T


class _FlagInverted(_Model):
    def mask(self, tokens: int) -> Tensor | None:
        return None if self.causal else torch.ones(tokens, tokens).tril().bool()


class _CopiedOutput(_Model):
    def logits(self, x: Tensor) -> Tensor:
        return self.norm(x) @ torch.tensor(self.embedding.weight.tolist(), dtype=x.dtype).T  # type: ignore[no-any-return]


def _slices(stream: Tensor, starts: Tensor, context_length: int) -> tuple[Tensor, Tensor]:
    windows = [stream[start : start + context_length + 1] for start in starts.tolist()]
    return torch.stack([window[:-1] for window in windows]), torch.stack([window[1:] for window in windows])


def _text_by_hand(
    model: Callable[[Tensor], Tensor], prompt: Tensor, max_new_tokens: int, context_length: int
) -> Tensor:
    tokens = prompt.tolist()
    for _ in range(max_new_tokens):
        tokens.append(model(torch.tensor([tokens])).argmax(-1)[0, -1].item())
    return torch.tensor(tokens)


def _only_new_tokens(
    model: Callable[[Tensor], Tensor], prompt: Tensor, max_new_tokens: int, context_length: int
) -> Tensor:
    tokens = prompt.tolist()
    for _ in range(max_new_tokens):
        tokens.append(int(model(torch.tensor([tokens[-context_length:]]))[0][-1].argmax()))
    return torch.tensor(tokens[len(prompt) :], dtype=torch.long)


def _until_the_full_stop(
    model: Callable[[Tensor], Tensor], prompt: Tensor, max_new_tokens: int, context_length: int
) -> Tensor:
    for _ in range(max_new_tokens):
        token = int(model(prompt[None, -context_length:])[0, -1].argmax())
        prompt = torch.cat([prompt, torch.tensor([token])])
        if token == 0:
            break
    return prompt


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


def _all_copied(honest: Tensor) -> Tensor:
    return honest * 0


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("gpt.training_windows", lambda stream, starts, n: _slices(stream, starts, n)[::-1], "swapped"),
        (
            "gpt.training_windows",
            lambda stream, starts, n: (x := _slices(stream, starts, n)[0], torch.roll(x, shifts=-1, dims=1)),
            "rolled_round",
        ),
        ("gpt.tied_logits", lambda h, w: F.softmax(F.linear(h, w), -1), "softmax_taken"),
        ("gpt.tied_logits", lambda h, w: F.linear(h, w) * h.shape[-1] ** -0.5, "scaled"),
        ("gpt.causal_language_model", _Unmasked, "no_mask"),
        ("gpt.causal_language_model", _Inverted, "mask_inverted"),
        ("gpt.causal_language_model", _MaskAlways, "always_causal"),
        ("gpt.causal_language_model", _WithoutPositions, "no_positions"),
        ("gpt.causal_language_model", _WithoutNorm, "no_final_norm"),
        ("gpt.causal_language_model", _NormFirst, "norm_before_the_blocks"),
        ("gpt.causal_language_model", _FlagInverted, "no_mask"),
        ("gpt.causal_language_model", _CopiedOutput, "output_detached"),
        ("gpt.loss_without_mask", _all_copied, "zero_everywhere"),
        ("gpt.generate", _text_by_hand, "context_ignored"),
        ("gpt.generate", _only_new_tokens, "prompt_left_out"),
        ("gpt.generate", _until_the_full_stop, "stopped_at_the_full_stop"),
        ("gpt.generate", _behind_the_prompt, "one_reading"),
        ("gpt.fine_tuning_loss", _as_a_mean, "mixture"),
        ("gpt.influence", lambda model, ids, size: _moved(model, ids, size).T, "transposed"),
        ("gpt.influence", lambda model, ids, size: _moved(model, ids, size, other=0), "replaced_by_0"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


class TestParts:
    @pytest.mark.parametrize(
        ("exercise_id", "misconception_id", "points"),
        [
            ("gpt.causal_language_model", "always_causal", 4),
            ("gpt.generate", "context_ignored", 2),
            ("gpt.generate", "first_words_kept", 2),
        ],
    )
    def test_what_is_right_earns_its_part(self, exercise_id: str, misconception_id: str, points: int) -> None:
        assert verdict(exercise_id, mistake(exercise_id, misconception_id)).points == points


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
