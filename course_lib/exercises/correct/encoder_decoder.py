"""Right answers to the exercises of lesson 05 (`course_lib/exercises/encoder_decoder.py`)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.blocks import AddAndNorm, FeedForward
from course_lib.multihead import MultiHeadAttention

# encoder_decoder.shift_right


def _shifted_by_loop(target: Tensor) -> tuple[Tensor, Tensor]:
    read = [sentence[:-1].tolist() for sentence in target]
    expected = [sentence[1:].tolist() for sentence in target]
    return torch.tensor(read), torch.tensor(expected)


def _shifted_by_pairs(target: Tensor) -> tuple[Tensor, Tensor]:
    pairs = torch.tensor([list(itertools.pairwise(sentence)) for sentence in target.tolist()])
    return pairs[..., 0], pairs[..., 1]


def _shifted_in_numpy(target: Tensor) -> tuple[Tensor, Tensor]:
    words = target.numpy()
    return torch.from_numpy(numpy.delete(words, -1, axis=1)), torch.from_numpy(numpy.delete(words, 0, axis=1))


def _shifted_by_unfold(target: Tensor) -> tuple[Tensor, Tensor]:
    read, expected = target.unfold(1, 2, 1).unbind(-1)
    return read.contiguous(), expected.contiguous()


def _shifted_in_place(target: Tensor) -> tuple[Tensor, Tensor]:
    read, expected = torch.empty_like(target)[:, 1:], torch.empty_like(target)[:, 1:]
    for place in range(target.shape[1] - 1):
        read[:, place] = target[:, place]
        expected[:, place] = target[:, place + 1]
    return read, expected


SHIFT_RIGHT = (
    _shifted_by_loop,
    _shifted_by_pairs,
    _shifted_in_numpy,
    _shifted_by_unfold,
    _shifted_in_place,
    lambda target: (target.narrow(1, 0, target.size(1) - 1), target.narrow(1, 1, target.size(1) - 1)),
    lambda target: (target.roll(1, 1)[:, 1:], target.roll(-1, 1)[:, :-1]),
    lambda target: (target.index_select(1, torch.arange(len(target[0]) - 1)), target.clone()[..., 1:]),
    lambda target: (target.T[:-1].T, target.T[1:].T),
)


# encoder_decoder.negative_log_likelihood


def _likelihood_by_loop(log_p: Tensor, expected: Tensor) -> Tensor:
    rows = log_p.reshape(-1, log_p.shape[-1])
    total = torch.zeros((), dtype=log_p.dtype)
    for row, word in zip(rows, expected.flatten(), strict=True):
        total = total - row[word]
    return total / expected.numel()


def _likelihood_in_double(log_p: Tensor, expected: Tensor) -> Tensor:
    flat = log_p.double().flatten(0, -2)
    return -flat[torch.arange(len(flat)), expected.reshape(-1)].mean().to(log_p.dtype)


def _likelihood_by_vmap(log_p: Tensor, expected: Tensor) -> Tensor:
    pick = torch.func.vmap(lambda row, word: row.gather(0, word.unsqueeze(0)).squeeze(0))
    return -torch.mean(pick(log_p.reshape(-1, log_p.shape[-1]), expected.reshape(-1)))


def _likelihood_by_running_sum(log_p: Tensor, expected: Tensor) -> Tensor:
    """ln of the product, factor by factor."""
    picked = log_p.gather(-1, expected[..., None]).flatten()
    return -torch.cumsum(picked, dim=0)[-1] / len(picked)


NEGATIVE_LOG_LIKELIHOOD = (
    _likelihood_by_loop,
    _likelihood_in_double,
    _likelihood_by_vmap,
    _likelihood_by_running_sum,
    lambda log_p, expected: F.nll_loss(log_p.flatten(0, -2), expected.flatten()),
    lambda log_p, expected: F.cross_entropy(log_p.flatten(0, -2), expected.flatten()),
    lambda log_p, expected: -(F.one_hot(expected, log_p.shape[-1]).to(log_p.dtype) * log_p).sum() / expected.numel(),
    lambda log_p, expected: -torch.take_along_dim(log_p, expected.unsqueeze(-1), dim=-1).mean(),
    lambda log_p, expected: (
        -torch.einsum("...v,...v->...", log_p, F.one_hot(expected, log_p.size(-1)).to(log_p.dtype)).mean()
    ),
)


# encoder_decoder.perplexity


def _perplexity_by_loop(nll: Tensor, mask: Tensor) -> Tensor:
    words = [number for row, real in zip(nll, mask, strict=True) for number in row[real]]
    return torch.exp(sum(words, torch.zeros((), dtype=nll.dtype)) / len(words))


def _perplexity_by_sentences(nll: Tensor, mask: Tensor) -> Tensor:
    """Sentence by sentence, each with the weight of its number of words."""
    words = mask.sum(dim=1)
    means = torch.stack([row[real].mean() for row, real in zip(nll, mask, strict=True)])
    return torch.exp((means * words).sum() / words.sum())


def _perplexity_in_numpy(nll: Tensor, mask: Tensor) -> Tensor:
    mean = numpy.average(nll.numpy(), weights=mask.numpy())
    return torch.tensor(math.exp(mean), dtype=nll.dtype)


def _perplexity_in_place(nll: Tensor, mask: Tensor) -> Tensor:
    words = nll.clone()
    words[~mask] = 0
    return words.sum().div_(mask.sum()).exp_()


PERPLEXITY = (
    _perplexity_by_loop,
    _perplexity_by_sentences,
    _perplexity_in_numpy,
    _perplexity_in_place,
    lambda nll, mask: ((nll * mask).sum() / mask.sum()).exp(),
    lambda nll, mask: torch.masked_select(nll, mask).mean().exp(),
    lambda nll, mask: torch.where(mask, nll, torch.nan).nanmean().exp(),
    lambda nll, mask: torch.exp(torch.einsum("bw,bw->", nll, mask.to(nll.dtype)) / mask.count_nonzero()),
)


# encoder_decoder.decoder_block


class _Layers(nn.Module):
    def __init__(self, d_model: int, heads: int, d_hidden: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_hidden)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)


class _BlockStraight(_Layers):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        attended = self.self_attention(x, mask=mask).out
        x = self.add_and_norm_1(x, attended)
        crossed = self.cross_attention(x, memory, mask=memory_mask).out
        x = self.add_and_norm_2(x, crossed)
        out: Tensor = self.add_and_norm_3(x, self.feed_forward(x))
        return out


class _BlockByHand(_Layers):
    """Dropouts, sums and norms written out, by torch's functions."""

    def _join(self, layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
        total = x + F.dropout(y, layer.dropout.p, self.training)
        return F.layer_norm(total, x.shape[-1:], layer.norm.weight, layer.norm.bias, layer.norm.eps)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self._join(self.add_and_norm_1, x, self.self_attention(x, x, mask).out)
        x = self._join(self.add_and_norm_2, x, self.cross_attention(x, memory, memory_mask).out)
        return self._join(self.add_and_norm_3, x, self.feed_forward(x))


class _BlockDroppingByLots(_Layers):
    """Dropout by its formula, with a norm that is called by itself; the last sublayer's lots are drawn first."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        layers = [self.add_and_norm_1, self.add_and_norm_2, self.add_and_norm_3]
        lots = [torch.rand_like(x) for _ in layers][::-1]

        def join(x: Tensor, y: Tensor) -> Tensor:
            layer, drawn = layers.pop(0), lots.pop(0)
            share = layer.dropout.p
            out: Tensor = layer.norm(x + (y * (drawn >= share) / (1 - share) if self.training else y))
            return out

        x = join(x, self.self_attention(x, mask=mask).out)
        x = join(x, self.cross_attention(x, memory, memory_mask).out)
        return join(x, self.feed_forward(x))


class _BlockSentenceBySentence(_Layers):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        batch, target, source = x.shape[0], x.shape[1], memory.shape[1]
        own, other = mask.expand(batch, target, target), memory_mask.expand(batch, target, source)
        rows = []
        for i in range(batch):
            y = x[i : i + 1]
            y = self.add_and_norm_1(y, self.self_attention(y, mask=own[i]).out)
            y = self.add_and_norm_2(y, self.cross_attention(y, memory[i : i + 1], other[i]).out)
            rows.append(self.add_and_norm_3(y, self.feed_forward(y)))
        return torch.cat(rows)


class _BlockWithWeights(_Layers):
    """By the explicit path, which gives the attention weights too."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.add_and_norm_1(x, self.self_attention(x, None, mask, need_weights=True).out)
        x = self.add_and_norm_2(x, self.cross_attention(x, memory, memory_mask, need_weights=True).out)
        out: Tensor = self.add_and_norm_3(x, self.feed_forward(x))
        return out


class _BlockByEinsum(_Layers):
    """Attention written out from the projections' weights."""

    def _attend(self, layer: MultiHeadAttention, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        weights = layer.W_qkv.weight.chunk(3)
        biases = layer.W_qkv.bias.chunk(3)
        q, k, v = (
            F.linear(y, weight, bias).unflatten(-1, (layer.heads, -1))
            for y, weight, bias in zip((x, memory, memory), weights, biases, strict=True)
        )
        scaled = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
        seen = mask.expand(x.shape[0], x.shape[1], memory.shape[1]).unsqueeze(1)
        alpha = torch.softmax(scaled.masked_fill(~seen, -1e9), dim=-1)
        out: Tensor = layer.W_o(torch.einsum("bhqk,bkhd->bqhd", alpha, v).flatten(2))
        return out

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.add_and_norm_1(x, self._attend(self.self_attention, x, x, mask))
        x = self.add_and_norm_2(x, self._attend(self.cross_attention, x, memory, memory_mask))
        out: Tensor = self.add_and_norm_3(x, self.feed_forward(x))
        return out


class _BlockInALoop(_Layers):
    """The three sublayers as a list."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        sublayers: list[Callable[[Tensor], Tensor]] = [
            lambda y: self.self_attention(y, mask=mask).out,
            lambda y: self.cross_attention(y, self.cross_attention.keys_and_values(memory), memory_mask).out,
            self.feed_forward,
        ]
        for sublayer, join in zip(
            sublayers, (self.add_and_norm_1, self.add_and_norm_2, self.add_and_norm_3), strict=True
        ):
            x = join(x, sublayer(x))
        return x


DECODER_BLOCK = (
    _BlockStraight,
    _BlockByHand,
    _BlockDroppingByLots,
    _BlockSentenceBySentence,
    _BlockWithWeights,
    _BlockByEinsum,
    _BlockInALoop,
)


# encoder_decoder.encode_and_decode

Blocks = Sequence[Callable[..., Tensor]]
Layer = Callable[[Tensor], Tensor]


def _joined_with_full_masks(
    source: Tensor,
    target: Tensor,
    embed_source: Layer,
    encoder: Blocks,
    embed_target: Layer,
    decoder: Blocks,
    output: Layer,
) -> Tensor:
    words = source.ne(0)
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, words[:, None, :].expand(-1, source.shape[1], -1))
    length = target.shape[1]
    causal = (torch.arange(length)[:, None] >= torch.arange(length)).expand(len(target), -1, -1)
    x = embed_target(target)
    for block in decoder:
        x = block(x, memory, causal, words[:, None, :].expand(-1, length, -1))
    return output(x)


def _joined_by_recursion(
    source: Tensor,
    target: Tensor,
    embed_source: Layer,
    encoder: Blocks,
    embed_target: Layer,
    decoder: Blocks,
    output: Layer,
) -> Tensor:
    def run(x: Tensor, stack: Blocks, *rest: Tensor) -> Tensor:
        return x if not stack else run(stack[0](x, *rest), stack[1:], *rest)

    seen = (source != 0).unsqueeze(-2)
    memory = run(embed_source(source), encoder, seen)
    mask = torch.ones(1, target.shape[1], target.shape[1]).tril().bool()
    return output(run(embed_target(target), decoder, memory, mask, seen))


def _joined_sentence_by_sentence(
    source: Tensor,
    target: Tensor,
    embed_source: Layer,
    encoder: Blocks,
    embed_target: Layer,
    decoder: Blocks,
    output: Layer,
) -> Tensor:
    """Without any padding: each sentence is as long as it is."""
    rows = []
    for english, german in zip(source, target, strict=True):
        memory = embed_source(english[english > 0].unsqueeze(0))
        seen = torch.ones(1, 1, dtype=torch.bool)
        for block in encoder:
            memory = block(memory, seen)
        x = embed_target(german.unsqueeze(0))
        for block in decoder:
            x = block(x, memory, torch.tril(torch.ones(len(german), len(german), dtype=torch.bool)), seen)
        rows.append(output(x))
    return torch.cat(rows)


def _joined_word_by_word(
    source: Tensor,
    target: Tensor,
    embed_source: Layer,
    encoder: Blocks,
    embed_target: Layer,
    decoder: Blocks,
    output: Layer,
) -> Tensor:
    """As in translating: the decoder reads one word more each time, and only the last logits are kept."""
    seen = (source != 0).unsqueeze(1)
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, seen)
    rows = []
    for length in range(1, target.shape[1] + 1):
        x = embed_target(target[:, :length])
        for block in decoder:
            x = block(x, memory, torch.ones(length, length).tril() == 1, seen)
        rows.append(output(x)[:, -1])
    return torch.stack(rows, dim=1)


def _joined_with_target_padding(
    source: Tensor,
    target: Tensor,
    embed_source: Layer,
    encoder: Blocks,
    embed_target: Layer,
    decoder: Blocks,
    output: Layer,
) -> Tensor:
    """The target's padding forbidden as well, though being causal hides it."""
    memory_mask = torch.where(source == 0, False, True)[:, None]
    x = embed_source(source)
    for i in range(len(encoder)):
        x = encoder[i](x, memory_mask)
    y = embed_target(target)
    own = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril() & (target != 0)[:, None]
    for i in range(len(decoder)):
        y = decoder[i](y, x, own, memory_mask)
    return output(y)


ENCODE_AND_DECODE = (
    _joined_with_full_masks,
    _joined_by_recursion,
    _joined_sentence_by_sentence,
    _joined_word_by_word,
    _joined_with_target_padding,
)


# encoder_decoder.training_loop

Batches = Sequence[tuple[Tensor, Tensor]]
Trained = tuple[Tensor, Tensor, Tensor]


def _trained_by_backward(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    losses = []
    for x, expected in batches:
        W.grad = b.grad = None
        loss = F.nll_loss(torch.log_softmax(x @ W + b, dim=-1), expected)
        loss.backward()
        of_W, of_b = (torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in (W, b))
        norm = torch.sqrt((of_W**2).sum() + (of_b**2).sum())
        factor = torch.clamp(clip / norm, max=1)
        with torch.no_grad():
            W -= rate * factor * of_W
            b -= rate * factor * of_b
        losses.append(loss.item())
    return W.detach(), b.detach(), torch.tensor(losses, dtype=W.dtype)


def _trained_by_torch(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    parameters = [nn.Parameter(W.clone()), nn.Parameter(b.clone())]
    optimiser = torch.optim.SGD(parameters, lr=rate)
    losses = torch.zeros(len(batches), dtype=W.dtype)
    for i, (x, expected) in enumerate(batches):
        optimiser.zero_grad()
        loss = F.cross_entropy(x @ parameters[0] + parameters[1], expected)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimiser.step()
        losses[i] = loss.detach()
    return parameters[0].detach(), parameters[1].detach(), losses


def _trained_with_a_layer(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    layer = nn.Linear(W.shape[0], W.shape[1], dtype=W.dtype)
    layer.load_state_dict({"weight": W.T, "bias": b})
    losses = []
    for x, expected in batches:
        layer.zero_grad()
        loss = nn.CrossEntropyLoss()(layer(x), expected)
        loss.backward()
        nn.utils.clip_grad_norm_(layer.parameters(), max_norm=clip)
        for parameter in layer.parameters():
            assert parameter.grad is not None
            parameter.data.add_(parameter.grad, alpha=-rate)
        losses.append(loss.detach())
    return layer.weight.T.detach(), layer.bias.detach(), torch.stack(losses)


def _trained_by_the_formula(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    """∂L / ∂logits = (p - one_hot) / words."""
    losses = []
    for x, expected in batches:
        p = torch.softmax(x @ W + b, dim=-1)
        losses.append(-p[torch.arange(len(x)), expected].log().mean())
        wrong = (p - F.one_hot(expected, p.shape[-1])) / len(x)
        of_W, of_b = x.T @ wrong, wrong.sum(dim=0)
        norm = math.hypot(float(of_W.norm()), float(of_b.norm()))
        factor = clip / norm if norm > clip else 1.0
        W, b = W - rate * factor * of_W, b - rate * factor * of_b
    return W, b, torch.stack(losses)


def _trained_by_functional_gradients(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    def loss_of(weights: tuple[Tensor, Tensor], x: Tensor, expected: Tensor) -> Tensor:
        return F.cross_entropy(torch.addmm(weights[1], x, weights[0]), expected)

    losses = torch.empty(0, dtype=W.dtype)
    for x, expected in batches:
        gradients, loss = torch.func.grad_and_value(loss_of)((W, b), x, expected)
        norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
        W, b = (
            weight - rate * gradient * (clip / max(clip, float(norm)))
            for weight, gradient in zip((W, b), gradients, strict=True)
        )
        losses = torch.cat([losses, loss.reshape(1)])
    return W, b, losses


def _trained_in_double(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    found = _trained_by_the_formula(W.double(), b.double(), [(x.double(), e) for x, e in batches], rate, clip)
    return found[0].to(W.dtype), found[1].to(W.dtype), found[2].to(W.dtype)


TRAINING_LOOP = (
    _trained_by_backward,
    _trained_by_torch,
    _trained_with_a_layer,
    _trained_by_the_formula,
    _trained_by_functional_gradients,
    _trained_in_double,
)


# encoder_decoder.adam_update

State = tuple[Tensor, Tensor, Tensor]


def _adam_by_lerp(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float) -> State:
    mean = mean.lerp(gradient, 0.1)
    square = square.lerp(gradient**2, 0.02)
    size = rate * math.sqrt(1 - 0.98**step) / (1 - 0.9**step)
    return weight - size * mean / (square.sqrt() + 1e-9 * math.sqrt(1 - 0.98**step)), mean, square


def _adam_in_place(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float) -> State:
    weight, mean, square = weight.clone(), mean.clone(), square.clone()
    mean.mul_(0.9).add_(gradient, alpha=1 - 0.9)
    square.mul_(0.98).addcmul_(gradient, gradient, value=1 - 0.98)
    denominator = (square / (1 - 0.98**step)).sqrt_().add_(1e-9)
    weight.addcdiv_(mean, denominator, value=-rate / (1 - 0.9**step))
    return weight, mean, square


def _adam_in_numpy(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float) -> State:
    w, g, m, s = (tensor.double().numpy() for tensor in (weight, gradient, mean, square))
    m = 0.9 * m + 0.1 * g
    s = 0.98 * s + 0.02 * g * g
    w = w - rate * m / (1 - 0.9**step) / (numpy.sqrt(s / (1 - 0.98**step)) + 1e-9)
    new, first, second = (torch.from_numpy(array).to(weight.dtype) for array in (w, m, s))
    return new, first, second


def _adam_by_loop(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float) -> State:
    rows = []
    for w, g, m, s in zip(*(t.flatten().tolist() for t in (weight, gradient, mean, square)), strict=True):
        new_m, new_s = 0.9 * m + 0.1 * g, 0.98 * s + 0.02 * g * g
        down = new_m / (1 - 0.9**step) / (math.sqrt(new_s / (1 - 0.98**step)) + 1e-9)
        rows.append((w - rate * down, new_m, new_s))
    new, first, second = (
        torch.tensor(column, dtype=weight.dtype).reshape(weight.shape) for column in zip(*rows, strict=True)
    )
    return new, first, second


def _adam_by_power(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float) -> State:
    mean = mean + (1 - 0.9) * (gradient - mean)
    square = square + (1 - 0.98) * (gradient.pow(2) - square)
    inverse = (torch.pow(square / (1 - 0.98**step), 0.5) + 1e-9).reciprocal()
    return weight - rate * (mean / (1 - 0.9**step)) * inverse, mean, square


ADAM_UPDATE = (
    _adam_by_lerp,
    _adam_in_place,
    _adam_in_numpy,
    _adam_by_loop,
    _adam_by_power,
)


# encoder_decoder.warmup_schedule


def _rates_by_loop(steps: Tensor, d_model: int, warmup: int) -> Tensor:
    return torch.tensor([d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) for step in steps.tolist()])


def _rates_by_where(steps: Tensor, d_model: int, warmup: int) -> Tensor:
    rising = steps / (warmup * math.sqrt(d_model * warmup))
    return torch.where(steps < warmup, rising, 1 / torch.sqrt(steps * d_model))


def _rates_in_place(steps: Tensor, d_model: int, warmup: int) -> Tensor:
    rates = torch.empty(len(steps))
    for i, step in enumerate(steps):
        peak = 1 / (d_model * warmup) ** 0.5
        rates[i] = peak * step / warmup if step <= warmup else peak * (warmup / step) ** 0.5
    return rates


WARMUP_SCHEDULE = (
    _rates_by_loop,
    _rates_by_where,
    _rates_in_place,
    lambda steps, d_model, warmup: d_model**-0.5 * torch.minimum(steps.float() ** -0.5, steps * warmup**-1.5),
    lambda steps, d_model, warmup: torch.stack([steps**-0.5, steps * warmup**-1.5]).amin(dim=0) / math.sqrt(d_model),
    lambda steps, d_model, warmup: torch.from_numpy(
        numpy.minimum(steps.numpy() ** -0.5, steps.numpy() * float(warmup) ** -1.5) * d_model**-0.5
    ).float(),
    lambda steps, d_model, warmup: (
        (steps.float() / warmup).clamp(max=1) * (steps.clamp(min=warmup).float() * d_model).rsqrt()
    ),
    lambda steps, d_model, warmup: torch.rsqrt(torch.max(steps, warmup**3 / steps**2) * d_model),
)


# encoder_decoder.label_smoothing


def _smoothed_by_loop(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    losses = []
    for row, right in zip(torch.log_softmax(logits, dim=-1), expected.tolist(), strict=True):
        others = torch.cat([row[:right], row[right + 1 :]])
        losses.append(-(1 - smoothing) * row[right] - smoothing * others.mean())
    return torch.stack(losses).mean()


def _smoothed_by_torch(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    size = logits.shape[-1]
    return F.cross_entropy(logits, expected, label_smoothing=smoothing * size / (size - 1))


def _smoothed_with_a_target(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    target = torch.full_like(logits, smoothing / (logits.size(-1) - 1))
    target[torch.arange(len(expected)), expected] = 1 - smoothing
    return F.cross_entropy(logits, target)


def _smoothed_by_parts(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    log_p = logits.log_softmax(-1)
    right = log_p.gather(1, expected.unsqueeze(1)).squeeze(1)
    others = (log_p.sum(dim=1) - right) / (logits.shape[1] - 1)
    return -((1 - smoothing) * right + smoothing * others).mean()


def _smoothed_in_double(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    one_hot = F.one_hot(expected, logits.shape[-1]).double()
    target = one_hot * (1 - smoothing) + (1 - one_hot) * smoothing / (logits.shape[-1] - 1)
    wide = logits.double()
    return torch.einsum("wv,wv->w", target, wide.logsumexp(-1, keepdim=True) - wide).mean().to(logits.dtype)


def _smoothed_by_vmap(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    words = torch.arange(logits.shape[-1])

    def one_word(row: Tensor, right: Tensor) -> Tensor:
        target = torch.where(words == right, 1 - smoothing, smoothing / (len(words) - 1)).to(row.dtype)
        return -torch.dot(target, torch.log_softmax(row, dim=0))

    return torch.func.vmap(one_word)(logits, expected).mean()


LABEL_SMOOTHING = (
    _smoothed_by_loop,
    _smoothed_by_torch,
    _smoothed_with_a_target,
    _smoothed_by_parts,
    _smoothed_in_double,
    _smoothed_by_vmap,
)
