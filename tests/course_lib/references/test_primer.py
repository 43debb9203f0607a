"""What the primer asks for, beside torch's own ways to the same numbers."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.testing import assert_close

from course_lib.references import primer


def test_a_cat_that_comes_back_has_danced_all_the_same() -> None:
    there_and_back = torch.tensor([[[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0], [1.0, 3.0]]])
    assert_close(primer.distance_danced(there_and_back), torch.tensor([10.0, 2.0]))


def test_the_last_word_is_one_of_each_sentence() -> None:
    assert_close(primer.last_words(torch.arange(12.0).view(2, 3, 2)), torch.tensor([[4.0, 5.0], [10.0, 11.0]]))


def test_a_bag_counts_what_one_hot_vectors_add_up_to() -> None:
    ids = torch.tensor([[0, 1, 0], [2, 2, 2]])
    assert_close(primer.bags_of_words(ids, 4), F.one_hot(ids, 4).sum(dim=1))


def test_a_gradient_is_how_fast_the_loss_rises() -> None:
    w, x, y = torch.randn(3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64), torch.zeros(5).double()
    nearby = 1e-6 * torch.eye(3, dtype=torch.float64)
    higher, lower = (((x @ (w + sign * nearby).T) ** 2).mean(dim=0) for sign in (1, -1))
    assert_close(primer.loss_gradient(w, x, y), (higher - lower) / 2e-6, atol=1e-6, rtol=1e-6)
    assert not w.requires_grad
    assert w.grad is None


def test_a_walk_in_a_bowl_comes_nearer_by_the_same_factor_at_every_step() -> None:
    path = primer.walk_downhill(lambda w: 2 * w, torch.tensor([8.0, -4.0]), 0.25, 3)
    assert_close(path, torch.tensor([[8.0, -4.0], [4.0, -2.0], [2.0, -1.0], [1.0, -0.5]]))


def test_both_sides_of_a_split_keep_their_labels_and_together_have_everything() -> None:
    x, labels, order = torch.arange(7.0).unsqueeze(-1), torch.arange(7), torch.randperm(7)
    x_training, of_training, x_test, of_test = primer.split(x, labels, order, 2)
    assert (len(x_training), len(x_test)) == (5, 2)
    assert_close(torch.cat([x_training, x_test])[:, 0].long(), torch.cat([of_training, of_test]))
    assert sorted([*of_training.tolist(), *of_test.tolist()]) == [*range(7)]


def test_training_starts_at_the_loss_that_it_is_given_and_lowers_it() -> None:
    weight, bias, x = torch.zeros(2, 2), torch.zeros(2), torch.eye(2)
    trained, _, losses = primer.train(weight, bias, x, torch.tensor([0, 1]), 0.1, 20)
    assert_close(losses[0], torch.tensor(2.0).log())
    assert torch.equal(losses, losses.sort(descending=True).values)
    assert not weight.any(), "the caller's weight stays as it is"
    assert (x @ trained.T).argmax(dim=-1).tolist() == [0, 1]


def test_a_critic_is_two_layers_and_a_relu() -> None:
    critic = primer.Critic(3, 4, 2)
    bags = torch.randn(5, 3)
    assert_close(critic(bags), critic.output(critic.hidden(bags).clamp(min=0)))
