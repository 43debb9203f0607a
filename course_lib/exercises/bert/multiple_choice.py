"""Lesson 09, bert.multiple_choice: One of several."""

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import CORE, Callback, Case, Exercise
from course_lib.judging.recorded.stand_ins import RowScore
from course_lib.objectives import heads


def _choice_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    reading = Callback("score", RowScore())
    exact = Callback("score", RowScore(torch.float64))
    apart = Callback("score", RowScore(gap=110.0))
    if not hidden:
        ids = torch.tensor([[[1, 8, 9, 2, 5, 2], [1, 8, 9, 2, 7, 2], [1, 8, 9, 2, 6, 2]]])
        segments = torch.tensor([[[0, 0, 0, 0, 1, 1]] * 3])
        yield Case("worked example: three choices", (reading, ids, segments, torch.ones_like(ids, dtype=torch.bool)))
    batch, choices, tokens = 3, integer(generator, 4, 6), integer(generator, 7, 10)
    for name, how, part in (
        ("a batch", reading, CORE),
        ("scores in double precision", exact, CORE),
        ("one question, more choices", reading, CORE),
        ("large scores, positive and negative", apart, "large scores"),
    ):
        if name.startswith("one"):
            batch, choices = 1, choices + 2
        elif how is apart:
            batch, choices = 3, choices - 2
        ids = torch.randint(10, 60, (batch, choices, tokens), generator=generator)
        ids[:, :, 0] = torch.arange(batch).unsqueeze(1)  # what the rows of a question begin with
        lengths = torch.randint(3, tokens, (batch, choices, 1), generator=generator)
        position = torch.arange(tokens)
        mask = position < lengths
        yield Case(name, (how, ids, ((position > 2) & mask).long(), mask), part=part)
    alone = torch.randint(10, 60, (1, 1, 1), generator=generator)
    yield Case("one question, one choice, one token", (reading, alone, torch.zeros_like(alone), alone > 0))


Score = Callable[[Tensor, Tensor, Tensor], Tensor]


def _choices_as_rows(score: Score, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    batch, choices = ids.shape[:2]
    given = score(ids.flatten(0, 1), segments.flatten(0, 1), mask.flatten(0, 1))
    scores = given.view(batch, choices)
    p = scores.softmax(dim=1)
    return p


_slip = edits_of(_choices_as_rows)
_SOFTMAX, _RETURN = "scores.softmax(dim=1)", "return p"
_SEGMENTS, _MASK = "segments.flatten(0, 1)", "mask.flatten(0, 1)"


def _choice_after_choice(score: Score, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    columns = [score(ids[:, j], segments[:, j], mask[:, j]) for j in range(ids.shape[1])]
    return F.softmax(torch.stack(columns, dim=1), dim=-1)


def _choices_by_exponentials(score: Score, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    tokens = ids.shape[-1]
    rows = score(ids.view(-1, tokens), segments.view(-1, tokens), mask.view(-1, tokens))
    scores = torch.unflatten(rows, 0, ids.shape[:2])
    powers = (scores - scores.max(dim=1, keepdim=True).values).exp()
    return powers / powers.sum(dim=1, keepdim=True)


EXERCISE = Exercise(
    id="bert.multiple_choice",
    title="One of several",
    statement=(
        "choice_probabilities(score, ids, segments, mask), tensors [batch, choices, tokens] -> [batch, choices]: the "
        "probability of each choice. score(ids, segments, mask) takes tensors [rows, tokens] and returns [rows]."
    ),
    minutes=12,
    difficulty=3,
    importance=2,
    section="One of several choices",
    source="S1, multiple choice; Devlin et al. (2019), section 4.4",
    reference=heads.choice_probabilities,
    cases=_choice_cases,
    parts={CORE: 2, "large scores": 1},
    correct=(_choices_as_rows, _choice_after_choice, _choices_by_exponentials),
    steps=("scores",),
    hints=hints(
        idea=(
            "To the encoder, every choice is a separate row. Flatten the choices into rows, get all scores, restore "
            "the shape, and let the choices for one question compete."
        ),
        shapes=(
            "`flatten` merges two neighboring dimensions: `[batch, choices, tokens]` becomes `[batch * choices, "
            "tokens]`, question by question, and the scores come back in the same order. Restore `[batch, choices]`, "
            "then take the softmax over the last dimension.",
            (
                "rows_mixed_up",
                "laid_out_by_choices",
                "softmax_over_the_batch",
                "softmax_over_all_rows",
                "squeezed",
                "choices_as_rows",
            ),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer returns the scores. Take the softmax over the choices.",
            scores_returned=_slip((_SOFTMAX, "scores")),
        ),
        *mistake(
            "Your answer lets different questions compete. Take the softmax over the choices of one question: shape "
            "the scores [batch, choices], then use dim=1.",
            softmax_over_the_batch=_slip((_SOFTMAX, "scores.softmax(dim=0)")),
            softmax_over_all_rows=_slip((_SOFTMAX, "scores.flatten().softmax(dim=0).view_as(scores)")),
        ),
        *slips(
            _choices_as_rows,
            softmax_twice=(
                "Your answer takes the softmax of a softmax. Take it only once.",
                (_SOFTMAX, f"{_SOFTMAX}.softmax(dim=1)"),
            ),
            each_by_itself=(
                "Your answer judges each choice separately, with a sigmoid. Exactly one choice is right: take the "
                "softmax over the choices.",
                (_SOFTMAX, "scores.sigmoid()"),
            ),
            log_probabilities=(
                "Your answer returns log-probabilities. Return the probabilities, which sum to 1.",
                (_SOFTMAX, "scores.log_softmax(dim=1)"),
            ),
            exponentials=(
                "Your answer returns exp of the scores. Divide by their sum over the choices.",
                (_SOFTMAX, "scores.exp()"),
            ),
            rows_mixed_up=(
                "Your answer mixes up the scores: reshaping to [choices, batch] and transposing changes their order. "
                "The rows are in the order of the questions: view them as [batch, choices].",
                ("view(batch, choices)", "view(choices, batch).T"),
            ),
            laid_out_by_choices=(
                "Your answer flattens the rows choice by choice, but reads the scores question by question. Use "
                "flatten(0, 1) on the tensors as they are.",
                (
                    "given = ",
                    "ids, segments, mask = (each.transpose(0, 1) for each in (ids, segments, mask))\n    given = ",
                ),
            ),
            squeezed=(
                "Your answer loses the batch dimension if there is only one question, perhaps because of squeeze(). "
                "Return [batch, choices].",
                (_RETURN, "return p.squeeze()"),
            ),
            choices_as_rows=(
                "Your answer is [choices, batch]. Each question is a row: return [batch, choices].",
                (_RETURN, "return p.T.contiguous()"),
            ),
        ),
        *mistake(
            "Your answer passes `score` a different mask or different segments. Pass the mask and the segments that "
            "you were given.",
            padding_read=_slip((_MASK, f"torch.ones_like({_MASK})")),
            mask_inverted=_slip((_MASK, f"~{_MASK}")),
            one_segment=_slip((_SEGMENTS, f"torch.zeros_like({_SEGMENTS})")),
        ),
        *mistake(
            "Your exponentials overflow or underflow when the scores are large in magnitude. Use torch.softmax, which "
            "subtracts each question's largest score first.",
            exponentials_too_large=_slip((_SOFTMAX, "scores.exp() / scores.exp().sum(dim=1, keepdim=True)")),
            something_added_below=_slip((_SOFTMAX, "scores.exp() / (scores.exp().sum(dim=1, keepdim=True) + 1e-8)")),
            largest_of_the_batch=_slip(
                (_SOFTMAX, "(scores - scores.max()).exp()\n    p = p / p.sum(dim=1, keepdim=True)")
            ),
        ),
    ),
)
