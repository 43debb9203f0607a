"""Batches: what they hold, how a pass is cut, and what is refused."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from course_lib.text.batches import (
    LengthBuckets,
    TextBatch,
    TranslationBatch,
    Windows,
    collate,
    examples,
    translation_data,
)
from course_lib.text.tokenization import END_ID, PADDING_ID, START_ID, WordVocabulary
from course_lib.toys.grammar import toy_translation

PAIRS = toy_translation(training=999, held_out=1).training
SOURCE = WordVocabulary.from_sentences(pair.source for pair in PAIRS)
TARGET = WordVocabulary.from_sentences(pair.target for pair in PAIRS)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class TestExamples:
    def test_have_start_and_end_around_the_target(self) -> None:
        [(source, target)] = examples(PAIRS[:1], SOURCE, TARGET)
        assert source.tolist() == SOURCE.encode(PAIRS[0].source)
        assert target.tolist() == [START_ID, *TARGET.encode(PAIRS[0].target), END_ID]


class TestBatch:
    BATCH = collate([(torch.tensor([5]), torch.tensor([1, 6, 2])), (torch.tensor([7, 8]), torch.tensor([1, 2]))])

    def test_is_padded_behind_to_its_longest_and_counts_tokens_alone(self) -> None:
        assert self.BATCH.source.tolist() == [[5, PADDING_ID], [7, 8]]
        assert self.BATCH.target.tolist() == [[1, 6, 2], [1, 2, PADDING_ID]]
        assert (self.BATCH.targets, self.BATCH.tokens) == (3, 3 + 5)  # to predict are 6, <e> and <e>

    def test_moves_as_a_whole(self) -> None:
        batch = self.BATCH.to("meta")
        assert batch.source.device.type == batch.target.device.type == "meta"


class TestLengthBuckets:
    DATA = translation_data(PAIRS, SOURCE, TARGET, max_tokens=400)

    def drawn(self, seed: int = 0) -> list[TranslationBatch]:
        return [self.DATA.batch(indices) for indices in self.DATA.plan(generator(seed))]

    def test_a_pass_holds_every_pair_once(self) -> None:
        seen = Counter(
            (SOURCE.decode(source), TARGET.decode(target))
            for batch in self.drawn()
            for source, target in zip(batch.source.tolist(), batch.target.tolist(), strict=True)
        )
        assert seen == Counter((pair.source, pair.target) for pair in PAIRS)

    @pytest.mark.parametrize("seed", range(3))
    def test_no_batch_is_larger_than_allowed(self, seed: int) -> None:
        sizes = [batch.source.numel() + batch.target.numel() for batch in self.drawn(seed)]
        assert max(sizes) <= 400
        assert sum(sizes) / len(sizes) > 300  # and they are filled

    def test_like_lengths_stand_together(self) -> None:
        batches = self.drawn()
        places = sum(batch.source.numel() + batch.target.numel() for batch in batches)
        assert 1 - sum(batch.tokens for batch in batches) / places < 0.1
        at_random = collate([self.DATA.examples[i] for i in range(25)])
        assert 1 - at_random.tokens / (at_random.source.numel() + at_random.target.numel()) > 0.25

    def test_comes_in_an_order_that_the_generator_decides(self) -> None:
        assert self.DATA.plan(generator(1)) == self.DATA.plan(generator(1)) != self.DATA.plan(generator(2))
        going_on = generator()
        first, second = ({frozenset(group) for group in self.DATA.plan(going_on)} for _ in range(2))
        assert len(first & second) < len(first) / 10
        lengths = [batch.target.shape[1] for batch in self.drawn()]
        assert lengths != sorted(lengths), "long and short sentences are mixed"

    def test_an_example_that_fills_a_batch_stands_alone(self) -> None:
        data = LengthBuckets(
            [3, 9, 9, 1], lambda n: (n,), 10, lambda batch: TranslationBatch(*2 * (torch.tensor([batch]),))
        )
        groups = sorted(sorted(data.examples[i] for i in group) for group in data.plan(generator()))
        assert groups == [[1, 3], [9], [9]]


class TestWindows:
    TEXT = torch.arange(1000)
    DATA = Windows(TEXT, length=16, batch_size=4)

    def test_a_window_is_a_piece_of_the_text_with_one_token_more(self) -> None:
        batch = self.DATA.batch([0, 500])
        assert batch.ids.tolist() == [list(range(17)), list(range(500, 517))]
        assert batch.targets == batch.tokens == 2 * 16

    @pytest.mark.parametrize("width", [np.uint8, np.uint16, np.int32, np.int64])
    def test_a_text_may_stay_in_its_file(self, tmp_path: Path, width: type[np.integer[Any]]) -> None:
        (np.arange(1000) * 65).astype(width).tofile(tmp_path / "ids")
        file = np.memmap(tmp_path / "ids", width, "c")
        ids = Windows(torch.from_numpy(file), length=16, batch_size=4).batch([0, 983]).ids
        assert ids.tolist() == [file[:17].tolist(), file[983:].tolist()]
        assert ids.dtype == torch.long

    @pytest.mark.parametrize("seed", range(5))
    def test_a_pass_predicts_no_token_twice_and_nearly_all(self, seed: int) -> None:
        plan = self.DATA.plan(generator(seed))
        predicted = [token for starts in plan for token in self.DATA.batch(starts).ids[:, 1:].flatten().tolist()]
        assert len(set(predicted)) == len(predicted)
        assert len(predicted) > 1000 - 2 * 16 - 1
        assert all(len(starts) == 4 for starts in plan[:-1])

    def test_windows_begin_elsewhere_in_every_pass(self) -> None:
        firsts = {min(map(min, self.DATA.plan(generator(seed)))) for seed in range(9)}
        assert len(firsts) > 2

    def test_a_text_that_just_fills_a_window_is_enough(self) -> None:
        data = Windows(torch.arange(17), length=16, batch_size=4)
        assert data.plan(generator()) == [[0]]

    def test_a_batch_moves(self) -> None:
        assert TextBatch(torch.zeros(1, 2, dtype=torch.long)).to("meta").ids.device.type == "meta"
