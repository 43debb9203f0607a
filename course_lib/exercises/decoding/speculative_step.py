"""Lesson 06, decoding.speculative_step: A small model runs ahead."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import decoding

ALL_KEPT = "all kept"


def _step_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        draft = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]])
        target = torch.tensor([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.2, 0.2, 0.6]])
        for name, chances, part in (("the second is dropped", 0.6, CORE), ("both are kept", 0.4, ALL_KEPT)):
            yield Case(
                f"worked example: {name}",
                (torch.tensor([0, 1]), draft, target, torch.tensor([0.9, chances])),
                part=part,
            )
    for kept, drafted in ((0, 1), (0, 4), (1, 4), (2, 5), (3, 4)):
        yield _drawn(f"{kept} of {drafted} kept", generator, kept, drafted)
    yield _drawn("double precision", generator, 1, 3, torch.float64)
    yield _greedy(generator)
    for drafted in (1, 3, 5):
        yield _drawn(f"all {drafted} kept", generator, drafted, drafted)


def _drawn(name: str, generator: Generator, kept: int, drafted: int, dtype: torch.dtype = torch.float32) -> Case:
    """A draft of which so many tokens are kept; of those, some are more probable to the target model, some less."""
    vocab_size = integer(generator, 6, 9)
    while True:
        draft, target = (
            torch.softmax(1.5 * torch.randn(rows, vocab_size, generator=generator, dtype=dtype), dim=-1)
            for rows in (drafted, drafted + 1)
        )
        tokens = torch.multinomial(draft, 1, generator=generator).squeeze(1)
        chances = torch.rand(drafted, generator=generator, dtype=dtype)
        given = (tokens, draft, target, chances)
        ratios = (target[:drafted] / draft).gather(1, tokens.unsqueeze(1)).squeeze(1)
        clear = bool(((chances - ratios).abs() > 0.02).all()) and (kept == drafted or chances[kept] < 0.95)
        later = kept + 1 >= drafted or bool(chances[-1] < ratios[-1])  # a token after the dropped one would be kept
        if clear and later and decoding.speculative_step(*given)[0] == kept:
            return Case(name, given, part=ALL_KEPT if kept == drafted else CORE)


def _greedy(generator: Generator) -> Case:
    """Two models that are sure of every token, and agree on the first two."""
    tokens = torch.randperm(7, generator=generator)[:4]
    sure = torch.eye(7)
    target = sure[torch.cat([tokens[:2], tokens[:3]])]
    return Case(
        "two models that are sure of each token", (tokens, sure[tokens], target, torch.rand(4, generator=generator))
    )


_Kept = tuple[int, Tensor]


def _one_by_one(drafted: Tensor, draft: Tensor, target: Tensor, chances: Tensor) -> _Kept:
    kept = 0
    while kept < len(drafted):
        p, q, token = target[kept], draft[kept], drafted[kept]
        if chances[kept] >= p[token] / q[token]:
            rest = torch.clamp(p - q, min=0)
            return kept, rest / rest.sum()
        kept += 1
    return kept, target[kept]


def _all_at_once(drafted: Tensor, draft: Tensor, target: Tensor, chances: Tensor) -> _Kept:
    column = drafted.unsqueeze(1)
    accepted = chances * draft.gather(1, column).squeeze(1) < target[:-1].gather(1, column).squeeze(1)
    kept = int(accepted.long().cumprod(dim=0).sum())
    if kept == len(drafted):
        return kept, target[-1]
    rest = torch.relu(target[kept] - draft[kept])
    return kept, torch.nn.functional.normalize(rest, p=1.0, dim=0)


def _padded(drafted: Tensor, draft: Tensor, target: Tensor, chances: Tensor) -> _Kept:
    kept = 0
    for token, p, q, chance in zip(drafted.tolist(), target, draft, chances.tolist(), strict=False):
        if chance > min(1.0, (p[token] / q[token]).item()):
            break
        kept += 1
    draft = torch.cat([draft, torch.zeros_like(draft[:1])])  # after the draft there is nothing to take away
    rest = torch.where(target[kept] > draft[kept], target[kept] - draft[kept], 0.0)
    return kept, rest / rest.sum()


_slip = edits_of(_one_by_one)
_TEST, _REST, _DROPPED = (
    "chances[kept] >= p[token] / q[token]",
    "torch.clamp(p - q, min=0)",
    "return kept, rest / rest.sum()",
)

EXERCISE = Exercise(
    id="decoding.speculative_step",
    title="A small model runs ahead",
    statement=(
        "speculative_step(drafted int64 [drafted], draft [drafted, vocab_size], target [drafted + 1, vocab_size], "
        "chances [drafted]) -> (kept, an int; the distribution [vocab_size] of the next token): keep drafted tokens "
        "while chance < p / q. At the first that fails, draw the next token from max(0, p - q), divided by its sum."
    ),
    minutes=20,
    difficulty=4,
    importance=4,
    section="A small model runs ahead",
    source="Leviathan et al. (2023), algorithm 1",
    reference=decoding.speculative_step,
    cases=_step_cases,
    parts={CORE: 3, ALL_KEPT: 1},
    correct=(_one_by_one, _all_at_once, _padded),
    hints=hints(
        idea=(
            "Go through the draft from left to right. Keep a token that the target model finds at least as probable "
            "as the draft model does; keep any other with probability p / q. Stop at the first token you drop.",
            ("goes_on", "ratio_inverted", "more_probable_only", "chance_against_p"),
        ),
        shapes=(
            "Row i of `draft` and row i of `target` belong to drafted token i. `target` has one more row, for the "
            "token that follows if you keep the whole draft. The probability mass that the draft model lacks is "
            "`[vocab_size]`, with 0 for every token that the draft model finds at least as probable.",
            ("row_before_the_last", "drawn_from_the_target", "not_normalised", "size_of_the_difference"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer is right, except when you keep the whole draft. Then draw the next token from the last row "
            "of `target`.",
            row_before_the_last=_slip(("return kept, target[kept]", "return kept, target[kept - 1]")),
            alone=True,
        ),
        *mistake(
            "Your answer draws from the target model's own distribution after a dropped token. Tokens that the draft "
            "model favors would come up too often: draw from max(0, p - q), divided by its sum.",
            drawn_from_the_target=_slip((_REST, "p")),
        ),
        *mistake(
            "Your distribution after a dropped token does not sum to 1. Divide max(0, p - q) by its sum.",
            not_normalised=_slip((_DROPPED, "return kept, rest")),
        ),
        *mistake(
            "Your answer draws from the wrong difference after a dropped token. Use max(0, p - q), divided by its sum.",
            size_of_the_difference=_slip((_REST, "(p - q).abs()")),
            difference_inverted=_slip((_REST, "torch.clamp(q - p, min=0)")),
        ),
        *mistake(
            "Your answer compares the chance with the wrong number. Keep a token while chance < p / q.",
            ratio_inverted=_slip((_TEST, "chances[kept] >= q[token] / p[token]")),
            chance_against_p=_slip((_TEST, "chances[kept] >= p[token]")),
        ),
        *mistake(
            "Your answer keeps a token only where p >= q, and ignores the chances. Where p < q, keep it with "
            "probability p / q.",
            more_probable_only=_slip((_TEST, "p[token] < q[token]")),
        ),
        *mistake(
            "Your answer also counts tokens after a dropped one. They continue a text that no longer exists: stop at "
            "the first dropped token.",
            goes_on=lambda drafted, draft, target, chances: (
                int((chances * draft[range(len(drafted)), drafted] < target[range(len(drafted)), drafted]).sum()),
                _one_by_one(drafted, draft, target, chances)[1],
            ),
        ),
        *mistake(
            "Your answer counts the dropped token. Count only the tokens before it.",
            dropped_one_counted=_slip((_DROPPED, "return kept + 1, rest / rest.sum()")),
        ),
    ),
)
