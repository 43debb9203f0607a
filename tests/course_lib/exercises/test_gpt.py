"""The sizes that a slide prints are a named mistake, and so are slips in a student's own handwriting."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.judging.observation import Outcome
from course_lib.references.gpt import CausalLanguageModel
from tests.course_lib.exercises.judging import mistake, verdict


class TestTheSlide:
    def test_prints_gpt_2_with_the_vocabulary_of_gpt_1(self) -> None:
        printed = mistake("gpt.count_parameters", "as_printed")
        sizes = [(768, 12), (1024, 24), (1280, 36), (1600, 48)]
        found = [printed(50_257, 1024, d_model, layers, True) for d_model, layers in sizes]
        assert found == [117_000_000, 345_000_000, 762_000_000, 1_542_000_000]


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


def _positions_with_infinities_dropped(log_probs: Tensor, targets: Tensor) -> Tensor:
    kept = torch.isfinite(log_probs).all(dim=-1)
    return F.nll_loss(log_probs[kept], targets[kept])


def _without_biases(vocab_size: int, context_length: int, d_model: int, layers: int, tied: bool) -> int:
    block = 4 * d_model**2 + 2 * 4 * d_model**2 + 2 * 2 * d_model
    return vocab_size * d_model * (1 if tied else 2) + context_length * d_model + layers * block + 2 * d_model


def _seen_as_classes(log_probs: Tensor, targets: Tensor) -> Tensor:
    batch, tokens, vocab_size = log_probs.shape
    return nn.NLLLoss()(log_probs.reshape(batch, vocab_size, tokens), targets)  # type: ignore[no-any-return]


def _as_a_mean(class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float) -> Tensor:
    tokens = nn.CrossEntropyLoss()(lm_logits.permute(0, 2, 1), targets)
    return weight * tokens + (1 - weight) * nn.CrossEntropyLoss()(class_logits, labels)  # type: ignore[no-any-return]


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
        ("gpt.lm_loss", _seen_as_classes, "reshaped_not_transposed"),
        ("gpt.lm_loss", lambda p, t: p.gather(2, t[..., None]).mean(), "sign_forgotten"),
        ("gpt.lm_loss", lambda p, t: -(p * F.one_hot(t, p.shape[2])).sum(-1).mean(), "zero_times_infinity"),
        ("gpt.lm_loss", _positions_with_infinities_dropped, "places_with_zeros_left_out"),
        ("gpt.lm_loss", lambda p, t: F.nll_loss(p[:, :-1].transpose(1, 2), t[:, 1:]), "shifted_again"),
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
        ("gpt.count_parameters", _without_biases, "no_biases"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    found = verdict(exercise_id, answer)
    assert found.outcome is Outcome.WRONG
    assert found.misconception is not None
    assert found.misconception.id == expected


class TestGradients:
    """Of a loss a gradient must come back; cross_entropy's is another one for log_probs, and as good for the model."""

    def test_cross_entropy_is_a_right_answer(self) -> None:
        for seed in range(6):
            assert verdict("gpt.lm_loss", lambda p, t: F.cross_entropy(p.movedim(2, 1), t), seed).passed

    def test_a_loss_that_is_cut_off_is_named(self) -> None:
        for cut in (lambda loss: loss.detach(), lambda loss: torch.tensor(loss.item(), dtype=loss.dtype)):
            found = verdict("gpt.lm_loss", lambda p, t, cut=cut: cut(F.nll_loss(p.transpose(1, 2), t)))
            assert found.misconception is not None
            assert found.misconception.id == "detached"


class TestParts:
    @pytest.mark.parametrize(
        ("exercise_id", "misconception_id", "points"),
        [
            ("gpt.lm_loss", "zero_times_infinity", 2),
            ("gpt.causal_language_model", "always_causal", 4),
            ("gpt.generate", "context_ignored", 2),
            ("gpt.generate", "first_words_kept", 2),
            ("gpt.count_parameters", "always_tied", 2),
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
    assert "same device" in found.text()


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [
        ("gpt.lm_loss", lambda p, t: F.cross_entropy(p.permute(0, 2, 1), t)),
        ("gpt.lm_loss", lambda p, t: -torch.stack([p[i, range(t.shape[1]), t[i]] for i in range(len(t))]).mean()),
        ("gpt.causal_language_model", _Model),
        ("gpt.generate", _cached_windows),
        ("gpt.loss_without_mask", lambda honest: honest * (torch.arange(honest.shape[-1]) + 1 == honest.shape[-1])),
        (
            "gpt.count_parameters",
            lambda vocab_size, context_length, d_model, layers, tied: int(
                d_model
                * math.fsum([vocab_size, 0 if tied else vocab_size, context_length, 2, layers * (12 * d_model + 13)])
            ),
        ),
    ],
)
def test_honest_answers_pass(exercise_id: str, answer: Callable[..., object]) -> None:
    for seed in range(6):
        assert verdict(exercise_id, answer, seed).passed
