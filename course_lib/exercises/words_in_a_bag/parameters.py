"""Lesson 00, words_in_a_bag.parameters: How many numbers it learns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from torch import Generator, nn

from course_lib import bags
from course_lib.exercises.common import integer
from course_lib.exercises.words_in_a_bag.shared import LESSON, WITHHELD
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception


def _parameter_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the slide's sizes, and BERT's 30,522 words", (30_522, 128, 128, 2))
        yield Case("another hidden_dim, which changes nothing", (30_522, 128, 999, 2))
    for number in range(1, 4):
        sizes_drawn = (
            integer(generator, 1000, 50_000),
            integer(generator, 20, 60),
            integer(generator, 61, 99),
            integer(generator, 3, 9),
        )
        yield Case(f"sizes {number}", sizes_drawn)


_slip = partial(Edited, bags.count_bag_parameters)


def _parameters_of_layers(vocab_size: int, d_model: int, hidden_dim: int, classes: int) -> int:
    layers = nn.ModuleList([nn.Embedding(vocab_size, d_model), nn.Linear(d_model, classes)])
    return sum(parameter.numel() for parameter in layers.parameters())


def _parameters_of_shapes(vocab_size: int, d_model: int, hidden_dim: int, classes: int) -> int:
    return sum(math.prod(shape) for shape in ((vocab_size, d_model), (classes, d_model), (classes,)))


EXERCISE = Exercise(
    id="words_in_a_bag.parameters",
    lesson=LESSON,
    name="count_parameters",
    title="How many numbers it learns",
    statement=(
        "count_parameters(vocab_size, d_model, hidden_dim, classes) -> int: how many numbers the slide's model learns, "
        "in its embedding and its output layer."
    ),
    points=1,
    minutes=5,
    difficulty=1,
    importance=2,
    section="What it costs",
    source="S3, a simple model: `hidden_dim` is never used",
    reference=bags.count_bag_parameters,
    cases=_parameter_cases,
    correct=(
        _parameters_of_layers,
        _parameters_of_shapes,
        lambda vocab_size, d_model, hidden_dim, classes: vocab_size * d_model + (d_model + 1) * classes,
    ),
    hints=(
        Hint(
            "idea",
            "The table has a row of numbers for each word. A linear layer has one weight for each pair of an input "
            "and an output, and one bias for each output. Are all four numbers needed?",
        ),
    ),
    misconceptions=(
        Misconception(
            "hidden_layer_counted",
            "Your answer counts a hidden layer. The slide's constructor is given a `hidden_dim`, but nothing uses it: "
            "there are only the embedding and one linear layer from d_model to the classes.",
            _slip(("d_model * classes", "d_model * hidden_dim + hidden_dim + hidden_dim * classes")),
        ),
        Misconception(
            "hidden_layer_without_its_bias",
            "Your answer counts a hidden layer, without a bias. The slide's constructor is given a `hidden_dim`, but "
            "nothing uses it: there are only the embedding and one linear layer from d_model to the classes.",
            _slip(("d_model * classes", "d_model * hidden_dim + hidden_dim * classes")),
        ),
        Misconception(
            "output_from_hidden_dim",
            "Your answer lets the linear layer read hidden_dim numbers. The slide's reads the mean of the embeddings, "
            "which has d_model.",
            _slip(("d_model * classes", "hidden_dim * classes")),
        ),
        Misconception(
            "output_from_the_vocabulary",
            "Your answer lets the linear layer read a number for each word of the vocabulary. It reads the mean of "
            "the embeddings, which has d_model.",
            _slip(("d_model * classes", "vocab_size * classes")),
        ),
        Misconception(
            "hidden_dim_in_the_table",
            "Your answer gives the embeddings hidden_dim numbers each. They have d_model; nothing uses hidden_dim.",
            _slip(("vocab_size * d_model", "vocab_size * hidden_dim")),
        ),
        Misconception(
            "bias_forgotten",
            "Your answer leaves out the linear layer's bias: one more number for each class.",
            _slip((" + classes", "")),
        ),
        Misconception(
            "one_bias",
            "Your answer gives the linear layer a single bias. It has one for each of its outputs, the classes.",
            _slip(("+ classes", "+ 1")),
        ),
        Misconception(
            "bias_for_each_component",
            "Your answer gives the linear layer a bias for each of its inputs. It has one for each of its outputs, "
            "the classes.",
            _slip(("+ classes", "+ d_model")),
        ),
        Misconception(
            "embedding_alone",
            "Your answer counts the embedding only. The linear layer has d_model weights and a bias for each class.",
            _slip((" + d_model * classes + classes", "")),
        ),
        Misconception(
            "output_layer_alone",
            "Your answer counts the linear layer only. The embedding has d_model numbers for each word, which is "
            "nearly everything.",
            _slip(("vocab_size * d_model + ", "")),
        ),
        Misconception(
            "one_row_more",
            "Your answer counts d_model numbers too many. The embedding has a row for each word of the vocabulary, no "
            "extra one for padding, and no bias.",
            _slip(("vocab_size * d_model", "(vocab_size + 1) * d_model"), paired=False),
        ),
    ),
    withheld=WITHHELD,
)
