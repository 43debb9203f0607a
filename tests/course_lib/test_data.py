"""Batches."""

from __future__ import annotations

from collections import Counter

import torch

from course_lib.data import batches, collate, examples
from course_lib.grammar import toy_translation
from course_lib.tokenization import END_ID, PADDING_ID, START_ID, WordVocabulary


class TestBatches:
    PAIRS = toy_translation(training=333, held_out=1).training
    SOURCE = WordVocabulary.from_sentences(pair.source for pair in PAIRS)
    TARGET = WordVocabulary.from_sentences(pair.target for pair in PAIRS)
    DATA = examples(PAIRS, SOURCE, TARGET)

    def draw(self, seed: int = 0) -> list[tuple[list[list[int]], list[list[int]]]]:
        found = batches(self.DATA, 16, torch.Generator().manual_seed(seed))
        return [(batch.source.tolist(), batch.target.tolist()) for batch in found]

    def test_examples_have_start_and_end_around_the_target(self) -> None:
        source, target = self.DATA[0]
        assert self.SOURCE.decode(source.tolist()) == self.PAIRS[0].source
        assert target[0] == START_ID
        assert target[-1] == END_ID
        assert self.TARGET.decode(target.tolist()) == self.PAIRS[0].target

    def test_a_batch_is_padded_behind_to_its_longest(self) -> None:
        batch = collate([(torch.tensor([5]), torch.tensor([1, 6, 2])), (torch.tensor([7, 8]), torch.tensor([1, 2]))])
        assert batch.source.tolist() == [[5, PADDING_ID], [7, 8]]
        assert batch.target.tolist() == [[1, 6, 2], [1, 2, PADDING_ID]]

    def test_a_pass_holds_every_pair_once(self) -> None:
        seen = Counter(
            (self.SOURCE.decode(source), self.TARGET.decode(target))
            for sources, targets in self.draw()
            for source, target in zip(sources, targets, strict=True)
        )
        assert seen == Counter((pair.source, pair.target) for pair in self.PAIRS)

    def test_the_generator_decides_the_order(self) -> None:
        assert self.draw(1) == self.draw(1)
        assert self.draw(1) != self.draw(2)

    def test_like_lengths_stand_together(self) -> None:
        padding = sum(row.count(PADDING_ID) for sources, _ in self.draw() for row in sources)
        words = sum(len(row) for sources, _ in self.draw() for row in sources)
        assert padding / words < 0.1
        shuffled = torch.cat([source for source, _ in self.DATA]).numel()
        longest = max(len(source) for source, _ in self.DATA)
        assert 1 - shuffled / (longest * len(self.DATA)) > 0.3  # what one padded batch of all would hold

    def test_a_batch_moves_as_a_whole(self) -> None:
        batch = collate(self.DATA[:2]).to("meta")
        assert batch.source.device.type == batch.target.device.type == "meta"
