"""Whole models beside `nn.Transformer*` with the same weights: masks included, forward and gradients."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.masking import causal_mask
from course_lib.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from tests.course_lib.torch_twins import Read, block_weights, gradient, shaken

VOCABULARY, D_MODEL, HEADS, D_HIDDEN = 17, 12, 3, 20
SOURCE = torch.tensor([[4, 5, 6, 7, 8], [9, 10, 11, 0, 0]])
TARGET = torch.tensor([[1, 4, 5, 6], [1, 7, 8, 0]])

Weights = dict[str, Tensor]


def stack_weights(blocks: nn.ModuleList, norm: nn.Module, read: Read = Tensor.detach) -> Weights:
    """The parameters of a stack of ours, under the names of torch's."""
    weights = {f"layers.{i}.{name}": w for i, one in enumerate(blocks) for name, w in block_weights(one, read).items()}
    return weights | {f"norm.{name}": read(value) for name, value in norm.named_parameters()}


def norm_if(norm_first: bool) -> nn.Module | None:
    return nn.LayerNorm(D_MODEL) if norm_first else None


def torchs_encoder(norm_first: bool, activation: str, layers: int = 2) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        D_MODEL, HEADS, D_HIDDEN, 0.0, activation, batch_first=True, norm_first=norm_first
    )
    return nn.TransformerEncoder(layer, layers, norm_if(norm_first), enable_nested_tensor=False)


def assert_gradients_equal(blocks: nn.ModuleList, norm: nn.Module, theirs: nn.Module) -> None:
    expected = {name: gradient(value) for name, value in theirs.named_parameters()}
    assert_close(stack_weights(blocks, norm, gradient), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
class TestTransformer:
    def sizes(self, norm_first: bool, activation: str) -> TransformerConfig:
        return TransformerConfig(
            VOCABULARY, VOCABULARY, D_MODEL, HEADS, D_HIDDEN, 2, 3, 0.0, norm_first=norm_first, activation=activation
        )

    def test_the_encoder(self, norm_first: bool, activation: str) -> None:
        model = shaken(Transformer(self.sizes(norm_first, activation)))
        theirs = torchs_encoder(norm_first, activation)
        theirs.load_state_dict(stack_weights(model.encoder, model.encoder_norm))
        encoded = model.encode(SOURCE)
        x = model.positions(model.source_embedding(SOURCE) * D_MODEL**0.5)
        expected = theirs(x, src_key_padding_mask=SOURCE == 0)
        assert_close(encoded.states, expected)
        cotangent = torch.randn_like(expected)
        encoded.states.backward(cotangent)
        expected.backward(cotangent)
        assert_gradients_equal(model.encoder, model.encoder_norm, theirs)

    def test_the_decoder_behind_the_encoder(self, norm_first: bool, activation: str) -> None:
        model = shaken(Transformer(self.sizes(norm_first, activation)))
        layer = nn.TransformerDecoderLayer(
            D_MODEL, HEADS, D_HIDDEN, 0.0, activation, batch_first=True, norm_first=norm_first
        )
        encoder, decoder = torchs_encoder(norm_first, activation), nn.TransformerDecoder(layer, 3, norm_if(norm_first))
        ours = [
            (model.encoder, model.encoder_norm, encoder),
            (model.decoder, model.decoder_norm, decoder),
        ]
        for blocks, norm, theirs in ours:
            theirs.load_state_dict(stack_weights(blocks, norm))
        logits = model(SOURCE, TARGET)
        with torch.no_grad():
            source = model.positions(model.source_embedding(SOURCE) * D_MODEL**0.5)
            target = model.positions(model.target_embedding(TARGET) * D_MODEL**0.5)
        states = decoder(
            target,
            encoder(source, src_key_padding_mask=SOURCE == 0),
            tgt_mask=~causal_mask(TARGET.shape[1]),
            memory_key_padding_mask=SOURCE == 0,
        )
        expected = states @ model.output.weight.detach().T
        assert_close(logits, expected, rtol=1e-4, atol=1e-4)
        cotangent = torch.randn_like(expected)
        logits.backward(cotangent)
        expected.backward(cotangent)
        for one in ours:
            assert_gradients_equal(*one)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_the_language_model_is_torchs_encoder_with_a_causal_mask(norm_first: bool, padded: bool) -> None:
    model = shaken(GPT(GPTConfig(VOCABULARY, 8, D_MODEL, HEADS, 2, D_HIDDEN, 0.0, norm_first=norm_first)))
    theirs = torchs_encoder(norm_first, "gelu")
    theirs.load_state_dict(stack_weights(model.blocks, model.norm))
    mask = SOURCE != 0 if padded else None
    logits = model(SOURCE, mask)
    x = model.embedding.weight[SOURCE] + model.positions.encoding[:5]
    padding = None if mask is None else ~mask
    states = theirs(x.detach(), mask=~causal_mask(5), src_key_padding_mask=padding)
    expected = states @ model.output.weight.detach().T
    tokens = torch.ones_like(SOURCE, dtype=torch.bool) if mask is None else mask
    assert_close(logits[tokens], expected[tokens], rtol=1e-4, atol=1e-4)
    cotangent = torch.randn_like(expected) * tokens.unsqueeze(-1)  # at padding there is nothing to learn
    logits.backward(cotangent)
    expected.backward(cotangent)
    assert_gradients_equal(model.blocks, model.norm, theirs)


def test_bert_is_torchs_encoder_behind_its_embeddings() -> None:
    model = shaken(
        BERT(
            BERTConfig(
                VOCABULARY, 8, D_MODEL, HEADS, 2, D_HIDDEN, dropout=0.0, attention_dropout=0.0, norm_epsilon=1e-5
            )
        )
    )
    theirs = torchs_encoder(norm_first=False, activation="gelu")
    theirs.load_state_dict(stack_weights(model.blocks, nn.Identity()))
    segments = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 1, 0, 0]])
    out = model(SOURCE, segments=segments, mask=SOURCE != 0)
    x = model.embedding.weight[SOURCE] + model.positions.encoding[:5] + model.segment_embedding.weight[segments]
    expected = theirs(model.norm(x).detach(), src_key_padding_mask=SOURCE == 0)
    assert_close(out.states, expected)
    assert_close(out.pooled, torch.tanh(expected[:, 0] @ model.pooler.weight.T + model.pooler.bias))
    cotangent = torch.randn_like(expected)
    out.states.backward(cotangent)
    expected.backward(cotangent)
    assert_gradients_equal(model.blocks, nn.Identity(), theirs)
