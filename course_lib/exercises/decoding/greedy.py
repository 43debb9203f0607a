"""Lesson 06, decoding.greedy: Greedy decoding."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.exercises.decoding.shared import (
    END,
    START,
    TREE,
    Lesson,
    Step,
    draw_model,
    ids_written_into_the_code,
    step_callback,
)
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.recorded.stand_ins import NextWord
from course_lib.references import decoding

LIMIT = "the limit"
"""The part of `greedy` where the model does not write <e> in time."""


def _greedy_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(TREE, (step_callback(Lesson()), START, END, 8))

    def suits(model: NextWord) -> bool:
        found = decoding.greedy(model, start, end, longest).tolist()
        in_time = 3 <= len(found) < longest and found[-1] == end and len(set(found)) > 2
        return in_time and (start in found or not name.startswith("a model"))

    for name, start, end, dtype, offset in (
        ("a model that looks at all the tokens so far", START, END, torch.float32, 0.0),
        ("<s> and <e> have other ids", 6, 0, torch.float32, 0.0),
        ("large logits", START, END, torch.float32, 100.0),
        ("double precision", START, END, torch.float64, 0.0),
    ):
        vocab_size, longest = integer(generator, 7, 10), 12
        drawn = draw_model(generator, vocab_size, suits, offset=offset)
        model = replace(drawn, dtype=dtype)
        yield Case(name, (step_callback(model), start, end, longest))
        if not offset and dtype == torch.float32 and end == END:
            strict = replace(model, last=END)
            yield Case("a model that must not be asked after <e>", (step_callback(strict), start, end, longest))
    vocab_size, longest = integer(generator, 5, 9), integer(generator, 5, 9)
    endless = draw_model(generator, vocab_size, lambda _model: True, never=END)
    yield Case("a model that never writes <e>", (step_callback(endless), START, END, longest), part=LIMIT)
    yield Case("two tokens at most", (step_callback(endless), START, END, 2), part=LIMIT)
    yield Case("one token at most", (step_callback(endless), START, END, 1), part=LIMIT)


def _greedily(step: Step, start_id: int, end_id: int, max_new_tokens: int) -> Tensor:
    start, end = start_id, end_id
    tokens = [start]
    while len(tokens) <= max_new_tokens and tokens[-1] != end:
        logits = step(torch.tensor(tokens))
        tokens.append(int(logits.argmax()))
    return torch.tensor(tokens[1:], dtype=torch.long)


_slip = edits_of(_greedily)


def _greedy_by_cat(step: Step, start_id: int, end_id: int, max_new_tokens: int) -> Tensor:
    tokens = torch.tensor([start_id])
    for _ in range(max_new_tokens):
        token = step(tokens).argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, token])
        if token == end_id:
            break
    return tokens[1:]


def _greedy_with_lists(step: Step, start_id: int, end_id: int, max_new_tokens: int) -> Tensor:
    tokens: list[int] = []
    for _ in range(max_new_tokens):
        scores = step([start_id, *tokens]).tolist()  # type: ignore[arg-type]  # a list does as well
        tokens.append(max(range(len(scores)), key=scores.__getitem__))
        if tokens[-1] == end_id:
            break
    return torch.tensor(tokens)


EXERCISE = Exercise(
    id="decoding.greedy",
    title="Greedy decoding",
    statement=(
        "greedy(step, start_id, end_id, max_new_tokens) -> int64 [new]: the most probable token at every step, until "
        "that is <e> or there are max_new_tokens tokens (at least 1). Return the new tokens without <s>, with <e> if "
        "produced."
    ),
    minutes=15,
    difficulty=2,
    importance=5,
    section="One word after the other",
    source="S2, generating outputs (greedy); S4, test time",
    reference=decoding.greedy,
    cases=_greedy_cases,
    parts={CORE: 2, LIMIT: 1},
    correct=(_greedily, _greedy_by_cat, _greedy_with_lists),
    hints=hints(
        idea=(
            "The largest logit has the largest probability, so you don't need a softmax to choose. Call the model "
            "again after every token, and pass it all tokens so far."
        ),
        outline=(
            "Start with a list that contains the start id.\n"
            "Continue while there are fewer than `max_new_tokens` new tokens and the last one is not the end id.\n"
            "Call `step` with the whole list as a tensor, and append the index of the largest logit.\n"
            "Return everything except the start id, as a tensor.",
            (
                "one_word_short",
                "one_word_more",
                "end_left_out",
                "goes_on_behind_the_end",
                "start_included",
                "only_the_last_word",
            ),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer starts with <s>, which the model did not write. Return the new tokens only.",
            start_included=_slip(("tokens[1:]", "tokens")),
        ),
        *mistake(
            "Your answer leaves out <e>. The model wrote it like any other token: append it, then stop.",
            end_left_out=_slip(("    return", "    tokens = [each for each in tokens if each != end]\n    return")),
        ),
        *mistake(
            "Your answer puts <e> at the end when max_new_tokens cuts a sentence off. The model did not write it: "
            "return the tokens as they are.",
            end_put_behind=_slip(
                ("tokens[1:]", "tokens[1:] if tokens[-1] == end else [*tokens[1:], end]"), paired=False
            ),
            end_put_last=_slip(("tokens[1:]", "[*tokens[1:-1], end]"), paired=False),
        ),
        *mistake(
            "Your answer continues after <e>, up to the limit. Stop as soon as the new token is end_id.",
            goes_on_behind_the_end=_slip((" and tokens[-1] != end", "")),
        ),
        *mistake(
            "Your answer shows the model only the last token at each step. Pass all tokens so far to step, <s> first.",
            only_the_last_word=_slip(("tensor(tokens)", "tensor(tokens[-1:])")),
        ),
        *mistake(
            "Your answer calls the model once and returns tokens in order of probability. Append only the best token, "
            "and call the model again with all tokens so far.",
            asked_once=_slip(
                ("step(torch.tensor(tokens))", "step(torch.tensor([start])).argsort(descending=True)"),
                ("logits.argmax()", "logits[len(tokens) - 1]"),
            ),
        ),
        *mistake(
            "Your limit is off by one. Allow max_new_tokens new tokens, not counting <s>.",
            one_word_short=_slip(("<= max_new_tokens", "< max_new_tokens")),
            one_word_more=_slip(("<= max_new_tokens", "<= max_new_tokens + 1")),
        ),
        *mistake(
            "Your answer never writes a token twice. Sentences do repeat tokens: take the most probable token every "
            "time.",
            none_twice=_slip(
                ("logits.argmax", "logits.index_fill(0, torch.tensor(tokens[1:], dtype=torch.long), -torch.inf).argmax")
            ),
        ),
        *mistake(
            "Your answer compares exp of the logits. For large logits, exp overflows to infinity, and different "
            "tokens look equal. Compare the logits themselves: their order is the same.",
            exp_overflows=_slip(("logits.argmax", "logits.exp().argmax")),
        ),
        *ids_written_into_the_code(_greedily),
    ),
)
