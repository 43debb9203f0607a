"""Hiding tokens and pairing sentences, as BERT's pre-training does."""

import random

import pytest
import torch
from torch.testing import assert_close

from course_lib.models import BERT, BERTConfig
from course_lib.objectives.heads import MaskedLanguageModel
from course_lib.objectives.labelled_data import IGNORED, LabelledBatch
from course_lib.objectives.pretraining import (
    FOLLOWS,
    RANDOM,
    MaskedTokens,
    sentence_pairs,
)

VOCABULARY, MASK_ID = 200, 199
WORDS = MaskedTokens(VOCABULARY, MASK_ID, special_ids=(0, 1, 2))


def many_ids() -> torch.Tensor:
    """Tokens only, each far from [MASK]: 100,000 of them."""
    return torch.randint(10, 100, (500, 200), generator=torch.Generator().manual_seed(1))


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


class TestMaskedWords:
    def test_chooses_its_share_of_the_tokens(self) -> None:
        labels = WORDS.corrupt(many_ids(), generator())[1]
        assert (labels != IGNORED).float().mean().item() == pytest.approx(0.15, abs=0.005)

    def test_hides_most_replaces_some_and_leaves_some(self) -> None:
        ids = many_ids()
        read, labels = WORDS.corrupt(ids, generator())
        chosen = labels != IGNORED
        assert torch.equal(labels[chosen], ids[chosen])
        assert torch.equal(read[~chosen], ids[~chosen])
        shown = read[chosen]
        hidden, same = shown == MASK_ID, shown == ids[chosen]
        assert hidden.float().mean().item() == pytest.approx(0.8, abs=0.01)
        assert same.float().mean().item() == pytest.approx(0.1, abs=0.01)
        replaced = shown[~hidden & ~same]
        assert len(replaced) / len(shown) == pytest.approx(0.1, abs=0.01)
        assert replaced.min() < 10  # from the whole vocabulary
        assert replaced.max() > 100

    def test_special_tokens_are_never_chosen(self) -> None:
        ids = torch.tensor([[1, 7, 2, 0, 0]]).repeat(1000, 1)
        _, labels = WORDS.corrupt(ids, generator())
        assert (labels[:, [0, 2, 3, 4]] == IGNORED).all()
        assert (labels[:, 1] != IGNORED).any()

    def test_the_generator_decides_and_the_input_stays(self) -> None:
        ids = many_ids()
        before = ids.clone()
        first, again, other = (WORDS.corrupt(ids, torch.Generator().manual_seed(seed))[0] for seed in (0, 0, 5))
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
        assert torch.equal(ids, before)

    def test_the_loss_is_that_of_the_hidden_tokens(self) -> None:
        torch.manual_seed(0)
        sizes = BERTConfig(VOCABULARY, context_length=200, d_model=16, heads=2, layers=1, d_ff=16)
        model = MaskedLanguageModel(BERT(sizes)).eval()
        ids = many_ids()[:4]
        batch = LabelledBatch(ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool), ids)
        torch.manual_seed(7)
        loss = WORDS.loss(model, batch)
        torch.manual_seed(7)
        read, labels = WORDS.corrupt(ids)
        log_p = model(read).log_softmax(dim=-1)
        chosen = labels != IGNORED
        expected = -log_p[chosen].gather(1, labels[chosen].unsqueeze(1)).mean()
        assert_close(loss, expected)

    def test_a_batch_without_a_chosen_token_is_refused(self) -> None:
        model = MaskedLanguageModel(BERT(BERTConfig(VOCABULARY, 8, 16, 2, 1, 16)))
        ids = torch.tensor([[1, 2, 0, 0]])
        batch = LabelledBatch(ids, torch.zeros_like(ids), ids != 0, ids)
        with pytest.raises(ValueError, match="no label of this batch counts"):
            WORDS.loss(model, batch)


class TestSentencePairs:
    TEXTS = [[f"{text} {sentence}" for sentence in range(20)] for text in "abcdefghij"]

    def test_half_follow_and_the_others_do_not(self) -> None:
        pairs = sentence_pairs(self.TEXTS, random.Random(0))
        assert len(pairs) == 190
        true = {(first, second) for text in self.TEXTS for first, second in zip(text, text[1:], strict=False)}
        assert all(((first, second) in true) == (label == FOLLOWS) for first, second, label in pairs)
        assert all(first != second for first, second, _ in pairs)
        assert 0.35 < sum(label == RANDOM for _, _, label in pairs) / 190 < 0.65

    def test_the_seed_decides(self) -> None:
        assert sentence_pairs(self.TEXTS, random.Random(1)) == sentence_pairs(self.TEXTS, random.Random(1))
        assert sentence_pairs(self.TEXTS, random.Random(1)) != sentence_pairs(self.TEXTS, random.Random(2))

    @pytest.mark.parametrize("texts", [[], [["a"], ["b"], ["c"]], [["a", "b"], ["a", "b"]]])
    def test_too_few_sentences_are_refused(self, texts: list[list[str]]) -> None:
        with pytest.raises(ValueError, match="at least two sentences, and three different sentences"):
            sentence_pairs(texts, random.Random(0))
