"""Lesson 03, positions.order_matters: Does order matter?"""

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor

from course_lib import positions
from course_lib.exercises.common import SMALLEST, hints, integer, slips
from course_lib.exercises.heads_and_blocks.shared import drawn_weights
from course_lib.exercises.positions.shared import random_order
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.given import Block, Given


def _order_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    swapped = torch.tensor([0, 2, 1, 3])
    if not hidden:
        causal = torch.ones(4, 4).tril()
        yield _mixed(f"{B.name}, a causal model: <s> Katze die tanzte", generator, B.q.unsqueeze(0), swapped, causal)
    for name, dtype in (("self-attention", torch.float32), ("self-attention, double precision", torch.float64)):
        tokens, batch = integer(generator, 5, 9), integer(generator, 2, 5)
        weights = drawn_weights(Block, generator, dtype, d_model=6, heads=2)
        x = torch.randn(batch, tokens, 6, generator=generator, dtype=dtype)
        block = Given("Block", {"d_model": 6, "heads": 2}, {key: 2 * value for key, value in weights.items()})
        yield Case(name, (block, x, random_order(generator, tokens)))
    for name, batch, tokens, ignored in (
        ("a batch", 3, 6, 0),
        ("as many sentences as tokens", 5, 5, -1),
        ("one sentence", 1, 7, 1),
    ):
        alone = torch.cat([torch.eye(tokens)[:2], torch.ones(tokens - 2, tokens)])  # two see but themselves
        order = torch.cat([torch.tensor([1, 2, 0]), torch.arange(3, tokens)])
        x = torch.randn(batch, tokens, 4, generator=generator)
        yield _mixed(f"{name}, two outputs that see one token", generator, x, order, alone, ignored)
    yield _mixed(SMALLEST, generator, torch.randn(1, 1, 1, generator=generator), torch.tensor([0]), None)
    x = torch.randn(2, 6, 4, generator=generator)
    yield _mixed("each output has seen other tokens", generator, x, random_order(generator, 6), None)
    yield _mixed("no token moves", generator, x, torch.arange(6), None)
    x[1] = x[1, :1]
    yield _mixed("a sentence of equal tokens", generator, x, random_order(generator, 6), torch.ones(6, 6).tril())


def _mixed(
    name: str, generator: Generator, x: Tensor, order: Tensor, mask: Tensor | None, ignored: int | None = None
) -> Case:
    """A model that gives a token the mean of those that it sees; without a mask, weights that are its place's own."""
    tokens, d_model = x.shape[1:]
    drawn = 0.5 + torch.rand(tokens, tokens, generator=generator)
    weights = drawn if mask is None else mask / mask.sum(dim=1, keepdim=True)
    reads = 1 + torch.rand(d_model, generator=generator)
    if ignored is not None:
        reads[ignored] = 0
    given = Given("Mixer", {"tokens": tokens, "d_model": d_model}, {"weights": weights, "reads": reads})
    return Case(name, (given, x, order))


Model = Callable[[Tensor], Tensor]


def _noticed(model: Model, x: Tensor, order: Tensor) -> Tensor:
    before = model(x)[:, order]
    after = model(x[:, order])
    difference = (after - before).abs()
    changed = difference.amax(dim=-1) > 1e-4
    return changed


_BEFORE, _AFTER, _COMPARED = "model(x)[:, order]", "model(x[:, order])", "difference.amax(dim=-1) > 1e-4"


def _token_by_token(model: Model, x: Tensor, order: Tensor) -> Tensor:
    old, new = model(x), model(torch.stack([x[:, place] for place in order.tolist()], dim=1))
    columns = [(new[:, i] - old[:, place]).norm(dim=-1) > 1e-3 for i, place in enumerate(order.tolist())]
    return torch.stack(columns, dim=1)


def _shuffled_back(model: Model, x: Tensor, order: Tensor) -> Tensor:
    """Undo the shuffle of what comes out, compare with what came out before, and shuffle the answer."""
    back = model(x.index_select(1, order))[:, order.argsort()]
    return ~torch.isclose(back, model(x), atol=1e-4, rtol=1e-4).all(dim=-1)[:, order]


EXERCISE = Exercise(
    id="positions.order_matters",
    title="Does order matter?",
    statement=(
        "order_matters(model, x [batch, tokens, d_model], order int64 [tokens]) -> bool [batch, tokens]: True where "
        "model gives the token at this position of the shuffled sentence a different vector than in the old sentence; "
        "token i of the shuffled sentence is token order[i] of the old one; ignore rounding."
    ),
    points=2,
    minutes=12,
    difficulty=3,
    importance=4,
    section="A bag of words",
    source="S4, why position embeddings are needed; Lee et al. (2019)",
    reference=positions.order_matters,
    cases=_order_cases,
    correct=(_noticed, _token_by_token, _shuffled_back),
    hints=hints(
        idea=(
            "Run the model on the old sentences and on the shuffled ones, and compare the two vectors of the same "
            "token. Where is that token after the shuffle?"
        ),
        outline=(
            "Compute the outputs for the old sentences, and put their rows in the new order.\n"
            "Compute the outputs for the shuffled sentences. Shuffle along the second dimension, the tokens.\n"
            "Take the absolute difference in each component.\n"
            "Test whether each token's largest difference is more than rounding.",
            ("places_compared", "shuffled_back", "sentences_shuffled", "rounding_counts", "signs_cancel"),
        ),
    ),
    misconceptions=(
        *slips(
            _noticed,
            places_compared=(
                "Your answer compares outputs at the same position, which belong to different tokens. Compare each "
                "token with itself: put the old outputs in the new order.",
                (_BEFORE, "model(x)"),
            ),
            rounding_counts=(
                "Your answer counts rounding as a change: adding numbers in a different order changes the last digits "
                "of the sum. Ignore differences below, say, 1e-4.",
                (_COMPARED, "difference.amax(dim=-1) > 0"),
            ),
            inverted=(
                "Your answer is True where a vector stays the same. Make it True where the shuffle changes the vector.",
                (_COMPARED, "difference.amax(dim=-1) <= 1e-4"),
            ),
            numbers=(
                "Your answer contains the numbers 1 and 0. Return booleans: use a comparison, or end with .bool().",
                ("return changed", "return changed.long()"),
            ),
        ),
        *slips(
            _noticed,
            paired=False,
            shuffled_back=(
                "Your answer applies the inverse order to the old outputs. Row i belongs to token order[i] of the old "
                "sentence, so index with `order`.",
                (_BEFORE, "model(x)[:, order.argsort()]"),
            ),
            sentences_shuffled=(
                "Your answer shuffles the sentences of the batch: x[order] indexes the first dimension. Shuffle along "
                "the second dimension, the tokens: x[:, order].",
                (_BEFORE, "model(x)[order]"),
                (_AFTER, "model(x[order])"),
            ),
            only_outputs_shuffled=(
                "Your answer never gives the model a shuffled sentence. Shuffle its input: model(x[:, order]).",
                (_AFTER, "model(x)[:, order]"),
            ),
            signs_cancel=(
                "Your answer sums a vector's signed differences, which can cancel, or takes their maximum, which "
                "misses negative ones. Take absolute values first: abs().",
                ("(after - before).abs()", "(after - before)"),
            ),
            first_component=(
                "Your answer compares only the first component of each vector. Compare all of them.",
                (_COMPARED, "difference[..., 0] > 1e-4"),
            ),
            every_component=(
                "Your answer requires every component of a vector to change. One is enough.",
                (_COMPARED, "difference.amin(dim=-1) > 1e-4"),
            ),
            old_order=(
                "Your answer is in the order of the old sentence. Entry i must belong to position i of the shuffled "
                "one.",
                ("return changed", "return changed[:, order.argsort()]"),
            ),
            one_for_all=(
                "Your answer has one entry per sentence. Return one entry per token: True if its vector changes.",
                ("return changed", "return changed.any(dim=1)"),
            ),
            places_moved=(
                "Your answer is True where a token moved, whatever the model does. Compare the tokens' vectors "
                "instead.",
                (_COMPARED, "(order != torch.arange(len(order))).expand(len(x), -1)"),
            ),
        ),
    ),
)
