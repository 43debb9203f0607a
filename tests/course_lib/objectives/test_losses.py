"""What is minimized: against sums written out, and both ways to smooth labels."""

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Categorical, kl_divergence
from torch.testing import assert_close

from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig
from course_lib.objectives.losses import (
    Spread,
    cross_entropy,
    language_model_loss,
    lowest_smoothed,
    packed_loss,
    r_drop_loss,
    smoothed_cross_entropy,
    translation_loss,
)
from course_lib.text.batches import TextBatch, TranslationBatch
from course_lib.text.packing import PackedTexts

LOGITS = torch.randn(3, 5, 11, generator=torch.Generator().manual_seed(1))
EXPECTED = torch.randint(0, 11, (3, 5), generator=torch.Generator().manual_seed(2))


def by_hand(smoothing: float, others_only: bool) -> Tensor:
    """The cross-entropy with the smoothed target written out word for word."""
    size = LOGITS.shape[-1]
    target = torch.full_like(LOGITS, smoothing / (size - 1 if others_only else size))
    right = 1 - smoothing if others_only else 1 - smoothing + smoothing / size
    target.scatter_(-1, EXPECTED.unsqueeze(-1), right)
    assert_close(target.sum(-1), torch.ones(3, 5))
    return -(target * torch.log_softmax(LOGITS, -1)).sum(-1).mean()


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_all_tokens_share_as_in_torch(smoothing: float) -> None:
    assert_close(smoothed_cross_entropy(LOGITS, EXPECTED, smoothing), by_hand(smoothing, others_only=False))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4, 10 / 11])
def test_only_the_others_share_as_in_the_lecture(smoothing: float) -> None:
    assert_close(smoothed_cross_entropy(LOGITS, EXPECTED, smoothing, "others"), by_hand(smoothing, others_only=True))


@pytest.mark.parametrize("spread", ["all", "others"])
def test_no_scores_cost_less_than_the_smoothed_target_itself(spread: Spread) -> None:
    lowest = lowest_smoothed(11, 0.1, spread)
    scores = LOGITS[:1, :1].double().requires_grad_()
    descent = torch.optim.LBFGS([scores], max_iter=100, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        descent.zero_grad()
        loss = smoothed_cross_entropy(scores, EXPECTED[:1, :1], 0.1, spread)
        loss.backward()
        return loss

    assert cost().item() > lowest + 0.1
    descent.step(cost)
    assert cost().item() == pytest.approx(lowest, abs=1e-5)


def test_what_is_ignored_changes_nothing() -> None:
    expected = EXPECTED.clone()
    expected[1:] = 0
    kept = expected != 0
    for smoothing in (0.0, 0.1):
        assert_close(
            smoothed_cross_entropy(LOGITS, expected, smoothing, ignored=0),
            smoothed_cross_entropy(LOGITS[kept], expected[kept], smoothing),
        )


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_where_everything_is_ignored_there_is_nothing_to_learn(smoothing: float) -> None:
    logits = LOGITS.clone().requires_grad_()
    loss = smoothed_cross_entropy(logits, torch.zeros_like(EXPECTED), smoothing, ignored=0)
    assert loss.item() == 0.0
    [gradient] = torch.autograd.grad(loss, logits)
    assert torch.equal(gradient, torch.zeros_like(LOGITS))


@pytest.mark.parametrize("wrong", [11, -1])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_an_expected_token_outside_the_vocabulary_is_named(wrong: int, smoothing: float) -> None:
    expected = EXPECTED.clone()
    expected[0, 0], expected[2, 1] = -100, wrong
    message = f"expected ids must be from 0 to 10, as there are 11 scores for each, but there is a {wrong}$"
    with pytest.raises(ValueError, match=message):
        cross_entropy(LOGITS.flatten(0, 1), expected.flatten(), smoothing)
    with pytest.raises(ValueError, match=message):
        smoothed_cross_entropy(LOGITS, expected.clamp(min=-1).masked_fill(expected == -100, 3), smoothing)


def test_a_vocabulary_of_one_token_has_no_others() -> None:
    logits, expected = torch.zeros(2, 3, 1), torch.zeros(2, 3, dtype=torch.long)
    assert smoothed_cross_entropy(logits, expected, 0.0, "others").item() == 0.0
    with pytest.raises(ValueError, match="must be from 0 to 0, got 0.1"):
        smoothed_cross_entropy(logits, expected, 0.1, "others")


class TestTranslation:
    MODEL = Transformer(TransformerConfig(12, 12, d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=1))
    BATCH = TranslationBatch(torch.tensor([[5, 6, 7], [8, 0, 0]]), torch.tensor([[1, 9, 10, 2], [1, 11, 2, 0]]))

    def test_is_the_mean_over_the_tokens_that_are_no_padding(self) -> None:
        model = self.MODEL.eval()
        log_p = torch.log_softmax(model(self.BATCH.source, self.BATCH.target[:, :-1]), -1)
        right = [
            log_p[row, place, token] for row, place, token in [(0, 0, 9), (0, 1, 10), (0, 2, 2), (1, 0, 11), (1, 1, 2)]
        ]
        assert_close(translation_loss(model, self.BATCH), -torch.stack(right).mean())

    def test_a_last_token_outside_the_vocabulary_is_refused(self) -> None:
        """The model does not read it, so it cannot refuse it."""
        with pytest.raises(ValueError, match="expected ids must be from 0 to 11, .* but there is a 12"):
            translation_loss(self.MODEL, TranslationBatch(torch.tensor([[5]]), torch.tensor([[1, 9, 12]])))


class TestLanguageModel:
    MODEL = GPT(GPTConfig(vocab_size=12, context_length=8, d_model=16, heads=2, layers=1, d_ff=32))

    def test_predicts_each_token_from_those_before(self) -> None:
        model, ids = self.MODEL.eval(), torch.tensor([[3, 4, 5, 6]])
        log_p = torch.log_softmax(model(ids[:, :3]), -1)
        expected = -(log_p[0, 0, 4] + log_p[0, 1, 5] + log_p[0, 2, 6]) / 3
        assert_close(language_model_loss(model, TextBatch(ids)), expected)

    def test_a_last_token_outside_the_vocabulary_is_refused(self) -> None:
        with pytest.raises(ValueError, match="expected ids must be from 0 to 11, .* but there is a 12"):
            language_model_loss(self.MODEL, TextBatch(torch.tensor([[3, 4, 12]])))


class TestPacked:
    TEXTS = (torch.tensor([3, 4, 5]), torch.tensor([6, 7]), torch.tensor([2, 9, 8, 1]))
    BATCH = PackedTexts(TEXTS, length=4, batch_size=3).batch(range(3))

    class Reader(torch.nn.Module):
        """Scores that depend on the token read, and on the number of its text."""

        table = torch.randn(12, 3, 12, generator=torch.Generator().manual_seed(0))

        def forward(self, ids: Tensor, documents: Tensor) -> Tensor:
            return self.table[ids, documents]

    def test_is_the_mean_over_all_texts_without_a_token_from_one_to_the_next(self) -> None:
        log_p = torch.log_softmax(self.Reader.table, -1)
        expected = [(3, 0, 4), (4, 0, 5), (6, 1, 7), (2, 0, 9), (9, 0, 8), (8, 0, 1)]
        mean = -torch.stack([log_p[read, number, answer] for read, number, answer in expected]).mean()
        assert_close(packed_loss(self.Reader(), self.BATCH), mean)


class TwoOpinions(nn.Module):
    """A model that answers the same sentence differently the second time."""

    def forward(self, source: Tensor, read: Tensor) -> Tensor:
        assert torch.equal(*source.chunk(2))
        assert torch.equal(*read.chunk(2))
        return torch.cat([LOGITS, LOGITS.flip(-1)])


def test_r_drop_adds_the_divergences_of_both_passes_where_a_token_is_expected() -> None:
    target = torch.cat([torch.ones(3, 1, dtype=torch.long), EXPECTED.clamp(min=4)], dim=1)
    target[2, 3:] = 0
    batch = TranslationBatch(torch.full((3, 2), 5), target)
    one, two = Categorical(logits=LOGITS), Categorical(logits=LOGITS.flip(-1))
    apart = (kl_divergence(one, two) + kl_divergence(two, one))[target[:, 1:] > 0].mean() / 2
    passes = [smoothed_cross_entropy(x, target[:, 1:], 0.1, ignored=0) for x in (LOGITS, LOGITS.flip(-1))]
    assert_close(r_drop_loss(TwoOpinions(), batch, 0.1, 0.7), sum(passes) / 2 + 0.7 * apart)


def test_without_dropout_r_drop_is_the_translation_loss() -> None:
    model = Transformer(TransformerConfig(11, 11, d_model=8, heads=2, d_ff=8, encoder_layers=1, decoder_layers=1))
    batch = TranslationBatch(torch.tensor([[4, 5], [6, 0]]), torch.tensor([[1, 7, 8, 2], [1, 9, 2, 0]]))
    assert_close(r_drop_loss(model.eval(), batch, 0.1), translation_loss(model, batch, 0.1))
    assert r_drop_loss(model.train(), batch, 0.1) != translation_loss(model, batch, 0.1)
