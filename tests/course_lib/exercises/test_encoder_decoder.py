"""The slide's printed numbers are named mistakes, and so are slips in a student's own handwriting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.exercises.encoder_decoder.shared import meowed_table
from course_lib.judging.edits import Edited
from course_lib.masking import causal_mask
from course_lib.references import encoder_decoder
from tests.course_lib.exercises.judging import named, verdict


class TestTheSlides:
    def test_a_loss_of_the_table_is_as_the_lesson_says(self) -> None:
        p, targets = meowed_table()
        assert p.sum(dim=1).tolist() == pytest.approx([1.0] * 8)
        loss, perplexity = encoder_decoder.loss_and_perplexity(p.log().unsqueeze(0), targets.unsqueeze(0))
        assert float(loss) == pytest.approx(1.5783, abs=5e-5)
        assert float(perplexity) == pytest.approx(4.847, abs=5e-4)

    @pytest.mark.parametrize("smoothing", ["all", "others"])
    def test_only_the_slides_smoothing_is_accepted_and_torchs_is_named(self, smoothing: str) -> None:
        def torchs(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
            return F.cross_entropy(logits, expected, label_smoothing=smoothing)

        def converted(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
            return torchs(logits, expected, smoothing * logits.shape[1] / (logits.shape[1] - 1))

        found = verdict("encoder_decoder.label_smoothing", torchs if smoothing == "all" else converted)
        assert found.passed == (smoothing == "others")
        assert (found.misconception.id if found.misconception else None) == (
            "torchs_variant" if smoothing == "all" else None
        )


def _padding_left_in(source: Tensor, target: Tensor, *parts: Any) -> Any:
    embed_source, encoder, embed_target, decoder, output = parts
    n, m = source.shape[1], target.shape[1]
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, torch.ones(1, n, n, dtype=torch.bool))
    x = embed_target(target)
    for block in decoder:
        x = block(x, memory, torch.tril(torch.ones(1, m, m)) == 1, torch.ones(1, m, n, dtype=torch.bool))
    return output(x)


def _returned_too_soon(source: Tensor, target: Tensor, *parts: Any) -> Any:
    embed_source, encoder, embed_target, decoder, output = parts
    seen = (source > 0)[:, None, :]
    memory = encoder[0](embed_source(source), seen)
    x = decoder[0](embed_target(target), memory, torch.ones(1, target.shape[1], target.shape[1]).tril().bool(), seen)
    return output(x)


def _loop(
    W: Tensor, b: Tensor, batches: list[tuple[Tensor, Tensor]], rate: float, clip: float
) -> tuple[Tensor, Tensor, Tensor]:
    parameters = [nn.Parameter(W.clone()), nn.Parameter(b.clone())]
    optimizer, losses = torch.optim.SGD(parameters, lr=rate), []
    for x, expected in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(x @ parameters[0] + parameters[1], expected)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        losses.append(loss.detach())
    return parameters[0].detach(), parameters[1].detach(), torch.stack(losses)


_CLIP, _STEP = "nn.utils.clip_grad_norm_(parameters, clip)", "optimizer.step()"
_no_zeroing = Edited(_loop, ("        optimizer.zero_grad()\n", ""))
_values_clipped = Edited(_loop, (_CLIP, "nn.utils.clip_grad_value_(parameters, clip)"))
_each_clipped = Edited(_loop, (_CLIP, "[nn.utils.clip_grad_norm_(parameter, clip) for parameter in parameters]"))
_parameters_returned = Edited(
    _loop, ("parameters[0].detach(), parameters[1].detach()", "parameters[0], parameters[1]"), ("loss.detach()", "loss")
)


def test_parameters_are_tensors() -> None:
    assert verdict("encoder_decoder.training_loop", _parameters_returned).passed


def _returned_in_the_second_loop(source: Tensor, target: Tensor, *parts: Any) -> Any:
    embed_source, encoder, embed_target, decoder, output = parts
    seen, memory = (source > 0)[:, None, :], embed_source(source)
    for block in encoder:
        memory = block(memory, seen)
    x = embed_target(target)
    for block in decoder:
        x = block(x, memory, torch.ones(1, target.shape[1], target.shape[1]).tril().bool(), seen)
        return output(x)
    return x


def _torchs_defaults(
    w: Tensor, g: Tensor, m: Tensor, v: Tensor, step: int, rate: float
) -> tuple[Tensor, Tensor, Tensor]:
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)) ** 0.5 + 1e-8), m, v


def _uncorrected(w: Tensor, g: Tensor, m: Tensor, v: Tensor, step: int, rate: float) -> tuple[Tensor, Tensor, Tensor]:
    m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g * g
    return w - rate * m / (v**0.5 + 1e-9), m, v


def _kept(w: Tensor, g: Tensor, m: Tensor, v: Tensor, step: int, rate: float) -> tuple[Tensor, Tensor, Tensor]:
    m = (0.9 * m + 0.1 * g) / (1 - 0.9**step)
    v = (0.98 * v + 0.02 * g * g) / (1 - 0.98**step)
    return w - rate * m / (v.sqrt() + 1e-9), m, v


def _padding_as_zeros(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    nll = F.cross_entropy(logits.mT, targets, reduction="none")
    loss = nll.masked_fill(targets == 0, 0).mean()
    return loss, loss.exp()


def _in_bits(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    loss = F.cross_entropy(logits.mT, targets, ignore_index=0)
    return loss, 2**loss


@pytest.mark.parametrize(
    ("name", "answer", "expected"),
    [
        ("loss_and_perplexity", _padding_as_zeros, "divided_by_all_positions"),
        ("loss_and_perplexity", _in_bits, "power_of_two"),
        ("encode_and_decode", _padding_left_in, "padding_seen"),
        ("encode_and_decode", _returned_in_the_second_loop, "first_decoder_block_only"),
        ("training_loop", _each_clipped, "each_clipped_by_itself"),
        ("training_loop", _no_zeroing, "gradients_accumulate"),
        ("training_loop", _values_clipped, "values_clipped"),
        ("adam_update", _uncorrected, "not_corrected"),
        ("adam_update", _torchs_defaults, "torchs_settings_and_epsilon"),
        ("adam_update", _kept, "corrected_values_kept"),
        (
            "warmup_schedule",
            lambda steps, d_model, warmup: torch.minimum(steps**-0.5, steps * warmup**1.5) / d_model**0.5,
            "never_rises",
        ),
    ],
)
def test_slips_are_named(name: str, answer: Callable[..., object], expected: str) -> None:
    assert named(f"encoder_decoder.{name}", answer) == expected


def test_the_first_block_of_each_stack_is_not_the_whole() -> None:
    assert named("encoder_decoder.encode_and_decode", _returned_too_soon) == "first_blocks_only"


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
