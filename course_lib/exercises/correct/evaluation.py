"""Right answers to the exercises of lesson 10 (`course_lib/exercises/evaluation.py`)."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy
import torch
from torch import Tensor

Words = Sequence[str]
Scores = tuple[float, float, float]

# evaluation.precision_recall_f1


def _scores_by_loop(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> Scores:
    right = said = true = 0
    places = zip(predicted.flatten().tolist(), expected.flatten().tolist(), mask.flatten().tolist(), strict=True)
    for guess, gold, counts in places:
        if counts:
            right += guess == gold == label
            said += guess == label
            true += gold == label
    precision = right / said if said else 0.0
    recall = right / true if true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return precision, recall, f1


def _scores_in_single_precision(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> Scores:
    said, true = (predicted == label)[mask].float(), (expected == label)[mask].float()
    right = (said * true).sum()
    precision, recall = right / said.sum().clamp_min(1), right / true.sum().clamp_min(1)
    f1 = torch.nan_to_num(2 * precision * recall / (precision + recall))
    return precision.item(), recall.item(), f1.item()


def _scores_by_errors(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> Scores:
    right = int(((predicted == label) & (expected == label) & mask).sum())
    too_many = int(((predicted == label) & (expected != label) & mask).sum())
    missed = int(((predicted != label) & (expected == label) & mask).sum())
    if not right:
        return 0.0, 0.0, 0.0
    return right / (right + too_many), right / (right + missed), 2 * right / (2 * right + too_many + missed)


def _scores_in_numpy(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> Scores:
    guess, gold = predicted.numpy()[mask.numpy()], expected.numpy()[mask.numpy()]
    table = numpy.zeros((2, 2))
    numpy.add.at(table, ((guess == label).astype(int), (gold == label).astype(int)), 1)
    with numpy.errstate(invalid="ignore"):
        precision, recall = (
            numpy.nan_to_num(table[1, 1] / table[1].sum()),
            numpy.nan_to_num(table[1, 1] / table[:, 1].sum()),
        )
        f1 = numpy.nan_to_num(2 * precision * recall / (precision + recall))
    return float(precision), float(recall), float(f1)


def _scores_by_sets(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> Scores:
    said = {tuple(place) for place in ((predicted == label) & mask).nonzero().tolist()}
    true = {tuple(place) for place in ((expected == label) & mask).nonzero().tolist()}
    shares = [len(said & true) / len(places) if places else 0 for places in (said, true)]
    return *shares, statistics.harmonic_mean(shares) if all(shares) else 0.0  # type: ignore[return-value]


def _scores_by_refilling(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> Scores:
    predicted, expected = predicted.clone(), expected.clone()
    predicted[~mask] = expected[~mask] = label + 1
    said, true = predicted.eq(label), expected.eq(label)
    right = said.logical_and(true).sum().item()
    precision, recall = right / (said.sum().item() or 1), right / (true.sum().item() or 1)
    return precision, recall, 2 * precision * recall / ((precision + recall) or 1)


PRECISION_RECALL_F1 = (
    _scores_by_loop,
    _scores_in_single_precision,
    _scores_by_errors,
    _scores_in_numpy,
    _scores_by_sets,
    _scores_by_refilling,
)


# evaluation.sequence_accuracy


def _sequences_by_loop(predicted: Tensor, expected: Tensor, mask: Tensor) -> float:
    right = 0
    for guess, gold, words in zip(predicted, expected, mask, strict=True):
        right += torch.equal(guess[words], gold[words])
    return right / len(predicted)


def _sequences_refilled(predicted: Tensor, expected: Tensor, mask: Tensor) -> float:
    filled = torch.where(mask, predicted, expected)
    return (filled == expected).all(-1).float().mean().item()


SEQUENCE_ACCURACY = (
    _sequences_by_loop,
    _sequences_refilled,
    lambda predicted, expected, mask: 1 - ((predicted != expected) & mask).any(dim=1).double().mean().item(),
    lambda predicted, expected, mask: ((predicted == expected) | ~mask).numpy().all(axis=1).mean(),
    lambda predicted, expected, mask: int((((predicted - expected).abs() * mask).sum(1) == 0).sum()) / len(mask),
    lambda predicted, expected, mask: (((predicted == expected) & mask).sum(-1) == mask.sum(-1)).float().mean().item(),
)


# evaluation.clipped_ngrams


def _ngrams_by_loop(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    def counted(words: Words) -> dict[tuple[str, ...], int]:
        counts: dict[tuple[str, ...], int] = defaultdict(int)
        for start in range(len(words) - n + 1):
            counts[tuple(words[start : start + n])] += 1
        return counts

    found, known = counted(hypothesis), [counted(words) for words in references]
    matched = sum(min(count, max(counts.get(gram, 0) for counts in known)) for gram, count in found.items())
    return matched, sum(found.values())


def _ngrams_joined(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    def grams(words: Words) -> list[str]:
        return [" ".join(words[start : start + n]) for start in range(max(len(words) - n + 1, 0))]

    said, known = grams(hypothesis), [grams(words) for words in references]
    return sum(min(said.count(g), max(right.count(g) for right in known)) for g in set(said)), len(said)


def _windows(words: Words, n: int) -> list[Words]:
    """Beginnings of the rests of the sentence, as long as they have n words."""
    rests = [words[start:] for start in range(len(words))]
    return [rest[:n] for rest in rests if len(rest) >= n]


def _ngrams_crossed_out(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    most: Counter[tuple[str, ...]] = Counter()
    for words in references:
        for gram, count in Counter(map(tuple, _windows(words, n))).items():
            most[gram] = max(most[gram], count)
    left, matched = list(most.elements()), 0
    said = list(map(tuple, _windows(hypothesis, n)))
    for gram in said:
        if gram in left:
            left.remove(gram)
            matched += 1
    return matched, len(said)


def _ngrams_zipped(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    said, *known = (Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in (hypothesis, *references))
    allowed = functools.reduce(lambda one, other: one | other, known)
    return sum((said & allowed).values()), sum(said.values())


def _ngrams_less_the_rest(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    said = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
    rest = said.copy()
    for words in references:
        rest &= said - Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
    return said.total() - rest.total(), said.total()


def _ngrams_in_a_table(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    """Counts as columns of a table: a row for each text, a column for each n-gram."""
    texts = [[tuple(words[i : i + n]) for i in range(len(words) - n + 1)] for words in (hypothesis, *references)]
    columns = {gram: number for number, gram in enumerate(sorted({gram for text in texts for gram in text}))}
    table = torch.zeros(len(texts), len(columns) + 1, dtype=torch.long)
    for row, text in enumerate(texts):
        for gram in text:
            table[row, columns[gram]] += 1
    return int(torch.minimum(table[0], table[1:].amax(dim=0)).sum()), len(texts[0])


def _ngrams_by_recursion(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    def cut(words: Words) -> list[tuple[str, ...]]:
        return [] if len(words) < n else [tuple(words[:n]), *cut(words[1:])]

    known = [cut(words) for words in references]
    seen: Counter[tuple[str, ...]] = Counter()
    matched = 0
    for gram in cut(hypothesis):
        seen[gram] += 1
        matched += any(seen[gram] <= grams.count(gram) for grams in known)
    return matched, max(len(hypothesis) - n + 1, 0)


CLIPPED_NGRAMS = (
    _ngrams_by_loop,
    _ngrams_joined,
    _ngrams_crossed_out,
    _ngrams_zipped,
    _ngrams_less_the_rest,
    _ngrams_in_a_table,
    _ngrams_by_recursion,
)


# evaluation.brevity_penalty


def _penalty_with_limits(hypothesis_length: int, reference_length: int) -> float:
    if hypothesis_length == 0:
        return 0
    if hypothesis_length > reference_length:
        return 1
    return math.exp(1 - reference_length / hypothesis_length)


def _penalty_caught(hypothesis_length: int, reference_length: int) -> float:
    try:
        return math.exp(min(0, 1 - reference_length / hypothesis_length))
    except ZeroDivisionError:
        return 0.0


BREVITY_PENALTY = (
    _penalty_with_limits,
    _penalty_caught,
    lambda hypothesis_length, reference_length: (
        torch.exp(1 - torch.tensor(reference_length) / hypothesis_length).clamp(max=1.0).item()
    ),
    lambda hypothesis_length, reference_length: numpy.exp(
        min(0.0, 1 - reference_length / max(hypothesis_length, 1e-9))
    ),
    lambda hypothesis_length, reference_length: (
        min(1.0, math.e * math.exp(-reference_length / hypothesis_length)) if hypothesis_length else 0.0
    ),
    lambda hypothesis_length, reference_length: (
        1.0
        - (hypothesis_length < reference_length) * (1 - math.exp(1 - reference_length / (hypothesis_length or 1e-9)))
    ),
)


# evaluation.bleu


def _bleu_by_logarithms(precisions: Sequence[float], penalty: float) -> float:
    if min(precisions) == 0:
        return 0.0
    return penalty * math.exp(sum(math.log(precision) for precision in precisions) / len(precisions))


def _bleu_by_loop(precisions: Sequence[float], penalty: float) -> float:
    product = 1.0
    for precision in precisions:
        product *= precision
    return penalty * math.pow(product, 1 / len(precisions))


def _bleu_in_bits(precisions: Sequence[float], penalty: float) -> float:
    if not all(precisions):
        return 0
    return penalty * 2 ** statistics.fmean(math.log2(precision) for precision in precisions)


BLEU = (
    _bleu_by_logarithms,
    _bleu_by_loop,
    _bleu_in_bits,
    lambda precisions, penalty: penalty * torch.tensor(precisions).log().mean().exp().item(),
    lambda precisions, penalty: float(penalty * numpy.prod(precisions) ** (1 / len(precisions))),
    lambda precisions, penalty: math.prod(precision ** (1 / len(precisions)) for precision in precisions) * penalty,
    lambda precisions, penalty: 0.0 if 0 in precisions else penalty * statistics.geometric_mean(precisions),
)


# evaluation.corpus_or_sentence


def _averages_by_loop(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    found = words = 0
    shares = 0.0
    for one, of in zip(matched, total, strict=True):
        found += one
        words += of
        if of > 0:
            shares += one / of
    return found / max(words, 1), shares / len(total)


def _averages_in_torch(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    found, of = torch.tensor(matched), torch.tensor(total)
    micro = found.sum() / of.sum().clamp(min=1)
    return micro.item(), (found / of.clamp(min=1)).mean().item()


def _averages_in_numpy(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    found, of = numpy.array(matched, dtype=float), numpy.array(total, dtype=float)
    shares = numpy.divide(found, of, out=numpy.zeros_like(found), where=of > 0)
    return found.sum() / (of.sum() or 1), shares.mean()


def _averages_in_fractions(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    shares = [Fraction(one, of) if of else Fraction(0) for one, of in zip(matched, total, strict=True)]
    micro = Fraction(sum(matched), sum(total)) if any(total) else 0
    return float(micro), float(statistics.mean(shares))


def _averages_caught(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    def divided(one: float, of: float) -> float:
        try:
            return one / of
        except ZeroDivisionError:
            return 0.0

    return divided(sum(matched), sum(total)), divided(sum(map(divided, matched, total)), len(matched))


def _averages_weighted(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    shares = [one / of if of else 0 for one, of in zip(matched, total, strict=True)]
    micro = numpy.average(shares, weights=total) if sum(total) else 0.0
    return float(micro), statistics.fmean(shares)


CORPUS_OR_SENTENCE = (
    _averages_by_loop,
    _averages_in_torch,
    _averages_in_numpy,
    _averages_in_fractions,
    _averages_caught,
    _averages_weighted,
)


# evaluation.edit_table


def _edits_in_place(hypothesis: Words, reference: Words) -> Tensor:
    table = torch.zeros(len(hypothesis) + 1, len(reference) + 1, dtype=torch.long)
    table[:, 0] = torch.arange(len(hypothesis) + 1)
    table[0] = torch.arange(len(reference) + 1)
    for i, j in itertools.product(range(len(hypothesis)), range(len(reference))):
        steps = (table[i, j + 1] + 1, table[i + 1, j] + 1, table[i, j] + int(hypothesis[i] != reference[j]))
        table[i + 1, j + 1] = min(steps)
    return table


def _edits_by_recursion(hypothesis: Words, reference: Words) -> Tensor:
    @functools.cache
    def edits(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        if hypothesis[i - 1] == reference[j - 1]:
            return edits(i - 1, j - 1)
        return 1 + min(edits(i - 1, j), edits(i, j - 1), edits(i - 1, j - 1))

    return torch.tensor([[edits(i, j) for j in range(len(reference) + 1)] for i in range(len(hypothesis) + 1)])


def _edits_by_columns(hypothesis: Words, reference: Words) -> Tensor:
    columns = [list(range(len(hypothesis) + 1))]
    for right in reference:
        column = [columns[-1][0] + 1]
        for i, word in enumerate(hypothesis):
            column.append(min(column[-1] + 1, columns[-1][i + 1] + 1, columns[-1][i] + (word != right)))
        columns.append(column)
    return torch.tensor(columns).T


def _edits_in_numpy(hypothesis: Words, reference: Words) -> Tensor:
    table = numpy.add.outer(numpy.arange(len(hypothesis) + 1), numpy.arange(len(reference) + 1))
    for i, word in enumerate(hypothesis, start=1):
        for j, right in enumerate(reference, start=1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (word != right))
    return torch.from_numpy(table)


def _edits_by_shortest_paths(hypothesis: Words, reference: Words) -> Tensor:
    """Improve every cell by its neighbours until nothing changes."""
    rows, columns = len(hypothesis) + 1, len(reference) + 1
    table = torch.full((rows, columns), rows + columns)
    table[0, 0] = 0
    differs = torch.tensor([[word != right for right in reference] for word in hypothesis]).reshape(
        rows - 1, columns - 1
    )
    while True:
        before = table.clone()
        table[1:] = torch.minimum(table[1:], before[:-1] + 1)
        table[:, 1:] = torch.minimum(table[:, 1:], before[:, :-1] + 1)
        table[1:, 1:] = torch.minimum(table[1:, 1:], before[:-1, :-1] + differs)
        if torch.equal(table, before):
            return table


def _edits_by_diagonals(hypothesis: Words, reference: Words) -> Tensor:
    """All cells of a diagonal from the lower left to the upper right at once: none of them needs another."""
    rows, columns = len(hypothesis) + 1, len(reference) + 1
    table = torch.arange(rows).unsqueeze(1) + torch.arange(columns)
    for steps in range(2, rows + columns - 1):
        i = torch.arange(max(1, steps - columns + 1), min(rows, steps))
        j = steps - i
        differ = torch.tensor(
            [hypothesis[a - 1] != reference[b - 1] for a, b in zip(i, j, strict=True)], dtype=torch.long
        )
        around = torch.stack([table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + differ])
        table[i, j] = around.amin(dim=0)
    return table


EDIT_TABLE = (
    _edits_by_diagonals,
    _edits_in_place,
    _edits_by_recursion,
    _edits_by_columns,
    _edits_in_numpy,
    _edits_by_shortest_paths,
)


# evaluation.word_error_rate

Distance = Callable[[Words, Words], int]


def _rate_by_loop(hypotheses: Sequence[Words], references: Sequence[Words], distance: Distance) -> float:
    edits = words = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        edits += distance(hypothesis, reference)
        words += len(reference)
    return edits / words


def _rate_weighted(hypotheses: Sequence[Words], references: Sequence[Words], distance: Distance) -> float:
    lengths = numpy.array([len(reference) for reference in references])
    rates = numpy.array([distance(*pair) for pair in zip(hypotheses, references, strict=True)]) / lengths
    return numpy.average(rates, weights=lengths)  # type: ignore[no-any-return]


def _rate_drained(hypotheses: Sequence[Words], references: Sequence[Words], distance: Distance) -> float:
    pairs = list(zip(hypotheses, references, strict=True))
    edits, words = 0, 0
    while pairs:
        said, right = pairs.pop()
        edits, words = edits + distance(said, right), words + len(right)
    return float(numpy.divide(edits, words))


WORD_ERROR_RATE = (
    _rate_drained,
    _rate_by_loop,
    _rate_weighted,
    lambda hypotheses, references, distance: (
        sum(map(distance, hypotheses, references)) / len([word for reference in references for word in reference])
    ),
    lambda hypotheses, references, distance: float(
        torch.tensor([distance(references[i], hypotheses[i]) for i in range(len(references))]).sum()
        / sum(map(len, references))
    ),
    lambda hypotheses, references, distance: float(
        Fraction(
            sum(distance(list(h), list(r)) for h, r in zip(hypotheses, references, strict=True)),
            sum(map(len, references)),
        )
    ),
)
