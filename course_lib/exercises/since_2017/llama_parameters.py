"""Lesson 12, since_2017.llama_parameters: The parameters of Llama."""

from collections.abc import Iterator

import torch
from torch import Generator, nn

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import since_2017

TIED = "a tied output"


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: Llama 2 with 7B", (32_000, 4096, 32, 32, 32, 11_008, False))
        yield Case("Llama 3 with 8B", (128_256, 4096, 32, 32, 8, 14_336, False))
        yield Case("Llama 3.2 with 1B", (128_256, 2048, 16, 32, 8, 8192, True), part=TIED)
    for name in ("a small model", "another small model"):
        yield Case(name, (*_sizes(generator), False))
    yield Case("a small model with a tied output", (*_sizes(generator), True), part=TIED)
    vocab_size, d_model, _, heads, groups, d_ff = _sizes(generator)
    yield Case("no blocks at all", (vocab_size, d_model, 0, heads, groups, d_ff, False))


def _sizes(generator: Generator) -> tuple[int, ...]:
    groups, shared, d_head = integer(generator, 2, 5), integer(generator, 2, 5), 2 * integer(generator, 3, 30)
    heads = groups * shared
    d_ff = integer(generator, 100, 900)
    return integer(generator, 1000, 9000), heads * d_head, integer(generator, 3, 9), heads, groups, d_ff


def _by_parts(
    vocab_size: int, d_model: int, layers: int, heads: int, key_value_heads: int, d_ff: int, tied: bool
) -> int:
    narrow = d_model * key_value_heads * (d_model // heads)
    attention = 2 * d_model * d_model + 2 * narrow
    feed_forward = 3 * d_model * d_ff
    norms, last_norm = 2 * d_model, 1 * d_model
    tables = vocab_size * d_model * (1 if tied else 2)
    return tables + layers * (attention + feed_forward + norms) + last_norm


_slip = edits_of(_by_parts)
_TABLES, _GROUPS, _SQUARES = "1 if tied else 2", "key_value_heads * (d_model", "2 * d_model * d_model"


def _by_layers(
    vocab_size: int, d_model: int, layers: int, heads: int, key_value_heads: int, d_ff: int, tied: bool
) -> int:
    """By building the model, on a device that holds no numbers."""
    keys = d_model * key_value_heads // heads
    shapes = [(d_model, d_model), (d_model, keys), (d_model, keys), (d_model, d_model)]
    shapes += [(d_model, d_ff), (d_model, d_ff), (d_ff, d_model)]
    with torch.device("meta"):
        parts: list[nn.Module] = [nn.Embedding(vocab_size, d_model), nn.RMSNorm(d_model)]
        if not tied:
            parts.append(nn.Linear(d_model, vocab_size, bias=False))
        for _ in range(layers):
            parts += [nn.Linear(*shape, bias=False) for shape in shapes]
            parts += [nn.RMSNorm(d_model), nn.RMSNorm(d_model)]
        return sum(weight.numel() for part in parts for weight in part.parameters())


EXERCISE = Exercise(
    id="since_2017.llama_parameters",
    title="The parameters of Llama",
    statement=(
        "llama_parameters(vocab_size, d_model, layers, heads, key_value_heads, d_ff, tied) -> int: the number of "
        "parameters of a Llama of this size."
    ),
    minutes=15,
    difficulty=3,
    importance=3,
    section="Counting a Llama",
    source="Touvron et al. (2023), section 2.2, table 2",
    reference=since_2017.llama_parameters,
    cases=_count_cases,
    parts={CORE: 2, TIED: 1},
    correct=(
        _by_parts,
        _by_layers,
        lambda vocab_size, d_model, layers, heads, groups, d_ff, tied: (
            d_model
            * (vocab_size * (2 - tied) + 1 + layers * (2 * d_model + 2 * d_model * groups // heads + 3 * d_ff + 2))
        ),
    ),
    steps=("width", "block"),
    hints=hints(
        idea=(
            "Go through a block as you built it: four projections, two of them narrower; a feed-forward network with "
            "a gate; two norms with gains only. There are no biases, and rotary positions have no parameters."
        ),
        shapes=(
            "One head's key has `d_model / heads` numbers, and there are `key_value_heads` such heads. So `W_k` "
            "and `W_v` have `d_model` rows and fewer columns. `W_q` and `W_o` are square.",
            ("one_group",),
        ),
    ),
    misconceptions=(
        *slips(
            _by_parts,
            d_head_of_the_groups=(
                "Your answer gets the width of keys and values wrong: it divides d_model by key_value_heads. A head "
                "has d_model / heads numbers, and there are key_value_heads such heads.",
                (_GROUPS, "(heads // key_value_heads) * (d_model"),
            ),
            tied_the_wrong_way_round=(
                "Your answer counts the embedding twice if `tied` is True, and once if it is False. Tied means "
                "shared: count one matrix for both.",
                (_TABLES, "2 if tied else 1"),
            ),
            always_tied=(
                "Your answer counts one embedding matrix. If `tied` is False, the output has a matrix of its own, "
                "vocab_size times d_model.",
                (_TABLES, "1"),
            ),
            keys_in_full=(
                "Your answer gives keys and values as many heads as queries. They have only `key_value_heads` heads, "
                "so W_k and W_v are narrower.",
                (_GROUPS, "heads * (d_model"),
            ),
            one_group=(
                "Your answer counts only one head of keys and values. There are `key_value_heads` of them.",
                (_GROUPS, "(d_model"),
            ),
            no_output_projection=(
                "Your answer leaves out W_o, which combines the heads. Add d_model².",
                (_SQUARES, "d_model * d_model"),
            ),
            two_matrices=(
                "Your answer counts two matrices in the feed-forward network. With its gate there are three.",
                ("3 *", "2 *"),
            ),
            norms_shift=(
                "Your answer gives every norm a bias. RMSNorm has only gains: d_model numbers.",
                ("2 * d_model, 1 *", "4 * d_model, 2 *"),
            ),
            no_final_norm=(
                "Your answer leaves out the norm after the last block. Add d_model gains.",
                (", 1 *", ", 0 *"),
            ),
            one_norm_in_a_block=(
                "Your answer counts one norm per block. There are two: before attention, and before the feed-forward "
                "network.",
                ("last_norm = 2", "last_norm = 1"),
            ),
        ),
        *mistake(
            "Your answer counts only one block. There are `layers` of them.",
            one_layer=_slip(("layers * (", "("), paired=False),
        ),
        *mistake(
            "Your answer ignores `tied`. If it is True, the output matrix is the embedding: count it once.",
            output_twice=_slip((_TABLES, "2")),
            alone=True,
        ),
    ),
)
