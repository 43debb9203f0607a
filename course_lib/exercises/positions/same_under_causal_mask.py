"""Lesson 03, positions.same_under_causal_mask: Predict: shuffled under a mask."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import positions
from course_lib.exercises.common import hints, integer, predicted, slips
from course_lib.exercises.positions.shared import random_order
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Case, Exercise

CHASE = torch.tensor([0, 4, 2, 3, 1])
"""S3's pair: *the dog chased the cat* with dog and cat in each other's place."""


def _causal_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{B.name}: <s> Katze die tanzte", (torch.tensor([0, 2, 1, 3]),))
        yield Case("the dog chased the cat, dog and cat swapped", (CHASE,))
        yield Case("a token alone", (torch.arange(1),))
        yield Case("back to front", (torch.arange(5).flip(0),))
        yield Case("the last token comes to the front", (torch.tensor([5, 0, 1, 2, 3, 4]),))
    for name in ("some neighbors change positions", "shuffled in groups", "larger groups"):
        yield Case(name, (_grouped(generator, name, drawn=9 if hidden else 3),))
    tokens = integer(generator, 9, 14) if hidden else integer(generator, 6, 9)
    yield Case("all of them shuffled", (random_order(generator, tokens),))


def _grouped(generator: Generator, name: str, drawn: int) -> Tensor:
    """An order that moves tokens only within groups, some of one token, the first of several; `drawn` of any size."""
    largest = {"some neighbors change positions": 2, "shuffled in groups": 3}.get(name, 4)
    groups = [largest, 1, *(integer(generator, 1, largest + 1) for _ in range(drawn)), 1]
    order: list[int] = []
    for group in groups:
        shuffled = torch.randperm(group, generator=generator) if group != largest else torch.arange(group).roll(1)
        order += (shuffled + len(order)).tolist()
    return torch.tensor(order)


def _same(order: Tensor) -> Tensor:
    position = torch.arange(len(order))
    stays = order == position
    furthest = order.cummax(dim=0).values
    same = stays & (furthest == position)
    return same


_slips = partial(slips, _same)
_RULE = "stays & (furthest == position)"


def _same_by_sets(order: Tensor) -> Tensor:
    tokens = order.tolist()
    return torch.tensor([set(tokens[: i + 1]) == set(range(token + 1)) for i, token in enumerate(tokens)])


def _same_by_masks(order: Tensor) -> Tensor:
    """Return what a token may attend to, before and after, as rows of the causal mask by token."""
    before = torch.ones(len(order), len(order), dtype=torch.bool).tril()
    after = torch.zeros_like(before)
    after[order.unsqueeze(1), order] = before
    return (before == after).all(dim=1)[order]


EXERCISE = Exercise(
    id="positions.same_under_causal_mask",
    title="Predict: shuffled under a mask",
    statement=(
        "same_under_causal_mask(order int64 [tokens]) -> bool [tokens]: True where the token at this position of a "
        "shuffled sentence gets the same vector as before from one causally masked self-attention without positions; "
        "token i is token order[i] of the old sentence, and all tokens differ."
    ),
    points=2,
    minutes=12,
    difficulty=3,
    importance=3,
    section="Shuffling under a mask",
    source="S4, switching tokens; S2 and S4, the causal mask",
    reference=positions.same_under_causal_mask,
    cases=predicted(_causal_cases),
    correct=(_same, _same_by_sets, _same_by_masks),
    hints=hints(
        idea=(
            "The token at position i is token `order[i]`. It used to attend to tokens 0 to `order[i]`; now it attends "
            "to tokens `order[0]` to `order[i]`. A weighted sum doesn't depend on order, so compare the two groups as "
            "sets."
        ),
        outline=(
            "Sets of different sizes are never equal, so the token must have kept its position.\n"
            "The first i + 1 tokens are the same as before if and only if none of them comes from further back.\n"
            "`cummax` gives you the largest old position so far. Compare it, and `order` itself, with the positions.\n"
            "Both conditions must hold. (A loop that compares Python sets of `order.tolist()` works too.)",
            ("not_moved", "same_words_so_far", "all_or_none"),
        ),
    ),
    misconceptions=(
        *_slips(
            paired=False,
            nothing_changes=(
                "You predict that every token keeps its vector, as without a mask. But under a causal mask, a token "
                "attends only to itself and the tokens before it, and the shuffle can change which ones those are.",
                (_RULE, "order == order"),
            ),
            everything_changes=(
                "Your answer is False for every token. A token that attends to the same tokens as before keeps its "
                "vector, even if those tokens swapped places. If you compare sets, use order.tolist(), because sets "
                "of tensors are never equal.",
                (_RULE, "order != order"),
            ),
        ),
        *_slips(
            not_moved=(
                "You predict that a token keeps its vector if it keeps its position. But different tokens may now "
                "come before it.",
                (_RULE, "stays"),
            ),
            same_words_so_far=(
                "You predict True if the tokens up to this position are the same as before. But this token may have "
                "been elsewhere among them, where it attended to fewer or more tokens.",
                (_RULE, "furthest == position"),
            ),
            order_before_it_counts=(
                "You predict that a token keeps its vector only if all tokens before it kept their positions. But "
                "attention sums over them, so what matters is which tokens they are, not their order.",
                (_RULE, "stays.cumprod(dim=0).bool()"),
            ),
            nothing_new_is_harmless=(
                "You predict that a token keeps its vector if no new token comes before it. But it may have lost old "
                "ones: it must attend to exactly the same tokens as before.",
                (_RULE, "furthest == order"),
            ),
            first_word_only=(
                "You predict that only the first position keeps its vector. But a different token may be there now, "
                "and later tokens keep their vectors if they attend to exactly the same tokens as before.",
                (_RULE, "position == 0"),
            ),
            inverted=(
                "Your prediction is inverted. Make it True where the vector stays the same.",
                ("return same", "return ~same"),
            ),
            numbers=(
                "Your prediction contains the numbers 1 and 0. Return booleans: use a comparison, or end with .bool().",
                ("return same", "return same.long()"),
            ),
            moved_forward_is_harmless=(
                "You predict that a token keeps its vector if it kept its position or moved toward the front. But a "
                "token that moves forward attends to fewer tokens, and one that stays may have different tokens before "
                "it.",
                (_RULE, "order >= position"),
            ),
            nothing_lost_is_harmless=(
                "You predict that a token keeps its vector if it lost none of the tokens that it attended to. But it "
                "may have gained new ones: it must attend to exactly the same tokens as before.",
                (_RULE, "(order <= order.unsqueeze(-1)).tril().sum(dim=1) > order"),
            ),
            words_before_alone=(
                "You predict True if the tokens before this position are the same as in the old sentence. But the "
                "token at this position may be a different one, which attended to fewer or more tokens at its old "
                "position.",
                (_RULE, "torch.nn.functional.pad(furthest[:-1] + 1, (1, 0)) == position"),
            ),
            all_or_none=(
                "You predict one value for the whole sentence: True if no token moves, otherwise False. Decide for "
                "each token whether it attends to exactly the same tokens as before.",
                (_RULE, "stays.all().expand(len(order))"),
            ),
        ),
    ),
)
