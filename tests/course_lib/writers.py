"""Models for the tests of decoding: small ones of both kinds, and one whose every logit is known."""

from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from course_lib.decoding.generation_mixin import GenerationMixin
from course_lib.decoding.state import DecodingState
from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig

END = 2

Model = TypeVar("Model", bound=nn.Module)


def transformer(seed: int = 0) -> Transformer:
    sizes = TransformerConfig(
        12, 12, d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=2, tied_output=False
    )
    return _shaken(Transformer(sizes), seed)


def gpt(seed: int = 0, *, end_id: int | None = END, norm_first: bool = True) -> GPT:
    sizes = GPTConfig(12, 32, 16, 2, 2, 32, norm_first=norm_first, tied_output=False, end_id=end_id, padding_id=0)
    return _shaken(GPT(sizes), seed)


def _shaken(model: Model, seed: int) -> Model:
    """With parameters so large that what it says next depends on what it has read."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=1.0, generator=generator)
    return model


def new_tokens(model: Any, inputs: Tensor, max_new_tokens: int = 50, **settings: Any) -> Tensor:
    """What `generate` writes, without what was read."""
    read = 1 if isinstance(model, Transformer) else inputs.shape[1]
    written: Tensor = model.generate(inputs, max_new_tokens=max_new_tokens, **settings)
    return written[:, read:]


SOURCES = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0], [5, 0, 0, 0]])
PROMPTS_LEFT = torch.tensor([[4, 5, 6, 7], [0, 0, 8, 9], [0, 0, 0, 5]])


class Tree(GenerationMixin, nn.Module):
    """Says of every beginning something else, at random but always the same: logits of 4 tokens, 2 of them <e>."""

    def __init__(self, vocab_size: int = 4, seed: int = 0) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.seed = seed
        self.modes: list[bool] = []

    def logits(self, begun: list[int]) -> Tensor:
        number = sum((token + 1) * 31**place for place, token in enumerate(begun))
        generator = torch.Generator().manual_seed(1000 * self.seed + number)
        return 2.0 * torch.randn(self.vocab_size, generator=generator)

    def begin(self, inputs: Tensor, max_new_tokens: int, **_options: Any) -> DecodingState:
        return _Climb(self, inputs)


class _Climb(DecodingState):
    def __init__(self, tree: Tree, inputs: Tensor) -> None:
        self.tree, self.batch, self.prompt = tree, len(inputs), inputs
        self.end_ids, self.padding_id = (END,), 0
        self.begun = [[int(row[0])] for row in inputs]

    def prefill(self) -> Tensor:
        self.tree.modes.append(self.tree.training)
        return torch.stack([self.tree.logits(begun) for begun in self.begun])

    def step(self, tokens: Tensor) -> Tensor:
        self.begun = [[*begun, token] for begun, token in zip(self.begun, tokens.tolist(), strict=True)]
        return self.prefill()

    def expand(self, copies: int) -> None:
        self.begun = [begun for begun in self.begun for _ in range(copies)]
        self.batch = len(self.begun)

    def select(self, rows: Tensor) -> None:
        self.begun = [self.begun[row] for row in rows.tolist()]


class Letters:
    """A tokenizer of which every id is a letter: 0 is a."""

    def decode(self, ids: list[int], /) -> str:
        return "".join(chr(ord("a") + token) for token in ids)
