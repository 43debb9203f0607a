"""The exercises of lesson 01: one attention, step by step.

An exercise is data: read the first one, and you can write another. It says what the student must define,
which reference it is held against, on which cases, and which mistakes it knows by name. `katze certify`
then proves that the cases tell all of these apart: every answer under `correct` passes (these stand in
`course_lib/exercises/correct/attention.py`), and every misconception fails and is named. Cases come in every
kind that an answer must handle (`kinds`); the hidden ones are the same kinds with other sizes and other numbers.

Many mistakes are settings of one function, `partial(_attended, divisor=...)`: two of them with different settings
make a pair, which is named as well.

Messages are for the student: what the answer does, then what to do instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import attention
from course_lib.checking.exercise import CORE, Case, Exercise, Misconception
from course_lib.exercises.common import FUSED_ATTENTION, SOFTMAX, Kind, integer, kinds, sizes, unbatched_kinds
from course_lib.exercises.correct import attention as correct
from course_lib.exercises.worked_examples import A

LESSON = "01_attention"
WITHHELD = ("course_lib.attention",)


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _turned(k: Tensor) -> Tensor:
    return k.mT


def _reshaped(k: Tensor) -> Tensor:
    """With its last two sizes exchanged, and its numbers where they were."""
    return k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])


def _reversed(k: Tensor) -> Tensor:
    """As `k.T`: all dimensions in reverse order."""
    return k.permute(*reversed(range(k.ndim)))


def _alike(generator: Generator) -> Kind:
    """A batch in which all sizes are one number: what raises elsewhere returns something here, and can be named."""
    return Kind("all sizes alike", generator, (integer(generator, 3, 8),))


def _one(generator: Generator) -> Kind:
    """For one query: dimensions of size 1 must stay."""
    return Kind("one query in a batch of one", generator, (1,))


# attention.contextual_embedding ----------------------------------------------------------------------------


def _context_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: its keys as a sentence, the middle word", (A.k, 1))
    for kind in unbatched_kinds(generator):
        words, d_model = kind.sizes(2)
        yield Case(kind.name, (kind.normal(words, d_model) * 0.7, integer(generator, 0, words)))
    words, d_model = sizes(generator, 2)
    yield Case("the last word", (torch.randn(words, d_model, generator=generator) * 0.7, words - 1))
    yield Case("vectors of one component", (torch.randn(words, 1, generator=generator), integer(generator, 0, words)))


def _context(
    embeddings: Tensor,
    position: int,
    *,
    shift: int = 0,
    scores: Callable[[Tensor, int], Tensor] = lambda embeddings, position: embeddings @ embeddings[position],
    divisor: Callable[[Tensor], float] = lambda embeddings: 1,
    weigh: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=0),
    averaged: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """The contextual embedding, with the mistakes that are set."""
    return weigh(scores(embeddings, position + shift) / divisor(embeddings)) @ averaged(embeddings)


CONTEXTUAL_EMBEDDING = Exercise(
    id="attention.contextual_embedding",
    lesson=LESSON,
    name="contextual_embedding",
    title="A word in its context",
    statement=(
        "contextual_embedding(embeddings [words, d_model], position) -> [d_model]: the average of all the words' "
        "embeddings, weighted by the softmax of their dot products with the word at `position` (counted from 0)."
    ),
    points=2,
    minutes=10,
    section="One word in its context",
    source="S3, from dot products to normalised weights",
    reference=attention.contextual_embedding,
    cases=_context_cases,
    correct=correct.CONTEXTUAL_EMBEDDING,
    misconceptions=(
        Misconception(
            "context_ignored",
            "Your answer is the word's own embedding, unchanged. Let every word of the sentence contribute, "
            "weighted by its dot product with this one.",
            lambda embeddings, position: embeddings[position].clone(),
        ),
        Misconception(
            "plain_mean",
            "Your answer is the plain mean of all the words, the same for every position. Weight each word by the "
            "softmax of its dot product with the word at `position`.",
            lambda embeddings, position: embeddings.mean(dim=0),
        ),
        Misconception(
            "all_weights_1",
            "Your answer is the plain sum of all the words: each has the weight 1, as from a softmax over a dimension "
            "of size 1. Take the softmax over the words.",
            lambda embeddings, position: embeddings.sum(dim=0),
        ),
        Misconception(
            "no_softmax",
            "Your answer weights the words by their dot products as they are. Pass them through a softmax first, so "
            "that the weights are positive and sum to 1.",
            partial(_context, weigh=_as_it_is),
        ),
        Misconception(
            "divided_by_their_sum",
            "Your answer divides the dot products by their sum. They may be negative, so take exp of each of them "
            "first: that is the softmax.",
            partial(_context, weigh=lambda scores: scores / scores.sum()),
        ),
        Misconception(
            "exp_not_normalised",
            "Your answer weights the words by exp of the dot products. Divide these by their sum, so that the "
            "weights sum to 1.",
            partial(_context, weigh=torch.exp),
        ),
        Misconception(
            "divided_by_number_of_words",
            "Your answer takes the mean of the weighted words (or divides by their number) where they are to be "
            "summed. The weights sum to 1 already: nothing is left to divide by.",
            partial(_context, weigh=lambda scores: torch.softmax(scores, dim=0) / len(scores)),
        ),
        Misconception(
            "most_similar_word",
            "Your answer is the embedding of the most similar word alone. Every word contributes, as much as the "
            "softmax of the dot products gives it.",
            partial(_context, weigh=lambda scores: F.one_hot(scores.argmax(), len(scores)).to(scores.dtype)),
        ),
        Misconception(
            "scaled_too_early",
            "Your answer divides the dot products by √d_model. That comes later in this lesson: here the softmax is "
            "taken of the dot products themselves.",
            partial(_context, divisor=lambda embeddings: math.sqrt(embeddings.shape[1])),
        ),
        Misconception(
            "counted_from_one",
            "Your answer belongs to the word before the one that was asked for. Positions are counted from 0, so "
            "the word is embeddings[position].",
            partial(_context, shift=-1),
        ),
        Misconception(
            "itself_left_out",
            "Your answer leaves the word itself out of the average. It counts as well, with the softmax of its dot "
            "product with itself.",
            partial(
                _context,
                scores=lambda embeddings, position: (embeddings @ embeddings[position]).index_fill(
                    0, torch.tensor(position), -math.inf
                ),
            ),
        ),
        Misconception(
            "cosine_similarity",
            "Your answer compares the words by cosine similarity, which ignores their lengths. Use the dot product.",
            partial(
                _context,
                scores=lambda embeddings, position: F.cosine_similarity(embeddings, embeddings[position], dim=-1),
            ),
        ),
        Misconception(
            "unit_vectors_averaged",
            "Your answer averages vectors of length 1. Average the embeddings as they are.",
            partial(_context, averaged=partial(F.normalize, dim=-1)),
        ),
        Misconception(
            "every_word",
            "Your answer holds the contextual embeddings of all the words, [words, d_model]. Return only the one at "
            "`position`, [d_model].",
            lambda embeddings, position: torch.softmax(embeddings @ embeddings.T, dim=1) @ embeddings,
        ),
        Misconception(
            "weights_returned",
            "Your answer is the weights, [words]. One step is missing: the sum of the embeddings, each times its "
            "weight.",
            partial(_context, averaged=lambda embeddings: torch.eye(len(embeddings), dtype=embeddings.dtype)),
        ),
        Misconception(
            "normalised_over_the_wrong_words",
            "The weights in your answer don't sum to 1: the softmax of the table of all dot products runs down its "
            "columns, but you then take a row. Normalise over the words that are averaged.",
            lambda embeddings, position: (torch.softmax(embeddings @ embeddings.T, dim=0) @ embeddings)[position],
        ),
        Misconception(
            "itself_added",
            "Your answer adds the word's own embedding to the average. It is part of the average already, with a "
            "weight of its own: add nothing.",
            lambda embeddings, position: embeddings[position] + _context(embeddings, position),
        ),
    ),
    withheld=WITHHELD,
)


# attention.scores ------------------------------------------------------------------------------------------


def _scores_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.q, A.k))
    for kind in kinds(generator):
        queries, keys, d_head = kind.sizes(3)
        yield Case(kind.name, (kind.normal(queries, d_head), kind.normal(keys, d_head)))
        if not kind.leading:
            again = Kind("the same sizes, in double precision", generator, dtype=torch.float64)
            yield Case(again.name, (again.normal(queries, d_head), again.normal(keys, d_head)))
    kind = _alike(generator)
    (n,) = kind.leading
    yield Case(kind.name, (kind.normal(n, n), kind.normal(n, n)))
    kind = _one(generator)
    keys, d_head = kind.sizes(2)
    yield Case(kind.name, (kind.normal(1, d_head), kind.normal(keys, d_head)))


Two = tuple[Tensor, Tensor]


def _scored(
    q: Tensor,
    k: Tensor,
    *,
    of: Callable[[Tensor, Tensor], Two] = lambda q, k: (q, k),
    turned: Callable[[Tensor], Tensor] = _turned,
    divisor: Callable[[Tensor], float] = lambda q: 1,
    then: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """The scores, with the mistakes that are set."""
    asking, compared = of(q, k)
    return then(asking @ turned(compared) / divisor(q))


SCORES = Exercise(
    id="attention.scores",
    lesson=LESSON,
    name="dot_product_scores",
    title="Scores",
    statement=(
        "dot_product_scores(q [..., queries, d_head], k [..., keys, d_head]) -> [..., queries, keys]: the dot "
        "product of every query with every key, for any leading dimensions."
    ),
    points=2,
    minutes=8,
    section="Scores",
    source="S2, Attention: Working Example",
    reference=attention.dot_product_scores,
    cases=_scores_cases,
    correct=correct.SCORES,
    misconceptions=(
        Misconception(
            "keys_as_rows",
            "Your answer is the transpose, [..., keys, queries], as slide S3 indexes it. In this course a row "
            "belongs to a query: q times k transposed, not k times q transposed.",
            partial(_scored, of=lambda q, k: (k, q)),
        ),
        Misconception(
            "reshaped_not_transposed",
            "Your answer turns k into [..., d_head, keys] with reshape or view, which tears the keys apart. "
            "Transpose its last two dimensions: k.transpose(-2, -1).",
            partial(_scored, turned=_reshaped),
        ),
        Misconception(
            "not_transposed",
            "Your answer multiplies q by k as it is, which fits only where there are as many keys as components. "
            "Transpose its last two dimensions: q @ k.transpose(-2, -1).",
            partial(_scored, turned=_as_it_is),
        ),
        Misconception(
            "all_dimensions_reversed",
            "Your answer turns all dimensions of k round, as k.T does: that is right for one sequence, and wrong in a "
            "batch. Exchange the last two alone: k.transpose(-2, -1).",
            partial(_scored, turned=_reversed),
        ),
        Misconception(
            "first_dimensions_swapped",
            "Your answer exchanges dimensions 0 and 1 of k, which are the last two only for a single sequence. Count "
            "them from the end: k.transpose(-2, -1).",
            partial(_scored, turned=lambda k: k.transpose(0, 1)),
        ),
        Misconception(
            "scaled_too_early",
            "Your answer is divided by √d_head. That is the next step: the scores are the dot products themselves.",
            partial(_scored, divisor=lambda q: math.sqrt(q.shape[-1])),
        ),
        Misconception(
            "softmax_too_early",
            "Your answer is passed through a softmax. That comes later: the scores are the dot products themselves.",
            partial(_scored, then=partial(torch.softmax, dim=-1)),
        ),
        Misconception(
            "cosine_similarity",
            "Your answer is the cosine similarity: queries and keys are brought to length 1 first. The dot product "
            "keeps their lengths.",
            partial(_scored, of=lambda q, k: (F.normalize(q, dim=-1), F.normalize(k, dim=-1))),
        ),
        Misconception(
            "distance",
            "Your answer is the Euclidean distance between queries and keys. The dot product is the sum of "
            "products, and it is large where they are alike.",
            lambda q, k: (q.unsqueeze(-2) - k.unsqueeze(-3)).pow(2).sum(-1).sqrt(),
        ),
        Misconception(
            "squared_distance",
            "Your answer is the squared distance between queries and keys, with a minus. The dot product is the sum "
            "of products: multiply the components, and subtract nothing.",
            lambda q, k: -(q.unsqueeze(-2) - k.unsqueeze(-3)).pow(2).sum(-1),
        ),
        Misconception(
            "absolute",
            "Your answer has lost the signs. A dot product is negative where two vectors point away from each other: "
            "take no absolute value.",
            partial(_scored, then=torch.abs),
        ),
        Misconception(
            "queries_with_queries",
            "Your answer compares the queries with each other, [..., queries, queries]. Compare them with the keys.",
            partial(_scored, of=lambda q, k: (q, q)),
        ),
        Misconception(
            "keys_with_keys",
            "Your answer compares the keys with each other, [..., keys, keys]. Compare the queries with them.",
            partial(_scored, of=lambda q, k: (k, k)),
        ),
        Misconception(
            "one_key_for_each_query",
            "Your answer compares each query with one key only, the one at the same place. Every query meets every "
            "key: [..., queries, keys].",
            lambda q, k: (q * k).sum(dim=-1),
        ),
        Misconception(
            "elementwise",
            "Your answer multiplies q and k entry by entry. A score is a dot product, of every query with every key: a "
            "matrix product, q @ k.transpose(-2, -1).",
            lambda q, k: q * k,
        ),
        Misconception(
            "mean_of_products",
            "Your answer takes the mean of the products where a dot product takes their sum.",
            partial(_scored, divisor=lambda q: q.shape[-1]),
        ),
        Misconception(
            "across_the_batch",
            "Your answer is right for one sequence, but in a batch it also compares the queries of one sequence "
            "with the keys of the others. Use q @ k.transpose(-2, -1), which keeps the leading dimensions apart.",
            lambda q, k: torch.tensordot(q, k, dims=([-1], [-1])),
        ),
    ),
    withheld=WITHHELD,
)


# attention.scale -------------------------------------------------------------------------------------------


def _scale_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.steps.scores, A.d_head))
    for kind in kinds(generator):
        queries, keys = kind.sizes(2)
        yield Case(kind.name, (3 * kind.normal(queries, keys), kind.d_head()))


def _scaled(
    scores: Tensor,
    d_head: int,
    *,
    by: Callable[[Tensor, int], float | Tensor] = lambda scores, d_head: math.sqrt(d_head),
    multiplied: bool = False,
    then: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """The scaled scores, with the mistakes that are set."""
    return then(scores * by(scores, d_head) if multiplied else scores / by(scores, d_head))


SCALE = Exercise(
    id="attention.scale",
    lesson=LESSON,
    name="scale_scores",
    title="Scaling",
    statement=(
        "scale_scores(scores [..., queries, keys], d_head) -> [..., queries, keys]: the scores divided by √d_head, "
        "where d_head is the number of components of a query."
    ),
    points=1,
    minutes=4,
    section="Scaling",
    source="S2, Attention: Working Example; Vaswani et al. (2017), section 3.2.1",
    reference=attention.scale_scores,
    cases=_scale_cases,
    correct=correct.SCALE,
    misconceptions=(
        Misconception(
            "divided_by_number_of_keys",
            "Your answer divides by the number of keys. So do the numbers printed on slide S2, which don't follow "
            "the formula beside them: divide by √d_head, the root of the number of components of a query.",
            partial(_scaled, by=lambda scores, d_head: scores.shape[-1]),
        ),
        Misconception(
            "divided_by_d_head",
            "Your answer divides by d_head, as the formula on slide S1 does. The paper's formula takes the root: "
            "divide by √d_head.",
            partial(_scaled, by=lambda scores, d_head: d_head),
        ),
        Misconception(
            "divided_by_twice_d_head",
            "Your answer divides by 2 · d_head. If you wrote d_head ** 1/2: the power comes before the division. "
            "Divide by d_head ** 0.5, or by math.sqrt(d_head).",
            partial(_scaled, by=lambda scores, d_head: 2 * d_head),
        ),
        Misconception(
            "root_of_number_of_keys",
            "Your answer divides by the root of the number of keys. Divide by √d_head: the scores grow with the "
            "number of components of a query, not with the number of keys.",
            partial(_scaled, by=lambda scores, d_head: math.sqrt(scores.shape[-1])),
        ),
        Misconception(
            "root_of_number_of_queries",
            "Your answer divides by the root of the number of queries. Divide by √d_head, the second argument.",
            partial(_scaled, by=lambda scores, d_head: math.sqrt(scores.shape[-2])),
        ),
        Misconception(
            "divided_by_number_of_queries",
            "Your answer divides by the number of queries. Divide by √d_head, the second argument.",
            partial(_scaled, by=lambda scores, d_head: scores.shape[-2]),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies, which makes large scores larger still. Divide: scores / math.sqrt(d_head).",
            partial(_scaled, multiplied=True),
        ),
        Misconception(
            "not_scaled",
            "Your answer returns the scores unchanged. Divide them by √d_head.",
            lambda scores, d_head: scores.clone(),
        ),
        Misconception(
            "root_cut_to_an_integer",
            "Your answer divides by √d_head cut down to an integer. Keep its fraction: math.sqrt(d_head) or "
            "d_head ** 0.5.",
            partial(_scaled, by=lambda scores, d_head: math.isqrt(d_head)),
        ),
        Misconception(
            "standardised",
            "Your answer divides by the standard deviation of these very scores. The scale is fixed, √d_head: it "
            "doesn't depend on the numbers.",
            partial(_scaled, by=lambda scores, d_head: scores.std()),
        ),
        Misconception(
            "root_rounded",
            "Your answer divides by √d_head rounded to an integer. Keep its fraction: math.sqrt(d_head) or "
            "d_head ** 0.5.",
            partial(_scaled, by=lambda scores, d_head: round(math.sqrt(d_head))),
        ),
        Misconception(
            "softmax_too_early",
            "Your answer is passed through a softmax. That is the next step: here the scores are divided, and no more.",
            partial(_scaled, then=partial(torch.softmax, dim=-1)),
        ),
    ),
    withheld=WITHHELD,
)


# attention.weights -----------------------------------------------------------------------------------------


def _weights_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.steps.scaled,), entrywise=True)
    for kind in kinds(generator):
        queries, keys = kind.sizes(2)
        yield Case(kind.name, (kind.normal(queries, keys),), entrywise=True)
    (words,) = sizes(generator, 1)
    yield Case("as many queries as keys", (torch.randn(words, words, generator=generator),), entrywise=True)
    kind = _one(generator)
    yield Case(kind.name, (kind.normal(1, words),), entrywise=True)
    queries, keys = sizes(generator, 2)
    small = torch.randn(queries, keys, generator=generator)
    large = 150.0 + 10 * integer(generator, 0, 11)
    yield Case("scores in the hundreds", (small + large,), part="large scores")
    yield Case("scores far below zero", (small - large,), part="large scores")
    yield Case(
        "a row in the hundreds above a row far below zero",
        (torch.stack([small[0] + large, small[1] - large]),),
        part="large scores",
    )
    wide = torch.randn(queries, integer(generator, 8, 11), generator=generator)
    query = torch.arange(queries)
    wide[query, query + 1] += 1500.0
    yield Case("in each row one score far above the rest", (wide,), part="large scores")
    yield Case("in each row one score far below the rest", (-wide,), part="large scores")


def _exp_shared(shifted: Tensor, more: float = 0.0) -> Tensor:
    """exp of the scores, divided by the sum of its row and a little more."""
    return torch.exp(shifted) / (torch.exp(shifted).sum(dim=-1, keepdim=True) + more)


WEIGHTS = Exercise(
    id="attention.weights",
    lesson=LESSON,
    name="attention_weights",
    title="Attention weights",
    statement=(
        "attention_weights(scaled [..., queries, keys]) -> [..., queries, keys]: the softmax of each row, so that a "
        "query's weights sum to 1 over the keys; written with exp, and right for scores in the hundreds too, and for "
        "rows whose scores are far apart."
    ),
    points=3,
    minutes=12,
    section="Weights",
    source="S2, Attention: Working Example; S3, normalised attention weights",
    reference=attention.attention_weights,
    cases=_weights_cases,
    parts={CORE: 2, "large scores": 1},
    correct=correct.WEIGHTS,
    misconceptions=(
        Misconception(
            "large_scores_overflow",
            "Your answer is right for small scores, but exp of a large score is infinite and of a very low one 0, so "
            "that it ends in NaN. Subtract each row's largest score before exp: the weights stay the same.",
            _exp_shared,
        ),
        Misconception(
            "one_maximum_for_all_rows",
            "Your answer subtracts one maximum from all rows: a row far below it becomes all 0, and its weights NaN. "
            "Subtract each row's own largest score (dim=-1, keepdim=True).",
            lambda scaled: torch.exp(scaled - scaled.max()) / torch.exp(scaled - scaled.max()).sum(-1, keepdim=True),
        ),
        Misconception(
            "clamped",
            "Your answer cuts off large scores before exp, so that different large scores get the same weight. "
            "Subtract each row's largest score instead: that changes no weight.",
            lambda scaled: (
                torch.exp(scaled.clamp(-80, 80)) / torch.exp(scaled.clamp(-80, 80)).sum(dim=-1, keepdim=True)
            ),
        ),
        Misconception(
            "clamped_above",
            "Your answer cuts off large scores before exp, so that different large scores get the same weight. "
            "Subtract each row's largest score instead: that changes no weight, and helps where all are low, too.",
            lambda scaled: _exp_shared(scaled.clamp(max=80)),
        ),
        Misconception(
            "nan_to_zero",
            "Your answer turns NaN into 0 afterwards, so that a row of large scores has no weights. Prevent the NaN: "
            "subtract each row's largest score before exp.",
            lambda scaled: torch.nan_to_num(_exp_shared(scaled)),
        ),
        Misconception(
            "overflows_far_above",
            "Your answer is NaN where one score is far above the rest of its row: its exp still overflows. Subtract "
            "the row's largest score before exp: then no exp is larger than 1.",
            lambda scaled: _exp_shared(scaled - scaled[..., :1]),
        ),
        Misconception(
            "largest_never_below_zero",
            "Your answer is NaN where all scores of a row are far below 0: what it subtracts is 0 there, as from a "
            "search for the largest that begins with 0. Subtract the row's largest score: amax.",
            lambda scaled: _exp_shared(scaled - scaled.amax(dim=-1, keepdim=True).clamp(min=0)),
        ),
        Misconception(
            "normalised_over_queries",
            "Your answer's columns sum to 1: it normalises over the queries (dim=-2). Normalise over the keys, "
            "dim=-1, so that every row sums to 1.",
            lambda scaled: torch.softmax(scaled, dim=-2),
        ),
        Misconception(
            "normalised_over_the_first_dimension",
            "Your answer normalises over the first dimension, which in a batch mixes different sequences. Normalise "
            "over the keys, the last dimension: dim=-1.",
            lambda scaled: torch.softmax(scaled, dim=0),
        ),
        Misconception(
            "normalised_over_the_second_dimension",
            "Your answer normalises over dim=1, which is the keys only for a single sequence. With leading dimensions "
            "the keys are elsewhere: use dim=-1.",
            lambda scaled: torch.softmax(scaled, dim=1),
        ),
        Misconception(
            "normalised_over_everything",
            "Your answer divides by the sum over the whole tensor. Each query has weights of its own: divide every "
            "row by its own sum (dim=-1, keepdim=True).",
            lambda scaled: torch.softmax(scaled.flatten(), dim=0).reshape(scaled.shape),
        ),
        Misconception(
            "one_sum_for_everything",
            "Your answer divides by the sum over the whole tensor. Each query has weights of its own: divide every "
            "row by its own sum (dim=-1, keepdim=True).",
            lambda scaled: (
                torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
                / torch.exp(scaled - scaled.amax(dim=-1, keepdim=True)).sum()
            ),
        ),
        Misconception(
            "sum_over_queries",
            "Your answer divides by the sums of the columns (dim=-2). Each query has weights of its own: sum over the "
            "keys, dim=-1, where the maximum is taken as well.",
            lambda scaled: (
                torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
                / torch.exp(scaled - scaled.amax(dim=-1, keepdim=True)).sum(dim=-2, keepdim=True)
            ),
        ),
        Misconception(
            "sum_without_keepdim",
            "Your answer divides each column by the sum of a row: without keepdim the sums of the rows are laid beside "
            "the columns. Keep the dimension: sum(dim=-1, keepdim=True).",
            lambda scaled: torch.exp(scaled) / torch.exp(scaled).sum(dim=-1),
        ),
        Misconception(
            "safe_sum_without_keepdim",
            "Your answer divides each column by the sum of a row: without keepdim the sums of the rows are laid beside "
            "the columns. Keep the dimension in the sum as well: sum(dim=-1, keepdim=True).",
            lambda scaled: (
                torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
                / torch.exp(scaled - scaled.amax(dim=-1, keepdim=True)).sum(dim=-1)
            ),
        ),
        Misconception(
            "not_normalised",
            "Your answer is exp of the scores. Divide each row by its sum, so that the weights of a query sum to 1.",
            torch.exp,
        ),
        Misconception(
            "largest_is_1",
            "The largest weight of each row is 1 in your answer. Divide each row by its sum, after the exp, so that "
            "the weights of a query sum to 1.",
            lambda scaled: torch.exp(scaled - scaled.amax(dim=-1, keepdim=True)),
        ),
        Misconception(
            "no_exp",
            "Your answer divides the scores by their sum without exp, so that weights can be negative or beyond 1. "
            "Take exp first.",
            lambda scaled: scaled / scaled.sum(dim=-1, keepdim=True),
        ),
        Misconception(
            "sigmoid",
            "Your answer passes every score through a sigmoid on its own, and its rows don't sum to 1. Softmax "
            "divides exp of each score by the sum over the row.",
            torch.sigmoid,
        ),
        Misconception(
            "only_the_largest",
            "Your answer gives all the weight to the largest score. Softmax is soft: the other keys keep a share, by "
            "exp of their scores.",
            lambda scaled: F.one_hot(scaled.argmax(dim=-1), scaled.shape[-1]).to(scaled.dtype),
        ),
        Misconception(
            "logarithms",
            "Your answer is the logarithm of the weights. Take exp of it.",
            lambda scaled: torch.log_softmax(scaled, dim=-1),
        ),
        Misconception(
            "too_little_subtracted",
            "Your answer subtracts less than each row's largest score before exp (its mean or its smallest, say): a "
            "score far above that still overflows. Subtract the largest: then no exp is larger than 1.",
            lambda scaled: _exp_shared(scaled - scaled.mean(dim=-1, keepdim=True)),
        ),
        Misconception(
            "maximum_of_each_column",
            "Your answer subtracts each column's largest score (dim=-2), which changes the weights within a row. "
            "Subtract the row's own: dim=-1.",
            lambda scaled: _exp_shared(scaled - scaled.amax(dim=-2, keepdim=True)),
        ),
        Misconception(
            "maximum_without_keepdim",
            "Your answer subtracts from each column what is the maximum of a row: without keepdim=True the maxima, "
            "[queries], are laid along the keys. Keep the dimension.",
            lambda scaled: _exp_shared(scaled - scaled.amax(dim=-1)),
        ),
        Misconception(
            "maximum_subtracted_above_only",
            "Your answer subtracts the largest score in the numerator, but not in the sum that it divides by. Use "
            "the same exp in both.",
            lambda scaled: (
                torch.exp(scaled - scaled.amax(dim=-1, keepdim=True)) / torch.exp(scaled).sum(-1, keepdim=True)
            ),
        ),
        Misconception(
            "small_number_added_1e_8",
            "Your answer adds a small number to the sum that it divides by, so that the weights no longer sum to 1. "
            "There is no 0 to be afraid of: after the row's largest score is subtracted the sum is at least 1.",
            lambda scaled: _exp_shared(scaled - scaled.amax(dim=-1, keepdim=True), 1e-8),
        ),
        Misconception(
            "small_number_added_1e_6",
            "Your answer adds a small number to the sum that it divides by, so that the weights no longer sum to 1. "
            "There is no 0 to be afraid of: after the row's largest score is subtracted the sum is at least 1.",
            lambda scaled: _exp_shared(scaled - scaled.amax(dim=-1, keepdim=True), 1e-6),
        ),
        Misconception(
            "small_number_added_1e_5",
            "Your answer adds a small number to the sum that it divides by, so that the weights no longer sum to 1. "
            "There is no 0 to be afraid of: after the row's largest score is subtracted the sum is at least 1.",
            lambda scaled: _exp_shared(scaled - scaled.amax(dim=-1, keepdim=True), 1e-5),
        ),
    ),
    withheld=WITHHELD,
    forbidden=SOFTMAX,
)


# attention.output ------------------------------------------------------------------------------------------


def _output_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.steps.alpha, A.v))
    for kind in kinds(generator):
        queries, keys, d_value = kind.sizes(3)
        yield Case(kind.name, (torch.softmax(kind.normal(queries, keys), dim=-1), kind.normal(keys, d_value)))
    kind = _alike(generator)
    (n,) = kind.leading
    yield Case(kind.name, (torch.softmax(kind.normal(n, n), dim=-1), kind.normal(n, n)))
    kind = _one(generator)
    keys, d_value = kind.sizes(2)
    yield Case(kind.name, (torch.softmax(kind.normal(1, keys), dim=-1), kind.normal(keys, d_value)))


def _cut(numbers: Tensor) -> Tensor:
    """Everything behind the second decimal thrown away, as on slide S2."""
    return torch.trunc(numbers * 100) / 100


def _averaged(
    alpha: Tensor,
    v: Tensor,
    *,
    weigh: Callable[[Tensor], Tensor] = _as_it_is,
    values: Callable[[Tensor], Tensor] = _as_it_is,
    then: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """The weighted values, with the mistakes that are set."""
    return then(weigh(alpha) @ values(v))


OUTPUT = Exercise(
    id="attention.output",
    lesson=LESSON,
    name="weighted_values",
    title="Weighted values",
    statement=(
        "weighted_values(alpha [..., queries, keys], v [..., keys, d_value]) -> [..., queries, d_value]: for each "
        "query the sum of the values, each times its weight."
    ),
    points=1,
    minutes=5,
    section="Output",
    source="S2, Attention: Working Example",
    reference=attention.weighted_values,
    cases=_output_cases,
    correct=correct.OUTPUT,
    misconceptions=(
        Misconception(
            "plain_mean",
            "Your answer is the plain mean of the values, the same for every query. Weight each value by the query's "
            "alpha.",
            partial(_averaged, weigh=lambda alpha: torch.full_like(alpha, 1 / alpha.shape[-1])),
        ),
        Misconception(
            "plain_sum",
            "Your answer adds up the values without their weights. Multiply each value by the query's alpha first.",
            partial(_averaged, weigh=torch.ones_like),
        ),
        Misconception(
            "only_the_largest",
            "Your answer picks the one value of the largest weight. Every value contributes, as much as its weight.",
            partial(_averaged, weigh=lambda alpha: F.one_hot(alpha.argmax(-1), alpha.shape[-1]).to(alpha.dtype)),
        ),
        Misconception(
            "softmax_again",
            "Your answer takes the softmax of alpha once more, which flattens the weights. They sum to 1 already.",
            partial(_averaged, weigh=partial(torch.softmax, dim=-1)),
        ),
        Misconception(
            "divided_by_number_of_keys",
            "Your answer takes the mean over the keys (or divides by their number) where the weighted values are to "
            "be summed. The weights sum to 1 already: nothing is left to divide by.",
            partial(_averaged, weigh=lambda alpha: alpha / alpha.shape[-1]),
        ),
        Misconception(
            "summed_over_queries",
            "Your answer also sums over the queries, and one row is left. Each query keeps a row of its own: "
            "[..., queries, d_value].",
            partial(_averaged, then=lambda out: out.sum(dim=-2)),
        ),
        Misconception(
            "not_summed",
            "Your answer multiplies each value by its weight, [..., queries, keys, d_value], but doesn't add them up. "
            "Sum over the keys.",
            lambda alpha, v: alpha.unsqueeze(-1) * v.unsqueeze(-3),
        ),
        Misconception(
            "queries_as_columns",
            "Your answer is transposed, [..., d_value, queries]. A row belongs to a query: alpha v.",
            partial(_averaged, then=lambda out: out.mT),
        ),
        Misconception(
            "first_query_everywhere",
            "Every row of your answer is the first query's. So is it in the expanded matrix on slide S2, by a slip: "
            "row i is made with row i of alpha.",
            partial(_averaged, weigh=lambda alpha: alpha[..., :1, :].expand_as(alpha)),
        ),
        Misconception(
            "weights_cut_to_two_decimals",
            "Your answer cuts alpha to two decimals before using it, as slide S2 prints it. Keep every digit: "
            "round when you print, never in between.",
            partial(_averaged, weigh=_cut),
        ),
        Misconception(
            "result_cut_to_two_decimals",
            "Your answer is cut to two decimals, as slide S2 prints it. Keep every digit: round when you print.",
            partial(_averaged, then=_cut),
        ),
        Misconception(
            "columns_sum_to_1",
            "Your answer divides alpha by the sums of its columns first. Its rows sum to 1 already, one row for each "
            "query: use them as they are.",
            partial(_averaged, weigh=lambda alpha: alpha / alpha.sum(dim=-2, keepdim=True)),
        ),
        Misconception(
            "alpha_transposed",
            "Your answer transposes alpha, which fits only where there are as many queries as keys. A row of alpha "
            "belongs to a query: alpha @ v.",
            partial(_averaged, weigh=lambda alpha: alpha.mT),
        ),
        Misconception(
            "values_transposed",
            "Your answer transposes v, which fits only where there are as many keys as components. Its rows belong to "
            "the keys, as alpha's columns do: alpha @ v.",
            partial(_averaged, values=lambda v: v.mT),
        ),
        Misconception(
            "values_first",
            "Your answer is v @ alpha. The weights come first: alpha @ v, where alpha's columns meet the rows of v.",
            lambda alpha, v: v @ alpha,
        ),
        Misconception(
            "elementwise",
            "Your answer multiplies alpha and v entry by entry. Multiply each value by its weight and sum over the "
            "keys, which is a matrix product: alpha @ v.",
            lambda alpha, v: alpha * v,
        ),
    ),
    withheld=WITHHELD,
)


# attention.scaled_dot_product ------------------------------------------------------------------------------


def _attention_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.q, A.k, A.v))
    for kind in kinds(generator):
        queries, keys, d_value = kind.sizes(3)
        d_head = kind.d_head()
        if not kind.leading:
            d_value += d_head  # values may be longer than queries and keys
        q, k, v = kind.normal(queries, d_head), kind.normal(keys, d_head), kind.normal(keys, d_value)
        yield Case(kind.name, (q, k, v), gradients=(0, 1, 2))
    kind = _alike(generator)
    (n,) = kind.leading
    yield Case(kind.name, (kind.normal(n, n), kind.normal(n, n), kind.normal(n, n)), gradients=(0, 1, 2))
    kind = _one(generator)
    keys, d_value = kind.sizes(2)
    q, k, v = kind.normal(1, 11), kind.normal(keys, 11), kind.normal(keys, d_value)
    yield Case(kind.name, (q, k, v), gradients=(0, 1, 2))


Three = tuple[Tensor, Tensor, Tensor]


def _attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    of: Callable[[Tensor, Tensor, Tensor], Three] = lambda q, k, v: (q, k, v),
    turned: Callable[[Tensor], Tensor] = _turned,
    divisor: Callable[[Tensor, Tensor, Tensor], float] = lambda q, k, v: math.sqrt(q.shape[-1]),
    weigh: Callable[[Tensor], Tensor] = lambda scaled: torch.softmax(scaled, dim=-1),
    then: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """Attention with the mistakes that are set: `of` says what asks, what it is compared with and what is averaged."""
    asking, compared, averaged = of(q, k, v)
    return then(weigh(asking @ turned(compared) / divisor(q, k, v)) @ averaged)


SCALED_DOT_PRODUCT = Exercise(
    id="attention.scaled_dot_product",
    lesson=LESSON,
    name="scaled_dot_product_attention",
    title="Scaled dot-product attention",
    statement=(
        "scaled_dot_product_attention(q [..., queries, d_head], k [..., keys, d_head], v [..., keys, d_value]) -> "
        "[..., queries, d_value]: softmax(q kᵀ / √d_head) v, for any leading dimensions and with gradients."
    ),
    points=4,
    minutes=15,
    section="Scaled dot-product attention",
    source="Vaswani et al. (2017), section 3.2.1; S2, Scaled Dot-Product",
    reference=attention.scaled_dot_product_attention,
    cases=_attention_cases,
    correct=correct.SCALED_DOT_PRODUCT,
    misconceptions=(
        Misconception(
            "divided_by_number_of_keys",
            "Your answer divides the scores by the number of keys. So do the numbers printed on slide S2, which don't "
            "follow the formula beside them: divide by √d_head, the root of a query's number of components.",
            partial(_attended, divisor=lambda q, k, v: k.shape[-2]),
        ),
        Misconception(
            "unscaled_softmax",
            "Your answer takes the softmax of the unscaled scores, as the line `alpha = softmax(scores)` on slide S2 "
            "does. It should be the softmax of the scaled ones, the scores divided by √d_head.",
            partial(_attended, divisor=lambda q, k, v: 1),
        ),
        Misconception(
            "divided_by_d_head",
            "Your answer divides the scores by d_head, as the formula on slide S1 does. The paper's formula takes the "
            "root: divide by √d_head.",
            partial(_attended, divisor=lambda q, k, v: q.shape[-1]),
        ),
        Misconception(
            "root_of_number_of_keys",
            "Your answer divides the scores by the root of the number of keys. Divide by √d_head, the root of "
            "q.shape[-1].",
            partial(_attended, divisor=lambda q, k, v: math.sqrt(k.shape[-2])),
        ),
        Misconception(
            "root_of_number_of_queries",
            "Your answer divides the scores by the root of the number of queries. Divide by √d_head, the root of "
            "q.shape[-1].",
            partial(_attended, divisor=lambda q, k, v: math.sqrt(q.shape[-2])),
        ),
        Misconception(
            "root_of_d_value",
            "Your answer divides the scores by the root of the values' dimension. The scores are made of queries and "
            "keys: divide by the root of theirs, q.shape[-1].",
            partial(_attended, divisor=lambda q, k, v: math.sqrt(v.shape[-1])),
        ),
        Misconception(
            "root_of_second_dimension",
            "Your answer divides by the root of q.shape[1], which is d_head only for a single sequence. With leading "
            "dimensions d_head is q.shape[-1].",
            lambda q, k, v: _attended(q, k, v, divisor=lambda q, k, v: math.sqrt(q.shape[1])),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies the scores by √d_head. Divide by it, so that the softmax doesn't saturate.",
            partial(_attended, divisor=lambda q, k, v: 1 / math.sqrt(q.shape[-1])),
        ),
        Misconception(
            "scaled_after_softmax",
            "Your answer divides by √d_head after the softmax, where it only makes the result smaller. Divide the "
            "scores, before the softmax.",
            lambda q, k, v: torch.softmax(q @ k.mT, dim=-1) / math.sqrt(q.shape[-1]) @ v,
        ),
        Misconception(
            "no_softmax",
            "Your answer weights the values by scores, and not by weights that sum to 1. Pass the scores through a "
            "softmax over the keys first.",
            partial(_attended, weigh=_as_it_is),
        ),
        Misconception(
            "softmax_over_queries",
            "Your answer takes the softmax over the queries (dim=-2). Take it over the keys, dim=-1: each query "
            "shares out a weight of 1 among the keys.",
            partial(_attended, weigh=partial(torch.softmax, dim=-2)),
        ),
        Misconception(
            "softmax_over_the_first_dimension",
            "Your answer takes the softmax over the first dimension, which in a batch mixes different sequences. "
            "Take it over the keys, the last dimension: dim=-1.",
            lambda q, k, v: _attended(q, k, v, weigh=partial(torch.softmax, dim=0)),
        ),
        Misconception(
            "softmax_over_the_second_dimension",
            "Your answer takes the softmax over dim=1, which is the keys only for a single sequence. With leading "
            "dimensions the keys are elsewhere: use dim=-1.",
            lambda q, k, v: _attended(q, k, v, weigh=partial(torch.softmax, dim=1)),
        ),
        Misconception(
            "divided_by_twice_d_head",
            "Your answer divides the scores by 2 · d_head. If you wrote d_head ** 1/2: the power comes before the "
            "division. Divide by d_head ** 0.5, or by math.sqrt(d_head).",
            partial(_attended, divisor=lambda q, k, v: 2 * q.shape[-1]),
        ),
        Misconception(
            "root_of_2",
            "Your answer divides the scores by √2, which is right for the worked example alone. Take the root of "
            "q.shape[-1].",
            lambda q, k, v: _attended(q, k, v, divisor=lambda q, k, v: math.sqrt(2)),
        ),
        Misconception(
            "softmax_over_everything",
            "Your answer takes one softmax over all the scores of the tensor. Take it over the keys, dim=-1: each "
            "query shares out a weight of 1 among them.",
            partial(_attended, weigh=lambda scaled: torch.softmax(scaled.flatten(), dim=0).reshape(scaled.shape)),
        ),
        Misconception(
            "softmax_twice",
            "Your answer takes the softmax of the softmax, which flattens the weights. They sum to 1 after the first.",
            lambda q, k, v: _attended(
                q, k, v, weigh=lambda scaled: torch.softmax(torch.softmax(scaled, dim=-1), dim=-1)
            ),
        ),
        Misconception(
            "log_softmax",
            "Your answer weights the values by logarithms, as log_softmax gives them. Take torch.softmax.",
            lambda q, k, v: _attended(q, k, v, weigh=partial(torch.log_softmax, dim=-1)),
        ),
        Misconception(
            "only_the_largest",
            "Your answer picks the one value of the largest score, and no gradient gets through to the scores. Every "
            "value contributes, as much as the softmax gives it.",
            lambda q, k, v: F.one_hot((q @ k.mT).argmax(dim=-1), k.shape[-2]).to(v.dtype) @ v + 0 * (q @ k.mT).sum(),
        ),
        Misconception(
            "all_dimensions_reversed",
            "Your answer turns all dimensions of k round, as k.T does: that is right for one sequence, and wrong in a "
            "batch. Exchange the last two alone: k.transpose(-2, -1).",
            partial(_attended, turned=_reversed),
        ),
        Misconception(
            "reshaped_not_transposed",
            "Your answer turns k into [..., d_head, keys] with reshape or view, which tears the keys apart. Transpose "
            "its last two dimensions: k.transpose(-2, -1).",
            partial(_attended, turned=_reshaped),
        ),
        Misconception(
            "keys_as_values",
            "Your answer averages the keys. The weights come from queries and keys, but what they average is v.",
            partial(_attended, of=lambda q, k, v: (q, k, k)),
        ),
        Misconception(
            "values_as_keys",
            "Your answer compares the queries with the values. Compare them with the keys, q @ k.transpose(-2, -1), "
            "and average the values.",
            partial(_attended, of=lambda q, k, v: (q, v, v)),
        ),
        Misconception(
            "keys_and_values_swapped",
            "Your answer compares the queries with the values and averages the keys. It is the other way round: "
            "compare with k, average v.",
            partial(_attended, of=lambda q, k, v: (q, v, k)),
        ),
        Misconception(
            "queries_as_values",
            "Your answer averages the queries. The weights come from queries and keys, but what they average is v.",
            partial(_attended, of=lambda q, k, v: (q, k, q)),
        ),
        Misconception(
            "keys_ask",
            "Your answer lets the keys ask the queries: k times q transposed. A row belongs to a query: "
            "q @ k.transpose(-2, -1).",
            partial(_attended, of=lambda q, k, v: (k, q, v)),
        ),
        Misconception(
            "transposed",
            "Your answer is transposed, [..., d_value, queries]. A row belongs to a query: weights @ v, as it comes.",
            partial(_attended, then=lambda out: out.mT),
        ),
        Misconception(
            "weights_detached",
            "The gradient stops at your weights: they are detached from the graph (.detach(), .data, numpy or "
            "no_grad), so that queries and keys could never be learned.",
            partial(_attended, weigh=lambda scaled: torch.softmax(scaled, dim=-1).detach()),
        ),
        Misconception(
            "no_gradients",
            "No gradient reaches q, k or v from your answer: the computation leaves torch somewhere (.detach(), .data, "
            "numpy, torch.tensor(...) or no_grad). Use torch operations from q, k and v to the end.",
            partial(_attended, then=Tensor.detach),
        ),
        Misconception(
            "root_of_first_dimension",
            "Your answer divides by the root of len(q), which is the number of queries, or of sequences in a batch. "
            "d_head is the last dimension, q.shape[-1].",
            lambda q, k, v: _attended(q, k, v, divisor=lambda q, k, v: math.sqrt(len(q))),
        ),
        Misconception(
            "root_of_first_dimension_of_k",
            "Your answer divides by the root of len(k), which is the number of keys, or of sequences in a batch. "
            "d_head is the last dimension, k.shape[-1].",
            lambda q, k, v: _attended(q, k, v, divisor=lambda q, k, v: math.sqrt(len(k))),
        ),
        Misconception(
            "root_cut_to_an_integer",
            "Your answer cuts √d_head down to an integer. Divide by the root itself: math.sqrt(d_head).",
            partial(_attended, divisor=lambda q, k, v: math.isqrt(q.shape[-1])),
        ),
        Misconception(
            "weights_returned",
            "Your answer returns the weights. Multiply them by the values: weights @ v.",
            partial(_attended, of=lambda q, k, v: (q, k, torch.eye(k.shape[-2], dtype=k.dtype))),
        ),
    ),
    withheld=WITHHELD,
    forbidden=FUSED_ATTENTION,
)


# attention.dot_product_variance ----------------------------------------------------------------------------


def _variance_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: its keys with themselves", (A.k, A.k))
    for kind in unbatched_kinds(generator):
        samples, d_head = kind.sizes(2)
        yield Case(kind.name, (kind.normal(samples, d_head) + 0.5, kind.normal(samples, d_head) + 0.5))
    many, d_head = 100 + integer(generator, 0, 100), integer(generator, 8, 16)
    q, k = torch.randn(2, many, d_head, generator=generator)
    yield Case("many samples of variance 1", (q, k))


def _variance(
    q: Tensor,
    k: Tensor,
    *,
    dots: Callable[[Tensor, Tensor], Tensor] = lambda q, k: (q * k).sum(dim=-1),
    correction: int = 1,
    spread: Callable[[Tensor, int], Tensor] = lambda dots, correction: dots.var(correction=correction),
    then: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """The variance, with the mistakes that are set."""
    return then(spread(dots(q, k), correction))


DOT_PRODUCT_VARIANCE = Exercise(
    id="attention.dot_product_variance",
    lesson=LESSON,
    name="dot_product_variance",
    title="The variance of dot products",
    statement=(
        "dot_product_variance(q [samples, d_head], k [samples, d_head]) -> a tensor of shape []: the unbiased "
        "sample variance of the dot products of row s of q with row s of k, over the samples s."
    ),
    points=2,
    minutes=8,
    section="The variance of a dot product",
    source="S2, the motivation for scaling",
    reference=attention.dot_product_variance,
    cases=_variance_cases,
    correct=correct.DOT_PRODUCT_VARIANCE,
    misconceptions=(
        Misconception(
            "biased",
            "Your answer divides by the number of samples, which comes out too small on average. The unbiased "
            "variance divides by the number of samples - 1, as torch.var does by itself (numpy.var does not).",
            partial(_variance, correction=0),
        ),
        Misconception(
            "standard_deviation",
            "Your answer takes a root at the end, which makes a standard deviation. The variance is its square.",
            partial(_variance, then=torch.sqrt),
        ),
        Misconception(
            "mean_not_subtracted",
            "Your answer squares the dot products as they are. Subtract their mean before squaring: that it is 0 in "
            "theory doesn't make it 0 in a sample.",
            partial(_variance, spread=lambda dots, correction: dots.pow(2).mean()),
        ),
        Misconception(
            "mean_not_subtracted_unbiased",
            "Your answer squares the dot products as they are. Subtract their mean before squaring: that it is 0 in "
            "theory doesn't make it 0 in a sample.",
            lambda q, k: (q * k).sum(dim=-1).pow(2).sum() / (len(q) - 1),
        ),
        Misconception(
            "not_divided",
            "Your answer adds the squared differences up. Divide their sum by the number of samples - 1.",
            lambda q, k: (q * k).sum(dim=-1).var(correction=0) * len(q),
        ),
        Misconception(
            "products_not_summed",
            "Your answer takes single products of components. Sum them over d_head first: one dot product a sample.",
            partial(_variance, dots=torch.mul),
        ),
        Misconception(
            "variance_of_each_component",
            "Your answer has one variance for each component, [d_head]. Sum the products over d_head first, then "
            "take the variance of these sums.",
            lambda q, k: (q * k).var(dim=0),
        ),
        Misconception(
            "sum_of_variances",
            "Your answer adds up the variances of the components, as if they were uncorrelated; in a sample they "
            "never quite are. Take the variance of the dot products themselves.",
            lambda q, k: (q * k).var(dim=0).sum(),
        ),
        Misconception(
            "every_pair",
            "Your answer takes every row of q with every row of k. Take row s with row s only: (q * k).sum(dim=-1).",
            partial(_variance, dots=lambda q, k: q @ k.T),
        ),
        Misconception(
            "summed_over_samples",
            "Your answer sums over the samples where a dot product sums over the components: dim=-1, not dim=0.",
            partial(_variance, dots=lambda q, k: (q * k).sum(dim=0)),
        ),
        Misconception(
            "already_scaled",
            "Your answer divides the dot products by √d_head. Measure them unscaled: how fast they grow is what "
            "scaling is for.",
            partial(_variance, dots=lambda q, k: (q * k).sum(dim=-1) / math.sqrt(q.shape[-1])),
        ),
        Misconception(
            "mean_of_products",
            "Your answer takes the mean of the products where a dot product takes their sum, or divides by d_head: the "
            "variance comes out too small by d_head².",
            partial(_variance, dots=lambda q, k: (q * k).mean(dim=-1)),
        ),
        Misconception(
            "queries_with_queries",
            "Your answer multiplies the queries with themselves. Take the dot product of row s of q with row s of k.",
            partial(_variance, dots=lambda q, k: (q * q).sum(dim=-1)),
        ),
        Misconception(
            "variance_of_each_sample",
            "Your answer has one variance for each sample, [samples]. Sum the products over d_head first, then take "
            "the variance of these sums over the samples.",
            lambda q, k: (q * k).var(dim=-1),
        ),
        Misconception(
            "theory_instead_of_measurement",
            "Your answer is d_head, the variance that theory predicts for components of variance 1. Measure it on "
            "the samples that are given.",
            lambda q, k: torch.tensor(float(q.shape[-1]), dtype=q.dtype),
        ),
        Misconception(
            "mean_of_the_dot_products",
            "Your answer is a mean. The question is how widely the dot products spread: their variance.",
            partial(_variance, spread=lambda dots, correction: dots.mean()),
        ),
    ),
    withheld=WITHHELD,
)


# attention.softmax_jacobian --------------------------------------------------------------------------------


def _jacobian_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}, in double precision", (A.steps.scaled.double(),))
    (words,) = sizes(generator, 1)
    yield Case("one row of scores", (torch.randn(words, generator=generator, dtype=torch.float64),))
    for kind in kinds(generator):
        queries, keys = kind.sizes(2)
        yield Case(kind.name, (kind.normal(queries, keys),))
    saturated = torch.randn(words, generator=generator, dtype=torch.float64)
    saturated[integer(generator, 0, words)] += 8
    yield Case("one score far above the rest", (saturated,))


def _outer(alpha: Tensor) -> Tensor:
    return alpha.unsqueeze(-1) * alpha.unsqueeze(-2)


def _jacobian(
    scores: Tensor,
    *,
    weigh: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=-1),
    diagonal: Callable[[Tensor], Tensor] = _as_it_is,
    sign: int = -1,
    product: Callable[[Tensor], Tensor] = _outer,
    then: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """diag(alpha) - alpha alphaᵀ, with the mistakes that are set."""
    alpha = weigh(scores)
    return then(torch.diag_embed(diagonal(alpha)) + sign * product(alpha))


def _diagonal(jacobian: Tensor) -> Tensor:
    return jacobian.diagonal(dim1=-2, dim2=-1)


SOFTMAX_JACOBIAN = Exercise(
    id="attention.softmax_jacobian",
    lesson=LESSON,
    name="softmax_jacobian",
    title="The derivative of softmax",
    statement=(
        "softmax_jacobian(scores [..., keys]) -> [..., keys, keys]: entry (i, j) is the derivative of weight i by "
        "score j, alpha_i (δ_ij - alpha_j), for any leading dimensions."
    ),
    points=2,
    minutes=12,
    section="The gradient of softmax",
    source="S2, large values and the gradients of the softmax",
    reference=attention.softmax_jacobian,
    cases=_jacobian_cases,
    correct=correct.SOFTMAX_JACOBIAN,
    misconceptions=(
        Misconception(
            "only_the_diagonal",
            "Your answer is the diagonal alone, [..., keys]. A score moves all the weights, so the derivative is a "
            "matrix: [..., keys, keys].",
            partial(_jacobian, then=_diagonal),
        ),
        Misconception(
            "zero_off_the_diagonal",
            "Your answer is 0 off the diagonal, as for a sigmoid. The weights sum to 1, so raising one score lowers "
            "the other weights: -alpha_i alpha_j there.",
            partial(_jacobian, then=lambda jacobian: torch.diag_embed(_diagonal(jacobian))),
        ),
        Misconception(
            "diagonal_left_out",
            "Your answer lacks the first term, alpha_i on the diagonal: it is -alpha_i alpha_j everywhere.",
            partial(_jacobian, diagonal=torch.zeros_like),
        ),
        Misconception(
            "second_term_left_out",
            "Your answer lacks the second term: it is alpha_i on the diagonal and 0 elsewhere. Subtract "
            "alpha_i alpha_j from every entry.",
            partial(_jacobian, product=lambda alpha: 0 * _outer(alpha)),
            alone=True,  # without the first term, too, nothing is left: zeros, which are no answer at all
        ),
        Misconception(
            "wrong_sign",
            "Your answer has the opposite sign. Raising a score raises its own weight, so the diagonal is positive: "
            "alpha_i (δ_ij - alpha_j).",
            partial(_jacobian, then=torch.neg),
        ),
        Misconception(
            "plus_instead_of_minus",
            "Your answer adds alpha_i alpha_j. Subtract it: raising one score takes weight away from the others.",
            partial(_jacobian, sign=1),
        ),
        Misconception(
            "identity_not_weighted",
            "Your answer has 1 - alpha_i² on the diagonal: δ_ij - alpha_i alpha_j. The factor alpha_i multiplies δ_ij "
            "as well: alpha_i (δ_ij - alpha_j).",
            partial(_jacobian, diagonal=torch.ones_like),
        ),
        Misconception(
            "indices_swapped",
            "Your answer is alpha_j (δ_ij - alpha_j): the factor in front has the wrong index. It is the weight that "
            "is differentiated, alpha_i (δ_ij - alpha_j).",
            partial(_jacobian, product=lambda alpha: alpha.pow(2).unsqueeze(-2)),
        ),
        Misconception(
            "own_weight_squared",
            "Your answer is alpha_i (δ_ij - alpha_i): both factors have the index of the row. The second one is the "
            "weight of the score by which it is differentiated, alpha_j.",
            partial(_jacobian, product=lambda alpha: alpha.pow(2).unsqueeze(-1)),
        ),
        Misconception(
            "inner_product",
            "Your answer subtracts one and the same number everywhere, the sum of the squared weights: a row times a "
            "column. A column times a row makes a matrix, alpha.unsqueeze(-1) * alpha.unsqueeze(-2).",
            partial(_jacobian, product=lambda alpha: alpha.pow(2).sum(dim=-1)[..., None, None]),
        ),
        Misconception(
            "plus_off_the_diagonal",
            "Your answer is positive off the diagonal. Raising one score lowers the other weights: -alpha_i alpha_j.",
            partial(_jacobian, then=torch.abs),
        ),
        Misconception(
            "weights_on_the_diagonal",
            "Your answer has alpha_i on the diagonal. The second term counts there as well: alpha_i (1 - alpha_i).",
            lambda scores: _jacobian(scores, diagonal=lambda alpha: alpha + alpha.pow(2)),
        ),
        Misconception(
            "of_log_softmax",
            "Your answer is δ_ij - alpha_j, the derivative of the logarithm of the weights. For the weights "
            "themselves multiply row i by alpha_i.",
            partial(_jacobian, diagonal=torch.ones_like, product=lambda alpha: alpha.unsqueeze(-2)),
        ),
        Misconception(
            "scores_instead_of_weights",
            "Your answer puts the scores themselves into the formula. alpha is their softmax.",
            partial(_jacobian, weigh=_as_it_is),
        ),
        Misconception(
            "softmax_over_the_first_dimension",
            "Your answer takes the softmax over the first dimension, which is the keys only where there are no "
            "leading ones. Use dim=-1.",
            partial(_jacobian, weigh=partial(torch.softmax, dim=0)),
        ),
        Misconception(
            "softmax_over_everything",
            "Your answer takes one softmax over all rows together. Each row has weights of its own: dim=-1.",
            partial(_jacobian, weigh=lambda scores: torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)),
        ),
        Misconception(
            "softmax_twice",
            "Your answer takes the softmax of the weights once more. The softmax of the scores is alpha already.",
            partial(_jacobian, weigh=lambda scores: torch.softmax(torch.softmax(scores, dim=-1), dim=-1)),
        ),
    ),
    withheld=WITHHELD,
    forbidden=("jacobian", "jacrev", "jacfwd"),
)


EXERCISES = (
    CONTEXTUAL_EMBEDDING,
    SCORES,
    SCALE,
    WEIGHTS,
    OUTPUT,
    SCALED_DOT_PRODUCT,
    DOT_PRODUCT_VARIANCE,
    SOFTMAX_JACOBIAN,
)
"""In the order of the lesson."""
