"""Batches of few shapes: every pair once, few shapes, and the same loss as without the padding."""

from collections import Counter

import pytest
import torch
from torch import Generator

from course_lib.models import Transformer, TransformerConfig
from course_lib.objectives.losses import translation_loss
from course_lib.text.batches import LengthBuckets, TranslationExample, collate
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.shape_buckets import BLANK, ShapeBuckets, count_shapes, shared_vocabulary_data
from course_lib.text.texts import SentencePair
from course_lib.text.tokenization import END_ID, PADDING_ID, START_ID


def generator(seed: int = 0) -> Generator:
    return torch.Generator().manual_seed(seed)


def example(source: int, target: int) -> TranslationExample:
    """So many tokens on each side, <s> and <e> not counted."""
    return torch.arange(4, 4 + source), torch.tensor([START_ID, *range(4, 4 + target), END_ID])


def examples(count: int = 500, seed: int = 0) -> list[TranslationExample]:
    lengths = torch.randint(1, 20, (count, 2), generator=generator(seed)).tolist()
    return [example(source, target) for source, target in lengths]


DATA = ShapeBuckets(examples(), max_tokens=400)


class TestAPass:
    @pytest.mark.parametrize(
        "data",
        [
            DATA,
            ShapeBuckets(examples(1), 400),
            ShapeBuckets([example(1, 1)] * 30 + [example(19, 1)], 80),  # nearly all are left over for the wide one
            ShapeBuckets([example(2, 2)] * 7 + [example(5, 5)] * 3, 16),  # one row a batch
        ],
        ids=["many", "one", "left over", "a row each"],
    )
    def test_has_every_pair_once(self, data: ShapeBuckets) -> None:
        plan = data.plan(generator())
        assert Counter(i for batch in plan for i in batch if i != BLANK) == Counter(range(len(data.examples)))
        assert sum(BLANK in batch for batch in plan) <= 1
        for indices in plan:
            batch = data.batch(indices)
            assert batch.source.numel() + batch.target.numel() - len(indices) <= data.max_tokens

    def test_has_as_many_rows_as_fit_and_one_shape_for_each_width(self) -> None:
        plan = DATA.plan(generator())
        batches = [DATA.batch(indices) for indices in plan]
        for batch in batches:
            rows, width = batch.source.shape
            assert width % 4 == 0
            assert (rows, batch.target.shape) == (400 // (2 * width), (rows, width + 1))
        found = count_shapes(batches)
        assert found.shapes <= 5
        tight = LengthBuckets(DATA.examples, lambda pair: (len(pair[0]), len(pair[1])), 400, collate)
        tighter = count_shapes(tight.batch(indices) for indices in tight.plan(generator()))
        assert tighter.shapes > 20
        assert tighter.padding < found.padding < tighter.padding + 0.15

    def test_comes_in_an_order_that_the_generator_decides(self) -> None:
        assert DATA.plan(generator(1)) == DATA.plan(generator(1))
        going_on = generator(1)
        first, second = ({frozenset(batch) for batch in DATA.plan(going_on)} for _ in range(2))
        assert len(first & second) < len(first) / 10
        widths = [DATA.batch(indices).source.shape[1] for indices in DATA.plan(generator(1))]
        assert widths != sorted(widths)


class TestABatch:
    def test_reads_what_was_encoded(self) -> None:
        pairs = [SentencePair("the cat danced", "die Katze tanzte"), SentencePair("a dog", "ein Hund")]
        words = SubwordVocabulary.train_bpe([text for pair in pairs for text in (pair.source, pair.target)], 60)
        data = shared_vocabulary_data(pairs, words, 80)
        batch = data.batch([1, 0])
        assert [words.decode(row) for row in batch.source.tolist()] == ["a dog", "the cat danced"]
        assert [words.decode(row) for row in batch.target.tolist()] == ["ein Hund", "die Katze tanzte"]
        assert all(row[0] == START_ID for row in batch.target.tolist())

    def test_a_blank_row_does_not_count(self) -> None:
        batch = DATA.batch([3, BLANK, BLANK])
        alone = collate([DATA.examples[3]])
        assert (batch.targets, batch.tokens) == (alone.targets, alone.tokens)
        assert (batch.target[1:] == PADDING_ID).all()
        assert (batch.source[1:] != PADDING_ID).sum(dim=1).tolist() == [1, 1]

    @pytest.mark.parametrize("blanks", [0, 2])
    def test_has_the_loss_and_the_gradients_of_the_same_pairs_without_padding(self, blanks: int) -> None:
        torch.manual_seed(0)
        model = Transformer(TransformerConfig(30, 30, d_model=16, heads=2, d_ff=32, dropout=0.0)).double()
        indices = [0, 7, 19]
        wide = DATA.batch(indices + [BLANK] * blanks)
        close = collate([DATA.examples[i] for i in indices])
        losses = [translation_loss(model, batch, smoothing=0.1) for batch in (wide, close)]
        assert losses[0].item() == pytest.approx(losses[1].item(), abs=1e-12)
        ours, theirs = (torch.autograd.grad(loss, list(model.parameters())) for loss in losses)
        for mine, yours in zip(ours, theirs, strict=True):
            torch.testing.assert_close(mine, yours, rtol=0, atol=1e-12)
