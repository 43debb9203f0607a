"""Lesson 09, bert.token_classifier: A label for every word."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.exercises.bert.shared import classifier, linear_layer, normalised
from course_lib.exercises.common import Kind, and_turned_around, edits_of, hints, integer, mistake, sizes
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.objectives import heads


def _token_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        # [CLS] a ##b c d [SEP]: three words begin at 1, 3 and 4.
        states = torch.tensor([[[0.5, 0.1], [1.0, 0.0], [-2.0, 0.5], [0.0, 1.0], [2.0, -1.0], [0.3, 0.3]]])
        yield Case(
            "worked example: three words, four pieces",
            (states, torch.tensor([[1, 3, 4]])),
            construct={"d_model": 2, "classes": 4},
            weights={
                "output.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5], [0.5, -0.5]]),
                "output.bias": torch.tensor([0.1, 0.2, 0.3, 0.4]),
            },
        )
    yield Case(
        "one word, in one piece; every other size is 1",
        (torch.randn(1, 3, 1, generator=generator), torch.tensor([[1]])),
        construct={"d_model": 1, "classes": 1},
        weights=linear_layer(generator, "output", 1, 1),
        gradients=(0,),
        weight_gradients=True,
    )
    for name, dtype, training in (
        ("a batch, in training mode", torch.float32, True),
        ("double precision, transposed in memory", torch.float64, False),
    ):
        batch, words, classes = sizes(generator, 3)
        d_model, pieces = integer(generator, 8, 10), words + integer(generator, 4, 8)
        states = Kind(name, generator, (batch,), dtype, transposed=dtype == torch.float64).normal(pieces, d_model)
        starts = torch.stack(
            [torch.randperm(pieces - 2, generator=generator)[:words].sort().values + 1 for _ in range(batch)]
        )
        starts[0, -1], starts[1] = pieces - 2, starts[0].flip(0) * 0 + torch.arange(2, words + 2)
        yield Case(
            name,
            (states, starts),
            construct={"d_model": d_model, "classes": classes},
            weights=linear_layer(generator, "output", d_model, classes, dtype),
            gradients=(0,),
            weight_gradients=True,
            training=training,
        )
    # Nobody reads the scores at padding. [CLS] and the bias are 0 here, so that [CLS]'s scores are 0 as well.
    d_model, classes = sizes(generator, 2)
    states = torch.randn(3, 9, d_model, generator=generator)
    states[:, 0] = 0.0
    yield Case(
        "rows with fewer words",
        (states, torch.tensor([[1, 3, 4, 7], [2, 5, 0, 0], [6, 0, 0, 0]])),
        construct={"d_model": d_model, "classes": classes},
        weights=linear_layer(generator, "output", d_model, classes) | {"output.bias": torch.zeros(classes)},
        part="fewer words",
    )


class _AtTheStarts(heads.WordHead):
    def forward(self, states: Tensor, starts: Tensor) -> Tensor:
        rows = torch.arange(len(states)).unsqueeze(1)
        picked = states[rows, starts]
        scores: Tensor = self.output(picked)
        return scores


_slip = edits_of(_AtTheStarts)
_PICKED = "states[rows, starts]"
_NEXT_WORD = "F.pad(starts[:, 1:], (0, 1)).maximum(starts + 1)"
"""For each word, where the next one begins; the last word has one piece, and so has each one before padding."""


def _mean_up_to(ends: str) -> Edited:
    """For each word, the mean of its pieces up to these positions."""
    return _slip(
        (
            f"picked = {_PICKED}",
            f"positions, ends = torch.arange(states.shape[1]), {ends}.unsqueeze(-1)\n"
            "        inside = ((positions >= starts.unsqueeze(-1)) & (positions < ends)).to(states.dtype)\n"
            "        picked = inside @ states / inside.sum(dim=-1, keepdim=True)",
        )
    )


def _by_one_hot(states: Tensor, starts: Tensor, output: nn.Linear) -> Tensor:
    out: Tensor = output(F.one_hot(starts, states.shape[1]).to(states.dtype) @ states)
    return out


def _after_classifying(states: Tensor, starts: Tensor, output: nn.Linear) -> Tensor:
    every: Tensor = output(states)
    return every.gather(1, starts.unsqueeze(-1).expand(-1, -1, every.shape[-1]))


EXERCISE = Exercise(
    id="bert.token_classifier",
    name="TokenClassifier",
    title="A label for every word",
    statement=(
        "class TokenClassifier(nn.Module): __init__(d_model, classes) makes the layer `output`; forward(states "
        "[batch, pieces, d_model], starts [batch, tokens]) -> [batch, tokens, classes]: each word's scores, from the "
        "state of its first piece. Where `starts` is 0 there is no word, and the scores are [CLS]'s or 0."
    ),
    minutes=12,
    difficulty=2,
    importance=4,
    section="A label for every word",
    source="S1, BERTForTokenClassification; Devlin et al. (2019), section 5.3",
    reference=heads.WordHead,
    cases=and_turned_around(_token_cases),
    parts={CORE: 2, "fewer words": 1},
    correct=(_AtTheStarts, classifier(_by_one_hot), classifier(_after_classifying)),
    hints=hints(
        idea=(
            "Each word is classified by the vector of its first piece. Pick those vectors, at different positions in "
            "every row, then apply the linear layer."
        ),
        shapes=(
            "Indexing with `starts` alone combines every row of `starts` with every sentence. Row i belongs to "
            "sentence i. Index with a column of row numbers `[batch, 1]` and `starts`, or use `gather` with an index "
            "as wide as the states. Either way gives you `[batch, tokens, d_model]`.",
            ("every_row_of_starts", "first_states_for_all", "first_sequence_for_all", "every_piece"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer is [batch, pieces, classes], scores for every piece, including [CLS] and [SEP]. Use only the "
            "pieces at `starts`.",
            every_piece=_slip((_PICKED, "states")),
        ),
        *mistake(
            "Your answer takes the pieces after [CLS] one by one, as if every word were a single piece. Use the "
            "positions in `starts`.",
            pieces_behind_cls=_slip((_PICKED, "states[:, 1 : starts.shape[1] + 1]")),
        ),
        *mistake(
            "Your answer combines `starts` with the wrong sentences. Look up row i of `starts` only in sentence i.",
            first_sequence_for_all=_slip((_PICKED, "states[:, starts[0]]")),
            first_states_for_all=_slip((_PICKED, "states[0][starts]")),
            every_row_of_starts=_slip((_PICKED, "states[:, starts]")),
        ),
        *mistake(
            "Your answer takes the piece after each word's first piece. `starts` contains positions in the whole row, "
            "where [CLS] is position 0.",
            piece_behind=_slip((_PICKED, "states[rows, (starts + 1).clamp(max=states.shape[1] - 1)]")),
        ),
        *mistake(
            "Your answer averages the pieces of each word. Use only its first piece.",
            mean_of_pieces_and_sep=_mean_up_to("F.pad(starts[:, 1:], (0, 1), value=states.shape[1])"),
            mean_up_to_the_next_word=_mean_up_to(_NEXT_WORD),
        ),
        *mistake(
            "Your answer takes the piece before the next word's first piece. Use the word's own first piece.",
            piece_before_the_next_word=_slip((_PICKED, f"states[rows, {_NEXT_WORD} - 1]")),
        ),
        *mistake(
            "No gradient reaches the states: they are detached (.detach(), .data or torch.tensor), so you could not "
            "fine-tune the encoder. Use them directly.",
            states_detached=_slip(("(picked)", "(picked.detach())")),
        ),
        *mistake(
            "Your answer leaves out the layer's bias. Call the layer itself, self.output(x): it adds the bias.",
            bias_missing=_slip(("self.output(picked)", "F.linear(picked, self.output.weight)")),
        ),
        *normalised(_slip),  # exponentials, probabilities, log-probabilities
    ),
)
