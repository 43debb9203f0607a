"""Lesson 09, bert.token_classifier: A label for every word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.bert.shared import (
    LESSON,
    WITHHELD,
    Change,
    Layer,
    applied_to,
    classifier,
    linear_layer,
    normalised,
    without_bias,
)
from course_lib.exercises.common import Kind, and_turned_around, as_it_is, integer, sizes
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


class _TokenHead(nn.Module):
    """The right head, unless a setting says otherwise: its steps in order."""

    def __init__(
        self,
        d_model: int,
        classes: int,
        *,
        pick: Callable[[Tensor, Tensor], Tensor] | None = None,
        before: Change = as_it_is,
        output: Layer = applied_to,
        end: Change = as_it_is,
    ) -> None:
        super().__init__()
        self.output = nn.Linear(d_model, classes)
        self.steps = (pick or gathered, before, output, end)

    def forward(self, states: Tensor, starts: Tensor) -> Tensor:
        pick, before, output, end = self.steps
        return end(output(before(pick(states, starts)), self.output))


def gathered(states: Tensor, starts: Tensor) -> Tensor:
    """The states at these places, [batch, tokens, d_model]."""
    return states[torch.arange(len(states)).unsqueeze(1), starts]


def _ends(starts: Tensor, behind: int | None) -> Tensor:
    """For each word, the place after its last piece: where the next word begins, and for the last word `behind`.

    With None the last word has one piece, and so has each one before padding.
    """
    ends = torch.cat(
        [starts[:, 1:], starts[:, -1:] + 1 if behind is None else torch.full_like(starts[:, :1], behind)], 1
    )
    return torch.where(ends > starts, ends, starts + 1) if behind is None else ends


def _mean_of_pieces(states: Tensor, starts: Tensor, behind: int | None) -> Tensor:
    """For each word, the mean of its pieces; see `_ends`."""
    place = torch.arange(states.shape[1])
    inside = (place >= starts.unsqueeze(-1)) & (place < _ends(starts, behind).unsqueeze(-1))
    return inside.to(states.dtype) @ states / inside.sum(dim=-1, keepdim=True)


def _by_one_hot(states: Tensor, starts: Tensor, output: nn.Linear) -> Tensor:
    out: Tensor = output(F.one_hot(starts, states.shape[1]).to(states.dtype) @ states)
    return out


def _after_classifying(states: Tensor, starts: Tensor, output: nn.Linear) -> Tensor:
    every: Tensor = output(states)
    return every.gather(1, starts.unsqueeze(-1).expand(-1, -1, every.shape[-1]))


CORRECT = (
    classifier(_by_one_hot),
    classifier(_after_classifying),
    classifier(lambda states, starts, output: output(states[torch.arange(len(states))[:, None], starts])),
    classifier(lambda states, starts, output: torch.stack([output(s[i]) for s, i in zip(states, starts, strict=True)])),
    classifier(lambda states, starts, output: output(torch.take_along_dim(states, starts.unsqueeze(-1), dim=1))),
)


EXERCISE = Exercise(
    id="bert.token_classifier",
    lesson=LESSON,
    name="TokenClassifier",
    title="A label for every word",
    statement=(
        "class TokenClassifier(nn.Module): __init__(d_model, classes) makes the layer `output`; forward(states "
        "[batch, pieces, d_model], starts [batch, tokens]) -> [batch, tokens, classes]: each word's scores, from the "
        "state of its first piece; where `starts` is 0 there is no word, and the scores are [CLS]'s or 0."
    ),
    points=3,
    minutes=12,
    section="A label for every word",
    source="S1, BERTForTokenClassification; Devlin et al. (2019), section 5.3",
    reference=heads.WordHead,
    cases=and_turned_around(_token_cases),
    parts={CORE: 2, "fewer words": 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "A word is judged by the vector of its first piece. So first pick those vectors, other places in every "
            "row, and then let the one linear layer score them.",
        ),
        Hint(
            "shapes",
            "Indexing with `starts` alone would combine every row of `starts` with every sentence. Row i belongs to "
            "sentence i: index with a column of row numbers `[batch, 1]` beside `starts`, or `gather` with an index "
            "as wide as the states. Either gives `[batch, tokens, d_model]`.",
            answers=(
                "every_row_of_starts",
                "first_states_for_all",
                "first_sequence_for_all",
                "offsets_of_words",
                "every_piece",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "every_piece",
            "Your answer is [batch, pieces, classes]: scores for every piece, including [CLS] and [SEP]. Take only "
            "the pieces at `starts`.",
            partial(_TokenHead, pick=lambda states, starts: states),
        ),
        Misconception(
            "the_first_pieces",
            "Your answer takes the first pieces of the row, one for each word. Take those at the places in `starts`.",
            partial(_TokenHead, pick=lambda states, starts: states[:, : starts.shape[1]]),
        ),
        Misconception(
            "pieces_behind_cls",
            "Your answer takes the pieces after [CLS] one by one, as if every word were a single piece. Take those at "
            "the places in `starts`.",
            partial(_TokenHead, pick=lambda states, starts: states[:, 1 : starts.shape[1] + 1]),
        ),
        Misconception(
            "first_sequence_for_all",
            "Your answer uses the first sentence's `starts` for all of them. Each sentence has a row of its own.",
            partial(_TokenHead, pick=lambda states, starts: states[:, starts[0]]),
        ),
        Misconception(
            "first_states_for_all",
            "Your answer looks the words of all the sentences up in the first sentence's states. Look up row i of "
            "`starts` in sentence i.",
            partial(_TokenHead, pick=lambda states, starts: states[0][starts]),
        ),
        Misconception(
            "every_row_of_starts",
            "Your answer looks up every row of `starts` in every sentence: indexing states[:, starts] combines all "
            "with all. Look up row i in sentence i only.",
            partial(_TokenHead, pick=lambda states, starts: states[:, starts]),
        ),
        Misconception(
            "offsets_of_words",
            "Your answer makes one long row of all the pieces, and looks for sentence i at i times the number of "
            "words. It begins at i times the number of pieces, states.shape[1].",
            partial(
                _TokenHead,
                pick=lambda states, starts: states.flatten(0, 1)[
                    starts + torch.arange(len(states)).unsqueeze(1) * starts.shape[1]
                ],
            ),
        ),
        Misconception(
            "piece_behind",
            "Your answer takes the piece after each word's first one. `starts` are places in the row as it is, with "
            "[CLS] as place 0.",
            partial(
                _TokenHead, pick=lambda states, starts: gathered(states, (starts + 1).clamp(max=states.shape[1] - 1))
            ),
        ),
        Misconception(
            "piece_before",
            "Your answer takes the piece before each word. `starts` are places in the row as it is, with [CLS] as "
            "place 0.",
            partial(_TokenHead, pick=lambda states, starts: gathered(states, starts - 1)),
        ),
        Misconception(
            "mean_of_pieces_and_sep",
            "Your answer takes the mean of each word's pieces, and for the last word the mean of everything that is "
            "left, including [SEP]. Here the first piece speaks for the whole word.",
            partial(_TokenHead, pick=lambda states, starts: _mean_of_pieces(states, starts, states.shape[1])),
        ),
        Misconception(
            "mean_up_to_the_next_word",
            "Your answer takes the mean of the pieces up to where the next word begins. Here the first piece speaks "
            "for the whole word.",
            partial(_TokenHead, pick=lambda states, starts: _mean_of_pieces(states, starts, None)),
        ),
        Misconception(
            "piece_before_the_next_word",
            "Your answer takes the piece before the next word's first one. Here the word's own first piece speaks for "
            "it.",
            partial(_TokenHead, pick=lambda states, starts: gathered(states, _ends(starts, None) - 1)),
        ),
        Misconception(
            "states_detached",
            "No gradient reaches the states: they are detached (.detach(), .data or torch.tensor), so that the encoder "
            "below could not be fine-tuned.",
            partial(_TokenHead, before=torch.detach),
        ),
        Misconception(
            "tanh_before",
            "Your answer takes the tanh of the states first. Here there is only a linear layer.",
            partial(_TokenHead, before=torch.tanh),
        ),
        Misconception(
            "bias_missing",
            "Your answer leaves out the layer's bias. Call the layer itself, self.output(x): it adds it.",
            partial(_TokenHead, output=without_bias),
        ),
        *normalised(_TokenHead),  # exponentials, probabilities, log-probabilities
    ),
    withheld=WITHHELD,
)
