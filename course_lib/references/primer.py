"""The primer's exercises: shapes, broadcasting, gradients, a module, a split, a training loop.

Nothing here is specific to language. Each function is a few lines of torch, in the form that later lessons use.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


def last_words(x: Float[Tensor, "sentences words d_model"]) -> Float[Tensor, "sentences d_model"]:
    """Return the vector of each sentence's last word."""
    return x[:, -1]


def distance_danced(positions: Float[Tensor, "cats beats 2"]) -> Float[Tensor, " cats"]:
    """Return how far each cat moved in total, from beat to beat: Σ_t |p_{t+1} - p_t|."""
    steps = positions[:, 1:] - positions[:, :-1]
    lengths = steps.square().sum(dim=-1).sqrt()
    return lengths.sum(dim=-1)


def bags_of_words(ids: Int[Tensor, "sentences words"], vocab_size: int) -> Int[Tensor, "sentences vocab_size"]:
    """Count how often each word of the vocabulary occurs in each sentence."""
    same = ids.unsqueeze(-1) == torch.arange(vocab_size)
    return same.sum(dim=1)


def loss_gradient(
    w: Float[Tensor, " features"], x: Float[Tensor, "examples features"], y: Float[Tensor, " examples"]
) -> Float[Tensor, " features"]:
    """Return the gradient at w of the mean squared error of x w: 2 xᵀ (x w - y) / examples."""
    w = w.clone().requires_grad_()
    prediction = x @ w
    error = prediction - y
    loss = error.square().mean()
    loss.backward()
    assert w.grad is not None
    return w.grad


def walk_downhill(
    gradient: Callable[[Tensor], Tensor], start: Float[Tensor, " features"], rate: float, steps: int
) -> Float[Tensor, "positions features"]:
    """Return the path of gradient descent, including its start: w ← w - rate · gradient(w), `steps` times."""
    path = [start]
    for _ in range(steps):
        slope = gradient(path[-1])
        path.append(path[-1] - rate * slope)
    return torch.stack(path)


class Critic(nn.Module):
    """Two linear layers with a ReLU between them: from a bag of words to a logit for each class."""

    def __init__(self, vocab_size: int, d_hidden: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(vocab_size, d_hidden)
        self.output = nn.Linear(d_hidden, classes)

    def forward(self, bags: Float[Tensor, "sentences vocab_size"]) -> Float[Tensor, "sentences classes"]:
        """Return the logits of each sentence."""
        hidden = torch.relu(self.hidden(bags))
        logits: Tensor = self.output(hidden)
        return logits


def split(
    x: Float[Tensor, "examples features"],
    labels: Int[Tensor, " examples"],
    order: Int[Tensor, " examples"],
    tested: int,
) -> tuple[
    Float[Tensor, "training features"],
    Int[Tensor, " training"],
    Float[Tensor, "tested features"],
    Int[Tensor, " tested"],
]:
    """Shuffle examples with their labels, and keep the last `tested` of them for the test."""
    training, test = order[:-tested], order[-tested:]
    return x[training], labels[training], x[test], labels[test]


def train(
    weight: Float[Tensor, "classes features"],
    bias: Float[Tensor, " classes"],
    x: Float[Tensor, "examples features"],
    labels: Int[Tensor, " examples"],
    rate: float,
    steps: int,
) -> tuple[Float[Tensor, "classes features"], Float[Tensor, " classes"], Float[Tensor, " steps"]]:
    """Train a linear layer with Adam, all examples at every step.

    Returns:
        the trained weight and bias, and the loss before each step.
    """
    weight, bias = nn.Parameter(weight.clone()), nn.Parameter(bias.clone())
    optimizer = torch.optim.Adam([weight, bias], lr=rate)
    losses = []
    for _ in range(steps):
        logits = x @ weight.T + bias
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return weight.detach(), bias.detach(), torch.stack(losses)
