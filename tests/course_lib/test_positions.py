"""Positions: the formula, its linear shift, and what happens past the longest sequence."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from course_lib.attention import scaled_dot_product_attention
from course_lib.masking import causal_mask
from course_lib.positions import (
    LearnedPositions,
    SinusoidalPositions,
    alibi_weights,
    appended_index,
    binary_counting,
    order_matters,
    same_under_causal_mask,
    shift_matrix,
    sinusoidal_encoding,
)


class TestAlibi:
    @pytest.mark.parametrize(
        ("heads", "slopes"), [(1, [1 / 256]), (2, [1 / 16, 1 / 256]), (8, [0.5**h for h in range(1, 9)])]
    )
    def test_a_step_back_costs_the_slope(self, heads: int, slopes: list[float]) -> None:
        alpha = alibi_weights(torch.zeros(3, heads, 6, 6, dtype=torch.float64))
        assert_close(alpha.sum(dim=-1), torch.ones(3, heads, 6, dtype=torch.float64))
        assert not alpha.triu(1).any()
        costs = (alpha[0, :, -1, 1:] / alpha[0, :, -1, :-1]).log()
        assert_close(costs, torch.tensor(slopes, dtype=torch.float64)[:, None].expand(heads, 5))


class TestShuffling:
    """What is foretold of shuffled tokens, beside what self-attention does with them."""

    ORDERS = ([0, 1, 2, 3, 4], [0, 2, 1, 3, 4], [4, 1, 2, 3, 0], [0, 1, 4, 2, 3], [1, 0, 2, 3, 4])

    @pytest.mark.parametrize("order", ORDERS)
    def test_the_outputs_move_with_their_tokens(self, order: list[int]) -> None:
        x, moved = torch.randn(2, 5, 4), torch.tensor(order)
        assert not order_matters(lambda x: scaled_dot_product_attention(x, x, x), x, moved).any()

    @pytest.mark.parametrize("order", ORDERS)
    def test_a_causal_mask_keeps_only_tokens_whose_past_stays(self, order: list[int]) -> None:
        x, moved, mask = torch.randn(2, 5, 4), torch.tensor(order), causal_mask(5)
        changed = order_matters(lambda x: scaled_dot_product_attention(x, x, x, mask), x, moved)
        assert_close(same_under_causal_mask(moved).expand(2, -1), ~changed)


class TestSinusoidalEncoding:
    def test_follows_the_formula(self) -> None:
        encoding = sinusoidal_encoding(length=60, d_model=8)
        assert encoding.shape == (60, 8)
        for position, i in [(0, 0), (1, 0), (3, 1), (59, 3)]:
            angle = position / 10_000 ** (2 * i / 8)
            assert encoding[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-5)
            assert encoding[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)

    def test_goes_to_its_device(self) -> None:
        assert sinusoidal_encoding(3, 4, device="meta").device.type == "meta"


class TestShiftMatrix:
    @pytest.mark.parametrize("shift", [-3, 0, 1, 7])
    def test_moves_every_position_alike(self, shift: int) -> None:
        encoding, matrix = sinusoidal_encoding(40, 10), shift_matrix(shift, 10)
        positions = torch.arange(3, 30)
        assert_close(encoding[positions + shift], encoding[positions] @ matrix.T, atol=1e-5, rtol=1e-5)


class TestSimplerIdeas:
    def test_the_index_is_one_more_number(self) -> None:
        x = torch.randn(2, 3, 4)
        assert_close(appended_index(x)[..., :4], x)
        assert appended_index(x)[..., 4].tolist() == [[0.0, 1.0, 2.0]] * 2

    def test_counting_in_binary(self) -> None:
        assert binary_counting(4, 2).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
        powers = 2.0 ** torch.arange(5)
        assert torch.equal(binary_counting(32, 5) @ powers, torch.arange(32.0))
        with pytest.raises(ValueError, match="3 bits count 8 positions, not 9"):
            binary_counting(9, 3)


@pytest.mark.parametrize("positions", [SinusoidalPositions(8, context_length=6), LearnedPositions(8, context_length=6)])
class TestPlaces:
    def test_tokens_that_follow_others(self, positions: nn.Module) -> None:
        x = torch.randn(2, 5, 8)
        assert_close(positions(x[:, 3:], start=3), positions(x)[:, 3:])

    def test_tokens_among_padding(self, positions: nn.Module) -> None:
        x = torch.zeros(2, 3, 8)
        rows = positions(torch.zeros(1, 6, 8))[0]
        places = torch.tensor([[0, 1, 2], [0, 0, 1]])
        assert_close(positions(x, 0, places), rows[places])


def test_rows_made_while_decoding_serve_a_later_training() -> None:
    positions = SinusoidalPositions(8, context_length=2)
    with torch.inference_mode():
        positions(torch.zeros(1, 9, 8))
    weight = torch.ones(8, requires_grad=True)
    (positions(torch.zeros(1, 9, 8)) * weight).sum().backward()
    assert_close(weight.grad, sinusoidal_encoding(9, 8).sum(dim=0))


class TestSinusoidalPositions:
    def test_adds_the_encoding_to_every_sequence(self) -> None:
        x = torch.randn(2, 5, 8)
        assert_close(SinusoidalPositions(8)(x) - x, sinusoidal_encoding(5, 8).expand(2, 5, 8))

    def test_has_no_longest_sequence(self) -> None:
        positions = SinusoidalPositions(8, context_length=4)
        assert_close(positions(torch.zeros(1, 9, 8))[0], sinusoidal_encoding(9, 8))
        assert_close(positions(torch.zeros(1, 3, 8))[0], sinusoidal_encoding(3, 8))

    def test_has_nothing_to_learn_or_save(self) -> None:
        assert not SinusoidalPositions(8).state_dict()


class TestLearnedPositions:
    def test_adds_a_row_for_each_position(self) -> None:
        positions, x = LearnedPositions(8, context_length=6), torch.randn(2, 5, 8)
        assert_close(positions(x), x + positions.encoding[:5])
        positions(x).sum().backward()
        assert torch.equal(positions.encoding.grad[:, 0], torch.tensor([2.0, 2.0, 2.0, 2.0, 2.0, 0.0]))


@pytest.mark.parametrize("tokens", [3, 300])
@pytest.mark.parametrize("positions", [SinusoidalPositions(8), LearnedPositions(8, context_length=300)])
def test_embeddings_of_another_length_change_nothing(
    positions: SinusoidalPositions | LearnedPositions, tokens: int
) -> None:
    before = positions.encoding.detach().clone()
    with pytest.raises(ValueError, match="embeddings must be as long as the positions, 8, not 6"):
        positions(torch.zeros(1, tokens, 6))
    assert torch.equal(positions.encoding, before)
