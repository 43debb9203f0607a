"""Functions that cases pass in and that give no answer away: they only look like a model or a layer.

A case's `Callback` stays with the checker. These functions consist of a few numbers and tensors, so a class edition
(`reading.py`) can store them as data and call them; of any other callback it stores only the recorded calls.
"""

import math
from dataclasses import dataclass
from functools import reduce

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True, eq=False)  # Python's == does not work for tensors
class StandIn:
    """A function described by its fields, which are plain data or a dtype; each kind is in `STAND_INS`."""


@dataclass(frozen=True, eq=False)
class NextWord(StandIn):
    """Logits for the next token [vocab_size] after a sentence of ids [tokens]; they depend on every token so far.

    An offset keeps them from being log-probabilities.

    Attributes:
        seed: determines all the logits.
        vocab_size: the number of tokens.
        never: a token that is never written; None if all may be.
        dtype: the dtype of the logits.
        spread: how far apart the logits of different tokens are.
        offset: added to all logits.
        last: a token after which it must not be called; None if it may always be called.
    """

    seed: int
    vocab_size: int
    never: int | None = None
    dtype: torch.dtype = torch.float32
    spread: float = 2.0
    offset: float = 0.0
    last: int | None = None

    def __call__(self, tokens: Tensor) -> Tensor:
        """Return the logits after these tokens."""
        ids = written_ids(tokens, self.vocab_size)
        if ids[-1] == self.last:
            raise ValueError(f"step was asked for a token after <e> ({self.last}), where the sentence has ended")
        number = reduce(lambda read, token: (31 * read + token + 1) % 2**40, ids, self.seed)
        generator = torch.Generator().manual_seed(number)
        logits = self.spread * torch.randn(self.vocab_size, generator=generator)
        logits += 4 * torch.rand((), generator=generator) + self.offset
        if self.never is not None:
            logits[self.never] = -math.inf
        return logits.to(self.dtype)


def written_ids(tokens: object, vocab_size: int) -> list[int]:
    """Return what an answer passed, if it is the ids of one sentence; otherwise raise an error that says so.

    Raises:
        TypeError, ValueError, IndexError: `tokens` is something else.
    """
    ids = torch.as_tensor(tokens) if isinstance(tokens, (Tensor, list, tuple)) and len(tokens) else None
    if ids is None or ids.dtype not in (torch.int64, torch.int32):
        raise TypeError("step takes the ids of the tokens so far, an int64 tensor [tokens] that begins with <s>")
    if ids.dim() != 1:
        raise ValueError(f"step takes the ids of one sentence, [tokens], not a tensor of shape {list(ids.shape)}")
    if not 0 <= int(ids.min()) <= int(ids.max()) < vocab_size:
        raise IndexError(f"step takes the ids 0 to {vocab_size - 1}, but it was given {ids.tolist()}")
    found: list[int] = ids.tolist()
    return found


@dataclass(frozen=True, eq=False)
class ByHeart(StandIn):
    """Logits [batch, tokens, vocab_size] that repeat one sentence: 0, 1, 2, ..., 0, 1, 2, ...

    Attributes:
        vocab_size: the number of tokens in the sentence.
    """

    vocab_size: int

    def __call__(self, ids: Tensor) -> Tensor:
        """Return the logits after each of these tokens."""
        _check_rows(ids, self.vocab_size)
        return 5.0 * F.one_hot((ids + 1) % self.vocab_size, self.vocab_size)


@dataclass(frozen=True, eq=False)
class EveryWord(StandIn):
    """Logits [batch, tokens, vocab_size] for ids [batch, tokens], from every token so far and from its position.

    Beyond its context it returns nonsense.

    Attributes:
        own: each token's scores for the next one, [vocab_size, vocab_size].
        so_far: each token's scores for all tokens after it, [vocab_size, vocab_size].
        place: each position's scores, [context, vocab_size].
        sure: how far apart the logits are.
        ahead: how many tokens after each one are read as well.
    """

    own: Tensor
    so_far: Tensor
    place: Tensor
    sure: float = 1.0
    ahead: int = 0

    def __call__(self, ids: Tensor) -> Tensor:
        """Return the logits after each of these tokens."""
        vocab_size, context_length = len(self.own), len(self.place)
        _check_rows(ids, vocab_size)
        places = torch.arange(ids.shape[1])
        read = (places + self.ahead).clamp(max=ids.shape[1] - 1)
        before = self.so_far[ids].cumsum(dim=1)[:, read] / (places + 1).sqrt().unsqueeze(-1)
        logits: Tensor = self.sure * (self.own[ids] + 3 * before + self.place[places % context_length])
        return logits if ids.shape[1] <= context_length else -logits


def _check_rows(ids: object, vocab_size: int) -> None:
    if not isinstance(ids, Tensor) or ids.dim() != 2 or ids.is_floating_point():
        shape = list(ids.shape) if isinstance(ids, Tensor) else type(ids).__name__
        raise ValueError(f"the model reads ids of shape [batch, tokens], whole numbers, not {shape}")
    if ids.shape[1] == 0 or int(ids.min()) < 0 or int(ids.max()) >= vocab_size:
        raise ValueError(f"the model reads at least one token, with ids from 0 to {vocab_size - 1}")


@dataclass(frozen=True, eq=False)
class RowScore(StandIn):
    """An encoder with a head: one number for each row of [rows, tokens], which depends on all inputs.

    Attributes:
        dtype: the dtype of the numbers.
        gap: how far apart the scores of rows with different first tokens are.
    """

    dtype: torch.dtype = torch.float32
    gap: float = 0.0

    def __call__(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return the score of each row."""
        for name, tensor in (("ids", ids), ("segments", segments), ("mask", mask)):
            if tensor.dim() != 2:
                raise ValueError(f"score reads rows of tokens, [rows, tokens]; {name} are {list(tensor.shape)}")
        if mask.is_floating_point():
            raise TypeError(f"the mask of score must stay boolean, not {mask.dtype}")
        place = torch.arange(ids.shape[1], device=ids.device)
        read = (torch.sin(0.7 * ids.to(self.dtype) + 0.4 * place + 1.1 * segments) * mask).sum(dim=1)
        return read + self.gap * (1 - ids[:, 0] % 3)


@dataclass(frozen=True, eq=False)
class Tanh(StandIn):
    """A minimal sublayer: tanh(x @ matrix), for each token [..., d_model].

    Attributes:
        matrix: [d_model, d_model].
    """

    matrix: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Return a vector for each token."""
        return torch.tanh(x @ self.matrix)


STAND_INS: dict[str, type[StandIn]] = {kind.__name__: kind for kind in (NextWord, ByHeart, EveryWord, RowScore, Tanh)}
"""All stand-ins, by name."""
