"""Lesson 07, gpt.causal_language_model: A causal language model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import alike, integer, sizes
from course_lib.exercises.gpt.shared import SENTENCES, random_ids
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.judging.given import Given
from course_lib.judging.observation import fresh
from course_lib.references.gpt import CausalLanguageModel


def _model_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield _model_case("worked example: I saw the dog", generator, (5, 6, 2, 1), SENTENCES[:, :-1])
    yield _model_case("a single token, alone in its batch", generator, (3, 2, 1, 1), torch.tensor([[2]]))
    for name, causal, dtype in (
        ("a batch", True, torch.float32),
        ("as many tokens as heads", True, torch.float32),
        ("double precision", True, torch.float64),
        ("causal=False", False, torch.float32),
    ):
        batch, tokens = sizes(generator, 2)
        heads = integer(generator, 2, 4)
        tokens = heads if "heads" in name else tokens + 2
        vocab_size = integer(generator, 20, 30)
        ids = random_ids(generator, vocab_size, batch, tokens)
        case = _model_case(
            name, generator, (vocab_size, heads * integer(generator, 3, 6), heads, 2), ids, causal, dtype
        )
        yield case
        if name == "a batch":
            yield replace(case, name="on another device", elsewhere=True, part=ANOTHER_DEVICE)


WITHOUT_MASK, ANOTHER_DEVICE = "without the mask", "another device"


def _model_case(
    name: str,
    generator: Generator,
    model: tuple[int, int, int, int],
    ids: Tensor,
    causal: bool = True,
    dtype: torch.dtype = torch.float32,
) -> Case:
    """A case with parts that are given, and weights far from those of a new model, so that each makes a difference.

    Args:
        model: vocab_size, d_model, heads and layers.
    """
    vocab_size, d_model, heads, layers = model
    construct = {
        "embedding": Given("nn.Embedding", {"num_embeddings": vocab_size, "embedding_dim": d_model}),
        "positions": Given("nn.Linear", {"in_features": d_model, "out_features": d_model}),
        "blocks": [Given("Block", {"d_model": d_model, "heads": heads})] * layers,
        "norm": Given("nn.LayerNorm", {"normalized_shape": d_model}),
        "causal": causal,
    }
    weights = {
        key: 0.4 * torch.randn(value.shape, generator=generator, dtype=dtype)
        for key, value in CausalLanguageModel(**fresh(construct)).state_dict().items()
    }
    weights["norm.weight"] += 1
    part = CORE if causal else WITHOUT_MASK
    return Case(name, (ids,), construct=construct, weights=weights, weight_gradients=True, part=part)


class _ModelLineByLine(CausalLanguageModel):
    def forward(self, ids: Tensor) -> Tensor:
        tokens = ids.shape[1]
        mask = torch.ones(1, tokens, tokens, dtype=torch.bool, device=ids.device).tril() if self.causal else None
        embedded = self.embedding(ids)
        x = self.positions(embedded)
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x)
        logits: Tensor = x @ self.embedding.weight.T
        return logits


_slip = partial(Edited, _ModelLineByLine)
_slip_alone = partial(_slip, paired=False)
"""One that is not tried together with others: such pairs are rare, and a model takes time to run."""

_BLOCK = "block(x, mask)"
_NO_NORM = ("x = self.norm(x)", "pass")


class _ModelByPieces(CausalLanguageModel):
    """The embedding as a product, the mask by comparing positions, the norm and the output as functions."""

    def forward(self, ids: Tensor) -> Tensor:
        batch, tokens = ids.shape
        position = torch.arange(tokens, device=ids.device)
        mask = (position.unsqueeze(1) >= position).expand(batch, tokens, tokens) if self.causal else None
        x = F.one_hot(ids, self.embedding.num_embeddings).to(self.embedding.weight) @ self.embedding.weight
        x = self.positions(x)
        for layer in range(len(self.blocks)):
            x = self.blocks[layer](x, mask=mask)
        weight, bias = self.norm.parameters()
        return F.linear(F.layer_norm(x, x.shape[-1:], weight, bias), self.embedding.weight)


class _ModelTextByText(CausalLanguageModel):
    """One text at a time; without a mask, one that allows everything."""

    def forward(self, ids: Tensor) -> Tensor:
        tokens = ids.shape[1]
        all_pairs = self.embedding.weight.new_ones(1, tokens, tokens)
        mask = (all_pairs.tril() if self.causal else all_pairs) == 1
        rows = []
        for row in ids.split(1):
            x = self.positions(self.embedding(row))
            for block in self.blocks:
                x = block(x, mask)
            rows.append(self.norm(x) @ self.embedding.weight.t())
        return torch.cat(rows)


EXERCISE = Exercise(
    id="gpt.causal_language_model",
    name="CausalLanguageModel",
    title="A causal language model",
    statement=(
        "class CausalLanguageModel(nn.Module): __init__(embedding, positions, blocks, norm, causal=True) stores the "
        "modules; forward(ids int64 [batch, tokens]) -> logits [batch, tokens, vocab_size]: embedding, positions, "
        "blocks with a causal mask, norm, tied output."
    ),
    points=5,
    minutes=25,
    difficulty=4,
    importance=5,
    section="Only a decoder",
    source="S0, transformer language models; S2, transformer decoder (T-D)",
    reference=CausalLanguageModel,
    cases=_model_cases,
    parts={CORE: 3, WITHOUT_MASK: 1, ANOTHER_DEVICE: 1},
    correct=(_ModelLineByLine, _ModelByPieces, _ModelTextByText),
    hints=(
        Hint(
            "idea",
            "Embed, add positions, apply the blocks with a causal mask, then the final norm, and compare with the "
            "embedding. You have all the modules; put them in order.",
        ),
        Hint(
            "shapes",
            "`self.positions(x)` returns `x` with positions added. A block takes `x` and the mask and returns the new "
            "`[batch, tokens, d_model]`. A mask `[1, tokens, tokens]`, True where a query may attend, works for the "
            "whole batch, and None allows everything. Create it on the device of the ids.",
            answers=("mask_inverted", "mask_in_the_first_block", "no_positions"),
        ),
        Hint(
            "outline",
            "Make a causal mask of the text's length, or None if the model is not causal.\n"
            "Embed the ids and add the positions, once.\n"
            "Apply the blocks one after the other, each with the mask.\n"
            "Apply the final norm, which pre-norm blocks need.\n"
            "Take the dot product with every row of the embedding.",
            answers=("no_final_norm", "norm_before_the_blocks", "states_returned", "probabilities", "side_by_side"),
        ),
    ),
    misconceptions=(
        Misconception(
            "mask_on_the_cpu",
            "Your model is right on the CPU, but creates a tensor there whatever device its input is on, so it fails "
            "on a GPU. Create the mask on the device of the ids: device=ids.device.",
            _slip((", device=ids.device", "")),
            alone=True,
        ),
        Misconception(
            "always_causal",
            "Your model always uses the mask. If self.causal is False, every token may see every other: pass None as "
            "the mask.",
            _slip((" if self.causal else None", "")),
            alone=True,
        ),
        *alike(
            "Your model reads the tokens that it should predict. If self.causal is True, pass the causal mask to "
            "every block, block(x, mask); pass None only if it is False.",
            no_mask=_slip(("(x, mask)", "(x, None)")),
            mask_in_the_first_block=_slip_alone((f"x = {_BLOCK}", f"x, mask = {_BLOCK}, None")),
        ),
        Misconception(
            "mask_inverted",
            "Your model sees only the future: your mask is True where attention is forbidden, as in torch's modules. "
            "In this course True means that a query may attend.",
            _slip(("tril()", "triu(1)")),
        ),
        *alike(
            "Your model does not add the positions exactly once. Call self.positions on the embeddings, before the "
            "first block.",
            no_positions=_slip(("self.positions(embedded)", "embedded")),
            positions_in_every_block=_slip_alone(
                ("self.positions(embedded)", "embedded"), ("block(x,", "block(self.positions(x),")
            ),
        ),
        Misconception(
            "embedding_scaled",
            "Your model multiplies the embeddings by √d_model, as the translation transformer does. GPT does not.",
            _slip(("self.embedding(ids)", "self.embedding(ids) * self.embedding.embedding_dim**0.5")),
        ),
        Misconception(
            "shifted_inside",
            "Your model shifts the ids: at each position it reads the previous token. Use ids as they are; the mask "
            "is enough to hide the next token.",
            _slip(("self.embedding(ids)", "self.embedding(F.pad(ids[:, :-1], (1, 0)))")),
        ),
        *alike(
            "Your model does not apply self.norm after the last block. Pre-norm blocks need it there, before the "
            "output.",
            no_final_norm=_slip(_NO_NORM),
            norm_before_the_blocks=_slip(("self.positions(embedded)", "self.norm(self.positions(embedded))"), _NO_NORM),
        ),
        Misconception(
            "side_by_side",
            "Your blocks all read the embeddings, and only the last one counts. Stack them: x = block(x, mask).",
            _slip_alone((f"x = {_BLOCK}", f"last = {_BLOCK}"), ("self.norm(x)", "self.norm(last)")),
        ),
        *alike(
            "Your model does not return logits for every position, [batch, tokens, vocab_size]. Return the dot "
            "products of all states with all embeddings, before any softmax.",
            states_returned=_slip_alone(("return logits", "return x")),
            probabilities=_slip(("return logits", "return logits.softmax(dim=-1)")),
            last_word_only=_slip(("x @", "x[:, -1] @")),
        ),
        Misconception(
            "output_detached",
            "Your output layer uses a copy of the embedding's values (.detach(), .data, torch.tensor), so no gradient "
            "flows back. Use self.embedding.weight itself.",
            _slip_alone(("weight.T", "weight.detach().T")),
        ),
    ),
)
