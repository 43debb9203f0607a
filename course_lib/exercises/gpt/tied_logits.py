"""Lesson 07, gpt.tied_logits: Tied logits."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, and_turned_around, hints, kinds, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import gpt


def _logits_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        embedding = torch.tensor([[0.5, -1.0], [1.0, 0.5], [-1.0, -0.5], [2.0, 1.0], [0.5, 2.0]])
        states = torch.tensor([[1.0, -0.5], [0.0, 1.5], [2.0, 1.0], [-0.5, 2.0]])
        yield Case("worked example: I saw the dog", (states, embedding))
    for kind in kinds(generator):
        tokens, vocab_size = kind.sizes(2)
        d_model = kind.d_head()
        rows = Kind(kind.name, generator, dtype=kind.dtype, transposed=kind.transposed)
        states = kind.normal(tokens, d_model) if kind.leading else kind.normal(d_model)
        embedding = rows.normal(1 if kind.ones else vocab_size + 20, d_model)
        yield Case(kind.name if kind.leading else "one state", (states, embedding), gradients=(0, 1))


def _by_product(states: Tensor, embedding: Tensor) -> Tensor:
    logits = states @ embedding.T
    return logits


_PRODUCT, _ROWS, _RETURN = "states @ embedding.T", "embedding.T", "return logits"
_STATES_DETACHED, _ROWS_DETACHED = ("states @", "states.detach() @"), (_ROWS, "embedding.detach().T")


EXERCISE = Exercise(
    id="gpt.tied_logits",
    title="Tied logits",
    statement=(
        "tied_logits(states [..., d_model], embedding [vocab_size, d_model]) -> [..., vocab_size]: the score of each "
        "token for each state, the dot product of the state with the token's embedding."
    ),
    points=1,
    minutes=6,
    difficulty=1,
    importance=4,
    section="From a vector to a word",
    source="S0, P(w given context) = softmax(W h); Press and Wolf (2017)",
    reference=gpt.tied_logits,
    cases=and_turned_around(_logits_cases),
    correct=(_by_product, F.linear, lambda states, embedding: torch.einsum("...d,vd->...v", states, embedding)),
    hints=hints(
        idea=(
            "Take the dot product of each state with each row of the embedding, as with queries and keys. Don't "
            "scale, and don't take a softmax."
        )
    ),
    misconceptions=slips(
        _by_product,
        softmax_taken=(
            "Your answer returns probabilities. Logits are the scores before the softmax: return W h.",
            (_RETURN, "return logits.softmax(dim=-1)"),
        ),
        log_softmax_taken=(
            "Your answer returns log-probabilities. Logits are the scores before the softmax: return W h.",
            (_RETURN, "return logits.log_softmax(dim=-1)"),
        ),
        softmax_over_the_first_dimension=(
            "Your answer takes a softmax over the first dimension. Logits are the scores before any softmax: return W "
            "h.",
            (_RETURN, "return logits.softmax(dim=0)"),
        ),
        scaled=(
            "Your answer divides by √d_model, as attention does. The output layer doesn't scale: return W h.",
            (_ROWS, "embedding.T / states.shape[-1] ** 0.5"),
        ),
        cosine=(
            "Your answer divides by both lengths, which gives the cosine. The length of an embedding affects how "
            "probable its token is, and the model uses that. Take the plain dot product.",
            (_PRODUCT, "F.normalize(states, dim=-1) @ F.normalize(embedding, dim=-1).T"),
        ),
        embeddings_normalised=(
            "Your answer normalizes the embeddings to length 1. The length of an embedding affects how probable its "
            "token is, and the model uses that. Use the rows as they are.",
            (_ROWS, "F.normalize(embedding, dim=-1).T"),
        ),
        distance=(
            "Your answer scores tokens by the negative distance between the embedding and the state. Take their dot "
            "product instead.",
            (_PRODUCT, "-(states.unsqueeze(-2) - embedding).norm(dim=-1)"),
        ),
        view_for_transpose=(
            "Your answer reshapes the embedding to [d_model, vocab_size], which scrambles its rows. Transpose it: "
            "embedding.T.",
            (_ROWS, "embedding.reshape(states.shape[-1], -1)"),
        ),
        words_as_rows=(
            "Your answer is transposed, [..., vocab_size, tokens]. Each state has a row of scores: states @ "
            "embedding.T.",
            (_PRODUCT, "embedding @ states.mT"),
        ),
        reshaped_back=(
            "Your answer reshapes embedding @ states.mT, which mixes the scores of different states. Swap the two "
            "dimensions, or compute states @ embedding.T.",
            (_PRODUCT, "(embedding @ states.mT).reshape(*states.shape[:-1], len(embedding))"),
        ),
        most_probable_word=(
            "Your answer returns the id of the best token. Return the scores of all tokens.",
            (_RETURN, "return logits.argmax(dim=-1)"),
        ),
        largest_subtracted=(
            "Your answer subtracts the largest score of each row, as a stable softmax does. Return the scores "
            "themselves, W h.",
            (_RETURN, "return logits - logits.amax(dim=-1, keepdim=True)"),
        ),
        embedding_detached=(
            "No gradient reaches `embedding`: your answer uses a copy of its values (.detach(), .data, torch.tensor, "
            "nn.Parameter(...)). Tied means that both uses train the same matrix.",
            _ROWS_DETACHED,
        ),
        states_detached=(
            "No gradient reaches `states` (.detach(), .data, numpy), so the layers below cannot learn. Use them "
            "directly.",
            _STATES_DETACHED,
        ),
        no_gradients=(
            "No gradient reaches the states or the embedding, so the model cannot learn: you compute outside torch "
            "(.detach(), numpy, no_grad). Use torch operations throughout.",
            _STATES_DETACHED,
            _ROWS_DETACHED,
        ),
    ),
)
