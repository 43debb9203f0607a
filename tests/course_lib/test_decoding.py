"""Greedy decoding: it takes the best word, stops at <e>, and leaves the model as it was."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from course_lib.decoding import evaluating, greedy_decode
from course_lib.models import Encoded, Transformer, TransformerConfig
from course_lib.tokenization import END_ID, START_ID

SMALL = TransformerConfig(
    source_vocabulary=12, target_vocabulary=12, d_model=16, heads=2, d_hidden=32, encoder_layers=1, decoder_layers=1
)
SOURCE = torch.tensor([[4, 5, 6], [7, 0, 0]])


class Copier(Transformer):
    """Says the source word by word, then <e>; counts how often it is asked, and in which mode."""

    def __init__(self) -> None:
        super().__init__(SMALL)
        self.asked: list[Tensor] = []
        self.modes: set[bool] = set()

    def encode(self, source: Tensor) -> Encoded:
        self.source = source
        return super().encode(source)

    def decode(self, target: Tensor, encoded: Encoded) -> Tensor:
        self.asked.append(target)
        self.modes.add(self.training)
        logits = torch.zeros(*target.shape, 12)
        place = target.shape[1] - 1
        for row, source in enumerate(self.source.tolist()):
            words = [word for word in source if word]
            logits[row, place, words[place] if place < len(words) else END_ID] = 1.0
        return logits


class TestGreedy:
    def test_says_the_best_word_until_the_end(self) -> None:
        model = Copier()
        assert greedy_decode(model, SOURCE).tolist() == [[4, 5, 6, 2], [7, 2, 0, 0]]

    def test_starts_with_start_and_reads_what_it_said(self) -> None:
        model = Copier()
        greedy_decode(model, SOURCE[:1])
        assert [words[0].tolist() for words in model.asked] == [[START_ID, 4, 5, 6][:n] for n in (1, 2, 3, 4)]

    def test_stops_as_soon_as_all_have_ended(self) -> None:
        model = Copier()
        greedy_decode(model, SOURCE, max_length=50)
        assert len(model.asked) == 4

    def test_stops_at_the_longest_length(self) -> None:
        assert greedy_decode(Copier(), SOURCE, max_length=2).tolist() == [[4, 5], [7, 2]]

    def test_switches_dropout_off_and_back_on(self) -> None:
        model = Copier().train()
        greedy_decode(model, SOURCE)
        assert model.modes == {False}
        assert model.training
        greedy_decode(model.eval(), SOURCE)
        assert not model.training

    def test_is_the_models_best_word_at_every_place(self) -> None:
        model = Transformer(SMALL).eval()
        words = greedy_decode(model, SOURCE[:1], max_length=8)
        read = torch.cat([torch.tensor([[START_ID]]), words[:, :-1]], dim=-1)
        assert torch.equal(model(SOURCE[:1], read).argmax(dim=-1), words)

    def test_a_sentence_is_translated_alike_alone_and_in_a_batch(self) -> None:
        model = Transformer(SMALL)
        together = greedy_decode(model, SOURCE, max_length=8)
        alone = greedy_decode(model, SOURCE[1:, :1], max_length=8)
        assert torch.equal(together[1:, : alone.shape[1]], alone)


def test_the_mode_comes_back_after_an_error() -> None:
    model = Transformer(SMALL).train()

    def fail() -> None:
        with evaluating(model):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert model.training
