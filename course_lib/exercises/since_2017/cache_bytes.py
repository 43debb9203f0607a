"""Lesson 12, since_2017.cache_bytes: The size of a cache."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator

from course_lib.exercises.common import integer
from course_lib.exercises.since_2017.shared import LESSON, WITHHELD
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.references import since_2017


def _cache_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: Llama 2 with 7B, 4,096 tokens in half precision", (32, 32, 128, 4096, 2))
        yield Case("Llama 3 with 8B, 8,192 tokens: 8 heads of keys for 32 of queries", (32, 8, 128, 8192, 2))
    for name, size in (("a small model", 4), ("another model", 2)):
        heads, d_head = integer(generator, 1, 40), integer(generator, 16, 200)
        yield Case(name, (integer(generator, 3, 90), heads, d_head, integer(generator, 100, 9000), size))
    yield Case("nothing read yet", (integer(generator, 3, 90), 4, integer(generator, 16, 200), 0, 2))


def _by_product(layers: int, key_value_heads: int, d_head: int, tokens: int, bytes_per_number: int) -> int:
    return 2 * layers * key_value_heads * d_head * tokens * bytes_per_number


_slip = partial(Edited, _by_product)


def _by_tensors(layers: int, key_value_heads: int, d_head: int, tokens: int, bytes_per_number: int) -> int:
    keys = torch.empty(layers, key_value_heads, tokens, d_head, device="meta")
    return (keys.numel() + torch.empty_like(keys).numel()) * bytes_per_number


def _by_token(layers: int, key_value_heads: int, d_head: int, tokens: int, bytes_per_number: int) -> int:
    return sum(2 * key_value_heads * d_head * bytes_per_number for _layer in range(layers)) * tokens


EXERCISE = Exercise(
    id="since_2017.cache_bytes",
    lesson=LESSON,
    name="cache_bytes",
    title="The size of a cache",
    statement=(
        "cache_bytes(layers, key_value_heads, d_head, tokens, bytes_per_number) -> int: how many bytes the keys and "
        "values of so many tokens take in all layers."
    ),
    points=1,
    minutes=5,
    difficulty=1,
    importance=4,
    section="What a cache holds",
    source="Shazeer (2019), section 2.4; Ainslie et al. (2023), section 2.2",
    reference=since_2017.cache_bytes,
    cases=_cache_cases,
    correct=(_by_product, _by_tensors, _by_token),
    hints=(
        Hint(
            "idea",
            "Each token leaves something behind in every layer and in every head. What are the two things that lesson "
            "06 kept of it?",
        ),
    ),
    misconceptions=(
        Misconception(
            "keys_alone",
            "Your answer counts the keys alone (or the values alone). A cache holds both.",
            _slip(("2 * ", "")),
        ),
        Misconception(
            "queries_kept",
            "Your answer keeps the queries, too. Only the newest token asks, so that old queries are of no use: two "
            "things are kept, not three.",
            _slip(("2 * ", "3 * ")),
        ),
        Misconception(
            "one_layer",
            "Your answer counts one layer. Each layer has its own keys and values.",
            _slip(("layers * ", "")),
        ),
        Misconception(
            "one_head",
            "Your answer counts one head. Multiply by `key_value_heads`.",
            _slip((" * key_value_heads", "")),
        ),
        Misconception(
            "every_pair_of_words",
            "Your answer grows with the square of the tokens: those are the scores, which are not kept. Each token has "
            "one key.",
            _slip((" * tokens", " * tokens * tokens")),
        ),
        Misconception(
            "numbers_for_bytes",
            "Your answer counts numbers. Each of them takes `bytes_per_number` bytes.",
            _slip((" * bytes_per_number", "")),
        ),
        Misconception(
            "bits",
            "Your answer counts bits: it is eight times too large.",
            _slip((" * bytes_per_number", " * 8 * bytes_per_number")),
        ),
    ),
    withheld=WITHHELD,
)
