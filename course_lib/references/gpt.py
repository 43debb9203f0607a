"""A language model piece by piece, as lesson 07 builds it: `CausalLanguageModel` is `GPT` reduced to its formulas.

S0 gives the pieces: targets that are the inputs shifted by one, softmax(W h), and the loss of a whole batch. S2 and S3
give the model and its sizes. What is trained in earnest is `course_lib.models.GPT`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.blocks import BlockConfig, EncoderBlock
from course_lib.objectives.losses import shift_right
from course_lib.positions import LearnedPositions


def training_windows(
    stream: Int[Tensor, " tokens"], starts: Int[Tensor, " batch"], context_length: int
) -> tuple[Int[Tensor, "batch context_length"], Int[Tensor, "batch context_length"]]:
    """Cut windows of a text: a language model's inputs, and its targets, each the token after (S0).

    Args:
        stream: a text.
        starts: where each window begins; each leaves room for context_length + 1 tokens.
        context_length: how many tokens are read at once.
    """
    return shift_right(stream[starts.unsqueeze(1) + torch.arange(context_length + 1, device=starts.device)])


def lm_loss(
    log_probs: Float[Tensor, "batch tokens vocab_size"], targets: Int[Tensor, "batch tokens"]
) -> Float[Tensor, ""]:
    """The mean negative log-likelihood of the targets, in nats: the batch collapsed for `NLLLoss` (S0)."""
    loss: Tensor = nn.NLLLoss()(log_probs.flatten(0, 1), targets.flatten())
    return loss


def tied_logits(
    states: Float[Tensor, "... d_model"], embedding: Float[Tensor, "vocab_size d_model"]
) -> Float[Tensor, "... vocab_size"]:
    """W h, where the rows of W are the token embeddings themselves (S0).

    Press and Wolf (2017), "Using the Output Embedding to Improve Language Models".
    """
    return states @ embedding.T


class CausalLanguageModel(nn.Module):
    """GPT in its simplest form: embeddings, positions, blocks under a causal mask, a norm, the tied output (S0, S2).

    Parameters:
        embedding: [vocab_size, d_model]; its rows are the output layer's as well.
        positions: a learned vector for each position.
        blocks: as GPT-2's: pre-norm, the approximate GELU, a feed-forward network of width 4 d_model.
        norm: the final layer norm.
    """

    def __init__(
        self, vocab_size: int, context_length: int, d_model: int, heads: int, layers: int, causal: bool = True
    ) -> None:
        """A new model, with GPT-2's small normal embeddings.

        Args:
            vocab_size: how many tokens there are.
            context_length: the longest sequence.
            d_model: the length of a token's vector.
            heads: in each multi-head attention.
            layers: blocks.
            causal: whether to use the mask; without it the model reads what it is to predict.
        """
        super().__init__()
        self.causal = causal
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(d_model, context_length)
        config = BlockConfig(
            d_model, heads, 4 * d_model, activation="gelu_tanh", norm_first=True, norm_epsilon=1e-5, bias=True
        )
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model, eps=1e-5)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, ids: Int[Tensor, "batch tokens"]) -> Float[Tensor, "batch tokens vocab_size"]:
        """Logits of the token after each token."""
        x = self.positions(self.embedding(ids))
        for block in self.blocks:
            x = block(x, is_causal=self.causal).out
        return tied_logits(self.norm(x), self.embedding.weight)


NAMES_IN_GPT2 = {
    "wte.weight": "embedding.weight",
    "wpe.weight": "positions.encoding",
    "h.": "blocks.",
    "ln_1.": "add_and_norm_1.norm.",
    "attn.c_attn.": "self_attention.W_qkv.",
    "attn.c_proj.": "self_attention.W_o.",
    "ln_2.": "add_and_norm_2.norm.",
    "mlp.c_fc.": "feed_forward.W_1.",
    "mlp.c_proj.": "feed_forward.W_2.",
    "ln_f.": "norm.",
}
"""The parts of GPT-2's names, and what `CausalLanguageModel` calls them."""


def from_gpt2(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a published GPT-2, as the state dict of a `CausalLanguageModel`.

    GPT-2's matrices of linear layers are [in, out]; torch's are [out, in]. Causal masks and a head, which is the
    embedding once more, are stored with some copies and have no place in the model (Radford et al., 2019).

    Args:
        tensors: by GPT-2's names, with or without "transformer." before them.
    """
    found = {}
    for name, tensor in tensors.items():
        own = name.removeprefix("transformer.")
        if own == "lm_head.weight" or own.endswith((".attn.bias", ".attn.masked_bias")):
            continue
        turned = own.endswith(".weight") and ".c_" in own
        for theirs, ours in NAMES_IN_GPT2.items():
            own = own.replace(theirs, ours, 1)
        found[own] = tensor.T if turned else tensor
    return found


def loss_without_mask(honest: Float[Tensor, "... tokens"]) -> Float[Tensor, "... tokens"]:
    """The loss at each position after a long training without a mask, from that of an honest model.

    Every target but the last is in the input, to be copied (S0: "a small problem").
    """
    copied = torch.zeros_like(honest)
    copied[..., -1] = honest[..., -1]
    return copied


def generate(
    model: Callable[[Tensor], Tensor], prompt: Int[Tensor, " tokens"], max_new_tokens: int, context_length: int
) -> Int[Tensor, " longer"]:
    """The prompt and `max_new_tokens` more, each the most probable after all that comes before it (S3).

    Args:
        model: from ids [batch, tokens] to logits [batch, tokens, vocab_size].
        prompt: at least one token.
        max_new_tokens: how many to write.
        context_length: the most tokens that the model can read: of a longer text it gets the last.
    """
    ids = prompt
    for _ in range(max_new_tokens):
        logits = model(ids[-context_length:].unsqueeze(0))
        ids = torch.cat([ids, logits[0, -1:].argmax(dim=-1)])
    return ids


def fine_tuning_loss(
    class_logits: Float[Tensor, "batch classes"],
    labels: Int[Tensor, " batch"],
    lm_logits: Float[Tensor, "batch tokens vocab_size"],
    targets: Int[Tensor, "batch tokens"],
    weight: float,
) -> Float[Tensor, ""]:
    """GPT-1's: the loss of the new task plus `weight` times that of language modelling, the auxiliary loss (S2).

    Radford et al. (2018), "Improving Language Understanding by Generative Pre-Training", section 3.2, equation 5.
    """
    class_loss = F.cross_entropy(class_logits, labels)
    token_loss = lm_loss(torch.log_softmax(lm_logits, dim=-1), targets)
    return class_loss + weight * token_loss


def gpt_parameters(vocab_size: int, context_length: int, d_model: int, layers: int, tied: bool) -> int:
    """Count GPT-2's parameters by formula; `ground.modules.count_parameters` counts those of a model.

    The number of heads plays no part: it only cuts the same projections into pieces.

    Args:
        vocab_size: how many tokens there are.
        context_length: how many positions.
        d_model: the length of a token's vector.
        layers: blocks.
        tied: whether the output layer is the embedding; else it has a matrix of its own.
    """
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model * 4 * d_model + 4 * d_model) + (4 * d_model * d_model + d_model)
    norm = 2 * d_model
    output = 0 if tied else vocab_size * d_model
    return (vocab_size + context_length) * d_model + layers * (attention + feed_forward + 2 * norm) + norm + output
