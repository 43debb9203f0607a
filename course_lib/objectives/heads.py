"""Heads: layers on top of a model that let it solve a task (S1, "the seven heads").

    the slide's task            head                   on          logits for [batch, tokens]
    language modeling          `GPT` itself                       [batch, tokens, vocab_size]
    sequence classification     `SequenceClassifier`   an encoder  [batch, classes]
    question answering (span)   `QuestionAnswering`    an encoder  [batch, 2, tokens]
    token classification        `TokenClassifier`      an encoder  [batch, tokens, classes]
    multiple choice             `MultipleChoice`       an encoder  [batch, choices], for [batch, choices, tokens]
    masked language modeling   `MaskedLanguageModel`  BERT        [batch, tokens, vocab_size]
    conditional generation      `Transformer` itself               [batch, target, vocab_size], for two texts

An encoder is any `Encoder`: `BERT`, `BagOfEmbeddings` or `RecurrentEncoder`. A head adds little: most are one linear
layer. All but the generating ones are trained with one loss, `head_loss`, since each answers "which of these?" for
every label.

Devlin et al. (2019), section 4; Radford et al. (2018), "Improving Language Understanding by Generative
Pre-Training", section 3.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.bags import mean_pooling
from course_lib.blocks import ACTIVATIONS
from course_lib.ground.encoder import BERTOutput, Encoder
from course_lib.ground.validation import check_ids, check_one_of
from course_lib.masking import at_last_token
from course_lib.models import BERT, GPT
from course_lib.objectives.labelled_data import IGNORED, LabelledBatch
from course_lib.objectives.losses import cross_entropy
from course_lib.published.from_pretrained import FromPretrained, HeadFromPretrained


def head_loss(model: nn.Module, batch: LabelledBatch) -> Float[Tensor, ""]:
    """Return the mean cross-entropy, in nats, of the labels to learn; works for every head on an encoder.

    Raises:
        ValueError: logits and labels do not fit, a label is not a class, or every label is `IGNORED`, so there is no
            mean.
    """
    logits: Tensor = model(batch.ids, segments=batch.segments, mask=batch.mask)
    if logits.shape[:-1] != batch.labels.shape:
        raise ValueError(
            f"logits {list(logits.shape)} need labels {list(logits.shape[:-1])}, not {list(batch.labels.shape)}"
        )
    if not (batch.labels != IGNORED).any():
        raise ValueError("there is nothing to learn from: no label of this batch counts")
    return label_loss(logits, batch.labels)


def label_loss(logits: Float[Tensor, "*positions classes"], labels: Int[Tensor, "*positions"]) -> Float[Tensor, ""]:
    """Return the mean cross-entropy, in nats, over the positions whose label is not `IGNORED`; NaN if there are none.

    For masked tokens this is the loss of Devlin et al. (2019), section 3.1, task 1.

    Raises:
        ValueError: a label is not one of the classes.
    """
    return cross_entropy(logits.flatten(0, -2), labels.flatten(), ignored=IGNORED)


# --- Heads on an encoder ---------------------------------------------------------------------------------------

Pooling = Literal["pooled", "mean"]
"""One vector for a sequence: the encoder's own (BERT's comes from [CLS]), or the mean of its tokens (S3)."""


def _vector(
    read: BERTOutput, mask: Bool[Tensor, "batch tokens"] | None, pooling: Pooling
) -> Float[Tensor, "batch d_model"]:
    return mean_pooling(read.states, mask) if pooling == "mean" else read.pooled


class Head(HeadFromPretrained, nn.Module, ABC):
    """Turns a model's output into logits, and is called like the model itself.

    Attributes:
        stands_on: the name of the model within the head, and in the names of its weights.
    """

    stands_on: ClassVar[str] = "encoder"
    body: ClassVar[type[FromPretrained]] = BERT

    def forward(
        self,
        ids: Int[Tensor, "batch tokens"],
        *,
        segments: Int[Tensor, "batch tokens"] | None = None,
        mask: Bool[Tensor, "batch tokens"] | None = None,
    ) -> Float[Tensor, "batch ..."]:
        """Return a score for each answer. The arguments are those of `BERT`."""
        return self.logits(getattr(self, self.stands_on)(ids, segments=segments, mask=mask), mask)

    @abstractmethod
    def logits(self, read: BERTOutput, mask: Bool[Tensor, "batch tokens"] | None) -> Float[Tensor, "batch ..."]:
        """Return the scores, from the model's output."""


class SequenceClassifier(Head):
    """One label for a text, or for a pair of them: topic, sentiment, entailment."""

    of_classes = True

    def __init__(self, encoder: Encoder, classes: int, *, pooling: Pooling = "pooled", dropout: float = 0.1) -> None:
        """Create a linear layer on one vector of the sequence.

        Raises:
            ValueError: there are fewer than two classes, or the pooling is unknown.
        """
        super().__init__()
        _check_classes(classes)
        check_one_of(Pooling, pooling=pooling)
        self.encoder = encoder
        self.pooling = pooling
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(encoder.config.d_model, classes)

    def logits(self, read: BERTOutput, mask: Bool[Tensor, "batch tokens"] | None) -> Float[Tensor, "batch classes"]:
        """Return a score for each class."""
        out: Tensor = self.output(self.dropout(_vector(read, mask, self.pooling)))
        return out


class TokenClassifier(Head):
    """A label for every token, from one classifier applied to each: parts of speech, named entities (S1)."""

    of_classes = True

    def __init__(self, encoder: Encoder, classes: int, *, dropout: float = 0.1) -> None:
        """Create a linear layer on each token's vector.

        Raises:
            ValueError: there are fewer than two classes.
        """
        super().__init__()
        _check_classes(classes)
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(encoder.config.d_model, classes)

    def logits(
        self, read: BERTOutput, mask: Bool[Tensor, "batch tokens"] | None
    ) -> Float[Tensor, "batch tokens classes"]:
        """Return a score for each class at each token."""
        out: Tensor = self.output(self.dropout(read.states))
        return out


class QuestionAnswering(Head):
    """Extractive question answering: where in a text an answer begins and ends (Devlin et al., 2019, section 4.2)."""

    def __init__(self, encoder: Encoder) -> None:
        """Create the layer with two scores for each token: for the answer's first token, and for its last."""
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(encoder.config.d_model, 2)

    def logits(self, read: BERTOutput, mask: Bool[Tensor, "batch tokens"] | None) -> Float[Tensor, "batch 2 tokens"]:
        """Return each token's scores as the answer's first token and as its last; -inf at padding."""
        logits: Tensor = self.output(read.states).transpose(1, 2)
        return logits if mask is None else logits.masked_fill(~mask.unsqueeze(1), -torch.inf)


def best_spans(logits: Float[Tensor, "batch 2 tokens"], max_tokens: int | None = None) -> Int[Tensor, "batch 2"]:
    """Return the most probable span of each text with first ≤ last, which the scores alone do not ensure.

    Args:
        logits: the output of `QuestionAnswering`.
        max_tokens: the longest span to consider; None for any length.

    Returns:
        The positions of the span's first and last token.

    Raises:
        ValueError: `max_tokens` is below 1.
    """
    if max_tokens is not None and max_tokens < 1:
        raise ValueError(f"a span has at least one token, not {max_tokens}")
    first, last = logits.unbind(dim=1)
    scores = first.unsqueeze(2) + last.unsqueeze(1)  # [batch, first, last]
    possible = torch.ones_like(scores, dtype=torch.bool).triu()
    if max_tokens is not None:
        possible = possible.tril(max_tokens - 1)
    best = scores.masked_fill(~possible, -torch.inf).flatten(1).argmax(dim=1)
    tokens = logits.shape[2]
    return torch.stack([best // tokens, best % tokens], dim=1)


class MultipleChoice(HeadFromPretrained, nn.Module):
    """Chooses which of several continuations, or answers, fits: each is read together with the question (S1)."""

    stands_on, body = "encoder", BERT

    def __init__(self, encoder: Encoder, *, pooling: Pooling = "pooled", dropout: float = 0.1) -> None:
        """Create the layer with one score for each choice.

        Raises:
            ValueError: the pooling is unknown.
        """
        super().__init__()
        check_one_of(Pooling, pooling=pooling)
        self.encoder = encoder
        self.pooling = pooling
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(encoder.config.d_model, 1)

    def forward(
        self,
        ids: Int[Tensor, "batch choices tokens"],
        *,
        segments: Int[Tensor, "batch choices tokens"] | None = None,
        mask: Bool[Tensor, "batch choices tokens"] | None = None,
    ) -> Float[Tensor, "batch choices"]:
        """Return a score for each choice; every choice includes the question.

        Raises:
            ValueError: the ids are not [batch, choices, tokens].
        """
        if ids.dim() != 3:
            raise ValueError(f"ids must be [batch, choices, tokens], not {list(ids.shape)}")
        return score_choices(self._score, ids, segments, mask)

    def _score(self, ids: Tensor, segments: Tensor | None, mask: Tensor | None) -> Float[Tensor, " rows"]:
        vector = _vector(self.encoder(ids, segments=segments, mask=mask), mask, self.pooling)
        out: Tensor = self.output(self.dropout(vector)).squeeze(-1)
        return out


Score = Callable[[Tensor, "Tensor | None", "Tensor | None"], Tensor]
"""Returns a number for each row of tokens, [rows], from ids, segments and mask, [rows, tokens] each."""


def score_choices(
    score: Score,
    ids: Int[Tensor, "batch choices tokens"],
    segments: Int[Tensor, "batch choices tokens"] | None,
    mask: Bool[Tensor, "batch choices tokens"] | None,
) -> Float[Tensor, "batch choices"]:
    """Score each choice by itself, all of them in one batch of rows."""
    rows = [None if tensor is None else tensor.flatten(0, 1) for tensor in (segments, mask)]
    return score(ids.flatten(0, 1), *rows).view(ids.shape[:2])


def choice_probabilities(
    score: Score,
    ids: Int[Tensor, "batch choices tokens"],
    segments: Int[Tensor, "batch choices tokens"],
    mask: Bool[Tensor, "batch choices tokens"],
) -> Float[Tensor, "batch choices"]:
    """Return the probability of each choice: the softmax of a question's scores (Devlin et al., 2019, section 4.4)."""
    scores = score_choices(score, ids, segments, mask)
    return torch.softmax(scores, dim=-1)


def _check_classes(classes: int) -> None:
    if classes < 2:
        raise ValueError(f"a classifier needs at least 2 classes, not {classes}")


# --- Heads alone, on an encoder's states --------------------------------------------------------------------------


class SequenceHead(nn.Module):
    """One label from a sequence's states: [CLS] through a dense layer and tanh, and from there to the classes.

    The dense layer is BERT's pooler, which here belongs to the head, as it does in RoBERTa (Liu et al., 2019).
    """

    def __init__(self, d_model: int, classes: int) -> None:
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, states: Float[Tensor, "batch tokens d_model"]) -> Float[Tensor, "batch classes"]:
        """Return a score for each class."""
        pooled = torch.tanh(self.dense(states[:, 0]))
        out: Tensor = self.output(pooled)
        return out


class WordHead(nn.Module):
    """A label for every token, however many pieces it was cut into, from its first piece's state.

    Devlin et al. (2019), section 5.3.
    """

    def __init__(self, d_model: int, classes: int) -> None:
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(
        self, states: Float[Tensor, "batch pieces d_model"], starts: Int[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens classes"]:
        """Return a score for each class at each token; `starts` holds the position of each token's first piece."""
        positions = starts.unsqueeze(-1).expand(-1, -1, states.shape[-1])
        out: Tensor = self.output(states.gather(1, positions))
        return out


# --- BERT's pre-training ---------------------------------------------------------------------------------------


class MaskedLanguageModel(Head):
    """BERT with the head that predicts tokens from both sides; the output layer's rows are the token embeddings."""

    stands_on = "bert"

    def __init__(self, bert: BERT) -> None:
        super().__init__()
        config = bert.config
        self.bert = bert
        self.dense = nn.Linear(config.d_model, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, config.norm_epsilon)
        self.output = nn.Linear(config.d_model, config.vocab_size)
        nn.init.normal_(self.dense.weight, std=0.02)
        nn.init.zeros_(self.dense.bias)
        nn.init.zeros_(self.output.bias)
        self.output.weight = bert.embedding.weight

    def logits(
        self, read: BERTOutput, mask: Bool[Tensor, "batch tokens"] | None
    ) -> Float[Tensor, "batch tokens vocab_size"]:
        """Return a score for each token of the vocabulary at each position."""
        out: Tensor = self.output(self.norm(ACTIVATIONS[self.bert.config.activation](self.dense(read.states))))
        return out


class NextSentencePredictor(Head):
    """BERT with its other head: class 0 if the second text follows the first, 1 if it is a random one."""

    stands_on = "bert"

    def __init__(self, bert: BERT) -> None:
        super().__init__()
        self.bert = bert
        self.output = nn.Linear(bert.config.d_model, 2)

    def logits(self, read: BERTOutput, mask: Bool[Tensor, "batch tokens"] | None) -> Float[Tensor, "batch 2"]:
        """Return a score for "follows" and one for "random"."""
        out: Tensor = self.output(read.pooled)
        return out


# --- Heads on GPT ----------------------------------------------------------------------------------------------


class GPTClassifier(HeadFromPretrained, nn.Module):
    """GPT with one linear layer on the last token's vector, the only one that has seen the whole text (S2)."""

    stands_on, body, of_classes = "gpt", GPT, True

    def __init__(self, gpt: GPT, classes: int, *, dropout: float = 0.1) -> None:
        """Create the one new layer.

        Raises:
            ValueError: there are fewer than two classes.
        """
        super().__init__()
        _check_classes(classes)
        self.gpt = gpt
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(gpt.config.d_model, classes)
        nn.init.normal_(self.output.weight, std=0.02)

    def forward(
        self,
        ids: Int[Tensor, "batch tokens"],
        *,
        segments: Int[Tensor, "batch tokens"] | None = None,
        mask: Bool[Tensor, "batch tokens"] | None = None,
    ) -> Float[Tensor, "batch classes"]:
        """Return a score for each class.

        Args:
            ids: the tokens.
            segments: not used; a separator token does their work.
            mask: True at tokens, False at padding, before or after them; None if there is no padding.
        """
        check_ids(ids, self.gpt.config.vocab_size, "ids")
        out: Tensor = self.output(self.dropout(at_last_token(self.gpt.states(ids, mask), mask)))
        return out
