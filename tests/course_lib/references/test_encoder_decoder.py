"""The small pieces of lesson 05, against the library's large ones and against torch's."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from course_lib.judging.given import Given
from course_lib.kv_cache import PositionsAndMask
from course_lib.models import Transformer, TransformerConfig
from course_lib.references.encoder_decoder import (
    BETAS,
    EPSILON,
    DecoderBlock,
    adam_update,
    encode_and_decode,
    label_smoothing,
    loss_and_perplexity,
    scheduled_sampling,
    training_loop,
    warmup_schedule,
)
from course_lib.references.heads_and_blocks import AddAndNorm, FeedForward, MultiHeadAttention, one_by_one
from course_lib.training.schedules import paper_schedule


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def block() -> DecoderBlock:
    attention, crossing = MultiHeadAttention(8, 2), MultiHeadAttention(8, 2)
    first, second, third = (AddAndNorm(nn.LayerNorm(8), nn.Identity()) for _ in range(3))
    return DecoderBlock(attention, first, crossing, second, FeedForward(8, 16), third)


class TestForward:
    def test_joined_as_the_transformer_joins_its_parts(self) -> None:
        torch.manual_seed(0)
        model = Transformer(TransformerConfig(11, 13, 8, 2, 16, encoder_layers=2, decoder_layers=2)).eval()
        source, target = torch.tensor([[4, 5, 6], [7, 8, 0]]), torch.tensor([[1, 4, 5, 6], [1, 7, 8, 9]])
        decoder = nn.ModuleList(block() for _ in range(2)).eval()
        decoder.load_state_dict(one_by_one(model.decoder.state_dict()))
        with torch.no_grad():
            found = encode_and_decode(
                source,
                target,
                lambda ids: model._embed(ids, model.source_embedding, PositionsAndMask(0)),
                [lambda x, mask, block=block: block(x, mask).out for block in model.encoder],  # type: ignore[misc]
                lambda ids: model._embed(ids, model.target_embedding, PositionsAndMask(0)),
                list(decoder),
                model.output,
            )
            assert_close(found, model(source, target))


class TestLoss:
    def test_the_loss_is_cross_entropy_without_padding(self) -> None:
        logits, targets = draw(3, 5, 7), torch.tensor([[1, 2, 3, 4, 5], [6, 1, 0, 0, 0], [2, 2, 2, 0, 0]])
        loss, perplexity = loss_and_perplexity(logits, targets)
        assert_close(loss, F.cross_entropy(logits[targets > 0], targets[targets > 0]))
        assert float(perplexity) == pytest.approx(math.exp(float(loss)))

    def test_smoothing_spreads_over_the_others(self) -> None:
        logits, expected = draw(4, 6), torch.tensor([0, 5, 2, 2])
        target = torch.full((4, 6), 0.1 / 5).scatter(1, expected.unsqueeze(1), 0.9)
        assert_close(label_smoothing(logits, expected, 0.1), -(target * logits.log_softmax(-1)).sum(-1).mean())


class TestSteps:
    def test_the_schedule_is_the_papers(self) -> None:
        steps = torch.tensor([1, 100, 4000, 100_000])
        rate = paper_schedule(512)
        assert_close(warmup_schedule(steps, 512, 4000), torch.tensor([rate(step) for step in steps.tolist()]))

    def test_adam_is_torchs(self) -> None:
        weight = nn.Parameter(draw(3, 4))
        optimizer = torch.optim.Adam([weight], lr=0.01, betas=BETAS, eps=EPSILON)
        ours = (weight.detach().clone(), torch.zeros(3, 4), torch.zeros(3, 4))
        for step in range(1, 5):
            weight.grad = draw(3, 4) * step
            ours = adam_update(ours[0], weight.grad, ours[1], ours[2], step, 0.01)
            optimizer.step()
            assert_close(ours[0], weight.detach())

    @pytest.mark.parametrize("clip", [0.05, 100.0])
    def test_the_loop_is_torchs(self, clip: float) -> None:
        layer = nn.Linear(4, 6)
        W, b = layer.weight.detach().T.clone(), layer.bias.detach().clone()
        batches = [(draw(5 + i, 4), torch.arange(5 + i) % 6) for i in range(3)]
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
        losses = []
        for x, expected in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(layer(x), expected)
            loss.backward()
            nn.utils.clip_grad_norm_(layer.parameters(), clip)
            optimizer.step()
            losses.append(loss.detach())
        found = training_loop(W, b, batches, rate=0.5, clip=clip)
        for ours, theirs in zip(found, (layer.weight.T, layer.bias, torch.stack(losses)), strict=True):
            assert_close(ours, theirs.detach(), rtol=1e-4, atol=1e-5)


class TestScheduledSampling:
    def test_its_ends_are_teacher_forcing_and_greedy_decoding(self) -> None:
        torch.manual_seed(0)
        writer = Given("Writer", {"vocab_size": 9, "d_model": 6}).module()
        state, target = draw(2, 6), torch.tensor([[1, 4, 5, 2], [1, 6, 7, 2]])
        for share in (0.0, 1.0):
            found = scheduled_sampling(writer, state, target, torch.rand(2, 3), share)
            token, kept = target[:, 0], state
            for n in range(3):
                logits, kept = writer(token, kept)
                assert_close(found[:, n], logits)
                token = logits.argmax(dim=-1) if share else target[:, n + 1]

    def test_each_sentence_and_position_goes_by_its_own_draw(self) -> None:
        read: list[list[int]] = []

        def step(token: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            read.append(token.tolist())
            return F.one_hot(torch.full_like(token, 3), 9).float(), state

        target, drawn = torch.tensor([[1, 4, 5, 2], [1, 6, 7, 2]]), torch.tensor([[0.1, 0.9, 0.5], [0.9, 0.1, 0.5]])
        scheduled_sampling(step, draw(2, 6), target, drawn, 0.5)
        assert read == [[1, 1], [3, 6], [5, 3]]
