"""Right answers to the exercises of lesson 06 (`course_lib/exercises/decoding.py`)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor

Step = Callable[[Tensor], Tensor]

# decoding.greedy


def _greedy_by_cat(step: Step, start_id: int, end_id: int, max_length: int) -> Tensor:
    words = torch.tensor([start_id])
    for _ in range(max_length):
        word = step(words).argmax(dim=-1, keepdim=True)
        words = torch.cat([words, word])
        if word == end_id:
            break
    return words[1:]


def _greedy_by_recursion(step: Step, start_id: int, end_id: int, max_length: int) -> Tensor:
    def behind(words: list[int]) -> list[int]:
        if len(words) > max_length:
            return words
        word = step(torch.tensor(words)).topk(1).indices.item()
        return [*words, int(word)] if word == end_id else behind([*words, int(word)])

    return torch.tensor(behind([start_id])[1:])


def _greedy_in_place(step: Step, start_id: int, end_id: int, max_length: int) -> Tensor:
    words = torch.zeros(max_length + 1, dtype=torch.long)
    words[0] = start_id
    length = 1
    while length <= max_length:
        words[length] = torch.softmax(step(words[:length]), dim=0).argmax()
        length += 1
        if words[length - 1] == end_id:
            break
    return words[1:length]


def _greedy_in_numpy(step: Step, start_id: int, end_id: int, max_length: int) -> Tensor:
    words = [start_id]
    for _ in range(max_length):
        words.append(int(numpy.argmax(step(torch.tensor(words)).numpy())))
        if words[-1] == end_id:
            return torch.tensor(words[1:])
    return torch.tensor(words[1:])


def _greedy_by_generator(step: Step, start_id: int, end_id: int, max_length: int) -> Tensor:
    def written() -> Iterator[int]:
        words = [start_id]
        while words[-1] != end_id:
            words.append(int(step(torch.tensor(words)).max(dim=0).indices))
            yield words[-1]

    return torch.tensor([word for word, _ in zip(written(), range(max_length), strict=False)])


def _greedy_with_lists(step: Step, start_id: int, end_id: int, max_length: int) -> Tensor:
    words: list[int] = []
    for _ in range(max_length):
        scores = step([start_id, *words]).tolist()  # type: ignore[arg-type]  # a list does as well
        words.append(max(range(len(scores)), key=scores.__getitem__))
        if words[-1] == end_id:
            break
    return torch.tensor(words)


GREEDY = (
    _greedy_by_cat,
    _greedy_by_recursion,
    _greedy_in_place,
    _greedy_in_numpy,
    _greedy_by_generator,
    _greedy_with_lists,
)


# decoding.sequence_log_probability


def _sequence_by_loop(logits: Tensor, expected: Tensor) -> Tensor:
    rows, words = logits.reshape(-1, *logits.shape[-2:]), expected.reshape(-1, expected.shape[-1])
    totals = [
        sum(row[place] - row.logsumexp(0) for row, place in zip(sentence, ids, strict=True))
        for sentence, ids in zip(rows, words, strict=True)
    ]
    return torch.stack([torch.as_tensor(total) for total in totals]).reshape(expected.shape[:-1])


def _sequence_in_numpy(logits: Tensor, expected: Tensor) -> Tensor:
    scores = logits.double().numpy()
    scores = scores - scores.max(axis=-1, keepdims=True)
    logs = scores - numpy.log(numpy.exp(scores).sum(axis=-1, keepdims=True))
    found = numpy.take_along_axis(logs, expected.numpy()[..., None], axis=-1)[..., 0].sum(axis=-1)
    return torch.as_tensor(found).to(logits.dtype)


def _sequence_by_one_hot(logits: Tensor, expected: Tensor) -> Tensor:
    chosen = F.one_hot(expected, logits.shape[-1]).to(logits.dtype)
    return torch.einsum("...wv,...wv->...", logits.log_softmax(-1), chosen)


def _sequence_by_cross_entropy(logits: Tensor, expected: Tensor) -> Tensor:
    losses = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), expected.reshape(-1), reduction="none")
    return -losses.reshape(expected.shape).sum(dim=-1)


SEQUENCE_LOG_PROBABILITY = (
    _sequence_by_loop,
    _sequence_in_numpy,
    _sequence_by_one_hot,
    _sequence_by_cross_entropy,
    lambda logits, expected: torch.distributions.Categorical(logits=logits).log_prob(expected).sum(-1),
    lambda logits, expected: (
        torch.softmax(logits.double(), -1).gather(-1, expected[..., None])[..., 0].log().sum(-1).to(logits.dtype)
    ),
    lambda logits, expected: (
        torch.take_along_dim(logits, expected[..., None], -1).squeeze(-1) - logits.logsumexp(-1)
    ).sum(-1),
    lambda logits, expected: (
        -F.nll_loss(logits.log_softmax(-1).flatten(0, -2), expected.flatten(), reduction="none")
        .view(expected.shape)
        .sum(-1)
    ),
)


# decoding.sentence_found


Prediction = tuple[str, list[float]]


def _found_by_match(beams: int) -> Prediction:
    match beams:
        case 1:
            return "B", [0.27]
        case 2:
            return "E", [0.27, 0.24]
        case _:
            return "A", [0.27, 0.24, 0.216]


def _found_by_products(beams: int) -> Prediction:
    beginnings = {
        "die Katze hat": 0.6 * 0.9 * 0.5,
        "die Katze tanzte": 0.6 * 0.9 * 0.4,
        "die Katze tanzt": 0.6 * 0.9 * 0.1,
        "die Mieze tanzte": 0.6 * 0.1,
        "eine Katze tanzte": 0.4 * 0.6,
        "eine Katze hat": 0.4 * 0.4,
    }
    kept = sorted(beginnings, key=lambda beginning: -beginnings[beginning])[:beams]
    ends = {"die Katze hat": ("B", 0.6), "die Katze tanzte": ("A", 0.9), "eine Katze tanzte": ("E", 0.7)}
    best = max(kept, key=lambda beginning: beginnings[beginning] * ends[beginning][1])
    return ends[best][0], [beginnings[beginning] for beginning in kept]


def _found_in_numpy(beams: int) -> Prediction:
    products = numpy.array([0.54, 0.54, 0.54, 0.06, 0.4, 0.4]) * numpy.array([0.5, 0.4, 0.1, 1.0, 0.6, 0.4])
    return "BEA"[beams - 1], list(numpy.sort(products)[::-1][:beams])


SENTENCE_FOUND = (
    _found_by_match,
    _found_by_products,
    _found_in_numpy,
    lambda beams: {1: ("B", [0.27]), 2: ("E", [0.27, 0.24]), 3: ("A", [0.27, 0.24, 0.216])}[beams],
    lambda beams: ("BEA"[beams - 1], [0.27, 0.24, 0.216][:beams]),
    lambda beams: ("B" if beams == 1 else "E" if beams == 2 else "A", [0.54 * 0.5, 0.4 * 0.6, 0.54 * 0.4][:beams]),
)


# decoding.beam_search

Sentences = list[tuple[float, list[int]]]


def _continued(step: Step, kept: Sentences) -> Sentences:
    """Every sentence, continued by every word."""
    return [
        (score + more, [*words, word])
        for score, words in kept
        for word, more in enumerate(torch.log_softmax(step(torch.tensor(words)), dim=-1).tolist())
    ]


def _others_live_on(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """As `decoding.beam` counts: what ends among the best `beams` is finished; the best `beams` others live on."""
    live: Sentences = [(0.0, [start_id])]
    finished: Sentences = []
    for _ in range(max_length):
        candidates = sorted(_continued(step, live), reverse=True)
        finished += [sentence for sentence in candidates[:beams] if sentence[1][-1] == end_id]
        live = [sentence for sentence in candidates if sentence[1][-1] != end_id][:beams]
    return torch.tensor(max(finished + live)[1][1:])


def _endings_before_the_last_live(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """Goes through the candidates until `beams` of them live on; what ends before these is finished."""
    live: Sentences = [(0.0, [start_id])]
    finished: Sentences = []
    for _ in range(max_length):
        candidates, live = sorted(_continued(step, live), reverse=True), []
        for sentence in candidates:
            if len(live) == beams:
                break
            (finished if sentence[1][-1] == end_id else live).append(sentence)
    return torch.tensor(max(finished + live)[1][1:])


def _finished_set_aside(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """The best `beams` of what goes on; those of them that end no longer compete, and leave their place empty."""
    live: Sentences = [(0.0, [start_id])]
    finished: Sentences = []
    for _ in range(max_length):
        best = heapq.nlargest(beams, _continued(step, live))
        finished += [sentence for sentence in best if sentence[1][-1] == end_id]
        live = [sentence for sentence in best if sentence[1][-1] != end_id]
        if not live:
            break
    return torch.tensor(max(finished + live)[1][1:])


def _one_beam_less_for_each_finished(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """As Sutskever et al. (2014) count: a finished sentence takes its beam with it."""
    live: Sentences = [(0.0, [start_id])]
    finished: Sentences = []
    for _ in range(max_length):
        best = sorted(_continued(step, live), reverse=True)[: beams - len(finished)]
        finished += [sentence for sentence in best if sentence[1][-1] == end_id]
        live = [sentence for sentence in best if sentence[1][-1] != end_id]
        if not live:
            break
    return torch.tensor(max(finished + live)[1][1:])


def _until_the_best_is_finished(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    kept: Sentences = [(0.0, [start_id])]
    for _ in range(max_length):
        finished = [sentence for sentence in kept if sentence[1][-1] == end_id]
        live = [sentence for sentence in kept if sentence[1][-1] != end_id]
        kept = sorted(finished + _continued(step, live), key=lambda sentence: -sentence[0])[:beams]
        if kept[0][1][-1] == end_id:
            break
    return torch.tensor(kept[0][1][1:])


def _beams_in_tensors(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    words, scores = torch.tensor([[start_id]]), torch.zeros(1)
    for _ in range(max_length):
        ended = words[:, -1] == end_id
        rows = [row[row != -1] for row in words]
        logits = torch.stack([step(row) for row in rows])
        following = torch.log_softmax(logits, dim=-1)
        vocabulary = following.shape[-1]
        stays = torch.full((vocabulary,), -math.inf, dtype=following.dtype)
        stays[end_id] = 0.0  # behind <e> nothing but <e>, for nothing
        following = torch.where(ended.unsqueeze(1), stays, following)
        totals = (scores.unsqueeze(1) + following).flatten()
        scores, places = totals.topk(min(beams, len(totals)))
        words = torch.cat([words[places // vocabulary], (places % vocabulary).unsqueeze(1)], dim=1)
        words = words[scores > -math.inf]
        scores = scores[scores > -math.inf]
    best = words[scores.argmax(), 1:].tolist()
    return torch.tensor(best[: best.index(end_id) + 1] if end_id in best else best)


def _beams_by_recursion(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    def search(kept: Sentences, left: int) -> Sentences:
        if not left:
            return kept
        candidates: Sentences = []
        for score, words in kept:
            candidates += [(score, words)] if words[-1] == end_id else _continued(step, [(score, words)])
        return search(heapq.nlargest(beams, candidates, key=lambda sentence: sentence[0]), left - 1)

    return torch.tensor(search([(0.0, [start_id])], max_length)[0][1][1:])


def _beams_in_numpy(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    sentences, scores = [[start_id]], numpy.zeros(1)
    for _ in range(max_length):
        grown, totals = [], []
        for words, score in zip(sentences, scores, strict=True):
            if words[-1] == end_id:
                grown.append(words)
                totals.append(score)
                continue
            logits = step(torch.tensor(words)).double().numpy()
            logs = logits - numpy.logaddexp.reduce(logits)
            grown += [[*words, word] for word in range(len(logs))]
            totals += list(score + logs)
        order = numpy.argsort(totals)[::-1][:beams]
        sentences, scores = [grown[place] for place in order], numpy.array(totals)[order]
    return torch.tensor(sentences[0][1:])


COUNTING_DIFFERENTLY = (
    _others_live_on,
    _endings_before_the_last_live,
    _finished_set_aside,
    _one_beam_less_for_each_finished,
)
"""Other honest ways of counting finished sentences. The exercise's cases are such that all find the same."""

BEAM_SEARCH = (
    *COUNTING_DIFFERENTLY,
    _until_the_best_is_finished,
    _beams_in_tensors,
    _beams_by_recursion,
    _beams_in_numpy,
)


# decoding.length_penalised


def _length_by_loop(log_probability: Tensor, length: Tensor, alpha: float) -> Tensor:
    pairs = zip(log_probability.flatten().tolist(), length.flatten().tolist(), strict=True)
    scores = [score / ((5 + words) / 6) ** alpha for score, words in pairs]
    return torch.tensor(scores, dtype=log_probability.dtype).reshape(log_probability.shape)


LENGTH_PENALISED = (
    _length_by_loop,
    lambda log_probability, length, alpha: log_probability / ((5 + length.to(log_probability)) / 6) ** alpha,
    lambda log_probability, length, alpha: (
        log_probability * ((5 + length.double()) / 6).pow(-alpha).to(log_probability)
    ),
    lambda log_probability, length, alpha: (
        log_probability * 6**alpha / (log_probability.new_tensor(5) + length.type_as(log_probability)) ** alpha
    ),
    lambda log_probability, length, alpha: (
        log_probability.double() / torch.pow((length.double() + 5) / 6, alpha)
    ).type_as(log_probability),
    lambda log_probability, length, alpha: (
        -torch.exp(torch.log(-log_probability) - alpha * torch.log((5 + length.to(log_probability.dtype)) / 6))
    ),
    lambda log_probability, length, alpha: torch.from_numpy(
        (log_probability.numpy() / ((5 + length.numpy()) / 6) ** alpha).astype(log_probability.numpy().dtype)
    ),
)


# decoding.with_temperature


def _temperature_by_hand(logits: Tensor, temperature: float) -> Tensor:
    divided = logits / temperature
    powers = torch.exp(divided - divided.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


def _temperature_by_loop(logits: Tensor, temperature: float) -> Tensor:
    rows = [row.div(temperature).softmax(0) for row in logits.reshape(-1, logits.shape[-1])]
    return torch.stack(rows).reshape(logits.shape)


def _temperature_in_numpy(logits: Tensor, temperature: float) -> Tensor:
    divided = logits.double().numpy() / temperature
    powers = numpy.exp(divided - divided.max(axis=-1, keepdims=True))
    return torch.from_numpy(powers / powers.sum(axis=-1, keepdims=True)).to(logits.dtype)


WITH_TEMPERATURE = (
    _temperature_by_hand,
    _temperature_by_loop,
    _temperature_in_numpy,
    lambda logits, temperature: F.softmax(logits * (1 / temperature), dim=-1),
    lambda logits, temperature: torch.log_softmax(logits / temperature, dim=-1).exp(),
    lambda logits, temperature: torch.exp(logits / temperature - (logits / temperature).logsumexp(-1, keepdim=True)),
    lambda logits, temperature: torch.softmax(torch.log_softmax(logits, dim=-1) / temperature, dim=-1),
    lambda logits, temperature: torch.distributions.Categorical(logits=logits / temperature).probs,
    lambda logits, temperature: F.normalize(
        (logits.softmax(-1) / logits.softmax(-1).amax(-1, keepdim=True)) ** (1 / temperature), p=1.0, dim=-1
    ),
)


# decoding.top_k


def _top_k_by_threshold(probabilities: Tensor, k: int) -> Tensor:
    least = probabilities.topk(min(k, probabilities.shape[-1]), dim=-1).values[..., -1:]
    kept = torch.where(probabilities >= least, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


def _top_k_by_scatter(probabilities: Tensor, k: int) -> Tensor:
    values, places = torch.topk(probabilities, min(k, probabilities.shape[-1]))
    return torch.zeros_like(probabilities).scatter(-1, places, values / values.sum(-1, keepdim=True))


def _top_k_by_loop(probabilities: Tensor, k: int) -> Tensor:
    kept = torch.zeros_like(probabilities).reshape(-1, probabilities.shape[-1])
    for row, out in zip(probabilities.reshape(-1, probabilities.shape[-1]), kept, strict=True):
        for word in sorted(range(len(row)), key=row.tolist().__getitem__, reverse=True)[:k]:
            out[word] = row[word]
        out /= out.sum()
    return kept.reshape(probabilities.shape)


def _top_k_in_numpy(probabilities: Tensor, k: int) -> Tensor:
    kept = probabilities.numpy().copy()
    if k < kept.shape[-1]:
        numpy.put_along_axis(kept, numpy.argsort(kept, axis=-1)[..., :-k], 0.0, axis=-1)
    return torch.from_numpy(kept / kept.sum(axis=-1, keepdims=True))


def _top_k_in_place(probabilities: Tensor, k: int) -> Tensor:
    kept = probabilities.clone()
    order = kept.argsort(dim=-1, descending=True)
    kept.scatter_(-1, order[..., k:], 0.0)
    kept /= kept.sum(dim=-1, keepdim=True)
    return kept


TOP_K = (
    _top_k_by_threshold,
    _top_k_by_scatter,
    _top_k_by_loop,
    _top_k_in_numpy,
    _top_k_in_place,
    lambda probabilities, k: F.normalize(
        probabilities * (probabilities.argsort(-1, descending=True).argsort(-1) < k), p=1.0, dim=-1
    ),
    lambda probabilities, k: torch.softmax(
        probabilities.log().masked_fill(probabilities.argsort(-1, descending=True).argsort(-1) >= k, -math.inf), -1
    ),
    lambda probabilities, k: F.normalize(
        probabilities * ((probabilities[..., None, :] > probabilities[..., None]).sum(-1) < k), p=1.0, dim=-1
    ),
)


# decoding.nucleus


def _nucleus_by_scatter(probabilities: Tensor, p: float) -> Tensor:
    values, places = probabilities.sort(dim=-1, descending=True)
    values = values.masked_fill(values.cumsum(-1) - values >= p, 0.0)
    return torch.zeros_like(probabilities).scatter(-1, places, values / values.sum(-1, keepdim=True))


def _nucleus_by_loop(probabilities: Tensor, p: float) -> Tensor:
    kept = torch.zeros_like(probabilities).reshape(-1, probabilities.shape[-1])
    for row, out in zip(probabilities.reshape(-1, probabilities.shape[-1]), kept, strict=True):
        total = 0.0
        for word in row.argsort(descending=True).tolist():
            out[word] = row[word]
            total += row[word].item()
            if total >= p:
                break
        out /= out.sum()
    return kept.reshape(probabilities.shape)


def _nucleus_by_shifting(probabilities: Tensor, p: float) -> Tensor:
    ordered, places = torch.sort(probabilities, descending=True)
    drop = torch.cumsum(ordered, dim=-1) >= p
    drop[..., 1:] = drop[..., :-1].clone()
    drop[..., 0] = False
    kept = probabilities.masked_fill(torch.zeros_like(drop).scatter(-1, places, drop), 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


def _nucleus_by_counting(probabilities: Tensor, p: float) -> Tensor:
    ordered = probabilities.sort(dim=-1, descending=True).values
    count = (ordered.cumsum(-1) < p).sum(-1, keepdim=True) + 1
    kept = probabilities * (probabilities.argsort(-1, descending=True).argsort(-1) < count)
    return kept / kept.sum(-1, keepdim=True)


def _nucleus_by_least(probabilities: Tensor, p: float) -> Tensor:
    ordered = probabilities.sort(dim=-1, descending=True).values
    last = (ordered.cumsum(-1) < p).sum(-1, keepdim=True).clamp(max=ordered.shape[-1] - 1)
    return F.normalize(probabilities * (probabilities >= ordered.gather(-1, last)), p=1.0, dim=-1)


def _nucleus_in_numpy(probabilities: Tensor, p: float) -> Tensor:
    rows = probabilities.numpy()
    order = numpy.argsort(-rows, axis=-1)
    ordered = numpy.take_along_axis(rows, order, axis=-1)
    ordered = numpy.where(ordered.cumsum(axis=-1) - ordered < p, ordered, 0)
    kept = numpy.zeros_like(rows)
    numpy.put_along_axis(kept, order, ordered / ordered.sum(axis=-1, keepdims=True), axis=-1)
    return torch.from_numpy(kept)


NUCLEUS = (
    _nucleus_by_scatter,
    _nucleus_by_loop,
    _nucleus_by_shifting,
    _nucleus_by_counting,
    _nucleus_by_least,
    _nucleus_in_numpy,
    lambda probabilities, p: F.normalize(
        probabilities
        * (((probabilities[..., None, :] > probabilities[..., None]) * probabilities[..., None, :]).sum(-1) < p),
        p=1.0,
        dim=-1,
    ),
)


# decoding.cached_attention

Cached = tuple[Tensor, Tensor, Tensor]


def _cached_by_hand(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Cached:
    k = torch.cat([keys, x @ W_k], dim=-2)
    v = torch.cat([values, x @ W_v], dim=-2)
    scaled = x @ W_q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
    return torch.softmax(scaled, dim=-1) @ v, k, v


def _cached_by_einsum(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Cached:
    q, new_k, new_v = (torch.einsum("...d,de->...e", x, projection) for projection in (W_q, W_k, W_v))
    k, v = torch.cat((keys, new_k), -2), torch.cat((values, new_v), -2)
    alpha = torch.einsum("...qe,...ke->...qk", q, k).div(q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("...qk,...ke->...qe", alpha, v), k, v


def _cached_in_place(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Cached:
    words = keys.shape[-2]
    k = keys.new_zeros(*keys.shape[:-2], words + 1, keys.shape[-1])
    v = torch.zeros_like(k)
    k[..., :words, :], k[..., words:, :] = keys, x @ W_k
    v[..., :words, :], v[..., words:, :] = values, x @ W_v
    return F.scaled_dot_product_attention(x @ W_q, k, v), k, v


def _cached_in_numpy(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Cached:
    new, before_k, before_v, to_q, to_k, to_v = (part.numpy() for part in (x, keys, values, W_q, W_k, W_v))
    k = numpy.concatenate([before_k, new @ to_k], axis=-2)
    v = numpy.concatenate([before_v, new @ to_v], axis=-2)
    scaled = (new @ to_q) @ k.swapaxes(-2, -1) / numpy.sqrt(k.shape[-1]).astype(k.dtype)
    powers = numpy.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return torch.from_numpy(powers / powers.sum(axis=-1, keepdims=True) @ v), torch.from_numpy(k), torch.from_numpy(v)


def _cached_by_lists(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Cached:
    k = torch.stack([*keys.unbind(-2), (x @ W_k).squeeze(-2)], dim=-2)
    v = torch.stack([*values.unbind(-2), (x @ W_v).squeeze(-2)], dim=-2)
    scaled = ((x @ W_q) * k).sum(-1) / math.sqrt(k.shape[-1])
    return (scaled.softmax(-1).unsqueeze(-1) * v).sum(-2, keepdim=True), k, v


def _cached_by_padding(x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Cached:
    k, v = F.pad(keys, (0, 0, 0, 1)), F.pad(values, (0, 0, 0, 1))
    k[..., -1:, :] += x @ W_k
    v[..., -1:, :] += x @ W_v
    return (x @ W_q @ k.mT / k.shape[-1] ** 0.5).softmax(dim=-1).matmul(v), k, v


CACHED_ATTENTION = (
    _cached_by_hand,
    _cached_by_einsum,
    _cached_in_place,
    _cached_in_numpy,
    _cached_by_lists,
    _cached_by_padding,
)
