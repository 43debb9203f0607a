"""Packed texts: every token once, no text across another's, and hardly any padding."""

from collections import Counter

import pytest
import torch
from torch import Tensor

from course_lib.text.batches import LengthBuckets, pad
from course_lib.text.packing import NO_DOCUMENT, NOTHING, PackedBatch, PackedTexts, pack
from course_lib.text.tokenization import PADDING_ID


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random_texts(count: int, longest: int) -> list[Tensor]:
    """Many short ones and few long ones, as texts are."""
    drawn = generator()
    lengths = (longest * torch.rand(count, generator=drawn) ** 3).long().clamp(min=2).tolist()
    return [torch.randint(1, 1000, (length,), generator=drawn) for length in lengths]


TEXTS = random_texts(700, longest=65)
DATA = PackedTexts(TEXTS, length=64, batch_size=8)


def in_batch(batch: PackedBatch) -> list[tuple[int, ...]]:
    """The texts that a batch holds, as they were."""
    found = []
    for ids, labels, documents in zip(batch.ids, batch.labels, batch.documents, strict=True):
        for number in range(int(documents.max()) + 1):
            here = documents == number
            read, answers = ids[here].tolist(), labels[here].tolist()
            assert read[1:] == answers[:-1]
            found.append((*read, answers[-1]))
    return found


class TestBatch:
    BATCH = PackedTexts([torch.tensor([5, 6, 7]), torch.tensor([8, 9]), torch.tensor([3, 4, 2])], 4, 2).batch([0, 1, 2])

    def test_texts_follow_each_other_and_nothing_is_expected_across_them_or_of_padding(self) -> None:
        assert self.BATCH.ids.tolist() == [[5, 6, 8, PADDING_ID], [3, 4, PADDING_ID, PADDING_ID]]
        assert self.BATCH.documents.tolist() == [[0, 0, 1, NO_DOCUMENT], [0, 0, NO_DOCUMENT, NO_DOCUMENT]]
        assert self.BATCH.labels.tolist() == [[6, 7, 9, NOTHING], [4, 2, NOTHING, NOTHING]]
        assert self.BATCH.targets == self.BATCH.tokens == 5

    def test_moves_as_a_whole(self) -> None:
        moved = self.BATCH.to("meta")
        assert {tensor.device.type for tensor in vars(moved).values()} == {"meta"}


class TestPlan:
    @pytest.mark.parametrize("seed", range(3))
    def test_a_pass_holds_every_text_once(self, seed: int) -> None:
        seen = Counter(text for indices in DATA.plan(generator(seed)) for text in in_batch(DATA.batch(indices)))
        assert seen == Counter(tuple(text.tolist()) for text in TEXTS)

    @pytest.mark.parametrize("seed", range(3))
    def test_no_batch_has_more_rows_than_allowed(self, seed: int) -> None:
        shapes = [tuple(DATA.batch(indices).ids.shape) for indices in DATA.plan(generator(seed))]
        assert all(shape <= (8, 64) and shape[1] == 64 for shape in shapes)
        assert shapes.count((8, 64)) >= len(shapes) - 2

    def test_a_part_of_a_batch_is_a_batch(self) -> None:
        [indices, *_] = DATA.plan(generator())
        parts = [DATA.batch(indices[rank::2]) for rank in range(2)]
        assert sum(part.targets for part in parts) == DATA.batch(indices).targets
        assert max(len(part.ids) for part in parts) <= 6  # neither has all the long ones

    def test_the_generator_decides_which_texts_meet(self) -> None:
        assert DATA.plan(generator(1)) == DATA.plan(generator(1))
        first, second = ({frozenset(indices) for indices in DATA.plan(generator(seed))} for seed in (1, 2))
        assert not first & second

    def test_hardly_anything_is_padded(self) -> None:
        batches = [DATA.batch(indices) for indices in DATA.plan(generator())]
        packed = 1 - sum(batch.tokens for batch in batches) / sum(batch.ids.numel() for batch in batches)
        buckets = LengthBuckets(TEXTS, lambda text: (len(text),), 8 * 64 + 8, pad)
        padded = [buckets.batch(indices) for indices in buckets.plan(generator())]
        by_length = sum(int((ids == 0).sum()) for ids in padded) / sum(ids.numel() for ids in padded)
        as_they_come = [pad(TEXTS[start : start + 8]) for start in range(0, len(TEXTS), 8)]
        at_random = sum(int((ids == 0).sum()) for ids in as_they_come) / sum(ids.numel() for ids in as_they_come)
        assert packed < 0.02 < by_length < 0.2 < at_random


class TestPack:
    @pytest.mark.parametrize("length", [10, 17, 64])
    def test_no_row_is_longer_and_every_two_neighbours_are_needed(self, length: int) -> None:
        lengths = torch.randint(1, 11, (200,), generator=generator()).tolist()
        sums = [sum(lengths[i] for i in row) for row in pack(range(200), lengths, length)]
        assert max(sums) <= length
        assert sum(sums) == sum(lengths)
        assert all(one + other > length for one, other in zip(sums, sums[1:], strict=False))


def test_a_text_that_just_fills_a_row_stands_alone() -> None:
    data = PackedTexts([torch.arange(1, 66), torch.tensor([1, 2])], 64, 8)
    assert len(data.batch([0, 1]).ids) == 2
