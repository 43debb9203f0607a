"""Lesson 07, gpt.generate: Writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Hint, Misconception
from course_lib.checking.recorded.stand_ins import ByHeart, EveryWord
from course_lib.exercises.common import integer
from course_lib.exercises.gpt.shared import LESSON, WITHHELD, random_ids
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
    for name, tokens, new_tokens, context, sure, part in (
        ("a short prompt", 3, 6, 20, 1.0, CORE),
        ("a prompt of one token, and logits beyond 100", 1, 5, 6, 100.0, CORE),
        ("a text that outgrows the context", 3, 9, 5, 1.0, LONG),
        ("a prompt longer than the context", 9, 4, 4, 1.0, LONG),
    ):
        vocabulary = integer(generator, 40, 60)
        drawn = torch.randn(2 * vocabulary + context, vocabulary, generator=generator)
        own, so_far, place = drawn.split([vocabulary, vocabulary, context])
        model = Callback("model", EveryWord(own, so_far, place, sure))
        yield Case(name, (model, random_ids(generator, vocabulary, tokens), new_tokens, context), part=part)
    own, so_far, place = torch.randn(80 + 12, 40, generator=generator).split([40, 40, 12])
    place[3, 0] = 100.0  # after a prompt of two tokens the third new token is token 0, the lesson's full stop
    model = Callback("model", EveryWord(own, so_far, place))
    yield Case("token 0 on the way", (model, 1 + random_ids(generator, 39, 2), 8, 12))


Model = Callable[[Tensor], Tensor]


def _written(
    model: Model,
    prompt: Tensor,
    new_tokens: int,
    context: int,
    *,
    count: Callable[[int, int], int] = lambda new_tokens, prompt: new_tokens,
    keep: Callable[[Tensor, int], Tensor] = lambda ids, context: ids,
    read: Callable[[Tensor, int], Tensor] = lambda ids, context: ids[-context:],
    choose: Callable[[Tensor], Tensor] = lambda logits: logits[0, -1].argmax(),
    add: Callable[[Tensor, Tensor], Tensor] = lambda ids, token: torch.cat([ids, token]),
    give: Callable[[Tensor, int], Tensor] = lambda ids, prompt: ids,
) -> Tensor:
    """Text written by a loop, any step of which may be done differently; a prompt is passed on as its length."""
    ids = prompt
    for _ in range(count(new_tokens, len(prompt))):
        ids = keep(ids, context)
        ids = add(ids, choose(model(read(ids, context).unsqueeze(0))).reshape(1))
    return give(ids, len(prompt))


def _window_cut_once(model: Model, prompt: Tensor, new_tokens: int, context: int) -> Tensor:
    seen = _written(model, prompt[-context:], new_tokens, context, read=lambda ids, context: ids)
    return torch.cat([prompt[:-context], seen])


def _from_one_reading(model: Model, prompt: Tensor, new_tokens: int, context: int) -> Tensor:
    token = model(prompt[-context:].unsqueeze(0))[0, -1].argmax()
    return torch.cat([prompt, token.expand(new_tokens)])


def _best_of_one_reading(model: Model, prompt: Tensor, new_tokens: int, context: int) -> Tensor:
    return torch.cat([prompt, model(prompt[-context:].unsqueeze(0))[0, -1].topk(new_tokens).indices])


def _up_to_token_0(model: Model, prompt: Tensor, new_tokens: int, context: int) -> Tensor:
    ids = _written(model, prompt, new_tokens, context)
    ends = (ids[len(prompt) :] == 0).nonzero()
    return ids[: len(prompt) + int(ends[0]) + 1] if len(ends) else ids


def _writing_lists(model: Model, prompt: Tensor, new_tokens: int, context: int) -> Tensor:
    tokens = prompt.tolist()
    while len(tokens) < len(prompt) + new_tokens:
        logits = model(torch.tensor([tokens[-context:]]))
        tokens.append(int(logits[0, -1].argmax()))
    return torch.tensor(tokens)


def _writing_in_place(model: Model, prompt: Tensor, new_tokens: int, context: int) -> Tensor:
    text = torch.zeros(len(prompt) + new_tokens, dtype=torch.long)
    text[: len(prompt)] = prompt
    for end in range(len(prompt), len(text)):
        text[end] = model(text[None, max(0, end - context) : end])[:, -1].argmax(dim=-1)
    return text


def _writing_recursively(model: Model, prompt: Tensor, new_tokens: int, context: int) -> Tensor:
    if new_tokens == 0:
        return prompt
    token = torch.log_softmax(model(prompt[-context:].view(1, -1))[0, -1], dim=0).topk(1).indices
    return _writing_recursively(model, torch.cat((prompt, token)), new_tokens - 1, context)


def _writing_with_numpy(model: Model, prompt: Tensor, new_tokens: int, context: int) -> Tensor:
    tokens = prompt.numpy()
    for _ in range(new_tokens):
        scores = model(torch.from_numpy(tokens[-context:].copy()).reshape(1, -1)).numpy()[0, -1]
        tokens = numpy.append(tokens, scores.argmax())
    return torch.from_numpy(tokens.copy())


CORRECT = (_writing_lists, _writing_in_place, _writing_recursively, _writing_with_numpy)


EXERCISE = Exercise(
    id="gpt.generate",
    lesson=LESSON,
    name="generate",
    title="Writing",
    statement=(
        "generate(model, prompt int64 [tokens], new_words, context) -> int64 [tokens + new_words]: the prompt, "
        "followed by the most probable next token, again and again; model(ids [batch, tokens]) gives logits [batch, "
        "tokens, vocabulary] and reads at most `context` tokens, the last ones."
    ),
    points=3,
    minutes=15,
    section="Let it write",
    source="S3, text generation; S2, greedy decoding",
    reference=gpt.generate,
    cases=_generate_cases,
    parts={CORE: 2, LONG: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "The model answers after every token; all of those questions except the last have been answered already. "
            "Ask, take the most probable token after the last one, append it, and ask again.",
        ),
        Hint(
            "shapes",
            "The model wants `[1, tokens]` and gives `[1, tokens, vocabulary]`; you want the row of the last place. A "
            "slice of the last `context` ids is all of them where there are fewer. `torch.cat` joins tensors of one "
            "dimension each, so the new token must keep one.",
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
            "As often as tokens are wanted: cut the ids to the last `context`, as a batch of one text.\n"
            "From the answer take the last place's logits, and of those the place of the largest.\n"
            "Append it to the whole text, not to the cut one.",
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
            "Your answer is right as long as the text fits into the context. Beyond it the model has no positions: "
            "give it the last `context` tokens only, ids[-context:].",
            partial(_written, read=lambda ids, context: ids),
            alone=True,
        ),
        Misconception(
            "first_words_kept",
            "Your answer gives the model the first `context` tokens of a long text. What comes next depends on the "
            "last ones: ids[-context:].",
            partial(_written, read=lambda ids, context: ids[:context]),
        ),
        Misconception(
            "one_word_short_of_the_context",
            "Your answer gives the model one token fewer than its context holds. It can read all of `context` tokens: "
            "ids[-context:].",
            partial(_written, read=lambda ids, context: ids[-(context - 1) :]),
        ),
        Misconception(
            "one_word_beyond_the_context",
            "Your answer gives the model one token more than its context holds. It can read `context` tokens: "
            "ids[-context:].",
            partial(_written, read=lambda ids, context: ids[-(context + 1) :]),
        ),
        Misconception(
            "window_cut_once",
            "Your answer cuts what the model reads once, before the loop, but then it grows beyond the context. Cut "
            "at every step: ids[-context:].",
            _window_cut_once,
        ),
        Misconception(
            "padded_to_the_context",
            "Your answer pads the text with token 0 in front until it is as long as the context, and the model takes "
            "those for tokens. Give it a short text as it is: ids[-context:].",
            partial(_written, read=lambda ids, context: F.pad(ids, (context, 0))[-context:]),
        ),
        Misconception(
            "prompt_left_out",
            "Your answer is the new tokens only. Return the whole text, beginning with the prompt.",
            partial(_written, give=lambda ids, prompt: ids[prompt:]),
        ),
        # torch makes floats of an empty list: with nothing to write this one ends differently.
        Misconception(
            "prompt_left_out_of_a_list",
            "Your answer is the new tokens only. Return the whole text, beginning with the prompt.",
            partial(_written, give=lambda ids, prompt: torch.tensor(ids[prompt:].tolist())),
        ),
        Misconception(
            "one_reading",
            "Your answer writes the token after the prompt again and again. Append the new token, let the model read "
            "the longer text, and ask for the token after its last one: logits[0, -1].",
            _from_one_reading,
        ),
        Misconception(
            "best_of_one_reading",
            "Your answer asks the model once, and writes down the most probable tokens for one and the same place. "
            "Append one token, let the model read the longer text, and ask again.",
            _best_of_one_reading,
        ),
        Misconception(
            "only_the_last_word_read",
            "Your answer lets the model read the last token only. It needs everything before it as well: the last "
            "`context` tokens.",
            partial(_written, read=lambda ids, context: ids[-1:]),
        ),
        Misconception(
            "first_position_asked",
            "Your answer takes the logits of the first position, which has read one token. The next token is predicted "
            "at the last position: logits[0, -1].",
            partial(_written, choose=lambda logits: logits[0, 0].argmax()),
        ),
        Misconception(
            "position_before_the_last_asked",
            "Your answer takes the logits of the last position but one, which predict the last token of the text "
            "itself. The next token is predicted at the last position: logits[0, -1].",
            partial(_written, choose=lambda logits: logits[0, -2:][0].argmax()),
        ),
        Misconception(
            "all_positions_asked",
            "Your answer looks for the largest logit of all positions. The others speak of tokens that are already "
            "there: the next token is predicted at the last position, logits[0, -1].",
            partial(_written, choose=lambda logits: logits[0].amax(dim=0).argmax()),
        ),
        Misconception(
            "exp_overflows",
            "Your answer takes exp of the logits, which is infinite beyond 88, and then it cannot tell the best token "
            "from the others. exp does not change the order: take the largest logit itself.",
            partial(_written, choose=lambda logits: logits[0, -1].exp().argmax()),
        ),
        Misconception(
            "least_probable",
            "Your answer takes the least probable token (argmin). Take the most probable: argmax.",
            partial(_written, choose=lambda logits: logits[0, -1].argmin()),
        ),
        Misconception(
            "one_word_too_many",
            "Your answer writes one token too many. Write exactly `new_words`.",
            partial(_written, count=lambda new_tokens, prompt: new_tokens + 1),
        ),
        Misconception(
            "one_word_at_least",
            "Your answer writes a token even where new_words is 0. Write exactly `new_words`: here, that leaves the "
            "prompt alone.",
            partial(_written, count=lambda new_tokens, prompt: max(1, new_tokens)),
        ),
        Misconception(
            "one_word_too_few",
            "Your answer writes one token too few. Write exactly `new_words`.",
            partial(_written, count=lambda new_tokens, prompt: new_tokens - 1),
        ),
        Misconception(
            "stopped_at_the_full_stop",
            "Your answer is right until the model writes token 0, the full stop of this lesson: there it ends. Write "
            "exactly `new_words`; a text may have several sentences.",
            _up_to_token_0,
        ),
        Misconception(
            "length_of_the_whole",
            "Your answer stops when the whole text has `new_words` tokens. That many should be added to the prompt.",
            partial(_written, count=lambda new_tokens, prompt: new_tokens - prompt),
        ),
        Misconception(
            "new_words_in_front",
            "Your answer puts the new tokens in front of the text. They come after it: torch.cat([ids, token]).",
            partial(_written, add=lambda ids, token: torch.cat([token, ids])),
        ),
        Misconception(
            "batch_left_on",
            "Your answer is [1, tokens]: the dimension of the batch is still there. Remove it with squeeze(0).",
            partial(_written, give=lambda ids, prompt: ids.unsqueeze(0)),
        ),
        Misconception(
            "text_cut_to_the_window",
            "Your answer is right as long as the text fits into the context. Later it drops the beginning for good: "
            "ids = ids[-context:]. Cut only what the model reads, and keep the text whole.",
            partial(_written, keep=lambda ids, context: ids[-context:]),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
)
