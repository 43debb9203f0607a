"""Lesson 02, masking.combined_mask: Both at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import SMALLEST, sizes
from course_lib.exercises.masking.shared import LESSON, WITHHELD, batch_sizes, random_padding, wrong_dtypes
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception


def _combined_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            f"{B.name} beside a sentence of 3 tokens", (B.mask, torch.tensor([[True] * 4, [True] * 3 + [False]]))
        )
    batch, length = batch_sizes(generator, hidden)
    yield Case("a batch", (masking.causal_mask(length), random_padding(generator, batch, length)))
    if not hidden:  # other truth values of the same sizes as in the worked example
        batch, length = 2, 4
    yield Case(
        "padding in front of the tokens",
        (masking.causal_mask(length), random_padding(generator, batch, length).flip(1)),
    )
    queries, further, batch = sizes(generator, 3)
    later = torch.ones(queries, queries + further, dtype=torch.bool).tril(diagonal=further)
    yield Case("fewer queries than keys", (later, random_padding(generator, batch, queries + further)))
    yield Case(SMALLEST, (masking.causal_mask(1), torch.ones(1, 1, dtype=torch.bool)))
    yield Case("a batch of one", (masking.causal_mask(length), random_padding(generator, 2, length)[:1]))


def _both(causal: Tensor, padding: Tensor) -> Tensor:
    keys = padding.unsqueeze(-2)
    mask = causal & keys
    return mask


_slip = partial(Edited, _both)
_TOGETHER = "causal & keys"


def _combined_by_loop(causal: Tensor, padding: Tensor) -> Tensor:
    return torch.stack([torch.stack([row & tokens for row in causal]) for tokens in padding])


CORRECT = (
    _both,
    _combined_by_loop,
    lambda causal, padding: torch.einsum("qk,bk->bqk", causal.float(), padding.float()).bool(),
)


EXERCISE = Exercise(
    id="masking.combined_mask",
    lesson=LESSON,
    name="combined_mask",
    title="Both at once",
    statement=(
        "combined_mask(causal bool [queries, keys], padding bool [batch, keys]) -> bool [batch, queries, keys]: True "
        "where a key is neither in the query's future nor padding."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=4,
    section="Padding",
    source="S4, masks for a batch; S2, masked self-attention",
    reference=masking.combined_mask,
    cases=_combined_cases,
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "A query may see a key if both masks allow it. Padding is a matter of keys: nobody may look at padding, "
            "whoever asks.",
        ),
        Hint(
            "shapes",
            "Padding has to stay in the last dimension: `[batch, 1, keys]`. With the 1 at the end you would forbid "
            "padding to ask, and let everybody look at it. Combined with `[queries, keys]`, broadcasting gives "
            "`[batch, queries, keys]`.",
            answers=(
                "padding_of_the_queries",
                "padding_of_both",
                "batch_in_the_middle",
                "first_sequence_for_all",
                "heads_as_well",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "either_is_enough",
            "Your mask allows a key that satisfies either rule. It must satisfy both: & rather than |.",
            _slip((_TOGETHER, "causal | keys")),
        ),
        Misconception(
            "padding_of_the_queries",
            "Your mask applies the padding to the queries (rows). It says which keys may be attended to, so it "
            "belongs to the columns: padding.unsqueeze(-2), or padding[:, None, :].",
            _slip(("unsqueeze(-2)", "unsqueeze(-1)")),
        ),
        Misconception(
            "padding_of_both",
            "Your mask applies the padding to the queries as well as to the keys, which leaves the rows of padding "
            "without any key. Forbid only the keys: what a padding query returns is never used.",
            _slip(("unsqueeze(-2)", "unsqueeze(-2) & padding.unsqueeze(-1)")),
        ),
        Misconception(
            "only_causal",
            "Your mask follows only the causal rule, and still allows padding. Forbid that too.",
            _slip((_TOGETHER, "causal.expand(len(keys), *causal.shape)")),
        ),
        Misconception(
            "only_padding",
            "Your mask forbids only padding, and still allows the future. Apply the causal rule too.",
            _slip((_TOGETHER, "keys.expand(-1, len(causal), -1)")),
        ),
        Misconception(
            "padding_allowed",
            "Your mask allows the padding and forbids the tokens. `padding` is True at the tokens, just as every mask "
            "in this course is True where a query may attend: leave out the ~.",
            _slip(("= padding", "= ~padding")),
        ),
        Misconception(
            "batch_in_the_middle",
            "Your mask is [queries, batch, keys]. The batch comes first: put the new dimension into padding, not into "
            "causal.",
            _slip(("return mask", "return mask.transpose(0, 1)")),
        ),
        Misconception(
            "first_sequence_for_all",
            "Your mask uses the first sequence's padding for the whole batch. Each sequence has a row of its own.",
            _slip(("padding.unsqueeze", "padding[:1].expand_as(padding).unsqueeze")),
        ),
        Misconception(
            "inverted",
            "Your mask is True where attention is forbidden. In this course True means `may attend`, in both masks "
            "that come in and in the one that goes out.",
            _slip((_TOGETHER, "~(causal & keys)")),
        ),
        *wrong_dtypes(_both),
        Misconception(
            "exactly_one",
            "Your mask allows a key that satisfies one of the two rules but not the other (^). It must satisfy both: "
            "&.",
            _slip((_TOGETHER, "causal ^ keys")),
        ),
        Misconception(
            "causal_turned",
            "Your mask uses the causal one transposed, [key, query] as on slide S3: it allows the future. Its rows "
            "are already queries: use it as it comes.",
            _slip(("causal &", "causal.mT &")),
        ),
        Misconception(
            "both_inverted",
            "Your answer inverts both masks before it combines them. True means `may attend` in each of them: combine "
            "them as they are.",
            _slip((_TOGETHER, "~causal & ~keys"), paired=False),
        ),
        Misconception(
            "heads_as_well",
            "Your mask has a dimension of size 1 for heads, [batch, 1, queries, keys]. Here it is [batch, queries, "
            "keys].",
            _slip(("return mask", "return mask.unsqueeze(1)")),
        ),
    ),
    withheld=WITHHELD,
)
