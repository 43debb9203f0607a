"""Lesson 07, gpt.count_parameters: Counting parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, nn

from course_lib.blocks import BlockConfig, EncoderBlock
from course_lib.exercises.common import integer
from course_lib.exercises.gpt.shared import LESSON, WITHHELD
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.references.gpt import gpt_parameters

GPT2_SIZES = {12: 768, 24: 1024, 36: 1280, 48: 1600}
"""The layers and d_model of GPT-2's four sizes (S3)."""


OWN_OUTPUT = "an output of its own"


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        for layers, d_model in GPT2_SIZES.items():
            first = "worked example, the smallest GPT-2" if layers == 12 else f"GPT-2 with {layers} layers"
            yield Case(first, (50_257, 1024, d_model, layers, True))
    vocab_size, context_length = integer(generator, 1000, 9000), integer(generator, 100, 900)
    yield Case(
        "another model", (vocab_size, context_length, integer(generator, 11, 99), integer(generator, 3, 9), True)
    )
    if hidden:
        vocab_size, context_length = integer(generator, 1000, 9000), integer(generator, 100, 900)
        yield Case("no blocks at all", (vocab_size, context_length, integer(generator, 11, 99), 0, True))
    else:
        yield Case("no blocks at all", (integer(generator, 50, 99), integer(generator, 5, 9), 12, 0, True))
    vocab_size, d_model = integer(generator, 1000, 9000), integer(generator, 11, 99)
    context_length = integer(generator, 100, 900) if hidden else 1024
    yield Case("an output of its own", (vocab_size, context_length, d_model, 4, False), part=OWN_OUTPUT)


def _count_part_by_part(vocab_size: int, context_length: int, d_model: int, layers: int, tied: bool) -> int:
    attention = 4 * d_model * d_model + 4 * d_model
    feed_forward = 8 * d_model * d_model + 5 * d_model
    norms, last_norm = 4 * d_model, 2 * d_model
    embedding, positions = vocab_size * d_model, context_length * d_model
    output = 0 if tied else embedding
    count = embedding + positions + layers * (attention + feed_forward + norms) + last_norm + output
    return count


_slip = partial(Edited, _count_part_by_part)
_GPT_1S_VOCABULARY = ("vocab_size * d_model", "40_478 * d_model")
_NO_BIASES = (("d_model + 4 * d_model", "d_model"), ("d_model + 5 * d_model", "d_model"))


def _count_a_model(vocab_size: int, context_length: int, d_model: int, layers: int, tied: bool) -> int:
    """By building the model, on a device that holds no numbers."""
    with torch.device("meta"):
        parts = [nn.Embedding(vocab_size, d_model), nn.Embedding(context_length, d_model), nn.LayerNorm(d_model)]
        config = BlockConfig(d_model, 1, 4 * d_model)
        parts += [EncoderBlock(config) for _ in range(layers)]
        parts += [] if tied else [nn.Linear(d_model, vocab_size, bias=False)]
    return sum(parameter.numel() for part in parts for parameter in part.parameters())


def _count_shapes(vocab_size: int, context_length: int, d_model: int, layers: int, tied: bool) -> int:
    wide = 4 * d_model
    block = [(d_model, 3 * d_model), (3 * d_model,), (d_model, d_model), (d_model,)]
    block += [(d_model, wide), (wide,), (wide, d_model), (d_model,)] + [(d_model,)] * 4
    shapes = [(vocab_size, d_model), (context_length, d_model), *(block * layers), (d_model,), (d_model,)]
    if not tied:
        shapes.append((d_model, vocab_size))
    return sum(math.prod(shape) for shape in shapes)


CORRECT = (_count_part_by_part, _count_a_model, _count_shapes)


EXERCISE = Exercise(
    id="gpt.count_parameters",
    lesson=LESSON,
    name="count_parameters",
    title="Counting parameters",
    statement=(
        "count_parameters(vocab_size, context_length, d_model, layers, tied) -> int: how many numbers a GPT-2 of these "
        "sizes learns, with feed-forward networks of width 4 d_model; `tied` says whether the output layer is the "
        "embedding."
    ),
    points=3,
    minutes=18,
    difficulty=3,
    importance=3,
    section="How large is GPT-2?",
    source="S3, GPT-2's four sizes; Radford et al. (2019), table 2",
    reference=gpt_parameters,
    cases=_count_cases,
    parts={CORE: 2, OWN_OUTPUT: 1},
    correct=CORRECT,
    steps=("attention", "feed_forward", "norm", "output"),
    hints=(
        Hint(
            "idea",
            "A linear layer from a to b dimensions learns a times b weights and b biases; a norm learns two numbers "
            "for each dimension. A block has six linear layers' worth and two norms. Positions are learned in GPT-2, "
            "and attention itself learns nothing.",
        ),
        Hint(
            "outline",
            "Attention: four layers from `d_model` to `d_model`.\n"
            "The feed-forward network: to four times `d_model`, and back.\n"
            "Two norms in each block, and one after the last block.\n"
            "Tables for tokens and for positions; another output matrix, without bias, only where it is not tied.\n"
            "Test: the smallest, tied, has about 124 million. If you are off, divide the difference by `d_model` and "
            "by `layers`: a vocabulary, a context or a 2 tells what is missing.",
            answers=(
                "no_final_norm",
                "no_biases",
                "no_positions",
                "output_counted_twice",
                "final_norm_in_every_block",
                "own_output_with_bias",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "always_tied",
            "Your answer is right for tied outputs. Where `tied` is False, the output layer has a matrix of its own, "
            "vocabulary times d_model (without a bias).",
            _slip(("0 if tied else embedding", "0")),
            alone=True,
        ),
        Misconception(
            "output_counted_twice",
            "Your answer counts the output layer although it is tied. It is the embedding, and the same numbers are "
            "learned only once: add it only where `tied` is False.",
            _slip(("0 if tied else embedding", "embedding")),
        ),
        Misconception(
            "no_embedding_if_tied",
            "Your answer leaves out the embedding where the output is tied to it. The two are one matrix, and that one "
            "is learned: count it once.",
            _slip(("0 if tied", "-embedding if tied")),
        ),
        Misconception(
            "as_printed",
            "Your answer is what slide S3 and the paper's table 2 print, 117M for the smallest. Those are GPT-2's "
            "blocks with the vocabulary of GPT-1, 40,478 tokens; count with the vocabulary that is given.",
            _slip(_GPT_1S_VOCABULARY, ("return count", "return round(count, -6)")),
        ),
        Misconception(
            "vocabulary_of_gpt_1",
            "Your answer counts 40,478 tokens, the vocabulary of GPT-1, as the table on slide S3 seems to do. Count "
            "with the vocabulary that is given.",
            _slip(_GPT_1S_VOCABULARY),
        ),
        Misconception(
            "vocabulary_of_gpt_2",
            "Your answer counts 50,257 tokens, whatever the vocabulary is. Count with the vocabulary that is given.",
            _slip(("vocab_size * d_model", "50_257 * d_model")),
        ),
        Misconception(
            "context_of_gpt_2",
            "Your answer counts 1024 positions, whatever the context is. Count with the context that is given.",
            _slip(("context_length * d_model", "1024 * d_model")),
        ),
        Misconception(
            "always_twelve_layers",
            "Your answer counts 12 blocks, which is what the smallest GPT-2 has. There are `layers` of them.",
            _slip(("layers * (", "12 * (")),
        ),
        Misconception(
            "one_block",
            "Your answer counts one block. There are `layers` of them, and each learns numbers of its own.",
            _slip(("layers * (", "(")),
        ),
        Misconception(
            "no_biases",
            "Your answer leaves out the biases. Each of the linear layers in a block has one: 4 d_model for attention, "
            "5 d_model for the feed-forward network.",
            _slip(*_NO_BIASES),
        ),
        Misconception(
            "d_model_short_in_a_block",
            "Your answer is d_model short in each block: one bias is missing. W_o has one like the other projections, "
            "and so have both layers of the feed-forward network.",
            _slip(("+ 4 *", "+ 3 *")),
            alone=True,
        ),
        Misconception(
            "three_d_model_short_in_a_block",
            "Your answer is 3 d_model short in each block. Each of the four projections has a bias of d_model; of the "
            "feed-forward network's two biases, the first has 4 d_model numbers: one for each output of its layer.",
            _slip(("+ 5 *", "+ 2 *")),
            alone=True,
        ),
        Misconception(
            "four_d_model_short_in_a_block",
            "Your answer is 4 d_model short in each block. The biases of attention's four projections have that many "
            "numbers, and so do the two layer norms: count both.",
            _slip(("norms, last_norm = 4 * d_model", "norms, last_norm = 0")),
            alone=True,
        ),
        Misconception(
            "no_biases_in_feed_forward",
            "Your answer leaves out the biases of the feed-forward network. Both layers have one: 4 d_model for the "
            "first, d_model for the second.",
            _slip(_NO_BIASES[1]),
        ),
        Misconception(
            "no_norms",
            "Your answer leaves out the layer norms: gamma and beta, 2 d_model each; two in every block and one at the "
            "end.",
            _slip(("4 * d_model, 2 * d_model", "0, 0")),
            alone=True,
        ),
        Misconception(
            "no_final_norm",
            "Your answer leaves out the final layer norm, after the last block: 2 d_model more.",
            _slip((", 2 * d_model", ", 0")),
        ),
        Misconception(
            "final_norm_in_every_block",
            "Your answer counts three layer norms in a block. There are two, plus a single one after the last block.",
            _slip(("4 * d_model, 2 * d_model", "6 * d_model, 0")),
        ),
        Misconception(
            "one_norm_in_a_block",
            "Your answer counts one layer norm in a block. There are two, one before attention and one before the "
            "feed-forward network.",
            _slip(("norms, last_norm = 4", "norms, last_norm = 2")),
        ),
        Misconception(
            "norms_without_beta",
            "Your answer counts d_model numbers for a layer norm. It has two for each dimension, gamma and beta.",
            _slip(("4 * d_model, 2 * d_model", "2 * d_model, d_model")),
        ),
        Misconception(
            "no_positions",
            "Your answer leaves out the positions. GPT-2 learns a vector for each of them: context times d_model.",
            _slip(("context_length * d_model", "0")),
        ),
        Misconception(
            "one_number_a_position",
            "Your answer counts one number for each position. A position has a vector of its own, of d_model numbers.",
            _slip(("context_length * d_model", "context_length")),
        ),
        Misconception(
            "positions_in_every_block",
            "Your answer counts the positions once for each block. They are added to the embeddings, once: context "
            "times d_model.",
            _slip(("context_length * d_model", "layers * context_length * d_model")),
        ),
        Misconception(
            "no_biases_and_no_norms",
            "Your answer is the matrices alone, 12 d_model² in each block and the embeddings: a good estimate. The "
            "exact number includes the biases and layer norms.",
            _slip(*_NO_BIASES, ("4 * d_model, 2 * d_model", "0, 0")),
        ),
        Misconception(
            "no_output_projection",
            "Your answer counts three projections in attention, for queries, keys and values. The fourth, W_o, joins "
            "the heads: another d_model² and its bias.",
            _slip(("4 * d_model * d_model + 4", "3 * d_model * d_model + 3")),
        ),
        Misconception(
            "one_layer_of_feed_forward",
            "Your answer counts one layer of the feed-forward network. There are two: up to 4 d_model, and down again.",
            _slip(("8 * d_model * d_model + 5", "4 * d_model * d_model + 4")),
        ),
        Misconception(
            "cross_attention_counted",
            "Your answer counts two attentions and three norms in a block, like those of a translating decoder. GPT "
            "has no cross-attention: one attention, two norms.",
            _slip(
                ("4 * d_model * d_model + 4", "8 * d_model * d_model + 8"),
                ("norms, last_norm = 4", "norms, last_norm = 6"),
            ),
        ),
        Misconception(
            "attention_weights_counted",
            "Your answer counts context times context numbers in each block. Attention's weights are computed afresh "
            "from every text, and never learned.",
            _slip(("return count", "return count + layers * context_length * context_length")),
        ),
        Misconception(
            "own_output_with_bias",
            "Your answer is right for tied outputs. Where `tied` is False it gives the output layer a bias, and "
            "GPT-2's has none.",
            _slip(("else embedding", "else embedding + vocab_size")),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
)
