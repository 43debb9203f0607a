"""Lesson 05, encoder_decoder.scheduled_sampling: Scheduled sampling."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import hints, integer, mistake, slips
from course_lib.exercises.encoder_decoder.shared import GERMAN
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.given import Given
from course_lib.references import encoder_decoder
from course_lib.text.tokenization import START_ID

Step = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def _sampling_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        drawn = torch.tensor([[0.2, 0.9, 0.4, 0.6]])
        yield _sampling_case(
            "worked example: die Katze tanzte, reading half of its own tokens", generator, GERMAN, drawn, 0.5
        )
    for name, share, dtype in (
        ("some of its own tokens", 0.3, torch.float32),
        ("more of its own tokens, in double precision", 0.6, torch.float64),
        ("teacher forcing alone", 0.0, torch.float32),
        ("no teacher forcing", 1.0, torch.float32),
    ):
        batch, tokens = integer(generator, 3, 5), integer(generator, 7, 9)
        target = torch.randint(4, 12, (batch, tokens), generator=generator)
        target[:, 0] = START_ID
        drawn = torch.rand(batch, tokens - 1, generator=generator, dtype=dtype)
        drawn[0, :2] = torch.tensor([0.1, 0.9], dtype=dtype)  # where a share is mixed, both kinds occur
        drawn[1, :2] = torch.tensor([0.9, 0.1], dtype=dtype)
        yield _sampling_case(name, generator, target, drawn, share, dtype)
    yield _sampling_case("one token", generator, GERMAN[:, :2], torch.tensor([[0.2]]), 0.5)


def _sampling_case(
    name: str, generator: Generator, target: Tensor, drawn: Tensor, share: float, dtype: torch.dtype = torch.float32
) -> Case:
    sizes = {"vocab_size": 12, "d_model": integer(generator, 5, 8)}
    shapes = Given("Writer", sizes).module().state_dict()
    weights = {key: torch.randn(weight.shape, generator=generator, dtype=dtype) for key, weight in shapes.items()}
    state = torch.randn(len(target), sizes["d_model"], generator=generator, dtype=dtype)
    return Case(name, (Given("Writer", sizes, weights), state, target, drawn, share), gradients=(1,))


def _sampled(step: Step, state: Tensor, target: Tensor, drawn: Tensor, share: float) -> Tensor:
    token = target[:, 0]
    scores = []
    for n in range(drawn.shape[1]):
        logits, after = step(token, state)
        state = after
        scores.append(logits)
        own, right = logits.argmax(dim=-1), target[:, n + 1]
        token = torch.where(drawn[:, n] < share, own, right)
    return torch.stack(scores, dim=1)


def _sampled_sentence_by_sentence(step: Step, state: Tensor, target: Tensor, drawn: Tensor, share: float) -> Tensor:
    rows = []
    for kept, sentence, numbers in zip(state.split(1), target, drawn, strict=True):
        read, row = sentence[:1], []
        for right, number in zip(sentence[1:], numbers.tolist(), strict=True):
            logits, kept = step(read, kept)
            row.append(logits[0])
            read = logits.topk(1).indices[0] if number < share else right.unsqueeze(0)
        rows.append(torch.stack(row))
    return torch.stack(rows)


def _sampled_into_a_tensor(step: Step, state: Tensor, target: Tensor, drawn: Tensor, share: float) -> Tensor:
    """Its own tokens are written into a copy of the target, which is read from left to right."""
    read, scores = target.clone(), []
    for n in range(target.shape[1] - 1):
        logits, state = step(read[:, n], state)
        chosen = drawn[:, n] < share
        read[chosen, n + 1] = logits[chosen].argmax(dim=-1)
        scores.append(logits[:, None])
    return torch.cat(scores, dim=1)


_slips = partial(slips, _sampled)
_slip_alone = partial(Edited, _sampled, paired=False)
_CHOICE = "torch.where(drawn[:, n] < share, own, right)"


EXERCISE = Exercise(
    id="encoder_decoder.scheduled_sampling",
    title="Scheduled sampling",
    statement=(
        "scheduled_sampling(step, state [batch, d_model], target int64 [batch, tokens], drawn [batch, tokens - 1], "
        "share) -> logits [batch, tokens - 1, vocab_size]: the model reads <s>, and then at each position its own "
        "likeliest token where drawn < share, else the right token; with gradients."
    ),
    points=4,
    minutes=15,
    difficulty=3,
    importance=3,
    section="Teacher forcing or not",
    source="Bengio et al. (2015), section 2.4; S4, the decoder in training",
    reference=encoder_decoder.scheduled_sampling,
    cases=_sampling_cases,
    correct=(_sampled, _sampled_sentence_by_sentence, _sampled_into_a_tensor),
    steps=("scores", "token"),
    hints=hints(
        idea=(
            "Loop over positions and keep two things: the token to read next, and the state. Collect the logits. The "
            "draws only decide what the model reads next."
        ),
        shapes=(
            "`step` takes tokens `[batch]` and a state, and returns logits `[batch, vocab_size]` and the next state. "
            "Each sentence has its own draw at each position: `drawn[:, n]` is `[batch]`, and `torch.where` chooses "
            "entry by entry.",
            ("one_draw_for_all_sentences", "one_draw_for_all_positions", "state_not_kept", "stacked_in_front"),
        ),
        outline=(
            "Start with the target's first token, <s>.\n"
            "At each position, take one step: collect its logits and keep its state.\n"
            "The model's own token is its likeliest token; the right token is the next token of the target.\n"
            "For each sentence, choose which of the two to read next.\n"
            "Stack the logits, with positions as the second dimension.",
            ("one_position_late", "teacher_forcing", "no_teacher_forcing", "share_turned_around"),
        ),
    ),
    misconceptions=(
        *_slips(
            teacher_forcing=(
                "Your answer always reads the right token. Where drawn < share, read the model's own token.",
                (_CHOICE, "right"),
            ),
            no_teacher_forcing=(
                "Your answer always reads the model's own token. Where drawn >= share, read the right token.",
                (_CHOICE, "own"),
            ),
            share_turned_around=(
                "Your answer reads the right token where drawn < share. Read the model's own token there.",
                (_CHOICE, "torch.where(drawn[:, n] < share, right, own)"),
            ),
            one_draw_for_all_sentences=(
                "Your answer uses one sentence's draws for all sentences. Use the draw of each sentence: drawn[:, n].",
                (_CHOICE, "torch.where(drawn[0, n] < share, own, right)"),
            ),
            one_draw_for_all_positions=(
                "Your answer uses one draw per sentence. Use a new draw at each position: drawn[:, n].",
                (_CHOICE, "torch.where(drawn[:, 0] < share, own, right)"),
            ),
            one_position_late=(
                "Your answer reads target[:, n] again after step n. Read target[:, n + 1] instead.",
                ("n + 1", "n"),
            ),
            state_not_kept=(
                "Your answer starts each step from the initial state. Keep the state that each step returns.",
                ("state = after", "pass"),
            ),
            stacked_in_front=(
                "Your answer has positions as the first dimension. Stack along the second: dim=1.",
                ("dim=1)", "dim=0)"),
            ),
            begins_with_the_second_token=(
                "Your answer starts with the target's second token. Start with the first, <s>: target[:, 0].",
                ("target[:, 0]", "target[:, min(1, len(target[0]) - 1)]"),
            ),
            tokens_returned=(
                "Your answer returns tokens. Return the logits of every step: the loss needs them.",
                _slip_alone(("append(logits)", "append(logits.argmax(dim=-1))")),
            ),
        ),
        *mistake(
            "Your answer returns probabilities or their logarithms. Return the logits of `step` unchanged.",
            softmaxed=_slip_alone(("append(logits)", "append(logits.softmax(dim=-1))")),
            log_softmaxed=_slip_alone(("append(logits)", "append(logits.log_softmax(dim=-1))")),
        ),
        *mistake(
            "Your values are right, but no gradient flows back through the steps. Look for .detach() or no_grad.",
            state_detached=_slip_alone(("state = after", "state = after.detach()")),
            gradients_cut=_slip_alone(("append(logits)", "append(logits.detach())")),
        ),
    ),
)
