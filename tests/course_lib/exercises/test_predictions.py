"""Predictions hold for what they are about, and no verdict tells them; the slides' and the papers' own numbers."""

import pytest
import torch
from torch import Tensor

from course_lib import exercises
from course_lib.attention import scaled_dot_product_attention
from course_lib.exercises.encoder_decoder.shared import meowed_table
from course_lib.exercises.positions import order_matters, same_under_causal_mask
from course_lib.judging.observation import fresh
from course_lib.references import encoder_decoder
from tests.course_lib.exercises.judging import verdict


def attended(x: Tensor, causal: bool) -> Tensor:
    mask = torch.ones(len(x), len(x), dtype=torch.bool)
    return scaled_dot_product_attention(x, x, x, mask.tril() if causal else mask)


@pytest.mark.parametrize("seed", range(5))
def test_the_predictions_are_what_attention_does(seed: int) -> None:
    for case in exercises.find("positions.same_under_causal_mask").hidden_cases(seed):
        (order,) = case.args
        x = torch.randn(len(order), 12, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
        matters, batch = order_matters.EXERCISE.reference, x.unsqueeze(0)
        assert not matters(lambda vectors: attended(vectors[0], causal=False).unsqueeze(0), batch, order).any()
        changed = matters(lambda vectors: attended(vectors[0], causal=True).unsqueeze(0), batch, order)
        assert torch.equal(same_under_causal_mask.EXERCISE.reference(order), ~changed[0])


@pytest.mark.parametrize("seed", range(5))
def test_what_changes_differs_by_far_more_than_rounding(seed: int) -> None:
    """What the lesson promises of the check's models."""
    exercise = exercises.find("positions.order_matters")
    for case in [*exercise.hidden_cases(seed), *exercise.visible_cases()]:
        model, x, order = fresh(case.args)
        apart = (model(x[:, order]) - model(x)[:, order]).abs().amax(dim=-1)
        assert not ((apart > 1e-5) & (apart < 1e-3)).any()


@pytest.mark.parametrize(
    "wrong",
    [
        ("D", [0.06]),
        ("B", [0.5]),
        ("B", [0.6, 0.5]),
        "B",
        list("ABCDEF"),
        [("B", [0.27]), ("E", [0.27, 0.24]), ("A", [0.27, 0.24, 0.216])],
        None,
    ],
)
def test_a_prediction_is_not_told(wrong: object) -> None:
    found = verdict("decoding.sentence_found", lambda beams: wrong, None)
    assert not found.passed
    for text in (found.text(), found.html(), str(found.record())):
        assert "is right" not in text
        assert "expected  " not in text
        assert "<th>expected" not in text


def test_a_loss_of_the_table_is_as_the_lesson_says() -> None:
    p, targets = meowed_table()
    assert p.sum(dim=1).tolist() == pytest.approx([1.0] * 8)
    loss, perplexity = encoder_decoder.loss_and_perplexity(p.log().unsqueeze(0), targets.unsqueeze(0))
    assert float(loss) == pytest.approx(1.5783, abs=5e-5)
    assert float(perplexity) == pytest.approx(4.847, abs=5e-4)


def test_pairs_that_are_to_be_replayed_make_a_new_piece_each() -> None:
    """Where two pairs made the same one, two honest readings of the paper would differ."""
    exercise = exercises.find("subwords.encode")
    for seed in range(30):
        for case in [*exercise.visible_cases(), *exercise.hidden_cases(seed)]:
            made = ["".join(pair) for pair in case.args[1]]
            assert len(set(made)) == len(made)
