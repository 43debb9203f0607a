"""Lesson 07, gpt.causal_language_model: A causal language model."""

from collections.abc import Iterator
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake, sizes, slips
from course_lib.exercises.gpt.shared import SENTENCES, random_ids
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.given import Given
from course_lib.judging.observation import fresh
from course_lib.references.gpt import CausalLanguageModel


def _model_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield _model_case("worked example: I saw the dog", generator, (5, 6, 2, 1), SENTENCES[:, :-1])
    yield _model_case("a single token, alone in its batch", generator, (3, 2, 1, 1), torch.tensor([[2]]))
    for name, causal, double in (
        ("a batch", True, False),
        ("as many tokens as heads", True, False),
        ("double precision", True, True),
        ("causal=False", False, False),
    ):
        batch, tokens = sizes(generator, 2)
        heads, vocab_size = integer(generator, 2, 4), integer(generator, 20, 30)
        ids = random_ids(generator, vocab_size, batch, heads if "heads" in name else tokens + 2)
        model = (vocab_size, heads * integer(generator, 3, 6), heads, 2)
        case = _model_case(name, generator, model, ids, causal, double)
        yield case
        if name == "a batch":
            yield replace(case, name="on another device", elsewhere=True, part=ANOTHER_DEVICE)


WITHOUT_MASK, ANOTHER_DEVICE = "without the mask", "another device"


def _model_case(
    name: str, generator: Generator, model: tuple[int, ...], ids: Tensor, causal: bool = True, double: bool = False
) -> Case:
    """A case with parts that are given, and weights far from those of a new model, so that each makes a difference."""
    vocab_size, d_model, heads, layers = model
    construct = {
        "embedding": Given("nn.Embedding", {"num_embeddings": vocab_size, "embedding_dim": d_model}),
        "positions": Given("nn.Linear", {"in_features": d_model, "out_features": d_model}),
        "blocks": [Given("Block", {"d_model": d_model, "heads": heads})] * layers,
        "norm": Given("nn.LayerNorm", {"normalized_shape": d_model}),
        "causal": causal,
    }
    weights = {
        key: 0.4 * torch.randn(value.shape, generator=generator, dtype=torch.float64 if double else torch.float32)
        for key, value in CausalLanguageModel(**fresh(construct)).state_dict().items()
    }
    weights["norm.weight"] += 1
    part = CORE if causal else WITHOUT_MASK
    return Case(name, (ids,), construct=construct, weights=weights, weight_gradients=True, part=part)


_slip = edits_of(CausalLanguageModel)
_BLOCK, _ADDED, _NORM, _IDS = "x = block(x, mask)", "= self.positions(", "self.norm(x)", "self.embedding(ids)"

_WITH_ITS_OWN_MASK = _slip(("causal_mask(ids.shape[1], ids.device)", "ids.new_ones(2 * ids.shape[1:]).tril().bool()"))
_TEXT_BY_TEXT = _slip(  # without a mask, one that allows everything
    ("mask = ", "if len(ids) > 1:\n            return torch.cat([self(row) for row in ids.split(1)])\n        mask = "),
    ("else None", "else ids.new_ones(1, *2 * ids.shape[1:]).bool()"),
)


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


EXERCISE = Exercise(
    id="gpt.causal_language_model",
    title="A causal language model",
    statement=(
        "class CausalLanguageModel(nn.Module): __init__(embedding, positions, blocks, norm, causal=True) stores the "
        "modules; forward(ids int64 [batch, tokens]) -> logits [batch, tokens, vocab_size]: embedding, positions, "
        "blocks with a causal mask, norm, tied output."
    ),
    minutes=25,
    difficulty=4,
    importance=5,
    section="Only a decoder",
    source="S0, transformer language models; S2, transformer decoder (T-D)",
    reference=CausalLanguageModel,
    cases=_model_cases,
    parts={CORE: 3, WITHOUT_MASK: 1, ANOTHER_DEVICE: 1},
    correct=(_WITH_ITS_OWN_MASK, _ModelByPieces, _TEXT_BY_TEXT),
    hints=hints(
        idea="You have all the modules: put them in order, from the ids to dot products with the embedding.",
        shapes=(
            "`self.positions(x)` returns `x` with positions added. A block takes `x` and the mask, and returns a new "
            "`x`, `[batch, tokens, d_model]`. A mask of `[1, tokens, tokens]`, True where a query may attend, works "
            "for the whole batch; None allows everything. Create the mask on the device of the ids.",
            ("mask_inverted", "mask_in_the_first_block", "no_positions"),
        ),
        outline=(
            "Make a causal mask for the length of the text, or use None if the model is not causal.\n"
            "Embed the ids and add the positions, once.\n"
            "Apply the blocks one after the other, each with the mask.\n"
            "Apply the final norm, which pre-norm blocks need.\n"
            "Take the dot product with every row of the embedding.",
            ("no_final_norm", "norm_before_the_blocks", "states_returned", "probabilities", "side_by_side"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your model works on the CPU, but fails on a GPU. Create the mask there too: device=ids.device.",
            mask_on_the_cpu=_slip((", ids.device", "")),
            alone=True,
        ),
        *mistake(
            "Your model always uses the mask. If self.causal is False, pass None instead.",
            always_causal=_slip((" if self.causal else None", "")),
            alone=True,
        ),
        *slips(
            CausalLanguageModel,
            mask_inverted=(
                "Your model sees only the future. In this course, True in a mask means that a query may attend.",
                ("= causal_mask", "= ~causal_mask"),
            ),
            embedding_scaled=(
                "Your model multiplies the embeddings by √d_model, as the translator does. Leave them as they are.",
                (_IDS, f"{_IDS} * self.embedding.embedding_dim**0.5"),
            ),
            shifted_inside=(
                "Your model shifts the ids: it reads the previous token at each position. Use the ids as they are.",
                (_IDS, "self.embedding(F.pad(ids[:, :-1], (1, 0)))"),
            ),
        ),
        *slips(
            CausalLanguageModel,
            paired=False,  # such pairs are rare, and a model takes time to run
            side_by_side=(
                "Your blocks all read the embeddings. Pass each block the output of the one before it: x = block(x, "
                "mask).",
                (_BLOCK, "last = block(x, mask)"),
                (_NORM, "self.norm(last)"),
            ),
            embedding_added_again=(
                "Your model adds the embeddings twice: self.positions(x) returns x with the positions added, so don't "
                "add x to it again.",
                (f"{_ADDED}{_IDS})", f"= {_IDS} + self.positions({_IDS})"),
            ),
            output_detached=(
                "Your output layer uses a copy of the embedding, so no gradient reaches self.embedding.weight. Use the "
                "weight itself, without .detach(), .data or torch.tensor.",
                ("weight)", "weight.detach())"),
            ),
        ),
        *mistake(
            "Your model reads the tokens that it should predict. If self.causal is True, pass every block the mask.",
            no_mask=_slip((_BLOCK, "x = block(x, None)")),
            mask_in_the_first_block=_slip((_BLOCK, "x, mask = block(x, mask), None"), paired=False),
        ),
        *mistake(
            "Your model doesn't add the positions, or adds them more than once. Add them once, before the blocks.",
            no_positions=_slip((_ADDED, "= (")),
            positions_in_every_block=_slip(
                (_ADDED, "= ("), (_BLOCK, "x = block(self.positions(x), mask)"), paired=False
            ),
        ),
        *mistake(
            "Your model does not apply self.norm after the last block. Pre-norm blocks need it there.",
            no_final_norm=_slip((_NORM, "x")),
            norm_before_the_blocks=_slip((f"{_ADDED}{_IDS})", f"= self.norm(self.positions({_IDS}))"), (_NORM, "x")),
        ),
        *mistake(
            "Your model does not return logits for every position, [batch, tokens, vocab_size]. Return the dot "
            "products of all states with all embeddings, before any softmax.",
            states_returned=_slip(("tied_logits(self.norm(x), self.embedding.weight)", _NORM), paired=False),
            probabilities=_slip(("weight)", "weight).softmax(dim=-1)")),
            last_word_only=_slip((", self.embedding", "[:, -1], self.embedding")),
        ),
    ),
)
