"""Right answers to the exercises of lesson 03 (`course_lib/exercises/positions.py`)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# positions.shuffled_outputs


def _shuffled_by_loop(out: Tensor, order: Tensor) -> Tensor:
    return torch.stack([out[..., place, :] for place in order.tolist()], dim=-2)


def _shuffled_in_place(out: Tensor, order: Tensor) -> Tensor:
    shuffled = torch.empty_like(out)
    for place, word in enumerate(order):
        shuffled[..., place, :] = out[..., word, :]
    return shuffled


def _shuffled_by_gather(out: Tensor, order: Tensor) -> Tensor:
    return out.gather(-2, order.unsqueeze(-1).expand(out.shape))


SHUFFLED_OUTPUTS = (
    _shuffled_by_loop,
    _shuffled_in_place,
    _shuffled_by_gather,
    lambda out, order: out[..., order, :],
    lambda out, order: torch.index_select(out, out.ndim - 2, order),
    lambda out, order: F.one_hot(order, len(order)).to(out.dtype) @ out,
    lambda out, order: torch.einsum("pw,...wd->...pd", torch.eye(len(order), dtype=out.dtype)[order], out),
    lambda out, order: out.mT[..., order].mT,
    lambda out, order: torch.from_numpy(numpy.take(out.detach().numpy(), order.numpy(), axis=-2)),
    lambda out, order: out.transpose(0, -2)[order].transpose(0, -2),
    lambda out, order: torch.cat([out.narrow(-2, word, 1) for word in order.tolist()], dim=-2),
)


# positions.same_under_causal_mask


def _same_by_sets(order: Tensor) -> Tensor:
    words = order.tolist()
    return torch.tensor([set(words[: i + 1]) == set(range(word + 1)) for i, word in enumerate(words)])


def _same_by_masks(order: Tensor) -> Tensor:
    """Whom a word may attend to, before and after, as rows of the causal mask by word."""
    before = torch.ones(len(order), len(order), dtype=torch.bool).tril()
    after = torch.zeros_like(before)
    after[order.unsqueeze(1), order] = before
    return (before == after).all(dim=1)[order]


def _same_by_attention(order: Tensor) -> Tensor:
    """By trying it: one causal self-attention on random words, before and after."""
    x = torch.randn(len(order), 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    before = F.scaled_dot_product_attention(x, x, x, is_causal=True)
    after = F.scaled_dot_product_attention(x[order], x[order], x[order], is_causal=True)
    return (before[order] - after).abs().amax(dim=1) < 1e-9


def _same_by_sums(order: Tensor) -> Tensor:
    """Among n different places the sum is smallest for the first n, and equal only for them."""
    place = torch.arange(len(order))
    return (order == place) & (order.cumsum(0) == place.cumsum(0))


def _same_by_loop(order: Tensor) -> Tensor:
    furthest, same = -1, []
    for place, word in enumerate(order.tolist()):
        furthest = max(furthest, word)
        same.append(word == place == furthest)
    return torch.tensor(same)


SAME_UNDER_CAUSAL_MASK = (
    _same_by_sets,
    _same_by_masks,
    _same_by_attention,
    _same_by_sums,
    _same_by_loop,
    lambda order: (order == torch.arange(len(order))) & (order.cummax(0)[0] == order),
    lambda order: torch.tensor(
        [sorted(order[: i + 1].tolist()) == list(range(int(order[i]) + 1)) for i in range(len(order))]
    ),
    lambda order: torch.from_numpy(
        (order.numpy() == numpy.arange(len(order)))
        & (numpy.maximum.accumulate(order.numpy()) <= numpy.arange(len(order)))
    ),
)


# positions.appended_index


def _appended_in_place(x: Tensor) -> Tensor:
    longer = torch.zeros(*x.shape[:-1], x.shape[-1] + 1, dtype=x.dtype)
    longer[..., :-1] = x
    for place in range(x.shape[-2]):
        longer[..., place, -1] = place
    return longer


def _appended_by_loop(x: Tensor) -> Tensor:
    words = [F.pad(word, (0, 1), value=place) for place, word in enumerate(x.unbind(dim=-2))]
    return torch.stack(words, dim=-2)


def _appended_in_numpy(x: Tensor) -> Tensor:
    places = numpy.broadcast_to(numpy.arange(x.shape[-2])[:, None], (*x.shape[:-1], 1))
    return torch.tensor(numpy.concatenate([x.detach().numpy(), places], axis=-1), dtype=x.dtype)


def _appended_by_vmap(x: Tensor) -> Tensor:
    def one(word: Tensor, place: Tensor) -> Tensor:
        return torch.cat([word, place.expand(*word.shape[:-1], 1)], dim=-1)

    return torch.func.vmap(one, in_dims=(-2, 0), out_dims=-2)(x, torch.arange(x.shape[-2]).to(x.dtype))


def _appended_by_product(x: Tensor) -> Tensor:
    widened = x @ torch.eye(x.shape[-1], x.shape[-1] + 1, dtype=x.dtype)
    last = F.one_hot(torch.tensor(x.shape[-1]), x.shape[-1] + 1)
    return widened + torch.arange(x.shape[-2], dtype=x.dtype).unsqueeze(-1) * last


APPENDED_INDEX = (
    _appended_in_place,
    _appended_by_loop,
    _appended_in_numpy,
    _appended_by_vmap,
    _appended_by_product,
    lambda x: torch.cat([x, torch.arange(x.shape[-2]).view(-1, 1).expand(x.shape[:-1] + (1,))], dim=-1),
    lambda x: torch.cat([x, torch.ones_like(x[..., :1]).cumsum(dim=-2) - 1], dim=-1),
    lambda x: F.pad(x, (0, 1)) + F.pad(torch.arange(x.shape[-2], dtype=x.dtype).unsqueeze(1), (x.shape[-1], 0)),
    lambda x: torch.cat([x, torch.from_numpy(numpy.indices((*x.shape[:-1], 1))[-2])], dim=-1),
    lambda x: (
        torch.hstack([x.movedim(-1, 1), 0 * x[..., :1].movedim(-1, 1) + torch.arange(x.shape[-2])]).movedim(1, -1)
        if x.ndim > 2
        else torch.column_stack([x, torch.arange(len(x))])
    ),
)


# positions.binary_counting


def _binary_by_text(length: int, bits: int) -> Tensor:
    return torch.tensor([[float(digit) for digit in reversed(f"{pos:0{bits}b}")] for pos in range(length)])


def _binary_in_place(length: int, bits: int) -> Tensor:
    digits = torch.zeros(length, bits)
    for pos in range(length):
        rest = pos
        for bit in range(bits):
            digits[pos, bit] = rest % 2
            rest //= 2
    return digits


def _binary_by_repeating(length: int, bits: int) -> Tensor:
    columns = []
    for bit in range(bits):
        wave = torch.tensor([0.0, 1.0]).repeat_interleave(2**bit)
        columns.append(wave.repeat(length // len(wave) + 1)[:length])
    return torch.stack(columns, dim=1)


def _binary_by_doubling(length: int, bits: int) -> Tensor:
    table = torch.zeros(1, 0)
    for _ in range(bits):
        table = torch.cat([F.pad(table, (0, 1)), F.pad(table, (0, 1), value=1.0)])
    return table[:length]


def _binary_by_adding(length: int, bits: int) -> Tensor:
    """One more each time, with a carry."""
    row, rows = [0.0] * bits, []
    for _ in range(length):
        rows.append(list(row))
        for bit in range(bits):
            row[bit] = 1 - row[bit]
            if row[bit]:
                break
    return torch.tensor(rows)


BINARY_COUNTING = (
    _binary_by_text,
    _binary_in_place,
    _binary_by_repeating,
    _binary_by_doubling,
    _binary_by_adding,
    lambda length, bits: (torch.arange(length).unsqueeze(1) // 2 ** torch.arange(bits) % 2).float(),
    lambda length, bits: (torch.arange(length)[:, None] & 2 ** torch.arange(bits) != 0).float(),
    lambda length, bits: torch.remainder(torch.floor(torch.arange(length)[:, None] / 2.0 ** torch.arange(bits)), 2),
    lambda length, bits: torch.from_numpy(numpy.arange(length)[:, None] >> numpy.arange(bits) & 1).to(torch.float32),
    lambda length, bits: torch.tensor(list(itertools.product([0.0, 1.0], repeat=bits)))[:length].flip(1),
    lambda length, bits: (
        (torch.sin(math.pi * (torch.arange(length)[:, None] + 0.5) / 2 ** torch.arange(bits)) < 0) * 1.0
    ),
)


# positions.sinusoidal_encoding


def _sinusoidal_by_loop(length: int, d_model: int) -> Tensor:
    encoding = torch.zeros(length, d_model)
    for pos in range(length):
        for i in range(d_model // 2):
            angle = pos / 10_000 ** (2 * i / d_model)
            encoding[pos, 2 * i] = math.sin(angle)
            encoding[pos, 2 * i + 1] = math.cos(angle)
    return encoding


def _sinusoidal_by_slices(length: int, d_model: int) -> Tensor:
    """As the annotated transformer writes it."""
    encoding = torch.zeros(length, d_model)
    position = torch.arange(length).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10_000.0) / d_model))
    encoding[:, 0::2] = torch.sin(position * frequency)
    encoding[:, 1::2] = torch.cos(position * frequency)
    return encoding


def _sinusoidal_in_numpy(length: int, d_model: int) -> Tensor:
    angle = numpy.arange(length)[:, None] / 10_000 ** (numpy.arange(d_model) // 2 * 2 / d_model)
    waves = numpy.where(numpy.arange(d_model) % 2, numpy.cos(angle), numpy.sin(angle))
    return torch.from_numpy(waves).float()


def _sinusoidal_by_phase(length: int, d_model: int) -> Tensor:
    """A cosine is a sine a quarter of a turn ahead."""
    dimension = torch.arange(d_model, dtype=torch.float64)
    angle = torch.arange(length).unsqueeze(1) * 10_000 ** (-(dimension - dimension % 2) / d_model)
    return torch.sin(angle + dimension % 2 * math.pi / 2).float()


def _sinusoidal_by_complex(length: int, d_model: int) -> Tensor:
    angle = torch.outer(torch.arange(length).double(), 10_000.0 ** (-torch.arange(0, d_model, 2).double() / d_model))
    turned = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flip(-1).reshape(length, d_model).float()


def _sinusoidal_by_turning(length: int, d_model: int) -> Tensor:
    """Each row from the one before it, by one turn of every clock."""
    step = 10_000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
    sine, cosine = torch.zeros_like(step), torch.ones_like(step)
    rows = []
    for _ in range(length):
        rows.append(torch.stack([sine, cosine], dim=1).flatten())
        sine, cosine = sine * step.cos() + cosine * step.sin(), cosine * step.cos() - sine * step.sin()
    return torch.stack(rows).float()


def _sinusoidal_by_vmap(length: int, d_model: int) -> Tensor:
    pairs = torch.arange(d_model // 2)

    def row(pos: Tensor) -> Tensor:
        angle = pos / torch.pow(10_000, 2 * pairs / d_model)
        return torch.stack([torch.sin(angle), torch.cos(angle)], dim=-1).reshape(-1)

    return torch.func.vmap(row)(torch.arange(length))


def _sinusoidal_by_einsum(length: int, d_model: int) -> Tensor:
    frequency = torch.logspace(0, -4 * (d_model - 2) / d_model, d_model // 2, dtype=torch.float64)
    angle = torch.einsum("p,f->pf", torch.arange(length, dtype=torch.float64), frequency).repeat_interleave(2, dim=1)
    return torch.where(torch.arange(d_model) % 2 == 1, angle.cos(), angle.sin()).float()


SINUSOIDAL_ENCODING = (
    _sinusoidal_by_loop,
    _sinusoidal_by_slices,
    _sinusoidal_in_numpy,
    _sinusoidal_by_phase,
    _sinusoidal_by_complex,
    _sinusoidal_by_turning,
    _sinusoidal_by_vmap,
    _sinusoidal_by_einsum,
)


# positions.shift_matrix


def _shift_by_loop(shift: int, d_model: int) -> Tensor:
    matrix = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = shift / 10_000 ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i, i + 1] = math.sin(angle)
        matrix[i + 1, i] = -math.sin(angle)
    return matrix


def _shift_by_slices(shift: int, d_model: int) -> Tensor:
    angle = shift * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000) / d_model))
    matrix = torch.diag(angle.cos().repeat_interleave(2))
    even = torch.arange(0, d_model, 2)
    matrix[even, even + 1] = angle.sin()
    matrix[even + 1, even] = -angle.sin()
    return matrix


def _shift_by_blocks(shift: int, d_model: int) -> Tensor:
    angles = [shift / 10_000 ** (2 * i / d_model) for i in range(d_model // 2)]
    matrix: Tensor = torch.block_diag(
        *(torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) for a in angles)
    )
    return matrix


def _shift_by_exponential(shift: int, d_model: int) -> Tensor:
    """Turning steadily: the matrix exponential of the velocities."""
    speed = 10_000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
    velocity: Tensor = torch.block_diag(
        *(s * torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64) for s in speed)
    )
    return torch.matrix_exp(shift * velocity).float()


def _shift_in_numpy(shift: int, d_model: int) -> Tensor:
    angle = shift / 10_000 ** (numpy.arange(0, d_model, 2) / d_model)
    cosine = numpy.kron(numpy.diag(numpy.cos(angle)), numpy.eye(2))
    sine = numpy.kron(numpy.diag(numpy.sin(angle)), numpy.array([[0, 1], [-1, 0]]))
    return torch.from_numpy(cosine + sine).float()


def _shift_by_power(shift: int, d_model: int) -> Tensor:
    """One word on, again and again; backwards by the inverse."""
    angle = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    once = torch.diag(angle.cos().repeat_interleave(2))
    aside = torch.stack([angle.sin(), torch.zeros_like(angle)], dim=1).flatten()[:-1]
    once += torch.diag(aside, 1) - torch.diag(aside, -1)
    moved: Tensor = torch.linalg.matrix_power(once, shift)
    return moved.float()


def _shift_from_the_encoding(shift: int, d_model: int) -> Tensor:
    """Read off the encoding's own numbers: row `shift` holds the sine and the cosine of every angle."""
    row = _sinusoidal_by_loop(abs(shift) + 1, d_model)[abs(shift)].view(-1, 2)
    sine, cosine = row[:, 0] * (1 if shift >= 0 else -1), row[:, 1]
    turns = torch.stack([cosine, sine, -sine, cosine], dim=1).view(-1, 2, 2)
    return torch.einsum("irc,ij->irjc", turns, torch.eye(d_model // 2)).reshape(d_model, d_model)


def _shift_column_by_column(shift: int, d_model: int) -> Tensor:
    """What the turned clocks make of each unit vector."""
    angle = shift / 10_000.0 ** (torch.arange(0, d_model, 2).double() / d_model)

    def turned(vector: Tensor) -> Tensor:
        sine, cosine = vector[0::2], vector[1::2]
        parts = (sine * angle.cos() + cosine * angle.sin(), cosine * angle.cos() - sine * angle.sin())
        return torch.stack(parts, dim=1).flatten()

    return torch.func.vmap(turned, out_dims=1)(torch.eye(d_model, dtype=torch.float64)).float()


SHIFT_MATRIX = (
    _shift_by_loop,
    _shift_by_slices,
    _shift_by_blocks,
    _shift_by_exponential,
    _shift_in_numpy,
    _shift_by_power,
    _shift_from_the_encoding,
    _shift_column_by_column,
)


# positions.learned_positions


def learned(forward: Callable[[Tensor, Tensor], Tensor]) -> type[nn.Module]:
    """A class like `course_lib.positions.LearnedPositions` whose forward is `forward(x, encoding)`."""

    class LearnedPositions(nn.Module):
        def __init__(self, d_model: int, max_length: int) -> None:
            super().__init__()
            self.encoding = nn.Parameter(torch.zeros(max_length, d_model))

        def forward(self, x: Tensor) -> Tensor:
            return forward(x, self.encoding)

    return LearnedPositions


def _refusing(forward: Callable[[Tensor, Tensor], Tensor]) -> type[nn.Module]:
    """The same, with a refusal of words that have no position."""

    def placed(x: Tensor, encoding: Tensor) -> Tensor:
        if x.shape[-2] > len(encoding):
            raise ValueError(f"{x.shape[-2]} words are more than {len(encoding)} positions")
        return forward(x, encoding)

    return learned(placed)


@_refusing
def _learned_by_loop(x: Tensor, encoding: Tensor) -> Tensor:
    return torch.stack([word + encoding[place] for place, word in enumerate(x.unbind(-2))], dim=-2)


@_refusing
def _learned_in_place(x: Tensor, encoding: Tensor) -> Tensor:
    placed = x.clone()
    for place in range(x.size(-2)):
        placed[..., place, :] += encoding[place]
    return placed


@learned
def _learned_padded(x: Tensor, encoding: Tensor) -> Tensor:
    further = len(encoding) - x.shape[-2]
    if further < 0:
        raise ValueError(f"{-further} words have no position")
    return (F.pad(x, (0, 0, 0, further)) + encoding)[..., : x.shape[-2], :]


class _LearnedWithARefusal(nn.Module):
    """As a student may lay it out: the refusal in words, the positions in a buffer that is not saved."""

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(max_length, d_model) * 0.02)
        self.place: Tensor
        self.register_buffer("place", torch.arange(max_length), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        words, longest = x.size(-2), len(self.encoding)
        if words > longest:
            raise ValueError(f"{words} words, but only {longest} positions")
        return x + F.embedding(self.place[:words], self.encoding)


LEARNED_POSITIONS = (
    _learned_by_loop,
    _learned_in_place,
    _learned_padded,
    _LearnedWithARefusal,
    _refusing(lambda x, encoding: x + encoding[: x.shape[-2]]),
    _refusing(lambda x, encoding: x + F.embedding(torch.arange(x.shape[-2]), encoding)),
    _refusing(lambda x, encoding: torch.add(x, encoding.narrow(0, 0, x.shape[-2]).expand_as(x))),
    _refusing(
        lambda x, encoding: x + F.one_hot(torch.arange(x.shape[-2]), len(encoding)).to(encoding.dtype) @ encoding
    ),
    _refusing(
        lambda x, encoding: (x.double() + encoding.index_select(0, torch.arange(x.shape[-2])).double()).to(x.dtype)
    ),
    _refusing(lambda x, encoding: torch.func.vmap(torch.add, (-2, 0), -2)(x, encoding[: x.shape[-2]])),
)
