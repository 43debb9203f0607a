"""Models: sizes, caches, refusals, and layers as torch makes them."""

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, cast

import pytest
import torch
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.testing import assert_close

from course_lib.blocks import EncoderBlock
from course_lib.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from course_lib.multihead import MultiHeadAttention
from tests.course_lib.parameters import count_parameters

SMALL = TransformerConfig(
    source_vocab_size=11, target_vocab_size=13, d_model=12, heads=3, d_ff=20, encoder_layers=2, decoder_layers=3
)
SOURCE = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]])
TARGET = torch.tensor([[1, 4, 5], [1, 6, 0]])


@pytest.fixture
def model() -> Transformer:
    return Transformer(SMALL).eval()


def test_decoding_what_was_encoded_is_the_whole(model: Transformer) -> None:
    encoded = model.encode(SOURCE)
    assert encoded.states.shape == (2, 4, 12)
    assert encoded.mask.tolist() == [[[True] * 4], [[True, True, False, False]]]
    assert_close(model.decode(TARGET, encoded), model(SOURCE, TARGET))


def parameters(model: type[nn.Module], config: object) -> int:
    with torch.device("meta"):
        return count_parameters(model(config))


class TestPublishedSizes:
    def test_gpt2(self) -> None:
        presets = [GPTConfig.gpt2(), GPTConfig.gpt2_medium(), GPTConfig.gpt2_large(), GPTConfig.gpt2_xl()]
        counts = [parameters(GPT, preset) for preset in presets]
        assert counts == [124_439_808, 354_823_168, 774_030_080, 1_557_611_200]

    def test_bert_with_its_pooler(self) -> None:
        assert [parameters(BERT, preset) for preset in (BERTConfig.base(), BERTConfig.large())] == [
            109_482_240,
            335_141_888,
        ]

    @pytest.mark.parametrize(
        ("preset", "d", "hidden", "printed"),
        [(TransformerConfig.base(), 512, 2048, 65e6), (TransformerConfig.big(), 1024, 4096, 213e6)],
    )
    def test_the_papers(self, preset: TransformerConfig, d: int, hidden: int, printed: float) -> None:
        """By its formulas: projections of d x d and two feed-forward layers, one embedding of 37,000 for everything."""
        attention, feed_forward, norm = 4 * (d * d + d), 2 * d * hidden + hidden + d, 2 * d
        blocks = 6 * (attention + feed_forward + 2 * norm) + 6 * (2 * attention + feed_forward + 3 * norm)
        assert parameters(Transformer, preset) == blocks + 37_000 * d
        assert parameters(Transformer, preset) == pytest.approx(printed, rel=0.03)  # table 3 rounds

    def test_the_default_is_the_papers_base_model(self) -> None:
        with torch.device("meta"):
            model = Transformer(TransformerConfig(source_vocab_size=37_000, target_vocab_size=37_000))
        blocks = [*model.encoder.parameters(), *model.decoder.parameters()]
        # 6 encoder blocks of 3,152,384 and 6 decoder blocks of 4,204,032, besides the embeddings
        assert sum(parameter.numel() for parameter in blocks) == 44_138_496


def test_starts_near_the_loss_of_guessing() -> None:
    model = Transformer(dataclasses.replace(SMALL, target_vocab_size=1000)).eval()
    loss = torch.nn.functional.cross_entropy(model(SOURCE, TARGET).flatten(0, 1), torch.arange(6) + 500)
    assert loss.item() == pytest.approx(torch.tensor(1000.0).log().item(), rel=0.15)


def test_computes_where_its_weights_are() -> None:
    model = Transformer(SMALL).to("meta")
    assert model(SOURCE.to("meta"), TARGET.to("meta")).device.type == "meta"


GPT_SIZES = GPTConfig(13, 16, 12, 3, 2, 20)
BERT_SIZES = BERTConfig(13, 16, 12, 3, 2, 20)
IDS = torch.tensor([[4, 5, 6, 7], [8, 9, 10, 11]])


class TestGPT:
    @pytest.fixture
    def gpt(self) -> GPT:
        return GPT(GPT_SIZES).eval()

    @pytest.mark.parametrize("pieces", [[4], [1, 1, 1, 1], [2, 2], [1, 3], [3, 1]])
    @pytest.mark.parametrize(
        "mask",
        [None, [[1, 1, 1, 1], [0, 0, 1, 1]], [[1, 1, 1, 0], [1, 1, 0, 0]], [[1, 0, 1, 1], [0, 1, 0, 1]]],
        ids=["no padding", "left", "right", "between"],
    )
    def test_reading_in_pieces_with_a_cache_is_reading_at_once(
        self, gpt: GPT, pieces: list[int], mask: list[list[int]] | None
    ) -> None:
        seen = None if mask is None else torch.tensor(mask).bool()
        kv_cache, read, logits = gpt.kv_cache(batch=2, capacity=6), 0, []
        for piece in pieces:
            part = slice(read, read + piece)
            logits.append(gpt(IDS[:, part], None if seen is None else seen[:, part], kv_cache))
            read += piece
        whole = gpt(IDS, seen)
        tokens = torch.ones(2, 4, dtype=torch.bool) if seen is None else seen
        assert_close(torch.cat(logits, dim=1)[tokens], whole[tokens])
        assert whole.isfinite().all()

    def test_padding_has_no_influence(self, gpt: GPT) -> None:
        alone = gpt(IDS[1:, 2:])
        for mask, ids in (
            ([0, 0, 1, 1], [3, 3, 10, 11]),
            ([1, 1, 0, 0], [10, 11, 3, 3]),
            ([0, 1, 0, 1], [3, 10, 3, 11]),
        ):
            seen = torch.tensor([mask]).bool()
            assert_close(gpt(torch.tensor([ids]), seen)[seen], alone[0])

    def test_what_is_added_to_the_residual_path_starts_smaller(self) -> None:
        torch.manual_seed(0)
        block = GPT(GPTConfig(50, 16, 96, 3, 8, 384)).blocks[0]
        assert block.feed_forward.W_1.weight.std().item() == pytest.approx(0.02, rel=0.05)
        assert block.feed_forward.W_2.weight.std().item() == pytest.approx(0.02 / 4, rel=0.05)
        assert block.self_attention.W_o.weight.std().item() == pytest.approx(0.02 / 4, rel=0.05)


def test_without_segments_all_of_berts_input_is_the_first() -> None:
    model = BERT(BERT_SIZES).eval()
    assert torch.equal(model(IDS).pooled, model(IDS, segments=torch.zeros_like(IDS)).pooled)
    assert not torch.allclose(model(IDS).pooled, model(IDS, segments=torch.ones_like(IDS)).pooled)


class TestRefusals:
    def test_a_full_cache_takes_nothing(self) -> None:
        gpt = GPT(GPT_SIZES).eval()
        kv_cache = gpt.kv_cache(2, 5)
        gpt(IDS, kv_cache=kv_cache)
        with pytest.raises(ValueError, match="room for 5 tokens, not 8"):
            gpt(IDS, kv_cache=kv_cache)
        with pytest.raises(ValueError, match="from 0 to 12"):
            gpt(torch.tensor([[99], [1]]), kv_cache=kv_cache)
        assert kv_cache.length == 4

    def test_another_models_cache_takes_nothing(self, model: Transformer) -> None:
        deeper = Transformer(dataclasses.replace(SMALL, decoder_layers=SMALL.decoder_layers + 1))
        encoded = model.encode(SOURCE)
        kv_cache = model.kv_cache(encoded, 5)
        message = f"of a model with {SMALL.decoder_layers} blocks, but this one has {SMALL.decoder_layers + 1}"
        with pytest.raises(ValueError, match=message):
            deeper.decode(TARGET[:, :1], encoded, kv_cache)
        assert kv_cache.length == 0


def test_shared_embeddings_are_one() -> None:
    model = Transformer(dataclasses.replace(SMALL, source_vocab_size=13, shared_embeddings=True))
    assert model.source_embedding.weight is model.target_embedding.weight is model.output.weight


@pytest.mark.parametrize("make", [lambda: Transformer(SMALL), lambda: GPT(GPT_SIZES), lambda: BERT(BERT_SIZES)])
class TestOrdinaryLayers:
    """What wraps, saves or flattens a model finds layers and weights as torch makes them."""

    def test_each_is_called(self, make: Callable[[], nn.Module]) -> None:
        model = make().eval()
        layers = {name: layer for name, layer in model.named_modules() if type(layer) is nn.Linear}
        called: set[str] = set()
        for name, layer in layers.items():
            layer.register_forward_hook(lambda *_, name=name: called.add(name))
        model(SOURCE, TARGET) if isinstance(model, Transformer) else model(IDS)
        assert called == layers.keys()
        assert all(type(module) is nn.Linear for module in model.modules() if isinstance(module, nn.Linear))

    def test_the_weights_can_be_flattened_and_saved(self, make: Callable[[], nn.Module], tmp_path: Path) -> None:
        model, again = make(), make()
        assert all(parameter.is_contiguous() for parameter in model.parameters())
        save_model(model, str(tmp_path / "model.safetensors"))
        load_model(again, str(tmp_path / "model.safetensors"))
        flat = parameters_to_vector(model.parameters())
        assert torch.equal(flat, parameters_to_vector(again.parameters()))
        vector_to_parameters(2 * flat, again.parameters())
        assert torch.equal(parameters_to_vector(again.parameters()), 2 * flat)


def test_queries_keys_and_values_are_drawn_as_wide_as_torchs() -> None:
    """As one matrix of three, in self-attention and across; what is no attention is Glorot's by itself."""
    d_model, d_ff = 64, 96
    model = Transformer(TransformerConfig(10, 10, d_model, 4, d_ff, 1, 1))
    theirs = nn.MultiheadAttention(d_model, 4)  # draws its three projections as one matrix
    widest = theirs.in_proj_weight.abs().max().item()
    attentions = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
    assert len(attentions) == 3
    for attention in attentions:
        for projection in attention.projections():
            assert projection.abs().max().item() == pytest.approx(widest, rel=0.01)
        assert attention.W_o.weight.abs().max().item() == pytest.approx((6 / (2 * d_model)) ** 0.5, rel=0.01)
    W_1 = cast(EncoderBlock, model.encoder[0]).feed_forward.W_1
    assert W_1.weight.abs().max().item() == pytest.approx((6 / (d_model + d_ff)) ** 0.5, rel=0.01)


MODELS: dict[str, tuple[nn.Module, int]] = {
    "Transformer": (Transformer(TransformerConfig(11, 11, 8, 2, 12, 1, 1, dropout=0.0)), 2),
    "GPT": (GPT(GPTConfig(11, 8, 8, 2, 1, 12, dropout=0.0)), 1),
    "Llama": (GPT(GPTConfig.llama(11, 8, 2, 1, 12, 16, key_value_heads=1)), 1),
    "BERT": (BERT(BERTConfig(11, 8, 8, 2, 1, 12, dropout=0.0, attention_dropout=0.0)), 1),
}


@pytest.mark.parametrize(("model", "inputs"), MODELS.values(), ids=MODELS)
class TestInTorchsOwnTools:
    def test_exported_with_a_batch_of_any_size(self, model: nn.Module, inputs: int) -> None:
        ids = torch.randint(1, 11, (7, 5), generator=torch.Generator().manual_seed(0))
        shapes = ({0: torch.export.Dim("batch", min=2, max=64)},) * inputs
        exported = torch.export.export(model.eval(), (ids[:3],) * inputs, dynamic_shapes=shapes).module()
        for found, expected in zip(*(tuple(read(*(ids,) * inputs)) for read in (exported, model)), strict=True):
            assert_close(found, expected)

    def test_gradients_of_each_example_by_itself(self, model: nn.Module, inputs: int) -> None:
        ids = torch.randint(1, 11, (3, 5), generator=torch.Generator().manual_seed(0))

        def loss(parameters: dict[str, Tensor], row: Tensor) -> Tensor:
            read = torch.func.functional_call(model, parameters, (row.unsqueeze(0),) * inputs)
            return (read[0] if isinstance(read, tuple) else read).square().sum()

        parameters = dict(model.named_parameters())
        together = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, ids)
        for row in range(3):
            for name, gradient in torch.func.grad(loss)(parameters, ids[row]).items():
                assert_close(together[name][row], gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("model", "inputs", "most"),
    [
        (GPT(GPTConfig(13, 16, 12, 3, 6, 20)).eval(), (SOURCE,), 60),
        (GPT(GPTConfig(13, 16, 12, 3, 6, 20)), (SOURCE,), 60),
        (GPT(GPTConfig.llama(13, 12, 3, 6, 20)).eval(), (SOURCE,), 75),
        (GPT(GPTConfig.llama(13, 12, 3, 6, 20, window=2, windowed=(1, 3))).eval(), (SOURCE,), 80),
        (BERT(BERTConfig(13, 16, 12, 3, 6, 20)).eval(), (SOURCE,), 60),
        (Transformer(TransformerConfig(13, 13, 12, 3, 20, 6, 6)).eval(), (SOURCE, TARGET), 175),
    ],
    ids=["a GPT", "in training", "a Llama", "with windows", "a BERT", "an encoder-decoder"],
)
def test_six_layers_are_read_in_few_calls(model: nn.Module, inputs: tuple[Tensor, ...], most: int) -> None:
    called = []

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and "/course_lib/" in frame.f_code.co_filename:
            called.append(frame.f_code.co_qualname)

    model(*inputs)  # what is imported late, or computed once
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model(*inputs)
    finally:
        sys.setprofile(before)
    assert len(called) <= most
