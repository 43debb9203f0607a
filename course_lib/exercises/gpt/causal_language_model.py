"""Lesson 07, gpt.causal_language_model: A causal language model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.blocks import BlockConfig, EncoderBlock
from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import as_it_is, integer, sizes
from course_lib.exercises.gpt.shared import LESSON, SENTENCES, WITHHELD, random_ids
from course_lib.masking import causal_mask
from course_lib.positions import LearnedPositions
from course_lib.references.gpt import CausalLanguageModel


def _model_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        construct = {"vocabulary": 5, "context": 4, "d_model": 6, "heads": 2, "layers": 1, "causal": True}
        yield _model_case("worked example: I saw the dog", generator, construct, SENTENCES[:, :-1])
    construct = {"vocabulary": 3, "context": 2, "d_model": 2, "heads": 1, "layers": 1, "causal": True}
    yield _model_case("a single token, alone in its batch", generator, construct, torch.tensor([[2]]))
    for name, causal, full, dtype in (
        ("a batch", True, False, torch.float32),
        ("as many tokens as the context", True, True, torch.float32),
        ("double precision", True, False, torch.float64),
        ("causal=False", False, False, torch.float32),
    ):
        batch, tokens = sizes(generator, 2)
        tokens += 2
        heads = integer(generator, 2, 4)
        construct = {
            "vocabulary": integer(generator, 20, 30),
            "context": tokens if full else tokens + integer(generator, 1, 4),
            "d_model": heads * integer(generator, 3, 6),
            "heads": heads,
            "layers": 2,
            "causal": causal,
        }
        ids = random_ids(generator, int(construct["vocabulary"]), batch, tokens)
        yield _model_case(name, generator, construct, ids, CORE if causal else WITHOUT_MASK, dtype)


WITHOUT_MASK = "without the mask"


def _model_case(
    name: str,
    generator: Generator,
    construct: dict[str, Any],
    ids: Tensor,
    part: str = CORE,
    dtype: torch.dtype = torch.float32,
) -> Case:
    """A case with weights far from those of a new model, so that each of them makes a difference."""
    weights = {
        key: 0.4 * torch.randn(value.shape, generator=generator, dtype=dtype)
        for key, value in CausalLanguageModel(**construct).state_dict().items()
    }
    for key in weights:
        if "norm" in key and key.endswith("weight"):
            weights[key] += 1
    return Case(name, (ids,), construct=construct, weights=weights, weight_gradients=True, part=part)


def _embedded(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    return model.positions(model.embedding(ids))  # type: ignore[no-any-return]


Layers = Callable[[CausalLanguageModel, Tensor, Tensor | None], Tensor]
Step = Callable[[CausalLanguageModel, nn.Module, Tensor, Tensor | None], Tensor]


def _through_blocks(
    model: CausalLanguageModel,
    x: Tensor,
    mask: Tensor | None,
    step: Step = lambda model, block, x, mask: block(x, mask).out,
) -> Tensor:
    for block in model.blocks:
        x = step(model, block, x, mask)
    return x


def _output(model: CausalLanguageModel, x: Tensor) -> Tensor:
    return x @ model.embedding.weight.T


def _model(
    *,
    mask: Callable[[Tensor], Tensor | None] = as_it_is,
    embed: Callable[[CausalLanguageModel, Tensor], Tensor] = _embedded,
    through: Layers = _through_blocks,
    norm: bool = True,
    asked: Callable[[Tensor], Tensor] = as_it_is,
    output: Callable[[CausalLanguageModel, Tensor], Tensor] = _output,
    finish: Callable[[Tensor], Tensor] = as_it_is,
    **construct: Any,
) -> nn.Module:
    """The model with another mask, made from the right one, or with other vectors at the bottom, other layers or
    logits.
    """

    def compute(model: CausalLanguageModel, ids: Tensor) -> Tensor:
        right = causal_mask(ids.shape[1]) if model.causal else None
        x = through(model, embed(model, ids), None if right is None else mask(right))
        return finish(output(model, asked(model.norm(x) if norm else x)))

    return language_model(compute)(**construct)


def _alone(**settings: Any) -> Callable[..., nn.Module]:
    """The model with settings that do not combine with others: such pairs are rare, and a model takes time to run."""
    return lambda **construct: _model(**settings, **construct)


def _always_causal(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    return _output(model, model.norm(_through_blocks(model, _embedded(model, ids), causal_mask(ids.shape[1]))))


def language_model(compute: Callable[[CausalLanguageModel, Tensor], Tensor]) -> type[nn.Module]:
    """A class like `references.gpt.CausalLanguageModel` whose forward is `compute(model, ids)`."""

    class Computed(CausalLanguageModel):
        def forward(self, ids: Tensor) -> Tensor:
            return compute(self, ids)

    return Computed


@language_model
def _model_with_a_mask(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    tokens = ids.shape[1]
    mask = torch.ones(tokens, tokens, dtype=torch.bool).tril() if model.causal else None
    x = model.embedding(ids) + model.positions.encoding[:tokens]
    for block in model.blocks:
        x = block(x, mask).out
    return F.linear(model.norm(x), model.embedding.weight)


@language_model
def _model_with_weights_asked_for(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    x = model.positions(model.embedding(ids))
    for block in model.blocks:
        x = block(x, None, is_causal=model.causal, need_weights=True).out
    return torch.matmul(model.norm(x), model.embedding.weight.transpose(0, 1))


@language_model
def _model_block_by_block(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    """Pre-norm blocks written out, with attention by hand."""
    x = F.one_hot(ids, model.embedding.num_embeddings).to(model.embedding.weight) @ model.embedding.weight
    x = x + model.positions.encoding[torch.arange(ids.shape[1])]
    blocks: Any = model.blocks
    for block in blocks:
        heads = block.self_attention.heads
        y = block.add_and_norm_1.norm(x)
        q, k, v = (
            piece.unflatten(-1, (heads, -1)).transpose(1, 2) for piece in block.self_attention.W_qkv(y).chunk(3, -1)
        )
        out = F.scaled_dot_product_attention(q, k, v, is_causal=model.causal)
        x = x + block.self_attention.W_o(out.transpose(1, 2).flatten(2))
        x = x + block.feed_forward(block.add_and_norm_2.norm(x))
    return F.linear(F.layer_norm(x, x.shape[-1:], model.norm.weight, model.norm.bias), model.embedding.weight)


class _ModelLaidOutAnew(nn.Module):
    """As a student may lay it out: the parameters' names kept, the mask a buffer that is not saved."""

    def __init__(
        self, vocabulary: int, context: int, d_model: int, heads: int, layers: int, causal: bool = True
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.positions = LearnedPositions(d_model, context)
        config = BlockConfig(d_model, heads, 4 * d_model, activation="gelu_tanh", norm_first=True)
        self.blocks = nn.ModuleList([EncoderBlock(config) for _ in range(layers)])
        self.norm = nn.LayerNorm(d_model)
        mask = torch.ones(context, context, dtype=torch.bool)
        self.mask: Tensor
        self.register_buffer("mask", mask.tril() if causal else mask, persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        tokens = ids.shape[1]
        x = self.positions(self.embedding(ids))
        for block in self.blocks:
            x = block(x, self.mask[:tokens, :tokens]).out
        logits: Tensor = self.norm(x) @ self.embedding.weight.t()
        return logits


class _with_exact_gelu(CausalLanguageModel):
    def __init__(self, **construct: Any) -> None:
        super().__init__(**construct)
        blocks: Any = self.blocks
        for block in blocks:
            block.feed_forward.activation = "gelu"


CORRECT = (
    _model_with_a_mask,
    _model_with_weights_asked_for,
    _model_block_by_block,
    _ModelLaidOutAnew,
)


EXERCISE = Exercise(
    id="gpt.causal_language_model",
    lesson=LESSON,
    name="CausalLanguageModel",
    title="A causal language model",
    statement=(
        "class CausalLanguageModel(nn.Module): __init__(vocabulary, context, d_model, heads, layers, causal=True) is "
        "given; forward(ids int64 [batch, tokens]) -> logits [batch, tokens, vocabulary]: embedding, positions, blocks "
        "under a causal mask, norm, tied output."
    ),
    points=5,
    minutes=25,
    section="Only a decoder",
    source="S0, transformer language models; S2, transformer decoder (T-D)",
    reference=CausalLanguageModel,
    cases=_model_cases,
    parts={CORE: 4, WITHOUT_MASK: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Embed, add positions, go through the blocks under a causal mask, normalise once more, and compare with "
            "the embedding. The parts are all there; what remains is their order.",
        ),
        Hint(
            "shapes",
            "`self.positions(x)` returns `x` with positions added. A block takes `x` and the mask and returns an "
            "object whose `.out` is the new `[batch, tokens, d_model]`. A mask `[tokens, tokens]`, True where a query "
            "may attend, holds for the whole batch, and None allows everything; make it on the device of the ids.",
            answers=(
                "keys_as_rows",
                "mask_inverted",
                "itself_forbidden",
                "one_word_ahead",
                "mask_in_the_first_block",
                "positions_twice",
            ),
        ),
        Hint(
            "outline",
            "A causal mask for as many tokens as there are, or None if the model is not causal.\n"
            "Embed the ids and add the positions, once.\n"
            "Send that through the blocks, one after the other, each with the mask.\n"
            "The final norm, which pre-norm blocks need.\n"
            "The dot product with every row of the embedding.",
            answers=(
                "no_final_norm",
                "norm_before_the_blocks",
                "states_returned",
                "probabilities",
                "side_by_side",
                "last_word_only",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "always_causal",
            "Your model is right, but it always uses the mask. Where self.causal is False, let every token see every "
            "other: pass None as the mask.",
            language_model(_always_causal),
            alone=True,
        ),
        Misconception(
            "no_mask",
            "Your model reads the tokens that it should predict: where self.causal is True, no mask reaches the "
            "blocks. Pass the causal mask to each of them there, block(x, mask), and None only where self.causal is "
            "False.",
            partial(_model, mask=lambda mask: None),
        ),
        Misconception(
            "mask_in_the_first_block",
            "Your model uses the mask in its first block only; in the others, tokens see what they should predict. "
            "Pass the mask to every block.",
            _alone(
                through=partial(
                    _through_blocks,
                    step=lambda model, block, x, mask: block(x, mask if block is model.blocks[0] else None).out,
                )
            ),
        ),
        Misconception(
            "keys_as_rows",
            "Your model uses the mask transposed: each token sees itself and the future, but not the past. Rows are "
            "queries: the allowed part is the lower triangle.",
            partial(_model, mask=lambda mask: mask.T),
        ),
        Misconception(
            "mask_inverted",
            "Your model sees only the future: the mask is True where attention is forbidden, as torch's modules want "
            "it. In this course True means `may attend`.",
            partial(_model, mask=torch.logical_not),
        ),
        Misconception(
            "itself_forbidden",
            "Your mask forbids each token to see itself. The diagonal is allowed: a token knows itself, and what it "
            "has to predict is the next one.",
            partial(_model, mask=lambda mask: mask.tril(diagonal=-1)),
        ),
        Misconception(
            "one_word_ahead",
            "Your mask also allows the next token, which is the very one it has to predict. Query i attends to keys 0 "
            "to i only.",
            partial(_model, mask=lambda mask: torch.ones_like(mask).tril(diagonal=1)),
        ),
        Misconception(
            "no_positions",
            "Your model leaves out the positions. Let self.positions add them to the embeddings, before the first "
            "block.",
            partial(_model, embed=lambda model, ids: model.embedding(ids)),
        ),
        Misconception(
            "positions_twice",
            "Your model adds the positions twice. self.positions(x) returns x with them already added.",
            partial(_model, embed=lambda model, ids: model.embedding(ids) + _embedded(model, ids)),
        ),
        Misconception(
            "positions_in_every_block",
            "Your model adds the positions again before every block. Add them once, to the embeddings, before the "
            "first.",
            _alone(
                embed=lambda model, ids: model.embedding(ids),
                through=partial(
                    _through_blocks, step=lambda model, block, x, mask: block(model.positions(x), mask).out
                ),
            ),
        ),
        Misconception(
            "embedding_scaled",
            "Your model multiplies the embeddings by √d_model, as the translating transformer does. GPT does not.",
            partial(
                _model,
                embed=lambda model, ids: model.positions(model.embedding(ids) * math.sqrt(model.norm.weight.numel())),
            ),
        ),
        Misconception(
            "shifted_inside",
            "Your model shifts the ids once more: instead of each token it reads the one before. Read ids as they "
            "come; the mask alone keeps the next token hidden.",
            partial(_model, embed=lambda model, ids: _embedded(model, F.pad(ids[:, :-1], (1, 0)))),
        ),
        Misconception(
            "input_detached",
            "No gradient comes back through the embeddings that your model reads (.detach(), .data, no_grad), so they "
            "learn through the output layer alone. Use self.embedding(ids) as it is.",
            _alone(embed=lambda model, ids: model.positions(model.embedding(ids).detach())),
        ),
        Misconception(
            "no_final_norm",
            "Your model leaves out the final norm. In pre-norm blocks nothing standardises what the last one returns: "
            "apply self.norm before the output.",
            partial(_model, norm=False),
        ),
        Misconception(
            "side_by_side",
            "Each of your blocks reads the embeddings, and only the last one counts. Stack them: each block reads "
            "what the one below returned (x = block(x, mask).out).",
            _alone(through=lambda model, x, mask: model.blocks[-1](x, mask).out),
        ),
        Misconception(
            "first_block_only",
            "Your model uses its first block only. Go through all of self.blocks.",
            _alone(through=lambda model, x, mask: model.blocks[0](x, mask).out),
        ),
        Misconception(
            "norm_before_the_blocks",
            "Your model applies self.norm before the first block. It belongs after the last one, before the output.",
            partial(_model, embed=lambda model, ids: model.norm(_embedded(model, ids)), norm=False),
        ),
        Misconception(
            "states_returned",
            "Your model returns the states, d_model numbers for each token. The output layer is missing: take their "
            "dot products with all embeddings.",
            _alone(output=lambda model, x: x),
        ),
        Misconception(
            "probabilities",
            "Your model returns probabilities. Return the logits, the scores before the softmax: the training loop "
            "takes the log-softmax of them.",
            partial(_model, finish=lambda logits: torch.softmax(logits, dim=-1)),
        ),
        Misconception(
            "log_probabilities",
            "Your model returns log-probabilities. Return the logits, the scores before the softmax: the training "
            "loop takes the log-softmax of them.",
            partial(_model, finish=lambda logits: torch.log_softmax(logits, dim=-1)),
        ),
        Misconception(
            "last_word_only",
            "Your model answers after the last token only. Return logits for every position, [batch, tokens, "
            "vocabulary]: in training each of them is a question.",
            partial(_model, asked=lambda x: x[:, -1]),
        ),
        Misconception(
            "logits_scaled",
            "Your model divides the logits by √d_model. The output layer is W h alone.",
            _alone(output=lambda model, x: _output(model, x) / math.sqrt(x.shape[-1])),
        ),
        Misconception(
            "view_for_transpose",
            "Your model reshapes the embedding to [d_model, vocabulary], which tears its rows apart. Transpose it: "
            "self.embedding.weight.T.",
            _alone(output=lambda model, x: x @ model.embedding.weight.view(x.shape[-1], -1)),
        ),
        Misconception(
            "output_detached",
            "Your output layer is not the embedding itself but only a copy of its values (.detach(), .data, "
            "torch.tensor): no gradient comes back that way. Use self.embedding.weight itself.",
            _alone(output=lambda model, x: x @ model.embedding.weight.detach().T),
        ),
        Misconception(
            "norm_behind_every_block",
            "Your answer applies the norm after every block. The blocks have norms of their own inside; self.norm "
            "comes once, after the last.",
            _alone(
                through=partial(_through_blocks, step=lambda model, block, x, mask: model.norm(block(x, mask).out)),
                norm=False,
            ),
        ),
        Misconception(
            "exact_gelu",
            "Your blocks compute GELU exactly. GPT-2 was trained with its approximation by tanh, and its weights would "
            'not fit: keep activation="gelu_tanh" in the constructor, as it was given.',
            _with_exact_gelu,
            alone=True,
        ),
        Misconception(
            "added_around_the_blocks",
            "Your answer adds each block's input to its output. The residual connections are inside the blocks: go "
            "on with what a block returns.",
            _alone(through=partial(_through_blocks, step=lambda model, block, x, mask: x + block(x, mask).out)),
        ),
    ),
    withheld=WITHHELD,
)
