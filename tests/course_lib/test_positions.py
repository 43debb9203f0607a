"""Positions: those of texts that go on or are padded, and what happens past the longest sequence."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from course_lib.positions import (
    LearnedPositions,
    SinusoidalPositions,
    sinusoidal_encoding,
)


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


@pytest.mark.parametrize("tokens", [3, 300])
@pytest.mark.parametrize("positions", [SinusoidalPositions(8), LearnedPositions(8, context_length=300)])
def test_embeddings_of_another_length_change_nothing(
    positions: SinusoidalPositions | LearnedPositions, tokens: int
) -> None:
    before = positions.encoding.detach().clone()
    with pytest.raises(ValueError, match="embeddings must be as long as the positions, 8, not 6"):
        positions(torch.zeros(1, tokens, 6))
    assert torch.equal(positions.encoding, before)
