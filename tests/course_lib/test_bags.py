"""Words in a bag: sentences as means of their words, and what that forgets."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from course_lib.bags import (
    analogy,
    bag_logits,
    cosine_similarities,
    logits_accuracy,
    look_up,
    majority_accuracy,
    mean_pooling,
    same_vector,
    train_bag,
)

TABLE = torch.tensor([[0.0, 1.0], [2.0, 0.0], [3.0, 4.0], [-6.0, -8.0]])


def test_look_up_takes_rows() -> None:
    assert look_up(TABLE, torch.tensor([[2, 0, 2]])).tolist() == [[[3.0, 4.0], [0.0, 1.0], [3.0, 4.0]]]


def test_cosines_are_of_directions() -> None:
    assert_close(cosine_similarities(TABLE, 2), torch.tensor([0.8, 0.6, 1.0, -1.0]))
    assert_close(cosine_similarities(TABLE, 0), F.cosine_similarity(TABLE, TABLE[:1], dim=-1))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("the dog chased the cat", "the cat chased the dog", True),
        ("she only eats pizza", "only she eats pizza", True),
        ("ha", "ha ha ha", True),
        ("the dog saw the cat", "the dog saw a cat", False),
        ("the dog saw the cat", "the dog saw cat", False),
    ],
)
def test_same_vector_is_what_the_means_say(first: str, second: str, same: bool) -> None:
    assert same_vector(first, second) is same
    words = sorted({*first.split(), *second.split()})
    table = torch.randn(len(words), 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    means = [table[[words.index(word) for word in text.split()]].mean(dim=0) for text in (first, second)]
    assert torch.allclose(*means) is same


class TestMeanPooling:
    def test_leaves_padding_out(self) -> None:
        x = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [100.0, 100.0]]])
        assert mean_pooling(x, torch.tensor([[True, True, False]])).tolist() == [[2.0, 4.0]]
        assert_close(mean_pooling(x), x.mean(dim=1))

    def test_of_no_words_is_zero(self) -> None:
        assert mean_pooling(torch.ones(1, 2, 3), torch.zeros(1, 2, dtype=torch.bool)).tolist() == [[0.0] * 3]


def test_an_analogy_leaves_out_the_three_words_and_their_lengths() -> None:
    words = ["man", "king", "woman", "queen", "cat"]
    table = torch.tensor([[1.0, 0.0, 0.1], [6.0, 6.0, 0.0], [-1.0, 0.0, 0.1], [-0.5, 0.6, 0.0], [0.0, -0.1, 3.0]])
    assert analogy(table, words, "man", "king", "woman", 2) == ["queen", "cat"]


class TestABagThatLearns:
    IDS = torch.tensor([[1, 2, 3, 1, 4], [1, 4, 3, 1, 2], [5, 6, 0, 0, 0]])

    def parameters(self) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(0)
        return [torch.randn(shape, generator=generator) for shape in ((9, 4), (3, 4), (3,))]

    def test_is_blind_to_order_and_to_padding(self) -> None:
        table, weight, bias = parameters = self.parameters()
        logits = bag_logits(parameters, self.IDS, self.IDS != 0)
        assert_close(logits[0], logits[1])
        assert_close(logits[2], (table[5] + table[6]) / 2 @ weight.T + bias)

    def test_learns_its_examples_and_leaves_what_it_was_given(self) -> None:
        parameters, labels = self.parameters(), torch.tensor([1, 1, 2])
        orders = torch.stack([torch.randperm(3, generator=torch.Generator().manual_seed(n)) for n in range(40)])
        trained, losses = train_bag(parameters, self.IDS, self.IDS != 0, labels, orders, 2, 0.1)
        assert_close(parameters, self.parameters())
        assert losses.shape == (40,)
        assert losses[-1] < 0.1 < losses[0]
        assert bag_logits(trained, self.IDS, self.IDS != 0).argmax(dim=-1).tolist() == [1, 1, 2]


def test_accuracy_is_a_share() -> None:
    logits = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.0, 0.1], [-2.0, -3.0]])
    assert logits_accuracy(logits, torch.tensor([1, 1, 1, 0])).item() == 0.75


def test_the_majority_is_that_of_training() -> None:
    assert majority_accuracy(torch.tensor([2, 0, 2]), torch.tensor([0, 0, 0, 2])).item() == 0.25
