"""Lesson 09, bert.sequence_classifier: One label for a text."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.bert.shared import classifier, linear_layer, normalised
from course_lib.exercises.common import (
    SMALLEST,
    Kind,
    and_turned_around,
    edits_of,
    hints,
    integer,
    mistake,
    sizes,
    slips,
)
from course_lib.judging.exercise import Case, Exercise, Misconception
from course_lib.objectives import heads


def _sequence_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: three tokens, two dimensions",
            (torch.tensor([[[1.0, -0.5], [0.3, 2.0], [-1.0, 0.7]]]),),
            construct={"d_model": 2, "classes": 2},
            weights={
                "dense.weight": torch.tensor([[1.0, 0.5], [-0.5, 1.0]]),
                "dense.bias": torch.tensor([0.1, -0.2]),
                "output.weight": torch.tensor([[1.0, -1.0], [0.5, 2.0]]),
                "output.bias": torch.tensor([0.0, 0.3]),
            },
        )
    for name, dtype, training in (
        (SMALLEST, torch.float32, False),
        ("a batch, in training mode", torch.float32, True),
        ("double precision, transposed in memory", torch.float64, False),
    ):
        batch, tokens, classes = (1, 1, 1) if name == SMALLEST else sizes(generator, 3)
        d_model = 1 if name == SMALLEST else integer(generator, 8, 12)
        if training:
            classes += d_model  # more classes than a state has numbers
        states = Kind(name, generator, (batch,), dtype, transposed=dtype == torch.float64).normal(tokens, d_model)
        yield Case(
            name,
            (states,),
            construct={"d_model": d_model, "classes": classes},
            weights={
                **linear_layer(generator, "dense", d_model, d_model, dtype),
                **linear_layer(generator, "output", d_model, classes, dtype),
            },
            gradients=(0,),
            weight_gradients=True,
            training=training,
        )


class _LayerByLayer(heads.SequenceHead):
    def forward(self, states: Tensor) -> Tensor:
        first = states[:, 0]
        pooled = torch.tanh(self.dense(first))
        scores: Tensor = self.output(pooled)
        return scores


_slip = edits_of(_LayerByLayer)
_FIRST, _POOLED = "states[:, 0]", "torch.tanh(self.dense(first))"


def _by_matrices(states: Tensor, dense: nn.Linear, output: nn.Linear) -> Tensor:
    pooled = torch.tanh(states[:, 0] @ dense.weight.T + dense.bias)
    return pooled @ output.weight.T + output.bias


EXERCISE = Exercise(
    id="bert.sequence_classifier",
    name="SequenceClassifier",
    title="One label for a text",
    statement=(
        "class SequenceClassifier(nn.Module): __init__(d_model, classes) makes the layers `dense` and `output`; "
        "forward(states [batch, tokens, d_model]) -> [batch, classes]: output(tanh(dense(the first token's state)))."
    ),
    points=1,
    minutes=8,
    difficulty=2,
    importance=4,
    section="One label for a text or a pair",
    source="S1, BERTForSequenceClassification; Devlin et al. (2019), sections 3.2 and 4.1",
    reference=heads.SequenceHead,
    cases=and_turned_around(_sequence_cases),
    correct=(
        _LayerByLayer,
        classifier(_by_matrices, dense=True),
        classifier(
            lambda states, dense, output: torch.stack(
                [output(2 * torch.sigmoid(2 * dense(row[0])) - 1) for row in states]
            ),
            dense=True,
        ),
    ),
    steps=("pooled",),
    hints=hints(
        idea=(
            "Take the vector of the first token of each text, then apply the layers in the order of the constructor. "
            "The formula in the lesson shows what comes between the layers."
        ),
        shapes=(
            "`[batch, tokens, d_model]` becomes `[batch, d_model]` when you take index 0 of the token dimension. The "
            "first layer keeps that shape, and the second gives `[batch, classes]`.",
            ("every_word", "first_sequence"),
        ),
    ),
    misconceptions=(
        *slips(
            _LayerByLayer,
            every_word=(
                "Your answer is [batch, tokens, classes], scores for every token. Use only the state of the first "
                "token, [CLS]: it represents the whole text.",
                (_FIRST, "states"),
            ),
            mean_of_the_words=(
                "Your answer classifies the mean of all tokens' states. Use the first token, [CLS]: it represents the "
                "text.",
                (_FIRST, "states.mean(dim=1)"),
            ),
            last_word=(
                "Your answer classifies the last token's state, as GPT does, where only the last token sees all "
                "others. BERT uses the first token's state, [CLS].",
                (_FIRST, "states[:, -1]"),
            ),
            first_sequence=(
                "Your answer takes the first text of the batch, states[0]. Take the first token of every text, "
                "states[:, 0].",
                (_FIRST, "states[0]"),
            ),
            states_detached=(
                "No gradient reaches the states: they are detached (.detach(), .data or torch.tensor), so you could "
                "not fine-tune the encoder. Use them directly.",
                (_FIRST, "states[:, 0].detach()"),
            ),
        ),
        *(
            Misconception(
                name,
                f"Your answer has {told} between the two layers. Put a tanh there, as BERT does.",
                _slip(("torch.tanh", function)),
            )
            for name, told, function in (
                ("tanh_missing", "nothing", ""),
                ("relu", "a ReLU", "torch.relu"),
                ("gelu", "a GELU", "nn.functional.gelu"),
                ("sigmoid", "a sigmoid", "torch.sigmoid"),
            )
        ),
        *mistake(
            "Your answer leaves out `dense` and its tanh. Apply both before you classify.",
            dense_left_out=_slip((_POOLED, "first")),
        ),
        *mistake(
            "Your answer takes the tanh before the dense layer. The order is dense, tanh, output.",
            tanh_before_dense=_slip((_POOLED, "self.dense(first.tanh())")),
        ),
        *mistake(
            "Your answer takes the tanh of the scores, which squeezes them between -1 and 1. Use one tanh, between "
            "the two layers.",
            tanh_at_the_end=_slip(("torch.tanh", ""), ("return scores", "return scores.tanh()")),
            tanh_at_the_end_too=_slip(("return scores", "return scores.tanh()")),
        ),
        *mistake(
            "Your answer applies dropout to the vector in training. BERT does that, too, but leave it out in this "
            "exercise.",
            dropout=_slip(("(pooled)", "(nn.functional.dropout(pooled, 0.1, self.training))")),
        ),
        *mistake(
            "Your answer multiplies the state by the dense weight without transposing it. nn.Linear computes x @ "
            "weight.T + bias: call the layer itself.",
            dense_transposed=_slip(("self.dense(first)", "first @ self.dense.weight + self.dense.bias")),
        ),
        *mistake(
            "Your answer leaves out a bias. Call the layers themselves: they add the bias.",
            dense_bias_missing=_slip(("self.dense(first)", "nn.functional.linear(first, self.dense.weight)")),
            output_bias_missing=_slip(("self.output(pooled)", "nn.functional.linear(pooled, self.output.weight)")),
        ),
        *normalised(_slip),  # exponentials, probabilities, log-probabilities,
    ),
)
