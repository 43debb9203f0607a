"""Modules that a case passes in: a block is tried with parts that are not the student's.

A `Given` is data, as everything in a case is. The module is made where the answer runs, anew for each call, so that
gradients flow through it; a `Callback`, which stays with the checker, lets none through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.ground.torch_heads import TorchAttention


class Join(nn.Module):
    """In place of an add & norm, and called like one: join(x, sublayer). It adds, and neither norms nor drops.

    Parameters:
        reads: [d_model], by which x is multiplied for the sublayer.
        keeps: [d_model], by which it is multiplied for the sum.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.reads = nn.Parameter(torch.ones(d_model))
        self.keeps = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Call the sublayer on x, and join what comes out to it."""
        return self.keeps * x + sublayer(self.reads * x)


class Block(nn.Module):
    """In place of an encoder block, and called like one: block(x, mask). Attention to the others, added.

    Parameters:
        attention: torch's.
    """

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.attention = TorchAttention(d_model, heads, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Each token with what it has found where `mask` is True."""
        out: Tensor = x + self.attention(x.tanh(), x.tanh(), mask)
        return out


class AskingBlock(nn.Module):
    """In place of a decoder block, and called like one: block(x, memory, mask, memory_mask). It adds what it finds.

    Parameters:
        self_attention, cross_attention: torch's.
    """

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.self_attention = TorchAttention(d_model, heads, bias=False)
        self.cross_attention = TorchAttention(d_model, heads, bias=False)

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        """Each token with what it has found among its own where `mask` is True, then in the memory."""
        x = x + self.self_attention(x.tanh(), x.tanh(), mask)
        out: Tensor = x + self.cross_attention(x.tanh(), memory.tanh(), memory_mask)
        return out


class Writer(nn.Module):
    """In place of a recurrent decoder that is asked step by step: writer(token, state) -> logits, state.

    Parameters:
        embedding, cell, output: torch's.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.cell = nn.GRUCell(d_model, d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The scores [batch, vocab_size] of what follows the tokens [batch], and the state after them."""
        state = self.cell(self.embedding(token), state)
        return self.output(state), state


class Mixer(nn.Module):
    """In place of a model that reads tokens: each of its outputs is a weighted sum of them, of what it reads of each.

    Parameters:
        weights: [tokens, tokens], a row for each output; 0 for tokens that it does not see.
        reads: [d_model], 0 for components that it does not look at.
    """

    def __init__(self, tokens: int, d_model: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.ones(tokens, tokens))
        self.reads = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Mix the tokens, [..., tokens, d_model]; each component is written next to where it was read."""
        return self.weights @ (self.reads * x.tanh()).roll(1, dims=-1)


KINDS: dict[str, type[nn.Module]] = {
    **{kind.__name__: kind for kind in (TorchAttention, Join, Block, AskingBlock, Writer, Mixer)},
    **{f"nn.{kind.__name__}": kind for kind in (nn.Linear, nn.LayerNorm, nn.Embedding, nn.GELU)},
}
"""All there are, by the names that a student reads."""


@dataclass(frozen=True, eq=False)  # equal tensors are not equal in Python's sense
class Given:
    """A module, by its kind.

    Attributes:
        kind: its name in `KINDS`.
        construct: what it is made with.
        weights: its state dict, where it is an argument by itself. As a part of what an answer builds, it takes its
            weights from the case's.
    """

    kind: str
    construct: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, Tensor] = field(default_factory=dict)

    def module(self) -> nn.Module:
        """Make the module, in evaluation mode."""
        made = KINDS[self.kind](**self.construct).eval()
        for weight in self.weights.values():
            made.to(weight.dtype)
        made.load_state_dict({**made.state_dict(), **self.weights})
        return made

    @property
    def fields(self) -> dict[str, Any]:
        """Itself as plain data: `Given(**fields)` is the same again."""
        return {"kind": self.kind, "construct": dict(self.construct), "weights": dict(self.weights)}
