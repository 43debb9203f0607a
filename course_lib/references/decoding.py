"""Decoding in its plainest form, one sentence at a time: what the student writes in lesson 06.

Here a model is nothing but a step function: the words so far go in, a score for each next word comes out. The
modules of `course_lib.decoding` do the same in batches, and read each word once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_lib.attention import scaled_dot_product_attention
from course_lib.decoding.beam import penalty
from course_lib.decoding.sampling import keep_nucleus, keep_top_k

Step = Callable[[Int[Tensor, " words"]], Float[Tensor, " vocabulary"]]
"""From the ids so far, <s> first, to the logits of the next word."""


def sequence_log_probability(
    logits: Float[Tensor, "... words vocabulary"],
    expected: Int[Tensor, "... words"],
    mask: Bool[Tensor, "... words"] | None = None,
) -> Float[Tensor, "..."]:
    """ln P(e | f) of each whole sequence by the chain rule: Σ_t ln P(e_t | e_1, ..., e_t-1, f), in nats (S1, S4).

    Args:
        logits: scores of all words at each place, read with teacher forcing: from the right words before it.
        expected: the right words.
        mask: True at the words that count, not at padding; None counts all.
    """
    found = torch.log_softmax(logits, dim=-1).gather(-1, expected.unsqueeze(-1)).squeeze(-1)
    return (found if mask is None else found.masked_fill(~mask, 0.0)).sum(dim=-1)


# --- Searching -------------------------------------------------------------------------------------------------


def greedy(step: Step, start_id: int, end_id: int, max_length: int) -> Int[Tensor, " new"]:
    """Write the most probable word at every step, until it is <e> or there are `max_length` of them (S2).

    Returns:
        The new words: without <s>, with <e> where it was reached.
    """
    words = [start_id]
    while len(words) <= max_length and words[-1] != end_id:
        words.append(int(step(torch.tensor(words)).argmax()))
    return torch.tensor(words[1:])


def beam_search(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Int[Tensor, " new"]:
    """Keep the `beams` most probable beginnings at every step; at the end, write the best of them.

    A sentence that has its <e> stays as it is, and keeps its place as long as no `beams` others are better. Wu et al.
    (2016), section 7, without the length penalty.

    Returns:
        The new words, as for `greedy`.
    """
    return torch.tensor(beams_kept(step, start_id, end_id, beams, max_length)[0][1][1:])


def beams_kept(step: Step, start_id: int, end_id: int, beams: int, length: int) -> list[tuple[float, list[int]]]:
    """What a beam search holds after `length` words, the best first: log-probabilities and words, those from <s> on."""
    kept = [(0.0, [start_id])]
    for _ in range(length):
        candidates = [sentence for sentence in kept if sentence[1][-1] == end_id]
        for score, words in kept:
            if words[-1] != end_id:
                log_probabilities = torch.log_softmax(step(torch.tensor(words)), dim=-1).tolist()
                candidates += [(score + more, [*words, word]) for word, more in enumerate(log_probabilities)]
        kept = sorted(candidates, reverse=True)[:beams]
    return kept


def length_penalised(
    log_probability: Float[Tensor, "..."], length: Int[Tensor, "..."], alpha: float
) -> Float[Tensor, "..."]:
    """Sentences' log-probabilities divided by ((5 + length) / 6)^alpha, so that long ones have a chance.

    Wu et al. (2016), equation 14; `penalty` is the divisor of one sentence.
    """
    divisors = [penalty(words, alpha) for words in length.flatten().tolist()]
    return log_probability / torch.tensor(divisors, dtype=log_probability.dtype).view(length.shape)


# --- Drawing ---------------------------------------------------------------------------------------------------


def with_temperature(logits: Float[Tensor, "... vocabulary"], temperature: float) -> Float[Tensor, "... vocabulary"]:
    """Probabilities softmax(logits / temperature): below 1 they are sharper, above 1 flatter.

    Ackley, Hinton and Sejnowski (1985) took both the formula and the name from physics.
    """
    return torch.softmax(logits / temperature, dim=-1)


def top_k(probabilities: Float[Tensor, "... vocabulary"], k: int) -> Float[Tensor, "... vocabulary"]:
    """The k most probable words, their probabilities divided by their sum; 0 for all others. Fan et al. (2018)."""
    return torch.softmax(keep_top_k(probabilities.log(), k), dim=-1)


def nucleus(probabilities: Float[Tensor, "... vocabulary"], p: float) -> Float[Tensor, "... vocabulary"]:
    """The same with the nucleus: the fewest words, most probable first, that have mass p together.

    Holtzman et al. (2020).
    """
    return torch.softmax(keep_nucleus(probabilities.log(), p), dim=-1)


# --- Keeping keys and values -----------------------------------------------------------------------------------


def cached_attention(
    x: Float[Tensor, "... 1 d_model"],
    keys: Float[Tensor, "... words d_head"],
    values: Float[Tensor, "... words d_head"],
    W_q: Float[Tensor, "d_model d_head"],
    W_k: Float[Tensor, "d_model d_head"],
    W_v: Float[Tensor, "d_model d_head"],
) -> tuple[Float[Tensor, "... 1 d_head"], Float[Tensor, "... words+1 d_head"], Float[Tensor, "... words+1 d_head"]]:
    """The last row of causal self-attention, with what the words before have left in the cache.

    Args:
        x: the newest word.
        keys, values: of the words before it; none at the first word.
        W_q, W_k, W_v: projections, applied as x W.

    Returns:
        The newest word's output, and the keys and the values with its own after them.
    """
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    return scaled_dot_product_attention(x @ W_q, keys, values), keys, values


# --- A small model that one can see through --------------------------------------------------------------------

Tree = Mapping[tuple[str, ...], Mapping[str, float]]
"""From the words so far to the probabilities of those that may follow."""

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
"""What a model might write for *the cat danced*. Where nothing else is said, <e> follows.

*hat* is the most probable word after *die Katze*, since every sentence in the perfect tense begins with it; but after
it these sentences part. So greedy decoding writes *die Katze hat getanzt*, two beams *eine Katze tanzte*, and three
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
"""The vocabulary of `TANZTE`, by id; the special words are where they always are in this course."""

SENTENCES = {
    "A": "die Katze tanzte",
    "B": "die Katze hat getanzt",
    "C": "die Katze hat gerade getanzt",
    "D": "die Mieze tanzte",
    "E": "eine Katze tanzte",
    "F": "eine Katze hat getanzt",
}
"""The letters by which the question on `TANZTE` calls its sentences."""


def tree_step(tree: Tree, vocabulary: tuple[str, ...]) -> Step:
    """A step function that looks its probabilities up in a tree; -inf for words that cannot follow."""

    def step(words: Int[Tensor, " words"]) -> Float[Tensor, " vocabulary"]:
        so_far = tuple(vocabulary[word] for word in words.tolist()[1:])
        following = tree.get(so_far, {"<e>": 1.0})
        return torch.tensor([following.get(word, 0.0) for word in vocabulary]).log()

    return step


def sentence_found(beams: int) -> tuple[str, list[float]]:
    """What a search with this many beams does with `TANZTE`; 1 is greedy decoding.

    Returns:
        The letter of the sentence that it writes, and the probabilities of the beginnings that it holds after the third
        word, the best first.
    """
    step = tree_step(TANZTE, TANZTE_WORDS)
    found = beam_search(step, 1, 2, beams, max_length=8)
    words = " ".join(TANZTE_WORDS[word] for word in found.tolist()[:-1])
    letter = next(letter for letter, sentence in SENTENCES.items() if sentence == words)
    return letter, [math.exp(score) for score, _ in beams_kept(step, 1, 2, beams, 3)]
