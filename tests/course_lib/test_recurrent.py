"""The recurrent network that reads, and a bag beside it: called like BERT."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from course_lib.bags import BagOfEmbeddings, BagOfEmbeddingsConfig
from course_lib.recurrent import RecurrentConfig, RecurrentEncoder

IDS = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 6, 0, 0]])
MASK = IDS != 0
ENCODERS = {
    "bag": lambda: BagOfEmbeddings(BagOfEmbeddingsConfig(12, 16)),
    "recurrent": lambda: RecurrentEncoder(RecurrentConfig(12, 16, layers=2)),
}


@pytest.mark.parametrize("make", ENCODERS.values(), ids=ENCODERS)
class TestEncoders:
    def test_give_a_vector_for_each_token_and_one_for_all(self, make: type[nn.Module]) -> None:
        read = make().eval()(IDS, mask=MASK)
        assert read.states.shape == (2, 5, 16)
        assert read.pooled.shape == (2, 16)

    def test_padding_has_no_influence(self, make: type[nn.Module]) -> None:
        encoder = make().eval()
        together, alone = encoder(IDS, mask=MASK), encoder(IDS[1:, :3])
        assert_close(together.pooled[1:], alone.pooled)
        assert_close(together.states[1:, :3], alone.states)

    def test_drop_out_only_in_training(self, make: type[nn.Module]) -> None:
        encoder = make()
        assert not torch.equal(encoder(IDS).pooled, encoder(IDS).pooled)
        encoder.eval()
        assert torch.equal(encoder(IDS).pooled, encoder(IDS).pooled)


def test_a_bag_knows_no_order_a_recurrent_network_does() -> None:
    bag, recurrent = (make().eval() for make in ENCODERS.values())
    assert_close(bag(IDS[:1]).pooled, bag(IDS[:1].flip(1)).pooled)
    assert not torch.allclose(recurrent(IDS[:1]).pooled, recurrent(IDS[:1].flip(1)).pooled, atol=1e-3)


def test_a_tokens_state_has_seen_both_sides() -> None:
    encoder = ENCODERS["recurrent"]().eval()
    before = encoder(IDS[:1]).states
    for place in (0, 4):
        changed = IDS[:1].clone()
        changed[0, place] = 11
        assert (encoder(changed).states - before).abs().amax(dim=-1).min() > 1e-6
