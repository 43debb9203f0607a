"""Modules that a case passes in, to try a block with parts that are not the student's.

A `Given` is data, like everything in a case. The module is created where the answer runs, again for each call, so
gradients flow through it; through a `Callback`, which stays with the checker, none do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.ground.torch_heads import TorchAttention


class Join(nn.Module):
    """Stands in for add & norm, called alike: join(x, sublayer). It adds, without norm or dropout.

    Parameters:
        reads: [d_model], multiplies x for the sublayer.
        keeps: [d_model], multiplies x for the sum.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.reads = nn.Parameter(torch.ones(d_model))
        self.keeps = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Call the sublayer on x, and add its output."""
        return self.keeps * x + sublayer(self.reads * x)


class Block(nn.Module):
    """Stands in for an encoder block, called alike: block(x, mask). It adds attention to the tokens.

    Parameters:
        attention: torch's.
    """

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.attention = TorchAttention(d_model, heads, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Add to each token what it finds where `mask` is True."""
        out: Tensor = x + self.attention(x.tanh(), x.tanh(), mask)
        return out


class AskingBlock(nn.Module):
    """Stands in for a decoder block, called alike: block(x, memory, mask, memory_mask). It adds what it finds.

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
        """Add to each token what it finds among `x` where `mask` is True, then in the memory."""
        x = x + self.self_attention(x.tanh(), x.tanh(), mask)
        out: Tensor = x + self.cross_attention(x.tanh(), memory.tanh(), memory_mask)
        return out


class Writer(nn.Module):
    """Stands in for a recurrent decoder, called step by step: writer(token, state) -> logits, state.

    Parameters:
        embedding, cell, output: torch's.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.cell = nn.GRUCell(d_model, d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores [batch, vocab_size] of what follows the tokens [batch], and the state after them."""
        state = self.cell(self.embedding(token), state)
        return self.output(state), state


class Mixer(nn.Module):
    """Stands in for a model that reads tokens: each output is a weighted sum of what it reads of each token.

    Parameters:
        weights: [tokens, tokens], a row for each output; 0 for tokens that it does not see.
        reads: [d_model], 0 for components that it ignores.
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
"""All these modules, by the names that a student reads."""


@dataclass(frozen=True, eq=False)  # Python's == does not work for tensors
class Given:
    """A module, described by data.

    Attributes:
        kind: its name in `KINDS`.
        construct: the arguments of its constructor.
        weights: its state dict, if it is an argument by itself. Inside what an answer builds, it takes its weights from
            the case.
    """

    kind: str
    construct: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, Tensor] = field(default_factory=dict)

    def module(self) -> nn.Module:
        """Create the module, in evaluation mode."""
        made = KINDS[self.kind](**self.construct).eval()
        for weight in self.weights.values():
            made.to(weight.dtype)
        made.load_state_dict({**made.state_dict(), **self.weights})
        return made

    @property
    def fields(self) -> dict[str, Any]:
        """Its content as plain data: `Given(**fields)` restores it."""
        return {"kind": self.kind, "construct": dict(self.construct), "weights": dict(self.weights)}
