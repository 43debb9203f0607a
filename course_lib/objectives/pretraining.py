"""BERT's pre-training: masked tokens, and whether one sentence follows another (S1, S2).

Devlin et al. (2019), section 3.1 and appendix A.1.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor
from torch.nn.utils.rnn import pad_sequence

from course_lib.masking import padding_mask
from course_lib.objectives.heads import MaskedLanguageModel, head_loss, label_loss
from course_lib.objectives.labelled_data import IGNORED, LabelledBatch
from course_lib.text.tokenization import join_pair

MASK_PROBABILITY = 0.15
"""The probability that BERT's pre-training chooses a token."""


@dataclass(frozen=True)
class MaskedTokens:
    """Chooses tokens and masks them.

    Each token is chosen with probability p. Of those chosen, 80% become [MASK], 10% a random token, and 10% stay: since
    later texts have no [MASK], the model must not need it to know which tokens to predict.

    Attributes:
        vocab_size: the number of tokens in the vocabulary; random ones are drawn from all of it.
        mask_id: the id of [MASK].
        special_ids: the ids of tokens that are never chosen, such as padding, [CLS] and [SEP].
        p: the probability that any other token is chosen.
    """

    vocab_size: int
    mask_id: int
    special_ids: tuple[int, ...]
    p: float = MASK_PROBABILITY

    def __post_init__(self) -> None:
        if not 0 < self.p <= 1:
            raise ValueError(f"p, the probability of masking a token, must be above 0 and at most 1, not {self.p}")

    def corrupt(
        self, ids: Int[Tensor, "batch tokens"], generator: Generator | None = None
    ) -> tuple[Int[Tensor, "batch tokens"], Int[Tensor, "batch tokens"]]:
        """Choose tokens and mask them as `mask_words` does; `ids` are not changed.

        Args:
            ids: the tokens.
            generator: on the device of `ids`; None for torch's own.
        """
        special = torch.isin(ids, torch.tensor(self.special_ids, device=ids.device))
        chance, fate = _uniform(ids, generator), _uniform(ids, generator)
        anything = torch.randint(self.vocab_size, ids.shape, generator=generator, device=ids.device)
        return mask_words(ids, special, chance, fate, anything, self.mask_id, self.p)

    def loss(self, model: MaskedLanguageModel, batch: LabelledBatch) -> Tensor:
        """Return the mean negative log-likelihood, in nats, of masked tokens, drawn again in every call.

        The batch's labels are not used.

        Raises:
            ValueError: no token was chosen: the batch is too small to learn from, or all its tokens are special.
        """
        ids, labels = self.corrupt(batch.ids)
        return head_loss(model, LabelledBatch(ids, batch.segments, batch.mask, labels))


def mask_words(
    ids: Int[Tensor, "batch tokens"],
    special: Bool[Tensor, "batch tokens"],
    chance: Float[Tensor, "batch tokens"],
    fate: Float[Tensor, "batch tokens"],
    anything: Int[Tensor, "batch tokens"],
    mask_id: int,
    p: float = MASK_PROBABILITY,
) -> tuple[Int[Tensor, "batch tokens"], Int[Tensor, "batch tokens"]]:
    """Mask tokens, with all random choices passed in. Devlin et al. (2019), section 3.1 and appendix A.1.

    Args:
        ids: the tokens.
        special: True at [CLS], [SEP] and padding, which are never chosen.
        chance: from 0 to 1; a token is chosen where it is below `p`.
        fate: from 0 to 1; a chosen token becomes [MASK] below 0.8, another token below 0.9, and stays otherwise.
        anything: the tokens to replace others with.
        mask_id: the id of [MASK].
        p: the probability of being chosen.

    Returns:
        What the model reads; and the labels: the right token where one was chosen, `IGNORED` elsewhere.
    """
    chosen = (chance < p) & ~special
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    return torch.where(chosen, hidden, ids), torch.where(chosen, ids, IGNORED)


def expected_counts(tokens: int) -> tuple[float, float, float]:
    """Return how many of these tokens become [MASK], how many another token, and how many are kept but predicted.

    These are averages for the probabilities of Devlin et al. (2019), section 3.1.
    """
    chosen = MASK_PROBABILITY * tokens
    return 0.8 * chosen, 0.1 * chosen, 0.1 * chosen


def _uniform(ids: Tensor, generator: Generator | None) -> Float[Tensor, "batch tokens"]:
    return torch.rand(ids.shape, generator=generator, device=ids.device)


FOLLOWS, RANDOM = 0, 1
"""The labels of next-sentence prediction, as in BERT's published weights."""

FOLLOWING = 0.5
"""The probability that a pair's second sentence is the one that follows the first."""


def sentence_pairs(texts: Sequence[Sequence[str]], rng: random.Random) -> list[tuple[str, str, int]]:
    """Pair every sentence that another follows with that one or, half of the time, with a random one.

    Args:
        texts: each a list of sentences in their order.
        rng: decides which sentences get a random one, and draws it.

    Returns:
        The first sentence, the second, and `FOLLOWS` or `RANDOM`.

    Raises:
        ValueError: no sentence follows another, or there are no others to draw from.
    """
    sentences = [sentence for text in texts for sentence in text]
    pairs = _neighbours(texts)
    if not pairs or len(set(sentences)) < 3:
        raise ValueError("pairs need texts of at least two sentences, and three different sentences in all")
    chances, others = [], []
    for first, second in pairs:
        chances.append(rng.random())
        other = second
        while chances[-1] >= FOLLOWING and other in (first, second):
            other = rng.choice(sentences)
        others.append(other)
    return next_sentence_pairs(texts, chances, others)


def next_sentence_pairs(
    texts: Sequence[Sequence[str]], chances: Sequence[float], others: Sequence[str]
) -> list[tuple[str, str, int]]:
    """Return pairs for next-sentence prediction, with all random choices passed in. Devlin et al. (2019), section 3.1.

    Args:
        texts: each a list of sentences in their order.
        chances: from 0 to 1, one for each pair of neighbors; the second sentence stays where it is below 0.5.
        others: the sentences that replace it otherwise, one for each pair.

    Returns:
        The first sentence, the second, and `FOLLOWS` or `RANDOM`. If the sentence from `others` is the one that
        follows, the label is `FOLLOWS`.
    """
    drawn = []
    for (first, second), chance, other in zip(_neighbours(texts), chances, others, strict=True):
        shown = second if chance < FOLLOWING else other
        drawn.append((first, shown, FOLLOWS if shown == second else RANDOM))
    return drawn


def _neighbours(texts: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    return [pair for text in texts for pair in pairwise(text)]


def pretraining_loss(
    word_logits: Float[Tensor, "batch tokens vocab_size"],
    word_labels: Int[Tensor, "batch tokens"],
    pair_logits: Float[Tensor, "batch 2"],
    pair_labels: Int[Tensor, " batch"],
) -> Float[Tensor, ""]:
    """Return BERT's loss, in nats: the mean over the masked tokens plus the mean over the pairs.

    Devlin et al. (2019), appendix A.2.

    Args:
        word_logits: scores of all tokens at each position.
        word_labels: the right tokens; `IGNORED` where nothing is predicted.
        pair_logits: scores of `FOLLOWS` and `RANDOM`.
        pair_labels: the right class.
    """
    token_loss, pair_loss = label_loss(word_logits, word_labels), label_loss(pair_logits, pair_labels)
    return token_loss + pair_loss


# --- Texts and pairs of texts in a batch -----------------------------------------------------------------------


def encode_pairs(
    firsts: Sequence[Sequence[int]],
    seconds: Sequence[Sequence[int] | None],
    cls_id: int,
    sep_id: int,
    padding_id: int,
) -> tuple[Int[Tensor, "batch tokens"], Int[Tensor, "batch tokens"], Bool[Tensor, "batch tokens"]]:
    """Join texts, or pairs of texts, in a batch as BERT reads it. Devlin et al. (2019), section 3, figure 2.

    Args:
        firsts: the ids of each first text.
        seconds: the ids of each second text; None if there is none.
        cls_id: the id of [CLS].
        sep_id: the id of [SEP].
        padding_id: the id that fills up shorter rows.

    Returns:
        The ids; the segments, 0 at the first text and at padding, else 1; and the mask, True at tokens.
    """
    joined = [join_pair(*pair, cls_id=cls_id, sep_id=sep_id) for pair in zip(firsts, seconds, strict=True)]
    rows = [torch.tensor(pair.ids) for pair in joined]
    ids = pad_sequence(rows, batch_first=True, padding_value=padding_id)
    segments = pad_sequence([torch.tensor(pair.segments) for pair in joined], batch_first=True)
    return ids, segments, padding_mask(torch.tensor([len(row) for row in rows]), ids.shape[1])
