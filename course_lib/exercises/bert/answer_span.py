"""Lesson 09, bert.answer_span: The best span."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, edits_of, hints, integer, mistake
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.objectives import heads


def _span_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        first = [2.0, 1.0, 0.0, 2.5, 1.0, -1.0]
        last = [0.0, 3.0, 0.2, 0.5, 2.4, -1.0]
        yield Case("worked example: the cat chased the mouse .", (torch.tensor([[first, last]]),))
        yield Case("worked example: one token at most", (torch.tensor([[first, last]]), 1), part="limited length")
    for dtype in (torch.float32, torch.float64):
        batch, tokens = integer(generator, 6, 9), integer(generator, 7, 11)
        drawn = 2 * torch.randn(batch, 2, tokens, generator=generator, dtype=dtype)
        if dtype == torch.float64:  # the first text's best two spans are so close that float32 calls it a tie
            drawn[0, 0, 1], drawn[0, 0, 4], drawn[0, 1, 5] = 12.0, 12.0 + 1e-8, 12.0
        yield Case(f"a batch, {str(dtype).removeprefix('torch.')}", (drawn,))
    yield Case("all scores negative", (-8 - torch.randn(batch, 2, tokens, generator=generator).abs(),))
    batch, tokens = integer(generator, 6, 9), integer(generator, 8, 11)
    padded = 3 * torch.randn(batch, 2, tokens, generator=generator)
    padded[0, :, 5:], padded[1, :, 3:] = -math.inf, -math.inf
    yield Case("with padding of -inf", (padded,))
    backwards = 0.1 * torch.randn(2, 2, tokens, generator=generator)
    backwards[:, 0, -2], backwards[:, 1, 1] = 9.0, 8.0
    yield Case("the best end comes before the best beginning", (backwards,))
    yield Case("texts of a single token", (torch.randn(3, 2, 1, generator=generator),))
    for most in (1, 2, 4, 20):
        drawn = 2 * torch.randn(batch, 2, tokens, generator=generator)
        yield Case(f"at most {most} token{'s' * (most > 1)}", (drawn, most), part="limited length")


def _spans_in_a_table(logits: Tensor, max_tokens: int | None = None) -> Tensor:
    tokens = logits.shape[2]
    first, last = logits.unbind(dim=1)
    table = first.unsqueeze(2) + last.unsqueeze(1)
    possible = torch.ones_like(table, dtype=torch.bool).triu()
    if max_tokens is not None:
        possible = possible.tril(max_tokens - 1)
    scores = table.masked_fill(~possible, -math.inf).flatten(1)
    best = scores.argmax(dim=1)
    return torch.stack([best // tokens, best % tokens], dim=1)


_slip = edits_of(_spans_in_a_table)
_SUMS, _BEST, _TOLD = "first.unsqueeze(2) + last.unsqueeze(1)", "scores.argmax(dim=1)", "best // tokens, best % tokens"


def _first_then_last(logits: Tensor, max_tokens: int | None = None) -> Tensor:
    first = logits[:, 0].argmax(dim=1)
    positions = torch.arange(logits.shape[2])
    possible = positions >= first.unsqueeze(1)
    if max_tokens is not None:
        possible &= positions < first.unsqueeze(1) + max_tokens
    return torch.stack([first, logits[:, 1].masked_fill(~possible, -math.inf).argmax(dim=1)], dim=1)


def _spans_by_loop(logits: Tensor, max_tokens: int | None = None) -> Tensor:
    tokens = logits.shape[2]
    found = []
    for first, last in logits:
        possible = [(i, j) for i in range(tokens) for j in range(i, min(i + (max_tokens or tokens), tokens))]
        found.append(max(possible, key=lambda span: float(first[span[0]] + last[span[1]])))
    return torch.tensor(found)


def _spans_of_probabilities(logits: Tensor, max_tokens: int | None = None) -> Tensor:
    p = logits.double().softmax(dim=-1)
    table = torch.einsum("bi,bj->bij", p[:, 0], p[:, 1]).triu().tril((max_tokens or p.shape[2]) - 1)
    by_first, last = table.max(dim=2)
    first = by_first.argmax(dim=1, keepdim=True)
    return torch.cat([first, last.gather(1, first)], dim=1)


EXERCISE = Exercise(
    id="bert.answer_span",
    title="The best span",
    statement=(
        "best_spans(logits [batch, 2, tokens], max_tokens=None) -> int [batch, 2]: the positions first <= last with "
        "the largest sum of scores, logits[:, 0, first] + logits[:, 1, last]. If max_tokens is given, a span has at "
        "most that many tokens. The largest sum is finite and unique."
    ),
    minutes=18,
    difficulty=4,
    importance=4,
    section="A span of the text",
    source="S1, question answering; Devlin et al. (2019), section 4.2",
    reference=heads.best_spans,
    cases=and_turned_around(_span_cases),
    parts={CORE: 3, "limited length": 1},
    correct=(_spans_in_a_table, _spans_by_loop, _spans_of_probabilities),
    steps=("scores", "possible"),
    hints=hints(
        idea=(
            "The best beginning and the best end may belong to different answers, or come in the wrong order. Score "
            "all pairs at once, and mask those that are not spans."
        ),
        shapes=(
            "Broadcast beginnings as `[batch, tokens, 1]` and ends as `[batch, 1, tokens]` to get a table of all "
            "sums, `[batch, tokens, tokens]`. The valid spans are its upper triangle, with the diagonal. A limit on "
            "the length cuts off a corner of the table: use the argument `diagonal` of `triu` and `tril`.",
            ("lower_triangle", "one_word_excluded", "one_word_too_many", "limit_ignored", "cut_off"),
        ),
        outline=(
            "Split the logits into beginnings and ends, and add them as a table.\n"
            "Make a boolean table of the valid spans: the upper triangle, and with `max_tokens` only a band of it.\n"
            "Fill the rest with minus infinity, because sums may be negative.\n"
            "Take the `argmax` of each flattened table: it equals the row times the number of tokens, plus the "
            "column.\n"
            "Integer division gives you the row, and the remainder gives you the column.",
            (
                "each_by_itself",
                "sorted_afterwards",
                "impossible_spans_at_zero",
                "triangle_multiplied",
                "one_for_the_batch",
                "end_behind_the_span",
            ),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer doesn't choose the beginning and the end together. Another pair may have a larger sum: "
            "compare all pairs with first <= last.",
            each_by_itself=lambda logits, max_tokens=None: logits.argmax(dim=2),
            sorted_afterwards=lambda logits, max_tokens=None: logits.argmax(dim=2).sort(dim=1).values,
            beginning_first=_first_then_last,
        ),
        *mistake(
            "Your answer returns 0, 0 where all sums are negative, because it looks for a sum above 0. Start the best "
            "sum at -inf.",
            search_from_zero=_slip((_BEST, f"{_BEST} * (scores.amax(dim=1) > 0)"), paired=False),
        ),
        *mistake(
            "Your answer returns the best span of the whole batch for every text. Flatten each text's table "
            "separately, .flatten(1), and take argmax(dim=1).",
            one_for_the_batch=_slip(
                (_BEST, "scores[scores.amax(dim=1).argmax()].argmax().expand(len(logits))"), paired=False
            ),
        ),
        *mistake(
            "Your answer allows the wrong spans. With beginnings as rows and ends as columns, keep the upper "
            "triangle, triu, with its diagonal: first and last may be the same token.",
            lower_triangle=_slip(("~possible", "~possible.mT"), paired=False),
            one_word_excluded=_slip(("triu()", "triu(1)")),
        ),
        *mistake(
            "Your answer lets invalid spans win where all sums are negative, because it sets them to 0 or another "
            "number that is too large. Fill them with -inf.",
            impossible_spans_at_zero=_slip(("-math.inf", "0.0")),
            triangle_multiplied=_slip(("table.masked_fill(~possible, -math.inf)", "(table * possible)")),
        ),
        *mistake(
            "Your answer doesn't combine the two scores correctly. The scores are logarithms up to a constant, so "
            "adding them multiplies the probabilities.",
            multiplied=_slip((_SUMS, "first.unsqueeze(2) * last.unsqueeze(1)")),
            sum_of_probabilities=_slip((_SUMS, "first.softmax(1).unsqueeze(2) + last.softmax(1).unsqueeze(1)")),
        ),
        *mistake(
            "Your answer returns the last position first. Return the first position, then the last.",
            last_and_first=_slip((_TOLD, "best % tokens, best // tokens")),
        ),
        *mistake(
            "Your answer returns the position after the span, as in a Python slice. Return the position of the last "
            "token.",
            end_behind_the_span=_slip((_TOLD, f"{_TOLD} + 1")),
        ),
        *mistake(
            "Your answer doesn't apply max_tokens correctly. Search all spans with last - first + 1 <= max_tokens, "
            "and only those.",
            limit_ignored=_slip(("max_tokens is not None", "False")),
            one_word_too_many=_slip(("max_tokens - 1", "max_tokens")),
            first_words_only=_slip(("tokens = ", "logits = logits[:, :, :max_tokens]\n    tokens = "), paired=False),
            cut_off=_slip(
                ("max_tokens is not None", "False"),
                (_TOLD, "best // tokens, (best % tokens).minimum(best // tokens + (max_tokens or tokens) - 1)"),
                paired=False,
            ),
        ),
    ),
)
