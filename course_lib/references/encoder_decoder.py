"""How to train an encoder-decoder, in the small pieces of lesson 05.

`models`, `objectives.losses`, `training.schedules` and `training.loop` do the same for any model, any size and any
device. Here each piece is a function of tensors that fits on a slide, so that it can be written, checked and compared
by itself.

Vaswani et al. (2017), sections 3.1 and 5; slides S1, S2 and S4.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.masking import causal_mask
from course_lib.objectives.losses import smoothed_cross_entropy
from course_lib.text.tokenization import PADDING_ID
from course_lib.training.schedules import paper_schedule

BETAS, EPSILON = (0.9, 0.98), 1e-9
"""Adam's settings in the transformer paper (section 5.3)."""


class DecoderBlock(nn.Module):
    """`blocks.DecoderBlock`, assembled from its six parts."""

    def __init__(
        self,
        self_attention: nn.Module,
        add_and_norm_1: nn.Module,
        cross_attention: nn.Module,
        add_and_norm_2: nn.Module,
        feed_forward: nn.Module,
        add_and_norm_3: nn.Module,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, "#batch #target target"] | None = None,
        memory_mask: Bool[Tensor, "#batch #target source"] | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """Run masked self-attention, cross-attention to the memory, and the feed-forward network, with add & norm each.

        Args:
            x: the target's tokens.
            memory: the encoder's output.
            mask: where a target token may attend among the target's tokens; None allows all.
            memory_mask: where a target token may attend among the source's tokens; None allows all.
        """
        attended = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        crossed = self.add_and_norm_2(attended, lambda y: self.cross_attention(y, memory, memory_mask))
        out: Tensor = self.add_and_norm_3(crossed, self.feed_forward)
        return out


def encode_and_decode(
    source: Int[Tensor, "batch source"],
    target: Int[Tensor, "batch target"],
    embed_source: Callable[[Tensor], Tensor],
    encoder: Sequence[Callable[[Tensor, Tensor], Tensor]],
    embed_target: Callable[[Tensor], Tensor],
    decoder: Sequence[Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]],
    output: Callable[[Tensor], Tensor],
) -> Float[Tensor, "batch target vocab_size"]:
    """Join the parts of an encoder-decoder; return logits of the token after each target token.

    Args:
        source: ids, padded with `PADDING_ID` after the tokens.
        target: ids from <s> on.
        embed_source, embed_target: map ids to vectors, positions included.
        encoder: blocks, called as block(x, mask).
        decoder: blocks, called as block(x, memory, mask, memory_mask). All masks are [batch, queries, keys], where
            batch and queries may be 1, on the device of the ids.
        output: maps vectors to a score for each token of the target language.
    """
    memory_mask = (source != PADDING_ID).unsqueeze(1)
    memory = embed_source(source)
    for read in encoder:
        memory = read(memory, memory_mask)
    mask = causal_mask(target.shape[1], target.device).unsqueeze(0)
    x = embed_target(target)
    for write in decoder:
        x = write(x, memory, mask, memory_mask)
    return output(x)


def loss_and_perplexity(
    logits: Float[Tensor, "batch tokens vocab_size"], targets: Int[Tensor, "batch tokens"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return the mean over all tokens of -ln p(right token), in nats, and its exp: the chain rule as a mean (S1).

    Args:
        logits: a score for every token of the vocabulary, at every position.
        targets: the id of the right token at every position; `PADDING_ID` if there is none.
    """
    log_p = torch.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    loss = -right[targets != PADDING_ID].mean()
    return loss, loss.exp()


def label_smoothing(
    logits: Float[Tensor, "tokens vocab_size"], targets: Int[Tensor, " tokens"], smoothing: float
) -> Float[Tensor, ""]:
    """Return the mean cross-entropy with S4's target: 1 - ε at the right token, ε / (V - 1) at each other."""
    return smoothed_cross_entropy(logits, targets, smoothing, spread="others")


def warmup_schedule(steps: Int[Tensor, " steps"], d_model: int, warmup: int) -> Float[Tensor, " steps"]:
    """Return the paper's learning rate at these steps, which count from 1: `paper_schedule`, for many at once."""
    rate = paper_schedule(d_model, warmup)
    return torch.tensor([rate(step) for step in steps.tolist()], device=steps.device)


def adam_update(
    weight: Float[Tensor, "..."],
    gradient: Float[Tensor, "..."],
    mean: Float[Tensor, "..."],
    square: Float[Tensor, "..."],
    step: int,
    rate: float,
) -> tuple[Float[Tensor, "..."], Float[Tensor, "..."], Float[Tensor, "..."]]:
    """Take one step of Adam, with the paper's `BETAS` and `EPSILON`; return the new weight, mean and square.

        mean   = β₁ mean + (1 - β₁) gradient
        square = β₂ square + (1 - β₂) gradient²
        weight = weight - rate · (mean / (1 - β₁^step)) / (√(square / (1 - β₂^step)) + ε)

    Kingma and Ba (2015), "Adam: A Method for Stochastic Optimization", algorithm 1, where they are θ, m and v.

    Args:
        weight: the learned tensor.
        gradient: the gradient of the loss, of the same shape.
        mean: the running mean of gradients; 0 before the first step.
        square: the running mean of their squares; 0 before the first step.
        step: the number of the step, from 1.
        rate: the learning rate.
    """
    mean = BETAS[0] * mean + (1 - BETAS[0]) * gradient
    square = BETAS[1] * square + (1 - BETAS[1]) * gradient.square()
    corrected_mean = mean / (1 - BETAS[0] ** step)
    corrected_square = square / (1 - BETAS[1] ** step)
    return weight - rate * corrected_mean / (corrected_square.sqrt() + EPSILON), mean, square


def training_loop(
    W: Float[Tensor, "d_model vocab_size"],
    b: Float[Tensor, " vocab_size"],
    batches: Sequence[tuple[Float[Tensor, "_tokens d_model"], Int[Tensor, " _tokens"]]],
    rate: float,
    clip: float,
) -> tuple[Float[Tensor, "d_model vocab_size"], Float[Tensor, " vocab_size"], Float[Tensor, " steps"]]:
    """Train an output layer, logits = x W + b, by gradient descent with clipping, one step for each batch.

    Pascanu et al. (2013), "On the difficulty of training recurrent neural networks", algorithm 1: if the norm of all
    gradients together is above `clip`, all are scaled down by the same factor.

    Returns:
        The new W and b, and the loss before each step.
    """
    losses = []
    for x, targets in batches:
        W, b = W.detach().requires_grad_(), b.detach().requires_grad_()
        loss = F.cross_entropy(x @ W + b, targets)
        gradients = torch.autograd.grad(loss, (W, b))
        norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
        factor = rate * min(1.0, clip / float(norm))
        W, b = W - factor * gradients[0], b - factor * gradients[1]
        losses.append(loss.detach())
    return W.detach(), b.detach(), torch.stack(losses)


def scheduled_sampling(
    step: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
    state: Float[Tensor, "batch d_model"],
    target: Int[Tensor, "batch tokens"],
    drawn: Float[Tensor, "batch next_tokens"],
    share: float,
) -> Float[Tensor, "batch next_tokens vocab_size"]:
    """Return the logits of the token after each, when the model reads its own token next with probability `share`.

    Bengio et al. (2015), "Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks", section 2.4.

    Args:
        step: maps tokens [batch] and a state to logits [batch, vocab_size] and the next state.
        state: the state before the first token.
        target: the target, from <s> to <e>.
        drawn: uniform numbers from 0 to 1 for each position; below `share` the model reads its own token next.
        share: 0 is teacher forcing; with 1 the model reads only its own tokens.
    """
    token = target[:, 0]
    scores = []
    for position in range(drawn.shape[1]):
        logits, state = step(token, state)
        scores.append(logits)
        token = torch.where(drawn[:, position] < share, logits.argmax(dim=-1), target[:, position + 1])
    return torch.stack(scores, dim=1)
