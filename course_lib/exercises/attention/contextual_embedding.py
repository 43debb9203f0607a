"""Lesson 01, attention.contextual_embedding: A word in its context."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.common import (
    and_turned_around,
    edits_of,
    hints,
    integer,
    mistake,
    sizes,
    slips,
    unbatched_kinds,
)
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise


def _context_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: its keys as a sentence, the middle word", (A.k, 1))
    for kind in unbatched_kinds(generator):
        words, d_model = kind.sizes(2)
        yield Case(
            kind.name,
            (kind.normal(words, d_model) * 0.7, integer(generator, 0, words)),
            gradients=() if kind.ones else (0,),
        )
    words, d_model = sizes(generator, 2)
    yield Case("the last word", (torch.randn(words, d_model, generator=generator) * 0.7, words - 1))
    yield Case("vectors of one component", (torch.randn(words, 1, generator=generator), integer(generator, 0, words)))


def _context(embeddings: Tensor, position: int) -> Tensor:
    word = embeddings[position]
    scores = embeddings @ word
    weights = torch.softmax(scores, dim=0)
    return weights @ embeddings


_slip = edits_of(_context)
_WEIGHTS = "torch.softmax(scores, dim=0)"


def _context_word_by_word(embeddings: Tensor, position: int) -> Tensor:
    exps = [torch.exp(word @ embeddings[position]) for word in embeddings]
    weighted = [exp * word for exp, word in zip(exps, embeddings, strict=True)]
    return torch.stack(weighted).sum(dim=0) / torch.stack(exps).sum()


EXERCISE = Exercise(
    id="attention.contextual_embedding",
    title="A word in its context",
    statement=(
        "contextual_embedding(embeddings [words, d_model], position) -> [d_model]: the average of all words' "
        "embeddings, weighted by the softmax of their dot products with the word at `position` (counting from 0)."
    ),
    points=2,
    minutes=10,
    difficulty=2,
    importance=4,
    section="One word in its context",
    source="S3, from dot products to normalized weights",
    reference=attention.contextual_embedding,
    cases=and_turned_around(_context_cases),
    correct=(
        _context,
        _context_word_by_word,
        lambda embeddings, position: (torch.softmax(embeddings @ embeddings.T, dim=1) @ embeddings)[position],
    ),
    steps=("weights",),
    hints=hints(
        idea=(
            "A matrix times a vector gives the dot product with every row, so a single product compares the word with "
            "the whole sentence. The weighted average is a product too, with the weights on the left."
        ),
        shapes=(
            "`[words, d_model]` times `[d_model]` gives `[words]`. The softmax over the words keeps that shape. "
            "`[words]` times `[words, d_model]` gives `[d_model]`.",
            ("weights_returned", "normalised_over_the_wrong_words", "no_softmax", "all_weights_1"),
        ),
    ),
    misconceptions=(
        *slips(
            _context,
            context_ignored=(
                "Your answer is the word's own embedding, unchanged. Average over all words of the sentence, each "
                "weighted by the softmax of its dot product with this word.",
                lambda embeddings, position: embeddings[position].clone(),
            ),
            plain_mean=(
                "Your answer is the plain mean of all words, which is the same for every position. Weight each word "
                "by the softmax of its dot product with the word at `position`.",
                lambda embeddings, position: embeddings.mean(dim=0),
            ),
            all_weights_1=(
                "Your answer is the plain sum of all words. Every weight is 1, which is what a softmax over a "
                "dimension of size 1 gives. Take the softmax over the words.",
                lambda embeddings, position: embeddings.sum(dim=0),
            ),
            no_softmax=(
                "Your answer uses the dot products as weights. Take the softmax of the dot products first, so that "
                "the weights are positive and sum to 1.",
                (_WEIGHTS, "scores"),
            ),
            divided_by_their_sum=(
                "Your answer divides the dot products by their sum, but some dot products can be negative. Apply exp "
                "to each dot product first, as a softmax does.",
                (_WEIGHTS, "scores / scores.sum()"),
            ),
            divided_by_number_of_words=(
                "Your answer divides the weighted sum by the number of words. Don't divide: the weights already sum "
                "to 1.",
                (_WEIGHTS, "torch.softmax(scores, dim=0) / len(scores)"),
            ),
            most_similar_word=(
                "Your answer is the embedding of the most similar word alone. Average over all words, weighted by the "
                "softmax of their dot products.",
                (_WEIGHTS, "(scores == scores.max()).to(scores.dtype)"),
            ),
            scaled_too_early=(
                "Your answer divides the dot products by √d_model. That comes later in this lesson: here, take the "
                "softmax of the dot products themselves.",
                ("    weights", "    scores = scores / embeddings.shape[1] ** 0.5\n    weights"),
            ),
            counted_from_one=(
                "Your answer is the embedding of the previous word in its context. Positions start at 0: use "
                "embeddings[position].",
                ("[position]", "[position - 1]"),
            ),
        ),
        *mistake(
            "Your answer leaves the word itself out of the average. Include the word, weighted by the softmax of its "
            "dot product with itself.",
            itself_left_out=_slip(
                ("embeddings @ word", "(embeddings @ word).index_fill(0, torch.tensor(position), -torch.inf)")
            ),
            itself_cut_out=_slip(  # which in a sentence of one word leaves none, and a sum of 0
                (
                    "    scores",
                    "    embeddings = torch.cat([embeddings[:position], embeddings[position + 1 :]])\n    scores",
                )
            ),
        ),
        *slips(
            _context,
            cosine_similarity=(
                "Your answer compares words by cosine similarity, which ignores their lengths. Use the dot product.",
                ("embeddings @ word", "torch.cosine_similarity(embeddings, word, dim=-1)"),
            ),
            weights_returned=(
                "Your answer returns the weights, [words]. One step is missing: multiply each embedding by its "
                "weight, and sum.",
                ("weights @ embeddings", "weights"),
            ),
            normalised_over_the_wrong_words=(
                "The weights in your answer don't sum to 1: you take a softmax down the columns of the table of dot "
                "products, but then use a row. Take the softmax over the words that you average.",
                lambda embeddings, position: (torch.softmax(embeddings @ embeddings.T, dim=0) @ embeddings)[position],
            ),
        ),
    ),
)
