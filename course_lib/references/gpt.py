"""A language model piece by piece, as lesson 07 builds it: `CausalLanguageModel` is `GPT` reduced to its formulas.

S0 gives the pieces: targets that are the inputs shifted by one, softmax(W h), and the loss of a whole batch. S2 and S3
give the model and its sizes. For real training, use `course_lib.models.GPT`.
"""

from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.masking import causal_mask
from course_lib.objectives.losses import shift_right


def training_windows(
    stream: Int[Tensor, " tokens"], starts: Int[Tensor, " batch"], context_length: int
) -> tuple[Int[Tensor, "batch context_length"], Int[Tensor, "batch context_length"]]:
    """Cut windows of a text: a language model's inputs, and its targets, each the next token (S0).

    Args:
        stream: a text.
        starts: where each window begins; each leaves room for context_length + 1 tokens.
        context_length: the number of tokens read at once.
    """
    return shift_right(stream[starts.unsqueeze(1) + torch.arange(context_length + 1, device=starts.device)])


def tied_logits(
    states: Float[Tensor, "... d_model"], embedding: Float[Tensor, "vocab_size d_model"]
) -> Float[Tensor, "... vocab_size"]:
    """Return W h, where the rows of W are the token embeddings themselves (S0).

    Press and Wolf (2017), "Using the Output Embedding to Improve Language Models".
    """
    return states @ embedding.T


class CausalLanguageModel(nn.Module):
    """GPT in its simplest form: embeddings, positions, blocks under a causal mask, a norm, the tied output (S0, S2).

    Parameters:
        embedding: [vocab_size, d_model]; its rows are also the output layer's.
        positions, blocks, norm: the parameters of these parts.
    """

    def __init__(
        self,
        embedding: nn.Embedding,
        positions: nn.Module,
        blocks: Iterable[nn.Module],
        norm: nn.Module,
        causal: bool = True,
    ) -> None:
        """Assemble a model from its parts.

        Args:
            embedding: a vector for each token.
            positions: adds a vector for each position.
            blocks: each called as block(x, mask).
            norm: the final norm.
            causal: whether to use the mask; without it the model reads what it should predict.
        """
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.causal = causal

    def forward(self, ids: Int[Tensor, "batch tokens"]) -> Float[Tensor, "batch tokens vocab_size"]:
        """Return the logits of the token after each token."""
        mask = causal_mask(ids.shape[1], ids.device).unsqueeze(0) if self.causal else None
        x = self.positions(self.embedding(ids))
        for block in self.blocks:
            x = block(x, mask)
        return tied_logits(self.norm(x), self.embedding.weight)


NAMES_IN_GPT2 = {
    "wte.weight": "embedding.weight",
    "wpe.weight": "positions.encoding",
    "h.": "blocks.",
    "ln_1.": "add_and_norm_1.norm.",
    "attn.c_proj.": "self_attention.W_o.",
    "ln_2.": "add_and_norm_2.norm.",
    "mlp.c_fc.": "feed_forward.W_1.",
    "mlp.c_proj.": "feed_forward.W_2.",
    "ln_f.": "norm.",
}
"""The parts of GPT-2's names, and the same parts in `CausalLanguageModel`."""


def from_gpt2(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Convert the weights of a published GPT-2 to the state dict of a `CausalLanguageModel`.

    GPT-2 stores the projections of queries, keys and values side by side in one matrix, c_attn. Its matrices of linear
    layers are [in, out]; torch's are [out, in]. Some files also contain causal masks, and a head that repeats the
    embedding; the model needs neither (Radford et al., 2019).

    Args:
        tensors: the weights by GPT-2's names, with or without the prefix "transformer.".
    """
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        own = name.removeprefix("transformer.")
        if own == "lm_head.weight" or own.endswith((".attn.bias", ".attn.masked_bias")):
            continue
        turned = own.endswith(".weight") and ".c_" in own
        for theirs, ours in NAMES_IN_GPT2.items():
            own = own.replace(theirs, ours, 1)
        tensor = tensor.T if turned else tensor
        pieces = zip("qkv", tensor.chunk(3), strict=True) if ".c_attn." in own else [("", tensor)]
        found |= {own.replace("attn.c_attn", f"self_attention.W_{letter}"): piece for letter, piece in pieces}
    return found


def loss_without_mask(honest: Float[Tensor, "... tokens"]) -> Float[Tensor, "... tokens"]:
    """Return the loss at each position after long training without a mask, given that of an honest model.

    Every target but the last can be copied from the input (S0: "a small problem").
    """
    copied = torch.zeros_like(honest)
    copied[..., -1] = honest[..., -1]
    return copied


def influence(
    model: Callable[[Tensor], Tensor], ids: Int[Tensor, " tokens"], vocab_size: int
) -> Float[Tensor, "tokens tokens"]:
    """Measure how much each prediction (row) changes with each token (column); above the diagonal it should not.

    Args:
        model: maps ids [batch, tokens] to logits [batch, tokens, vocab_size].
        ids: a text.
        vocab_size: each token is replaced by the next id, the last id by 0.

    Returns:
        The largest absolute change of any logit.
    """
    before = model(ids.unsqueeze(0))[0]
    moved = torch.zeros(len(ids), len(ids))
    for position in range(len(ids)):
        changed = ids.clone()
        changed[position] = (ids[position] + 1) % vocab_size
        moved[:, position] = (model(changed.unsqueeze(0))[0] - before).abs().amax(dim=-1)
    return moved


def generate(
    model: Callable[[Tensor], Tensor], prompt: Int[Tensor, " tokens"], max_new_tokens: int, context_length: int
) -> Int[Tensor, " longer"]:
    """Return the prompt and `max_new_tokens` more, each the most probable after all that comes before it (S3).

    Args:
        model: maps ids [batch, tokens] to logits [batch, tokens, vocab_size].
        prompt: at least one token.
        max_new_tokens: the number of tokens to write.
        context_length: the most tokens that the model can read; of a longer text it gets the last ones.
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
    """Return GPT-1's loss: that of the new task plus `weight` times the auxiliary loss of language modeling (S2).

    Radford et al. (2018), "Improving Language Understanding by Generative Pre-Training", section 3.2, equation 5.
    """
    class_loss = F.cross_entropy(class_logits, labels)
    token_loss = F.cross_entropy(lm_logits.flatten(0, 1), targets.flatten())
    return class_loss + weight * token_loss
