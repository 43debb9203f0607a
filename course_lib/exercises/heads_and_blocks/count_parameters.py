"""Lesson 04, heads_and_blocks.count_parameters: Counting parameters."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, nn

from course_lib.exercises.common import hints, integer, mistake, sizes, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import heads_and_blocks


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the paper's base model, 512, 8, 2048", (512, 8, 2048))
        yield Case("one head, a narrow hidden layer", (6, 1, 5))
    for number in range(3):
        if hidden:
            heads, d_ff = integer(generator, 2, 60), integer(generator, 2, 25_000)
            d_head = integer(generator, 2, 1500 // heads)  # small enough to build the layer and count
        else:
            (heads, d_head), d_ff = sizes(generator, 2), integer(generator, 50, 90)
        yield Case(f"other sizes {number + 1}", (heads * d_head, heads, d_ff))


def _counted(d_model: int, heads: int, d_ff: int) -> dict[str, int]:
    d, f = d_model, d_ff
    matrix, bias = d * d, d
    attention = 0
    projections = 4 * (matrix + bias)
    feed_forward = 2 * d * f + f + d
    norms = 4 * d
    return {"attention": attention, "projections": projections, "feed_forward": feed_forward, "layer_norms": norms}


_slips = partial(slips, _counted)
_PROJECTIONS, _FEED_FORWARD = "4 * (matrix + bias)", "2 * d * f + f + d"


def _counted_on_a_module(d_model: int, heads: int, d_ff: int) -> dict[str, int]:
    def learned(module: nn.Module) -> int:
        return sum(parameter.numel() for parameter in module.parameters())

    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(d_model, heads, d_ff)
    return {
        "attention": 0,
        "projections": learned(layer.self_attn),
        "feed_forward": learned(layer.linear1) + learned(layer.linear2),
        "layer_norms": learned(layer.norm1) + learned(layer.norm2),
    }


def _counted_head_by_head(d_model: int, heads: int, d_ff: int) -> dict[str, int]:
    d_head = d_model // heads
    into_the_heads = sum(3 * (d_model * d_head + d_head) for _ in range(heads))
    out_of_them = sum(d_head * d_model for _ in range(heads)) + d_model
    return {
        "projections": into_the_heads + out_of_them,
        "feed_forward": 2 * d_model * d_ff + d_ff + d_model,
        "layer_norms": 4 * d_model,
        "attention": 0,
    }


EXERCISE = Exercise(
    id="heads_and_blocks.count_parameters",
    title="Counting parameters",
    statement=(
        "block_parameters(d_model, heads, d_ff) -> dict of int: how many parameters an encoder block has in its "
        '"attention", "projections", "feed_forward" and "layer_norms", including biases.'
    ),
    points=3,
    minutes=12,
    difficulty=3,
    importance=3,
    section="What it costs",
    source="S2, no parameters in attention; S1 and S4; Vaswani et al. (2017), section 3.2.2",
    reference=heads_and_blocks.block_parameters,
    cases=_count_cases,
    correct=(_counted, _counted_on_a_module, _counted_head_by_head),
    hints=hints(
        idea=(
            "Go through the constructor line by line and ask what each part learns. The softmax of the scores has "
            "nothing to learn, but the matrices around it do. The heads share these matrices and add no parameters."
        ),
        outline=(
            "A linear layer from a to b has a times b weights and b biases.\n"
            "Count four projections from `d_model` to `d_model`: for queries, keys, values and the output.\n"
            "Count the two layers of the feed-forward network, which have biases of different lengths.\n"
            "Count two norms, with a `gamma` and a `beta` each.\n"
            "Compare the total with the number of parameters of a real block.",
            ("no_biases", "three_projections", "equal_biases", "one_layer_norm", "one_layer_of_feed_forward"),
        ),
    ),
    misconceptions=(
        *_slips(
            one_projection_for_each_head=(
                "Your answer gives every head d_model × d_model weights. The heads share one such matrix: each gets "
                "d_model × d_head weights.",
                ("projections =", "projections = heads *"),
            ),
            three_projections=(
                "Your answer counts only W_q, W_k and W_v. Count W_o too, which mixes the heads.",
                ("4 * (", "3 * ("),
            ),
            no_biases=(
                "Your answer leaves out the biases of the linear layers. Count one bias for each output.",
                ("matrix + bias)", "matrix)"),
                (_FEED_FORWARD, "2 * d * f"),
            ),
            attention_has_some=(
                "Your answer counts parameters for attention. softmax(q kᵀ / √d_head) v has none: count 0.",
                ("attention = 0", "attention = 4 * (d * d + d)"),
            ),
            projections_as_attention=(
                "Your answer counts all projections as attention. Count 0 for attention, because softmax(q kᵀ / "
                "√d_head) v itself has no parameters.",
                ("attention = 0", "attention = 4 * (d * d + d)"),
                (_PROJECTIONS, "0"),
            ),
            only_w_o_as_projection=(
                "Your answer counts only W_o as a projection. Count W_q, W_k and W_v as projections too.",
                ("attention = 0", "attention = 3 * (d * d + d)"),
                (_PROJECTIONS, "matrix + bias"),
            ),
            four_times_d_model=(
                "Your answer uses 4 d_model as the hidden width. Use d_ff, which can be any number.",
                ("= d_model, d_ff", "= d_model, 4 * d_model"),
            ),
            one_layer_of_feed_forward=(
                "Your answer counts one layer of the feed-forward network. Count the second too: it maps back to "
                "d_model.",
                (_FEED_FORWARD, "d * f + f"),
            ),
            first_bias_left_out=(
                "Your answer leaves out the biases of the feed-forward network's first layer. Add d_ff of them.",
                ("+ f + d", "+ d"),
            ),
            second_bias_left_out=(
                "Your answer leaves out the biases of the feed-forward network's second layer. Add d_model of them.",
                ("+ f + d", "+ f"),
            ),
            one_layer_norm=(
                "Your answer counts one layer norm. A block has two, each with a gamma and a beta of d_model numbers.",
                ("norms = 4 * d", "norms = 2 * d"),
            ),
            two_numbers_a_norm=(
                "Your answer counts two numbers per layer norm. Gamma and beta have d_model numbers each.",
                ("norms = 4 * d", "norms = 4"),
            ),
            norms_have_none=(
                "Your answer counts no parameters for the layer norms. Count gamma and beta, which are learned.",
                ("norms = 4 * d", "norms = 0"),
            ),
            projections_of_one_head=(
                "Your answer counts the projections of one head. All heads together have d_model × d_model weights.",
                ("= d * d, d", "= d * (d // heads), d // heads"),
            ),
            no_biases_in_the_projections=(
                "Your answer leaves out the bias of one or more projections. Each of the four has d_model biases.",
                ("matrix + bias)", "matrix)"),
            ),
            equal_biases=(
                "Your answer gives both feed-forward layers the same number of biases. The first layer has d_ff "
                "biases, and the second has d_model.",
                ("+ f + d", "+ 2 * f"),
            ),
        ),
        *_slips(
            paired=False,  # along with other biases it is `no_biases`
            no_biases_in_the_feed_forward_network=(
                "Your answer leaves out the biases of the feed-forward network. Add d_ff for its first layer and "
                "d_model for its second.",
                (_FEED_FORWARD, "2 * d * f"),
            ),
        ),
        *mistake(
            "Your answer is the total. Return the four counts by name, in a dict.",
            total=lambda d_model, heads, d_ff: sum(heads_and_blocks.block_parameters(d_model, heads, d_ff).values()),
        ),
        *mistake(
            "Your answer doesn't name the four counts. Return them by name, in a dict.",
            without_names=lambda d_model, heads, d_ff: tuple(
                heads_and_blocks.block_parameters(d_model, heads, d_ff).values()
            ),
        ),
    ),
)
