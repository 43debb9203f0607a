"""Decoding in its plainest form, one sentence at a time: what the student writes in lesson 06.

Here a model is just a step function: the tokens so far go in, a score for each next token comes out. The modules of
`course_lib.decoding` do the same in batches, and read each token once.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from course_lib.attention import scaled_dot_product_attention
from course_lib.decoding.sampling import keep_nucleus, keep_top_k

Step = Callable[[Int[Tensor, " tokens"]], Float[Tensor, " vocab_size"]]
"""Maps the ids so far, <s> first, to the logits of the next token."""


# --- Searching -------------------------------------------------------------------------------------------------


def greedy(step: Step, start_id: int, end_id: int, max_new_tokens: int) -> Int[Tensor, " new"]:
    """Write the most probable token at every step, until it is <e> or there are `max_new_tokens` (S2).

    Returns:
        The new tokens, without <s>, with <e> if it was reached.
    """
    tokens = [start_id]
    while len(tokens) <= max_new_tokens and tokens[-1] != end_id:
        tokens.append(int(step(torch.tensor(tokens)).argmax()))
    return torch.tensor(tokens[1:])


def beam_search(step: Step, start_id: int, end_id: int, beams: int, max_new_tokens: int) -> Int[Tensor, " new"]:
    """Keep the `beams` most probable beginnings at every step; at the end, write the best of them.

    A sentence with <e> stays unchanged, and keeps its place unless `beams` others are better. Wu et al. (2016), section
    7, without the length penalty.

    Returns:
        The new tokens, as for `greedy`.
    """
    return torch.tensor(beams_kept(step, start_id, end_id, beams, max_new_tokens)[0][1][1:])


def beams_kept(step: Step, start_id: int, end_id: int, beams: int, length: int) -> list[tuple[float, list[int]]]:
    """Return a beam search's beams after `length` tokens, best first: log-probabilities, and tokens from <s> on."""
    kept = [(0.0, [start_id])]
    for _ in range(length):
        candidates = [sentence for sentence in kept if sentence[1][-1] == end_id]
        for score, tokens in kept:
            if tokens[-1] != end_id:
                log_probabilities = torch.log_softmax(step(torch.tensor(tokens)), dim=-1).tolist()
                candidates += [(score + more, [*tokens, token]) for token, more in enumerate(log_probabilities)]
        kept = sorted(candidates, reverse=True)[:beams]
    return kept


# --- Agreeing --------------------------------------------------------------------------------------------------


def overlap(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the F1 of two sentences: twice the number of tokens that they share, over the sum of their lengths."""
    return 2 * sum((Counter(one) & Counter(other)).values()) / (len(one) + len(other))


def consensus(samples: Sequence[Sequence[int]]) -> Sequence[int]:
    """Return the sample that is most similar to all samples: minimum Bayes risk decoding, with F1 as the utility.

    Kumar and Byrne (2004); Eikema and Aziz (2020), "Is MAP Decoding All You Need?".
    """
    return max(samples, key=lambda one: sum(overlap(one, other) for other in samples))


# --- Drawing ---------------------------------------------------------------------------------------------------


def top_k(probabilities: Float[Tensor, "... vocab_size"], k: int) -> Float[Tensor, "... vocab_size"]:
    """Keep the k most probable tokens, divided by their sum, and set all others to 0. Fan et al. (2018)."""
    return torch.softmax(keep_top_k(probabilities.log(), k), dim=-1)


def nucleus(probabilities: Float[Tensor, "... vocab_size"], p: float) -> Float[Tensor, "... vocab_size"]:
    """Keep the nucleus instead: the fewest tokens, most probable first, that together have mass p.

    Holtzman et al. (2020).
    """
    return torch.softmax(keep_nucleus(probabilities.log(), p), dim=-1)


# --- Keeping keys and values -----------------------------------------------------------------------------------


def attend_with_cache(
    x: Float[Tensor, "... new d_model"],
    keys: Float[Tensor, "... tokens d_head"],
    values: Float[Tensor, "... tokens d_head"],
    W_q: Float[Tensor, "d_model d_head"],
    W_k: Float[Tensor, "d_model d_head"],
    W_v: Float[Tensor, "d_model d_head"],
) -> tuple[
    Float[Tensor, "... new d_head"], Float[Tensor, "... tokens+new d_head"], Float[Tensor, "... tokens+new d_head"]
]:
    """Return the last rows of causal self-attention, with the earlier tokens' keys and values from the cache.

    Args:
        x: the newest tokens: all of a prompt, the next one, or several that a draft proposes.
        keys, values: those of the tokens before; none at first.
        W_q, W_k, W_v: projections, applied as x W.

    Returns:
        The output of the new tokens, and all keys and values, with the new ones at the end.
    """
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    new, tokens = x.shape[-2], keys.shape[-2]
    mask = torch.ones(new, tokens, dtype=torch.bool, device=x.device).tril(tokens - new)
    return scaled_dot_product_attention(x @ W_q, keys, values, mask), keys, values


# --- A small model that runs ahead ------------------------------------------------------------------------------


def speculative_step(
    drafted: Int[Tensor, " drafted"],
    draft: Float[Tensor, "drafted vocab_size"],
    target: Float[Tensor, "drafted+1 vocab_size"],
    chances: Float[Tensor, " drafted"],
) -> tuple[int, Float[Tensor, " vocab_size"]]:
    """Check tokens that a draft model has written ahead, so that texts have the target model's distribution.

    Leviathan et al. (2023), algorithm 1.

    Args:
        drafted: the tokens that the draft model drew.
        draft: the distributions that it drew them from, each with a positive probability for its token.
        target: the target model's distributions at the same positions, and at the one after.
        chances: numbers from 0 to 1, drawn evenly.

    Returns:
        The number of tokens to keep, and the distribution of the next token.
    """
    for position, token in enumerate(drafted.tolist()):
        if chances[position] >= target[position, token] / draft[position, token]:
            missing = (target[position] - draft[position]).clamp(min=0)
            return position, missing / missing.sum()
    return len(drafted), target[-1]


# --- A small model with known probabilities --------------------------------------------------------------------

Tree = Mapping[tuple[str, ...], Mapping[str, float]]
"""Maps the tokens so far to the probabilities of those that may follow."""

TANZTE: Tree = {
    (): {"die": 0.6, "eine": 0.4},
    ("die",): {"Katze": 0.9, "Mieze": 0.1},
    ("die", "Katze"): {"hat": 0.5, "tanzte": 0.4, "tanzt": 0.1},
    ("die", "Katze", "hat"): {"getanzt": 0.6, "gerade": 0.4},
    ("die", "Katze", "hat", "gerade"): {"getanzt": 1.0},
    ("die", "Katze", "tanzte"): {"<e>": 0.9, "dort": 0.1},
    ("die", "Mieze"): {"tanzte": 1.0},
    ("eine",): {"Katze": 1.0},
    ("eine", "Katze"): {"tanzte": 0.6, "hat": 0.4},
    ("eine", "Katze", "tanzte"): {"<e>": 0.7, "dort": 0.3},
    ("eine", "Katze", "hat"): {"getanzt": 1.0},
}
"""What a model might write for *the cat danced*. If there is no entry, <e> follows.

*hat* is the most probable token after *die Katze*, since every sentence in the perfect tense begins with it; but then
these sentences diverge. So greedy decoding writes *die Katze hat getanzt*, two beams *eine Katze tanzte*, and three
find the most probable sentence, *die Katze tanzte*.
"""

TANZTE_WORDS = (
    "<pad>",
    "<s>",
    "<e>",
    "die",
    "eine",
    "Katze",
    "Mieze",
    "hat",
    "tanzte",
    "tanzt",
    "getanzt",
    "gerade",
    "dort",
)
"""The vocabulary of `TANZTE`, by id; the special tokens have their usual ids."""

SENTENCES = {
    "A": "die Katze tanzte",
    "B": "die Katze hat getanzt",
    "C": "die Katze hat gerade getanzt",
    "D": "die Mieze tanzte",
    "E": "eine Katze tanzte",
    "F": "eine Katze hat getanzt",
}
"""The letters of the sentences in the question on `TANZTE`."""


def tree_step(tree: Tree, vocabulary: tuple[str, ...]) -> Step:
    """Return a step function that looks up its probabilities in a tree; -inf for tokens that cannot follow."""

    def step(tokens: Int[Tensor, " tokens"]) -> Float[Tensor, " vocab_size"]:
        so_far = tuple(vocabulary[token] for token in tokens.tolist()[1:])
        following = tree.get(so_far, {"<e>": 1.0})
        return torch.tensor([following.get(token, 0.0) for token in vocabulary]).log()

    return step


def sentence_found(beams: int) -> tuple[str, list[float]]:
    """Return the result of a search in `TANZTE` with this many beams; 1 is greedy decoding.

    Returns:
        The letter of the sentence that it writes, and the probabilities of the beams after the third token, best first.
    """
    step = tree_step(TANZTE, TANZTE_WORDS)
    found = beam_search(step, 1, 2, beams, max_new_tokens=8)
    tokens = " ".join(TANZTE_WORDS[token] for token in found.tolist()[:-1])
    letter = next(letter for letter, sentence in SENTENCES.items() if sentence == tokens)
    return letter, [math.exp(score) for score, _ in beams_kept(step, 1, 2, beams, 3)]
