"""Lesson 07, gpt.generate: Writing."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.exercises.gpt.shared import Model, random_ids
from course_lib.judging.exercise import CORE, Callback, Case, Exercise
from course_lib.judging.recorded.stand_ins import ByHeart, EveryWord
from course_lib.references import gpt

LONG = "long texts"


def _generate_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        example = Callback("model", ByHeart(5))  # I saw the dog running, I saw the dog running, ...
        yield Case("worked example: I saw the", (example, torch.tensor([0, 1, 2]), 2, 8))
        yield Case("one token", (example, torch.tensor([2]), 1, 8))
        yield Case("nothing to write", (example, torch.tensor([3]), 0, 8))
    for name, tokens, max_new_tokens, context_length, sure, part in (
        ("a short prompt", 3, 6, 20, 1.0, CORE),
        ("a prompt of one token, and logits beyond 100", 1, 5, 6, 100.0, CORE),
        ("a text that outgrows the context", 3, 9, 5, 1.0, LONG),
        ("a prompt longer than the context", 9, 4, 4, 1.0, LONG),
        ("token 0 in the middle", 2, 8, 12, 1.0, CORE),
    ):
        vocab_size = integer(generator, 40, 60)
        drawn = torch.randn(2 * vocab_size + context_length, vocab_size, generator=generator)
        own, so_far, position = drawn.split([vocab_size, vocab_size, context_length])
        if name == "token 0 in the middle":
            position[3, 0] = 100.0  # the third new token is token 0, the lesson's period
        model, prompt = Callback("model", EveryWord(own, so_far, position, sure)), random_ids(generator, 39, tokens) + 1
        yield Case(name, (model, prompt, max_new_tokens, context_length), part=part)


def _writing_token_by_token(model: Model, prompt: Tensor, max_new_tokens: int, context_length: int) -> Tensor:
    ids = prompt
    for _ in range(max_new_tokens):
        logits = model(ids[-context_length:].unsqueeze(0))
        token = logits[0, -1].argmax().reshape(1)
        ids = torch.cat([ids, token])
    return ids


_slip = edits_of(_writing_token_by_token)
_READ, _ASKED, _TIMES, _RETURN = "ids[-context_length:]", "logits[0, -1]", "range(max_new_tokens)", "return ids"
_READ_ONCE = (_READ, "prompt[-context_length:]")


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


EXERCISE = Exercise(
    id="gpt.generate",
    title="Writing",
    statement=(
        "generate(model, prompt int64 [tokens], max_new_tokens, context_length) -> int64 [tokens + max_new_tokens]: "
        "the prompt, followed by max_new_tokens tokens, each the most probable one. model(ids [batch, tokens]) gives "
        "logits [batch, tokens, vocab_size] and reads at most `context_length` tokens: the last ones."
    ),
    minutes=15,
    difficulty=3,
    importance=5,
    section="Let it write",
    source="S3, text generation; S2, greedy decoding",
    reference=gpt.generate,
    cases=_generate_cases,
    parts={CORE: 2, LONG: 1},
    correct=(_writing_token_by_token, _writing_lists, _writing_in_place),
    hints=hints(
        idea="Write one token at a time: append it to the text, and run the model on the longer text.",
        shapes=(
            "The model takes `[1, tokens]` and returns `[1, tokens, vocab_size]`; you need the row of the last "
            "position. If there are fewer than `context_length` ids, a slice of the last `context_length` takes all of "
            "them. `torch.cat` needs one-dimensional tensors, so the new token must keep its dimension.",
            ("batch_left_on", "first_position_asked", "position_before_the_last_asked", "all_positions_asked"),
        ),
        outline=(
            "Start with the prompt.\n"
            "Repeat `max_new_tokens` times: take the last `context_length` ids, as a batch of one text.\n"
            "Take the logits of the last position, and find the index of the largest.\n"
            "Append it to the whole text, not to the slice.",
            (
                "text_cut_to_the_window",
                "window_cut_once",
                "one_reading",
                "prompt_left_out",
                "first_words_kept",
                "context_ignored",
                "one_word_short_of_the_context",
                "one_word_beyond_the_context",
            ),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer is right until the text outgrows the context. Pass only its end: ids[-context_length:].",
            context_ignored=_slip((_READ, "ids")),
            alone=True,
        ),
        *mistake(
            "Your answer is right until it cuts the text itself. Cut only what the model reads, and keep the text.",
            text_cut_to_the_window=_slip(("logits = ", "ids = ids[-context_length:]\n        logits = ")),
            alone=True,
        ),
        *slips(
            _writing_token_by_token,
            first_words_kept=(
                "Your answer passes the first tokens of a long text. Pass the last tokens: ids[-context_length:].",
                (_READ, "ids[:context_length]"),
            ),
            window_cut_once=(
                "Your answer cuts the text only once, before the loop. Cut it at each step: ids[-context_length:].",
                ("ids = prompt", "ids = prompt[-context_length:]"),
                (_READ, "ids"),
                (_RETURN, "return torch.cat([prompt[:-context_length], ids])"),
            ),
            padded_to_the_context=(
                "Your answer pads short texts with token 0, which the model reads as text. Pass them as they are.",
                (_READ, "torch.cat([torch.zeros(context_length, dtype=torch.long), ids])[-context_length:]"),
            ),
            only_the_last_word_read=(
                "Your answer passes only the last token to the model. Pass the last `context_length` tokens.",
                (_READ, "ids[-1:]"),
            ),
            exp_overflows=(
                "Your answer takes exp of the logits, which overflows above 88. Compare the logits themselves.",
                (_ASKED, "logits[0, -1].exp()"),
            ),
            length_of_the_whole=(
                "Your answer stops when the whole text has `max_new_tokens` tokens. Don't count the prompt.",
                (_TIMES, "range(max_new_tokens - len(prompt))"),
            ),
            stopped_at_the_full_stop=(
                "Your answer stops at token 0, which is the period in this lesson. Write exactly `max_new_tokens` "
                "tokens.",
                (_RETURN, "    if token == 0:\n            break\n    return ids"),
            ),
            batch_left_on=(
                "Your answer is [1, tokens]: it still has the batch dimension. Remove it with squeeze(0).",
                (_RETURN, "return ids.unsqueeze(0)"),
            ),
        ),
        *mistake(
            "Your window is off by one. Pass exactly the last `context_length` tokens: ids[-context_length:].",
            one_word_short_of_the_context=_slip((_READ, "ids[-(context_length - 1) :]")),
            one_word_beyond_the_context=_slip((_READ, "ids[-(context_length + 1) :]")),
        ),
        *mistake(
            "Your answer returns only the new tokens. Return the whole text, prompt first.",
            prompt_left_out=_slip((_RETURN, "return ids[len(prompt) :]")),
            # torch makes floats of an empty list: with nothing to write this one ends differently.
            prompt_left_out_of_a_stack=_slip((_RETURN, "return torch.stack(list(ids[len(prompt) :]))")),
            prompt_left_out_of_a_list=_slip((_RETURN, "return torch.tensor(ids[len(prompt) :].tolist())")),
        ),
        *mistake(
            "Your answer predicts every new token from the prompt alone. After each token, run the model on the longer "
            "text, and use the logits at its last position: logits[0, -1].",
            one_reading=_slip(_READ_ONCE),
            best_of_one_reading=_slip(_READ_ONCE, ("argmax()", "topk(len(ids) - len(prompt) + 1).indices[-1]")),
        ),
        *mistake(
            "Your answer uses logits of earlier positions, which predict tokens that are already there. Use only the "
            "last position: logits[0, -1].",
            first_position_asked=_slip((_ASKED, "logits[0, 0]")),
            position_before_the_last_asked=_slip((_ASKED, "logits[0, -2:][0]")),
            all_positions_asked=_slip((_ASKED, "logits[0].amax(dim=0)")),
        ),
        *mistake(
            "Your answer writes one token too many or too few. Write exactly `max_new_tokens` tokens.",
            one_word_too_many=_slip((_TIMES, "range(max_new_tokens + 1)")),
            one_word_too_few=_slip((_TIMES, "range(max_new_tokens - 1)")),
            one_word_at_least=_slip((_TIMES, "range(max(1, max_new_tokens))")),
        ),
    ),
)
