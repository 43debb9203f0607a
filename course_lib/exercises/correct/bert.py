"""Right answers to the exercises of lesson 09 (`course_lib/exercises/bert.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain, product

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

Rows = list[list[int]]
Encoded = tuple[Tensor, Tensor, Tensor]

# bert.pair_encoding


def _pairs_by_padding_lists(
    firsts: Rows, seconds: list[list[int] | None], cls_id: int, sep_id: int, padding_id: int
) -> Encoded:
    ids, segments = [], []
    for first, second in zip(firsts, seconds, strict=True):
        row, segment = [cls_id, *first, sep_id], [0] * (len(first) + 2)
        if second is not None:
            row, segment = row + second + [sep_id], segment + [1] * (len(second) + 1)
        ids.append(row)
        segments.append(segment)
    longest = max(map(len, ids))
    mask = [[True] * len(row) + [False] * (longest - len(row)) for row in ids]
    ids = [row + [padding_id] * (longest - len(row)) for row in ids]
    segments = [row + [0] * (longest - len(row)) for row in segments]
    return torch.tensor(ids), torch.tensor(segments), torch.tensor(mask)


def _pairs_in_place(
    firsts: Rows, seconds: list[list[int] | None], cls_id: int, sep_id: int, padding_id: int
) -> Encoded:
    longest = max(len(a) + 2 + (0 if b is None else len(b) + 1) for a, b in zip(firsts, seconds, strict=True))
    ids = torch.full((len(firsts), longest), padding_id)
    segments = torch.zeros(len(firsts), longest, dtype=torch.long)
    mask = torch.zeros(len(firsts), longest, dtype=torch.bool)
    for i, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
        middle = len(first) + 2
        ids[i, :middle] = torch.tensor([cls_id, *first, sep_id])
        end = middle
        if second is not None:
            end = middle + len(second) + 1
            ids[i, middle:end] = torch.tensor([*second, sep_id])
            segments[i, middle:end] = 1
        mask[i, :end] = True
    return ids, segments, mask


def _pairs_by_looking_at_ids(
    firsts: Rows, seconds: list[list[int] | None], cls_id: int, sep_id: int, padding_id: int
) -> Encoded:
    rows = [
        torch.tensor([cls_id, *a, sep_id, *([] if b is None else [*b, sep_id])])
        for a, b in zip(firsts, seconds, strict=True)
    ]
    ids = pad_sequence(rows, batch_first=True, padding_value=padding_id)
    mask = ids != padding_id
    ends = (ids == sep_id).long()
    segments = ((ends.cumsum(1) - ends) > 0) & mask
    return ids, segments.long(), mask


def _pairs_in_numpy(
    firsts: Rows, seconds: list[list[int] | None], cls_id: int, sep_id: int, padding_id: int
) -> Encoded:
    texts = [[[cls_id, *a, sep_id], [] if b is None else [*b, sep_id]] for a, b in zip(firsts, seconds, strict=True)]
    lengths = numpy.array([[len(part) for part in text] for text in texts])
    place = numpy.arange(lengths.sum(axis=1).max())
    mask = place < lengths.sum(axis=1, keepdims=True)
    segments = (place >= lengths[:, :1]) & mask
    ids = numpy.full(mask.shape, padding_id, dtype=numpy.int64)
    ids[mask] = list(chain.from_iterable(chain.from_iterable(texts)))
    return torch.from_numpy(ids), torch.from_numpy(segments.astype(numpy.int64)), torch.from_numpy(mask)


def _pairs_by_joining_tensors(
    firsts: Rows, seconds: list[list[int] | None], cls_id: int, sep_id: int, padding_id: int
) -> Encoded:
    cls, sep = torch.tensor([cls_id]), torch.tensor([sep_id])
    fronts = [torch.cat([cls, torch.tensor(first), sep]) for first in firsts]
    backs = [torch.empty(0).long() if text is None else torch.cat([torch.tensor(text), sep]) for text in seconds]
    lengths = [len(front) + len(back) for front, back in zip(fronts, backs, strict=True)]
    gaps = [max(lengths) - length for length in lengths]
    rows = [torch.cat(row) for row in zip(fronts, backs, strict=True)]
    kinds = [
        torch.cat([torch.zeros_like(front), torch.ones_like(back)]) for front, back in zip(fronts, backs, strict=True)
    ]
    ids = torch.stack([F.pad(row, (0, gap), value=padding_id) for row, gap in zip(rows, gaps, strict=True)])
    segments = torch.stack([F.pad(kind, (0, gap)) for kind, gap in zip(kinds, gaps, strict=True)])
    return ids, segments, torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def _pairs_by_lengths(
    firsts: Rows, seconds: list[list[int] | None], cls_id: int, sep_id: int, padding_id: int
) -> Encoded:
    texts = [[cls_id, *a, sep_id] + ([] if b is None else b + [sep_id]) for a, b in zip(firsts, seconds, strict=True)]
    ids = torch.tensor([text + [padding_id] * (max(map(len, texts)) - len(text)) for text in texts])
    place = torch.arange(ids.shape[1]).expand_as(ids)
    mask = place.lt(torch.tensor(list(map(len, texts))).unsqueeze(1))
    behind_first = place.ge(torch.tensor([len(first) + 2 for first in firsts]).unsqueeze(1))
    return ids, (behind_first & mask).int().long(), mask


PAIR_ENCODING = (
    _pairs_by_padding_lists,
    _pairs_in_place,
    _pairs_by_looking_at_ids,
    _pairs_in_numpy,
    _pairs_by_joining_tensors,
    _pairs_by_lengths,
)


# bert.expected_counts

EXPECTED_COUNTS = (
    lambda words: (0.12 * words, 0.015 * words, 0.015 * words),
    lambda words: (words * 0.15 * 0.8, words * 0.15 * 0.1, words * 0.15 * 0.1),
    lambda words: (words * 12 / 100, words * 3 / 200, words * 3 / 200),
    lambda words: tuple(words * 15 / 100 * share / 10 for share in (8, 1, 1)),
    lambda words: tuple((0.15 * words * torch.tensor([0.8, 0.1, 0.1], dtype=torch.float64)).tolist()),
    lambda words: tuple((numpy.diff([0, 0.8, 0.9, 1]) * words * 0.15).tolist()),
)


# bert.mask_words


def _masked_in_place(
    ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    chosen = (chance < 0.15) & ~special
    corrupted, labels = ids.clone(), torch.full_like(ids, -100)
    labels[chosen] = ids[chosen]
    corrupted[chosen & (fate < 0.8)] = mask_id
    other = chosen & (fate >= 0.8) & (fate < 0.9)
    corrupted[other] = anything[other]
    return corrupted, labels


def _masked_by_loop(
    ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    corrupted, labels = ids.clone(), ids.clone()
    for i, j in product(range(ids.shape[0]), range(ids.shape[1])):
        if special[i, j] or chance[i, j] >= 0.15:
            labels[i, j] = -100
        elif fate[i, j] < 0.8:
            corrupted[i, j] = mask_id
        elif fate[i, j] < 0.9:
            corrupted[i, j] = anything[i, j]
    return corrupted, labels


def _masked_by_filling(
    ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    left_alone = (chance >= 0.15) | special
    labels = ids.masked_fill(left_alone, -100)
    corrupted = torch.where(~left_alone & (fate < 0.9), anything, ids)
    return corrupted.masked_fill(~left_alone & (fate < 0.8), mask_id), labels


def _masked_in_numpy(
    ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    words, second = ids.numpy(), fate.numpy()
    chosen = (chance.numpy() < 0.15) & ~special.numpy()
    shown = numpy.select([second < 0.8, second < 0.9], [numpy.full_like(words, mask_id), anything.numpy()], words)
    return torch.from_numpy(numpy.where(chosen, shown, words)), torch.from_numpy(numpy.where(chosen, words, -100))


def _masked_by_arithmetic(
    ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    chosen = (chance < 0.15).long() * (1 - special.long())
    mask, other = chosen * (fate < 0.8), chosen * (fate >= 0.8) * (fate < 0.9)
    return mask * mask_id + other * anything + (1 - mask - other) * ids, chosen * ids - 100 * (1 - chosen)


def _masked_by_vmap(
    ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    def one(word: Tensor, never: Tensor, first: Tensor, second: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        chosen = torch.logical_and(first < 0.15, torch.logical_not(never))
        shown = torch.where(second >= 0.9, word, torch.where(second >= 0.8, other, mask_id))
        return torch.where(chosen, shown, word), torch.where(chosen, word, -100)

    read, labels = torch.func.vmap(one)(*(x.flatten() for x in (ids, special, chance, fate, anything)))
    return read.view_as(ids), labels.view_as(ids)


MASK_WORDS = (
    _masked_by_vmap,
    _masked_in_place,
    _masked_by_loop,
    _masked_by_filling,
    _masked_in_numpy,
    _masked_by_arithmetic,
)


# bert.masked_lm_loss


def _loss_by_loop(logits: Tensor, labels: Tensor) -> Tensor:
    losses = [
        torch.logsumexp(logits[i, j], dim=0) - logits[i, j, labels[i, j]]
        for i, j in product(range(labels.shape[0]), range(labels.shape[1]))
        if labels[i, j] != -100
    ]
    return torch.stack(losses).mean()


def _loss_by_gather(logits: Tensor, labels: Tensor) -> Tensor:
    log_p = logits.log_softmax(dim=-1).gather(2, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    asked = (labels != -100).to(log_p.dtype)
    return -(log_p * asked).sum() / asked.sum()


def _loss_by_one_hot(logits: Tensor, labels: Tensor) -> Tensor:
    asked = labels >= 0
    right = F.one_hot(labels[asked], logits.shape[-1]).to(logits.dtype)
    return -torch.einsum("nv,nv->n", right, F.log_softmax(logits[asked], dim=-1)).mean()


def _loss_in_double(logits: Tensor, labels: Tensor) -> Tensor:
    asked = labels != -100
    return F.nll_loss(logits[asked].double().log_softmax(-1), labels[asked]).to(logits.dtype)


MASKED_LM_LOSS = (
    _loss_by_loop,
    _loss_by_gather,
    _loss_by_one_hot,
    _loss_in_double,
    lambda logits, labels: F.cross_entropy(logits.transpose(1, 2), labels),
    lambda logits, labels: nn.CrossEntropyLoss()(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)),
    lambda logits, labels: F.cross_entropy(logits[labels != -100], labels[labels != -100]),
)


# bert.sequence_classifier


def _sequence(forward: Callable[[Tensor, nn.Linear, nn.Linear], Tensor]) -> type[nn.Module]:
    class SequenceClassifier(nn.Module):
        def __init__(self, d_model: int, classes: int) -> None:
            super().__init__()
            self.dense = nn.Linear(d_model, d_model)
            self.output = nn.Linear(d_model, classes)

        def forward(self, states: Tensor) -> Tensor:
            return forward(states, self.dense, self.output)

    return SequenceClassifier


def _by_matrices(states: Tensor, dense: nn.Linear, output: nn.Linear) -> Tensor:
    pooled = torch.tanh(states[:, 0] @ dense.weight.T + dense.bias)
    return pooled @ output.weight.T + output.bias


def _by_einsum(states: Tensor, dense: nn.Linear, output: nn.Linear) -> Tensor:
    pooled = torch.einsum("bi,oi->bo", states[:, 0], dense.weight).add(dense.bias).tanh()
    return torch.einsum("bi,oi->bo", pooled, output.weight) + output.bias


SEQUENCE_CLASSIFIER = (
    _sequence(_by_matrices),
    _sequence(_by_einsum),
    _sequence(lambda states, dense, output: output(dense(states).tanh())[:, 0]),
    _sequence(lambda states, dense, output: output(torch.tanh(dense(states[:, :1]))).squeeze(1)),
    _sequence(lambda states, dense, output: torch.stack([output(dense(row[0]).tanh()) for row in states])),
    _sequence(lambda states, dense, output: nn.Sequential(dense, nn.Tanh(), output)(states.select(1, 0))),
    _sequence(
        lambda states, dense, output: F.linear(
            2 * torch.sigmoid(2 * dense(states[:, 0])) - 1, output.weight, output.bias
        )
    ),
)


# bert.token_classifier


def _token(forward: Callable[[Tensor, Tensor, nn.Linear], Tensor]) -> type[nn.Module]:
    class TokenClassifier(nn.Module):
        def __init__(self, d_model: int, classes: int) -> None:
            super().__init__()
            self.output = nn.Linear(d_model, classes)

        def forward(self, states: Tensor, starts: Tensor) -> Tensor:
            return forward(states, starts, self.output)

    return TokenClassifier


def _by_one_hot(states: Tensor, starts: Tensor, output: nn.Linear) -> Tensor:
    out: Tensor = output(F.one_hot(starts, states.shape[1]).to(states.dtype) @ states)
    return out


def _after_classifying(states: Tensor, starts: Tensor, output: nn.Linear) -> Tensor:
    every: Tensor = output(states)
    return every.gather(1, starts.unsqueeze(-1).expand(-1, -1, every.shape[-1]))


def _from_flat_rows(states: Tensor, starts: Tensor, output: nn.Linear) -> Tensor:
    offsets = torch.arange(states.shape[0]).unsqueeze(1) * states.shape[1]
    out: Tensor = output(states.reshape(-1, states.shape[-1])[starts + offsets])
    return out


TOKEN_CLASSIFIER = (
    _token(_by_one_hot),
    _token(_after_classifying),
    _token(_from_flat_rows),
    _token(lambda states, starts, output: output(states[torch.arange(len(states))[:, None], starts])),
    _token(lambda states, starts, output: torch.stack([output(s[i]) for s, i in zip(states, starts, strict=True)])),
    _token(lambda states, starts, output: output(torch.take_along_dim(states, starts.unsqueeze(-1), dim=1))),
    _token(lambda states, starts, output: output(torch.func.vmap(lambda s, i: s[i])(states, starts))),
)


# bert.answer_span


def _spans_by_loop(logits: Tensor, max_words: int | None = None) -> Tensor:
    words = logits.shape[2]
    found = []
    for first, last in logits:
        possible = [
            (i, j) for i in range(words) for j in range(i, words) if max_words is None or j - i + 1 <= max_words
        ]
        found.append(max(possible, key=lambda span: float(first[span[0]] + last[span[1]])))
    return torch.tensor(found)


def _spans_in_numpy(logits: Tensor, max_words: int | None = None) -> Tensor:
    scores = logits.numpy()
    words = scores.shape[2]
    table = scores[:, 0, :, None] + scores[:, 1, None, :]
    length = numpy.arange(words)[None, :] - numpy.arange(words)[:, None] + 1
    impossible = (length < 1) | (length > (words if max_words is None else max_words))
    table = numpy.where(impossible, -numpy.inf, table)
    best = table.reshape(len(table), -1).argmax(axis=1)
    return torch.from_numpy(numpy.stack(numpy.unravel_index(best, (words, words)), axis=1).astype(numpy.int64))


def _spans_by_running_best(logits: Tensor, max_words: int | None = None) -> Tensor:
    """For each end the best beginning at or before it, and near enough."""
    words = logits.shape[2]
    rows = []
    for first, last in logits:
        best = (-math.inf, 0, 0)
        for j in range(words):
            start = 0 if max_words is None else max(0, j - max_words + 1)
            i = start + int(first[start : j + 1].argmax())
            total = float(first[i] + last[j])
            if total > best[0]:
                best = (total, i, j)
        rows.append(best[1:])
    return torch.tensor(rows)


def _spans_by_large_penalty(logits: Tensor, max_words: int | None = None) -> Tensor:
    words = logits.shape[-1]
    length = torch.arange(words) - torch.arange(words).unsqueeze(1) + 1
    bad = (length < 1) | (length > (max_words or words))
    totals = logits[:, 0, :, None] + logits[:, 1, None, :] - 1e6 * bad
    best = totals.reshape(len(logits), -1).max(dim=1).indices
    return torch.stack((best.div(words, rounding_mode="floor"), best.remainder(words)), dim=-1)


def _spans_of_probabilities(logits: Tensor, max_words: int | None = None) -> Tensor:
    p = logits.double().softmax(dim=-1)
    table = torch.einsum("bi,bj->bij", p[:, 0], p[:, 1]).triu()
    if max_words is not None:
        table = table.tril(max_words - 1)
    by_first, last = table.max(dim=2)
    first = by_first.argmax(dim=1, keepdim=True)
    return torch.cat([first, last.gather(1, first)], dim=1)


def _spans_by_length(logits: Tensor, max_words: int | None = None) -> Tensor:
    """All spans of one word, then all of two, and so on."""
    words = logits.shape[2]
    found = torch.zeros(len(logits), 2, dtype=torch.long)
    best = torch.full((len(logits),), -math.inf, dtype=logits.dtype)
    for length in range(1, (max_words or words) + 1):
        if length > words:
            break
        totals = logits[:, 0, : words - length + 1] + logits[:, 1, length - 1 :]
        value, first = totals.max(dim=1)
        better = value > best
        best = torch.where(better, value, best)
        found[better] = torch.stack([first, first + length - 1], dim=1)[better]
    return found


ANSWER_SPAN = (
    _spans_by_length,
    _spans_by_loop,
    _spans_in_numpy,
    _spans_by_running_best,
    _spans_by_large_penalty,
    _spans_of_probabilities,
)


# bert.multiple_choice

Score = Callable[[Tensor, Tensor, Tensor], Tensor]


def _choices_by_loop(score: Score, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    return torch.stack([score(*row).softmax(dim=0) for row in zip(ids, segments, mask, strict=True)])


def _choices_one_by_one(score: Score, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    one_by_one = [
        score(*(x[None] for x in row))[0] for row in zip(*map(chain.from_iterable, (ids, segments, mask)), strict=True)
    ]
    return torch.softmax(torch.stack(one_by_one).view(ids.shape[:2]), dim=1)


def _choice_after_choice(score: Score, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    columns = [score(ids[:, j], segments[:, j], mask[:, j]) for j in range(ids.shape[1])]
    return F.softmax(torch.stack(columns, dim=1), dim=-1)


def _choices_transposed(score: Score, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    batch, choices, words = ids.shape
    rows = [tensor.transpose(0, 1).reshape(-1, words) for tensor in (ids, segments, mask)]
    return score(*rows).reshape(choices, batch).softmax(dim=0).T


def _choices_by_exponentials(score: Score, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    words = ids.shape[-1]
    rows = score(ids.view(-1, words), segments.view(-1, words), mask.view(-1, words))
    scores = torch.unflatten(rows, 0, ids.shape[:2])
    powers = (scores - scores.max(dim=1, keepdim=True).values).exp()
    return powers / powers.sum(dim=1, keepdim=True)


def _choices_in_double(score: Score, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    rows = [torch.cat(list(tensor)) for tensor in (ids, segments, mask)]
    given = score(*rows)
    scores = torch.stack(given.double().split(ids.shape[1]))
    return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp().to(given.dtype)


MULTIPLE_CHOICE = (
    _choices_in_double,
    _choices_by_loop,
    _choices_one_by_one,
    _choice_after_choice,
    _choices_transposed,
    _choices_by_exponentials,
)
