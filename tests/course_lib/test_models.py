"""The encoder-decoder transformer: shapes, masks, ties and parameter counts."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch.testing import assert_close

from course_lib.models import Transformer, TransformerConfig
from course_lib.positions import sinusoidal_encoding

SMALL = TransformerConfig(
    source_vocabulary=11, target_vocabulary=13, d_model=12, heads=3, d_hidden=20, encoder_layers=2, decoder_layers=3
)
SOURCE = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]])
TARGET = torch.tensor([[1, 4, 5], [1, 6, 0]])


@pytest.fixture
def model() -> Transformer:
    return Transformer(SMALL).eval()


def test_gives_a_logit_for_every_word_at_every_place(model: Transformer) -> None:
    assert model(SOURCE, TARGET).shape == (2, 3, 13)


def test_without_blocks_the_encoder_gives_scaled_embeddings_with_positions() -> None:
    model = Transformer(dataclasses.replace(SMALL, encoder_layers=0)).eval()
    expected = model.source_embedding.weight[SOURCE] * 12**0.5 + sinusoidal_encoding(4, 12)
    assert_close(model.encode(SOURCE).states, expected)


def test_decoding_what_was_encoded_is_the_whole(model: Transformer) -> None:
    encoded = model.encode(SOURCE)
    assert encoded.states.shape == (2, 4, 12)
    assert encoded.mask.tolist() == [[[True] * 4], [[True, True, False, False]]]
    assert_close(model.decode(TARGET, encoded), model(SOURCE, TARGET))


def test_the_future_has_no_influence(model: Transformer) -> None:
    before = model(SOURCE, TARGET)
    changed = TARGET.clone()
    changed[0, 2] = 9
    after = model(SOURCE, changed)
    assert torch.equal(after[0, :2], before[0, :2])
    assert not torch.allclose(after[0, 2], before[0, 2])


def test_padding_has_no_influence(model: Transformer) -> None:
    alone = model(SOURCE[1:, :2], TARGET[1:, :2])
    assert_close(model(SOURCE, TARGET)[1:, :2], alone)
    with torch.no_grad():
        model.source_embedding.weight[0] += 100.0
        model.target_embedding.weight[0, 1:] += 100.0
    # The tied output scores <pad> otherwise now; every other logit must stay.
    assert_close(model(SOURCE, TARGET)[1:, :2, 1:], alone[..., 1:])


def test_every_source_word_influences_every_target_word(model: Transformer) -> None:
    before = model(SOURCE, TARGET)
    for place in range(4):
        changed = SOURCE.clone()
        changed[0, place] = 10
        assert (model(changed, TARGET)[0] - before[0]).abs().amax(dim=-1).min() > 1e-6


def test_the_order_of_the_source_matters(model: Transformer) -> None:
    assert not torch.allclose(model(SOURCE[:1].flip(1), TARGET[:1]), model(SOURCE[:1], TARGET[:1]), atol=1e-4)


@pytest.mark.parametrize("tied", [True, False])
def test_parameters_are_those_of_the_formula(tied: bool) -> None:
    model = Transformer(dataclasses.replace(SMALL, tied_output=tied))
    d, hidden = SMALL.d_model, SMALL.d_hidden
    attention = 4 * (d * d + d)
    feed_forward = (d * hidden + hidden) + (hidden * d + d)
    norm = 2 * d
    encoder = 2 * (attention + feed_forward + 2 * norm)
    decoder = 3 * (2 * attention + feed_forward + 3 * norm)
    embeddings = (11 + 13) * d + (0 if tied else 13 * d)
    assert sum(parameter.numel() for parameter in model.parameters()) == embeddings + encoder + decoder
    assert (model.output.weight is model.target_embedding.weight) == tied


def test_the_default_is_the_papers_base_model() -> None:
    with torch.device("meta"):
        model = Transformer(TransformerConfig(source_vocabulary=37_000, target_vocabulary=37_000))
    blocks = [*model.encoder.parameters(), *model.decoder.parameters()]
    # 6 encoder blocks of 3,152,384 and 6 decoder blocks of 4,204,032, besides the embeddings
    assert sum(parameter.numel() for parameter in blocks) == 44_138_496


def test_starts_near_the_loss_of_guessing() -> None:
    model = Transformer(dataclasses.replace(SMALL, target_vocabulary=1000)).eval()
    loss = torch.nn.functional.cross_entropy(model(SOURCE, TARGET).flatten(0, 1), torch.arange(6) + 500)
    assert loss.item() == pytest.approx(torch.tensor(1000.0).log().item(), rel=0.15)


def test_computes_where_its_weights_are() -> None:
    model = Transformer(SMALL).to("meta")
    assert model(SOURCE.to("meta"), TARGET.to("meta")).device.type == "meta"
