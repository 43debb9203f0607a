"""Scores computed by hand, which the lesson on evaluation explains and students write (S1, "evaluation").

`course_lib.evaluation.metrics` computes published metrics with the libraries that papers report; these functions give
the same results and are short enough to read.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Words = Sequence[str]
"""A sentence that is already split into words."""


def sequence_accuracy(
    predicted: Int[Tensor, "batch tokens"], expected: Int[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"]
) -> float:
    """Return the share of sequences in which every label that counts is right (S1: whole-sentence accuracy)."""
    whole = ((predicted == expected) | ~mask).all(dim=-1)
    return whole.float().mean().item()


def precision_recall_f1(
    predicted: Int[Tensor, "..."], expected: Int[Tensor, "..."], mask: Bool[Tensor, "..."], label: int
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of one label where `mask` is True; 0 in place of 0 / 0."""
    said, right = predicted[mask] == label, expected[mask] == label
    both = int((said & right).sum())
    precision, recall = _share(both, int(said.sum())), _share(both, int(right.sum()))
    return precision, recall, _share(2 * both, int(said.sum() + right.sum()))


def ngrams(words: Words, n: int) -> Counter[tuple[str, ...]]:
    """Count each run of n consecutive words."""
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


def clipped_ngrams(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    """Count the n-grams that a hypothesis shares with its references, and all its n-grams, as BLEU does.

    Each n-gram counts at most as often as in the reference that has it most often. Without this clipping, *the the the*
    would match the *the* of *the cat* each time, and be perfect. Papineni et al. (2002), section 2.1.
    """
    allowed: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        allowed |= ngrams(reference, n)  # the larger count of each n-gram
    found = ngrams(hypothesis, n)
    return (found & allowed).total(), found.total()


def micro_and_macro(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    """Combine the precisions of many sentences in two ways (S1: corpus and sentence BLEU).

    Args:
        matched: the number of right n-grams in each sentence.
        total: the number of all n-grams in each sentence.

    Returns:
        "micro", the sums of the counts divided, and "macro", the mean of the sentences' precisions. A sentence without
        n-grams has a precision of 0.
    """
    micro = _share(sum(matched), sum(total))
    macro = sum(_share(*counts) for counts in zip(matched, total, strict=True)) / len(matched)
    return micro, macro


def _share(matched: int, total: int) -> float:
    return matched / total if total else 0.0


def brevity_penalty(hypothesis_length: int, reference_length: int) -> float:
    """Return BLEU's factor for short texts: 1 from the reference's length on, exp(1 - r/c) below, 0 for no words.

    Papineni et al. (2002), section 2.2.
    """
    if hypothesis_length >= reference_length:
        return 1.0
    return math.exp(1 - reference_length / hypothesis_length) if hypothesis_length else 0.0


def corpus_bleu(
    counts: Sequence[Sequence[tuple[int, int]]],
    lengths: Sequence[tuple[int, Sequence[int]]],
    penalty: Callable[[int, int], float] = brevity_penalty,
) -> float:
    """Return the BLEU of a corpus: the geometric mean of its n-gram precisions, times the brevity penalty; from 0 to 1.

    Papineni et al. (2002), sections 2.2.2 and 2.3, with equal weights. One precision of 0 makes it 0.

    Args:
        counts: the results of `clipped_ngrams` for each sentence, with n = 1, 2 and so on; usually up to four.
        lengths: for each sentence, the length of the hypothesis and of each reference, in words. The reference of the
            closest length counts; of two equally close, the shorter.
        penalty: computes the penalty from the words of the hypotheses and of the references, over all sentences.
    """
    said = sum(length for length, _ in lengths)
    right = sum(min((abs(one - length), one) for one in references)[1] for length, references in lengths)
    precisions = [_share(*map(sum, zip(*pairs, strict=True))) for pairs in zip(*counts, strict=True)]
    mean = math.prod(precisions) ** (1 / len(precisions))
    return penalty(said, right) * mean


def edit_table(hypothesis: Words, reference: Words) -> Int[Tensor, "rows columns"]:
    """Return at [i, j] the fewest edits that turn the hypothesis's first i words into the reference's first j.

    Rows go from none of the hypothesis's words to all of them, columns likewise for the reference.

    An edit substitutes, deletes or inserts one word:

        D[i, 0] = i,  D[0, j] = j
        D[i, j] = min(D[i-1, j] + 1, D[i, j-1] + 1, D[i-1, j-1] + [hypothesis word i ≠ reference word j])

    Levenshtein (1966), Wagner and Fischer (1974).
    """
    rows = [list(range(len(reference) + 1))]
    for i, word in enumerate(hypothesis, start=1):
        above, row = rows[-1], [i]
        for j, right in enumerate(reference, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (word != right)))
        rows.append(row)
    return torch.tensor(rows)


def edit_distance(hypothesis: Words, reference: Words) -> int:
    """Return the fewest words to substitute, delete or insert to turn one sentence into the other."""
    return int(edit_table(hypothesis, reference)[-1, -1])


def word_error_rate(
    hypotheses: Sequence[Words], references: Sequence[Words], distance: Callable[[Words, Words], int] = edit_distance
) -> float:
    """Return edits over reference words, each summed over the corpus first; the rate may exceed 1.

    Args:
        hypotheses, references: pairs of sentences.
        distance: counts the edits between the sentences of a pair.
    """
    words = sum(len(reference) for reference in references)
    edits = sum(distance(*pair) for pair in zip(hypotheses, references, strict=True))
    return edits / words


def pairwise_accuracy(metric: Sequence[float], people: Sequence[float], tolerance: float = 0.0) -> float:
    """Return the share of translation pairs for which a metric and people agree which is better, or that neither is.

    Kocmi et al. (2021), "To Ship or Not to Ship", section 4; ties: Deutsch et al. (2023), "Ties Matter", section 4.

    Args:
        metric: the metric's score of each translation; higher is better.
        people: the people's grade of each translation.
        tolerance: the metric prefers neither if its two scores are at most this far apart.
    """
    pairs = list(combinations(range(len(people)), 2))
    agreed = 0
    for i, j in pairs:
        difference = metric[i] - metric[j]
        judged = (difference > tolerance) - (difference < -tolerance)
        preferred = (people[i] > people[j]) - (people[i] < people[j])
        agreed += judged == preferred
    return agreed / len(pairs)


def seen_before(test: Sequence[Words], training: Sequence[Words], n: int) -> list[float]:
    """Return for each test sentence the share of its words in runs of n words that also occur in the training data.

    Touvron et al. (2023), "Llama 2", appendix A.6, where n is 10 and a few words in a run may differ.
    """
    known = {ngram for words in training for ngram in ngrams(words, n)}
    shares = []
    for words in test:
        covered = [False] * len(words)
        for start in range(len(words) - n + 1):
            if tuple(words[start : start + n]) in known:
                covered[start : start + n] = [True] * n
        shares.append(_share(sum(covered), len(words)))
    return shares
