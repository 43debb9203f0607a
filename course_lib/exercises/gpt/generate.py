"""Lesson 07, gpt.generate: Writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import alike, integer
from course_lib.exercises.gpt.shared import random_ids
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Callback, Case, Exercise, Hint, Misconception
from course_lib.judging.recorded.stand_ins import ByHeart, EveryWord
from course_lib.references import gpt

WORDS = ("I", "saw", "the", "dog", "running")
"""The vocabulary of S0's sentence."""


EXAMPLE_MODEL = Callback("model", ByHeart(len(WORDS)))
"""I saw the dog running, I saw the dog running, ..."""

LONG = "long texts"


def _generate_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the", (EXAMPLE_MODEL, torch.tensor([0, 1, 2]), 2, 8))
        yield Case("one token", (EXAMPLE_MODEL, torch.tensor([2]), 1, 8))
        yield Case("nothing to write", (EXAMPLE_MODEL, torch.tensor([3]), 0, 8))
    for name, tokens, max_new_tokens, context_length, sure, part in (
        ("a short prompt", 3, 6, 20, 1.0, CORE),
        ("a prompt of one token, and logits beyond 100", 1, 5, 6, 100.0, CORE),
        ("a text that outgrows the context", 3, 9, 5, 1.0, LONG),
        ("a prompt longer than the context", 9, 4, 4, 1.0, LONG),
    ):
        vocab_size = integer(generator, 40, 60)
        drawn = torch.randn(2 * vocab_size + context_length, vocab_size, generator=generator)
        own, so_far, position = drawn.split([vocab_size, vocab_size, context_length])
        model = Callback("model", EveryWord(own, so_far, position, sure))
        yield Case(name, (model, random_ids(generator, vocab_size, tokens), max_new_tokens, context_length), part=part)
    own, so_far, position = torch.randn(80 + 12, 40, generator=generator).split([40, 40, 12])
    position[3, 0] = 100.0  # after a prompt of two tokens the third new token is token 0, the lesson's full stop
    model = Callback("model", EveryWord(own, so_far, position))
    yield Case("token 0 in the middle", (model, 1 + random_ids(generator, 39, 2), 8, 12))


Model = Callable[[Tensor], Tensor]


def _writing_token_by_token(model: Model, prompt: Tensor, max_new_tokens: int, context_length: int) -> Tensor:
    ids = prompt
    for _ in range(max_new_tokens):
        logits = model(ids[-context_length:].unsqueeze(0))
        token = logits[0, -1].argmax().reshape(1)
        ids = torch.cat([ids, token])
    return ids


_slip = partial(Edited, _writing_token_by_token)
_READ, _ASKED, _TIMES, _RETURN = "ids[-context_length:]", "logits[0, -1]", "range(max_new_tokens)", "return ids"


def _writing_lists(model: Model, prompt: Tensor, max_new_tokens: int, context_length: int) -> Tensor:
    tokens = prompt.tolist()
    while len(tokens) < len(prompt) + max_new_tokens:
        logits = model(torch.tensor([tokens[-context_length:]]))
        tokens.append(int(logits[0, -1].argmax()))
    return torch.tensor(tokens)


def _writing_in_place(model: Model, prompt: Tensor, max_new_tokens: int, context_length: int) -> Tensor:
    text = torch.zeros(len(prompt) + max_new_tokens, dtype=torch.long)
    text[: len(prompt)] = prompt
    for end in range(len(prompt), len(text)):
        text[end] = model(text[None, max(0, end - context_length) : end])[:, -1].argmax(dim=-1)
    return text


CORRECT = (_writing_token_by_token, _writing_lists, _writing_in_place)


EXERCISE = Exercise(
    id="gpt.generate",
    name="generate",
    title="Writing",
    statement=(
        "generate(model, prompt int64 [tokens], max_new_tokens, context_length) -> int64 [tokens + max_new_tokens]: "
        "the prompt, followed by max_new_tokens tokens, each the most probable one. model(ids [batch, tokens]) gives "
        "logits [batch, tokens, vocab_size] and reads at most `context_length` tokens: the last ones."
    ),
    points=3,
    minutes=15,
    difficulty=3,
    importance=5,
    section="Let it write",
    source="S3, text generation; S2, greedy decoding",
    reference=gpt.generate,
    cases=_generate_cases,
    parts={CORE: 2, LONG: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "The model predicts a next token at every position, but you need only the prediction at the last one. "
            "Call it, append the most probable token, and call it again.",
        ),
        Hint(
            "shapes",
            "The model takes `[1, tokens]` and gives `[1, tokens, vocab_size]`; you need the row of the last "
            "position. A slice of the last `context_length` ids takes all of them if there are fewer. `torch.cat` "
            "needs one-dimensional tensors, so the new token must keep its dimension.",
            answers=(
                "batch_left_on",
                "first_position_asked",
                "position_before_the_last_asked",
                "all_positions_asked",
                "one_word_short_of_the_context",
                "one_word_beyond_the_context",
            ),
        ),
        Hint(
            "outline",
            "Start with the prompt.\n"
            "Repeat `max_new_tokens` times: take the last `context_length` ids, as a batch of one text.\n"
            "Take the logits of the last position, and the index of the largest.\n"
            "Append it to the whole text, not to the slice.",
            answers=(
                "text_cut_to_the_window",
                "window_cut_once",
                "one_reading",
                "prompt_left_out",
                "first_words_kept",
                "context_ignored",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "context_ignored",
            "Your answer is right while the text fits into the context. The model has no positions beyond it: pass "
            "only the last `context_length` tokens, ids[-context_length:].",
            _slip((_READ, "ids")),
            alone=True,
        ),
        Misconception(
            "first_words_kept",
            "Your answer passes the first `context_length` tokens of a long text. The next token depends on the last "
            "ones: ids[-context_length:].",
            _slip((_READ, "ids[:context_length]")),
        ),
        *alike(
            "Your window is off by one. Pass the model exactly the last `context_length` tokens: "
            "ids[-context_length:].",
            one_word_short_of_the_context=_slip((_READ, "ids[-(context_length - 1) :]")),
            one_word_beyond_the_context=_slip((_READ, "ids[-(context_length + 1) :]")),
        ),
        Misconception(
            "window_cut_once",
            "Your answer cuts the text once, before the loop, so it grows beyond the context. Cut at every step: "
            "ids[-context_length:].",
            _slip(
                ("ids = prompt", "ids = prompt[-context_length:]"),
                (_READ, "ids"),
                (_RETURN, "return torch.cat([prompt[:-context_length], ids])"),
                paired=False,
            ),
        ),
        Misconception(
            "padded_to_the_context",
            "Your answer pads the text at the front with token 0, and the model reads the padding as text. Pass a "
            "short text as it is: ids[-context_length:].",
            _slip((_READ, "torch.cat([torch.zeros(context_length, dtype=torch.long), ids])[-context_length:]")),
        ),
        *alike(
            "Your answer returns only the new tokens. Return the whole text, prompt first.",
            prompt_left_out=_slip((_RETURN, "return ids[len(prompt) :]")),
            prompt_left_out_of_a_list=_slip((_RETURN, "return torch.tensor(ids[len(prompt) :].tolist())")),
        ),
        # torch makes floats of an empty list: with nothing to write this one ends differently.
        *alike(
            "Your answer runs the model once. Append one token, run the model on the longer text, and use the "
            "prediction at its last token: logits[0, -1].",
            one_reading=lambda model, prompt, max_new_tokens, context_length: torch.cat(
                [prompt, model(prompt[-context_length:].unsqueeze(0))[0, -1].argmax().expand(max_new_tokens)]
            ),
            best_of_one_reading=lambda model, prompt, max_new_tokens, context_length: torch.cat(
                [prompt, model(prompt[-context_length:].unsqueeze(0))[0, -1].topk(max_new_tokens).indices]
            ),
        ),
        Misconception(
            "only_the_last_word_read",
            "Your answer passes only the last token to the model. Pass the last `context_length` tokens.",
            _slip((_READ, "ids[-1:]")),
        ),
        *alike(
            "Your answer uses logits of earlier positions, which predict tokens that are already there. Use only the "
            "last position: logits[0, -1].",
            first_position_asked=_slip((_ASKED, "logits[0, 0]")),
            position_before_the_last_asked=_slip((_ASKED, "logits[0, -2:][0]")),
            all_positions_asked=_slip((_ASKED, "logits[0].amax(dim=0)")),
        ),
        Misconception(
            "exp_overflows",
            "Your answer takes exp of the logits. Beyond 88 that overflows to infinity, and the best token looks like "
            "the others. Compare the logits themselves: exp preserves their order.",
            _slip((_ASKED, "logits[0, -1].exp()")),
        ),
        *alike(
            "Your answer is off by one token. Write exactly `max_new_tokens`.",
            one_word_too_many=_slip((_TIMES, "range(max_new_tokens + 1)")),
            one_word_too_few=_slip((_TIMES, "range(max_new_tokens - 1)")),
        ),
        Misconception(
            "one_word_at_least",
            "Your answer writes a token even if max_new_tokens is 0. Write exactly `max_new_tokens`: here, return "
            "only the prompt.",
            _slip((_TIMES, "range(max(1, max_new_tokens))")),
        ),
        Misconception(
            "stopped_at_the_full_stop",
            "Your answer stops at token 0, the full stop in this lesson. Write exactly `max_new_tokens`: a text may "
            "have several sentences.",
            _slip((_RETURN, "    if token == 0:\n            break\n    return ids"), paired=False),
        ),
        Misconception(
            "length_of_the_whole",
            "Your answer stops when the whole text has `max_new_tokens` tokens. Add that many to the prompt.",
            _slip((_TIMES, "range(max_new_tokens - len(prompt))")),
        ),
        Misconception(
            "batch_left_on",
            "Your answer is [1, tokens]: it still has the batch dimension. Remove it with squeeze(0).",
            _slip((_RETURN, "return ids.unsqueeze(0)")),
        ),
        Misconception(
            "text_cut_to_the_window",
            "Your answer is right while the text fits into the context. After that it loses the beginning: ids = "
            "ids[-context_length:]. Cut only the model's input, and keep the whole text.",
            _slip(("logits = ", "ids = ids[-context_length:]\n        logits = ")),
            alone=True,
        ),
    ),
)
