"""Recurrent networks, and bags beside them: called like the transformers, trained and decoded by the same functions.

Tests `outputs.py` as well.
"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from course_lib.bags import BagOfEmbeddings, BagOfEmbeddingsConfig
from course_lib.decoding.greedy import greedy_decode
from course_lib.decoding.state import begin_decoding
from course_lib.objectives.losses import language_model_loss, translation_loss
from course_lib.recurrent import (
    RecurrentConfig,
    RecurrentEncoder,
    RecurrentLanguageModel,
    RecurrentSeq2Seq,
    RecurrentSeq2SeqConfig,
)
from course_lib.text.batches import TranslationBatch, Windows, collate
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.schedules import constant_schedule

IDS = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 6, 0, 0]])
MASK = IDS != 0
SOURCE = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]])
TARGET = torch.tensor([[1, 4, 5], [1, 6, 0]])
ENCODERS = {
    "bag": lambda: BagOfEmbeddings(BagOfEmbeddingsConfig(12, 16)),
    "recurrent": lambda: RecurrentEncoder(RecurrentConfig(12, 16, layers=2)),
}


def seq2seq(*, attention: bool = True, layers: int = 2) -> RecurrentSeq2Seq:
    return RecurrentSeq2Seq(RecurrentSeq2SeqConfig(11, 13, d_model=16, layers=layers, attention=attention)).eval()


def language_model(**changes: int) -> RecurrentLanguageModel:
    return RecurrentLanguageModel(RecurrentConfig(12, 16, layers=2, **changes)).eval()


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

    def test_refuse_what_bert_refuses(self, make: type[nn.Module]) -> None:
        with pytest.raises(ValueError, match="from 0 to 11"):
            make()(torch.tensor([[12]]))
        with pytest.raises(TypeError, match="mask must be boolean"):
            make()(IDS, mask=MASK.long())


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


class TestRecurrentRefusals:
    def test_padding_before_tokens(self) -> None:
        with pytest.raises(ValueError, match="padding must come after the tokens"):
            ENCODERS["recurrent"]()(IDS, mask=MASK.flip(1))

    def test_no_tokens(self) -> None:
        with pytest.raises(ValueError, match="a sequence has no tokens"):
            ENCODERS["recurrent"]()(IDS, mask=MASK & torch.tensor([[True], [False]]))

    def test_an_odd_size(self) -> None:
        with pytest.raises(ValueError, match="an even d_model, not 15"):
            RecurrentEncoder(RecurrentConfig(12, 15))
        with pytest.raises(ValueError, match="an even d_model, not 15"):
            RecurrentSeq2Seq(RecurrentSeq2SeqConfig(12, 12, 15))

    def test_padding_in_words_that_go_on(self) -> None:
        model = language_model()
        with pytest.raises(ValueError, match="a mask or a state, not both"):
            model.read(IDS, MASK, model.read(IDS)[1])

    def test_not_as_many_targets_as_sources(self) -> None:
        model = seq2seq()
        with pytest.raises(ValueError, match="1 targets need as many sources, not 2"):
            model.decode(TARGET[:1], model.encode(SOURCE))


class TestLanguageModel:
    def test_the_future_has_no_influence(self) -> None:
        model = language_model()
        changed = IDS.clone()
        changed[0, 3] = 11
        assert torch.equal(model(changed)[0, :3], model(IDS)[0, :3])
        assert not torch.allclose(model(changed)[0, 3:], model(IDS)[0, 3:])

    def test_reading_in_pieces_is_reading_at_once(self) -> None:
        model = language_model()
        first, state = model.read(IDS[:, :2])
        second, _ = model.read(IDS[:, 2:], state=state)
        assert_close(torch.cat([first, second], dim=1), model(IDS))

    def test_writes_the_most_probable_tokens(self) -> None:
        model = language_model()
        tokens = IDS[:1]
        for _ in range(6):
            tokens = torch.cat([tokens, model(tokens)[:, -1:].argmax(dim=-1)], dim=1)
        assert greedy_decode(model, IDS[:1], max_new_tokens=6).tolist() == tokens[:, 5:].tolist()

    def test_goes_on_behind_prompts_of_different_lengths(self) -> None:
        model = language_model(padding_id=0)
        together = greedy_decode(model, IDS, max_new_tokens=5)
        alone = greedy_decode(model, IDS[1:, :3], max_new_tokens=5)
        assert together[1].tolist() == alone[0].tolist()

    def test_ends_at_its_end(self) -> None:
        model = language_model(end_id=3, padding_id=0)
        with torch.no_grad():
            model.output.bias[3] = 100.0
        assert greedy_decode(model, IDS, max_new_tokens=5).tolist() == [[3], [3]]

    @pytest.mark.usefixtures("slow")
    def test_learns_by_the_common_loop(self) -> None:
        text = torch.tensor([4, 5, 4, 6, 7] * 40)  # what follows a 4 depends on the token before it
        model = RecurrentLanguageModel(RecurrentConfig(8, 16, dropout=0.0))
        data = Windows(text, length=20, batch_size=4)
        result = train(model, data, language_model_loss, TrainingConfig(150, constant_schedule(1e-2)), "cpu")
        assert result.losses[0] > 1.8
        assert result.losses[-1] < 0.15


class TestSeq2Seq:
    @pytest.mark.parametrize("attention", [True, False])
    def test_the_future_has_no_influence_the_whole_source_has(self, attention: bool) -> None:
        model = seq2seq(attention=attention)
        before = model(SOURCE, TARGET)
        assert before.shape == (2, 3, 13)
        changed = TARGET.clone()
        changed[0, 2] = 9
        assert torch.equal(model(SOURCE, changed)[0, :2], before[0, :2])
        for place in range(4):
            source = SOURCE.clone()
            source[0, place] = 10
            assert (model(source, TARGET)[0] - before[0]).abs().amax(dim=-1).min() > 1e-6

    @pytest.mark.parametrize("attention", [True, False])
    def test_padding_has_no_influence(self, attention: bool) -> None:
        model = seq2seq(attention=attention)
        assert_close(model(SOURCE, TARGET)[1:, :2], model(SOURCE[1:, :2], TARGET[1:, :2]))

    def test_attention_is_over_the_sources_tokens(self) -> None:
        model = seq2seq()
        alpha = model.decode(TARGET, model.encode(SOURCE)).alpha
        assert alpha.shape == (2, 3, 4)
        assert_close(alpha.sum(dim=-1), torch.ones(2, 3))
        assert (alpha[1, :, 2:] == 0).all()

    def test_without_attention_all_passes_through_the_summary(self) -> None:
        model = seq2seq(attention=False)
        encoded, other = model.encode(SOURCE), model.encode(SOURCE.flip(0))
        decoded = model.decode(TARGET, encoded)
        bottleneck = type(encoded)(encoded.summary, other.states, other.mask)
        assert decoded.alpha is None
        assert torch.equal(model.decode(TARGET, bottleneck).logits, decoded.logits)

    def test_attention_costs_one_matrix(self) -> None:
        with_it, without = (sum(p.numel() for p in seq2seq(attention=a).parameters()) for a in (True, False))
        assert with_it - without == 2 * 16 * 16 + 16

    def test_translates_by_the_most_probable_token(self) -> None:
        model = seq2seq()
        tokens = torch.full((2, 1), 1)
        for _ in range(6):
            tokens = torch.cat([tokens, model(SOURCE, tokens)[:, -1:].argmax(dim=-1)], dim=1)
        expected = [row[: row.index(2) + 1] if 2 in row else row for row in tokens[:, 1:].tolist()]
        decoded = greedy_decode(model, SOURCE, max_new_tokens=6).tolist()
        assert [row[: len(right)] for row, right in zip(decoded, expected, strict=True)] == expected

    @pytest.mark.parametrize("make", [seq2seq, language_model])
    def test_beams_may_be_copied_and_swapped(self, make: type[nn.Module]) -> None:
        model = make()
        text = begin_decoding(model, SOURCE if make is seq2seq else IDS[:, :3], 8)
        text.prefill()
        text.expand(2)  # texts 0, 0, 1, 1
        assert text.batch == 4
        after = text.step(torch.tensor([4, 5, 6, 7]))
        text.select(torch.tensor([1, 1, 3, 2]))
        swapped = text.step(torch.tensor([8, 8, 8, 8]))
        again = begin_decoding(model, SOURCE if make is seq2seq else IDS[:, :3], 8)
        again.prefill()
        assert_close(again.step(torch.tensor([5, 7])), after[[1, 3]])
        assert_close(again.step(torch.tensor([8, 8])), swapped[[0, 2]])

    @pytest.mark.parametrize("make", [seq2seq, language_model])
    def test_must_write_a_token(self, make: type[nn.Module]) -> None:
        with pytest.raises(ValueError, match="max_new_tokens must be at least 1, not 0"):
            greedy_decode(make(), SOURCE if make is seq2seq else IDS, max_new_tokens=0)

    @pytest.mark.usefixtures("slow")
    @pytest.mark.parametrize("attention", [True, False])
    def test_learns_by_the_common_loop(self, attention: bool) -> None:
        """To write three tokens backwards."""
        sources = torch.cartesian_prod(*[torch.arange(4, 8)] * 3)
        examples = [(source, torch.tensor([1, *source.flip(0).tolist(), 2])) for source in sources]
        model = RecurrentSeq2Seq(RecurrentSeq2SeqConfig(8, 8, 32, dropout=0.0, attention=attention))
        data = AllAtOnce(collate(examples))
        train(model, data, translation_loss, TrainingConfig(150, constant_schedule(1e-2)), "cpu")
        decoded = greedy_decode(model, sources, max_new_tokens=4)
        assert (decoded[:, :3] == sources.flip(1)).all(dim=1).float().mean() > 0.95


class AllAtOnce:
    """Training data of one batch."""

    def __init__(self, batch: TranslationBatch) -> None:
        self._batch = batch

    def plan(self, generator: torch.Generator) -> list[list[int]]:
        return [[0]]

    def batch(self, indices: list[int]) -> TranslationBatch:
        return self._batch
