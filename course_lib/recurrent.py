"""Recurrent networks: what came before the transformer, to compare it with (S1, S3, S4).

    reads    `RecurrentEncoder`                         in place of `BERT`, under the same heads
    writes   `RecurrentLanguageModel`                   in place of `GPT`
    both     `RecurrentSeq2Seq`, with attention or not  in place of `Transformer`

They are called like the transformers, trained by the same loop and decoded by the same functions, so that a
comparison changes nothing but the model. All are gated recurrent units (Cho et al., 2014): a token's state is made from
the state before it, so that n tokens take n steps, one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_lib.attention import attention
from course_lib.decoding.state import DecodingState
from course_lib.ground.encoder import BERTOutput, Encoder
from course_lib.ground.validation import (
    check_at_least,
    check_ids,
    check_mask,
    check_probability,
    check_special_ids,
)
from course_lib.masking import at_last_token, padding_mask

# --- Reading ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecurrentConfig:
    """The sizes of a recurrent network that reads, or writes, one language.

    Attributes:
        vocab_size: how many tokens there are.
        d_model: the length of a token's vector and of its state.
        layers: recurrent layers, one above the other.
        dropout: the probability of dropping a value of the embeddings and of the states, in training.
        end_id: the id that ends a text; None where texts have no end.
        padding_id: the id of padding in prompts of different lengths; None where there is none.
    """

    vocab_size: int
    d_model: int = 128
    layers: int = 1
    dropout: float = 0.1
    end_id: int | None = None
    padding_id: int | None = None

    def __post_init__(self) -> None:
        check_at_least(1, vocab_size=self.vocab_size, d_model=self.d_model, layers=self.layers)
        check_probability(dropout=self.dropout)
        check_special_ids(self.vocab_size, end_id=self.end_id, padding_id=self.padding_id)


class RecurrentEncoder(Encoder):
    """Reads each sequence forwards and backwards, so that a token's state has seen both sides of it (S1).

    Under `SequenceClassifier` it is the recurrent classifier, under `TokenClassifier` the recurrent tagger.
    """

    def __init__(self, config: RecurrentConfig) -> None:
        """Two networks of d_model / 2 each.

        Raises:
            ValueError: `d_model` is odd.
        """
        super().__init__()
        _check_even(config.d_model)
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.recurrence = _gated_recurrence(config.d_model, config.layers, config.dropout, both_ways=True)

    def forward(
        self,
        ids: Int[Tensor, "batch tokens"],
        *,
        segments: Int[Tensor, "batch tokens"] | None = None,
        mask: Bool[Tensor, "batch tokens"] | None = None,
    ) -> BERTOutput:
        """The states of all tokens, and, for the whole, the last state in each direction.

        Segments are not used: [SEP] between two texts is read like any token.

        Raises:
            ValueError: padding before a token; a sequence without tokens.
        """
        check_ids(ids, self.config.vocab_size, "ids")
        check_mask(mask, ids)
        states, last = read_sequences(self.recurrence, self.dropout(self.embedding(ids)), mask)
        forwards, backwards = last[-2:]  # of the top layer
        return BERTOutput(self.dropout(states), self.dropout(torch.cat([forwards, backwards], dim=-1)))


def read_sequences(
    recurrence: nn.GRU, x: Float[Tensor, "batch tokens d_model"], mask: Bool[Tensor, "batch tokens"] | None
) -> tuple[Float[Tensor, "batch tokens d_model"], Float[Tensor, "layers batch d_state"]]:
    """Every token's state, and each layer's state after the last token, however many tokens there are.

    Backwards, a network begins at the last token and not at the padding after it: torch needs the lengths.

    Raises:
        ValueError: padding comes before a token, or a sequence has no tokens.
    """
    if mask is None:
        states, last = recurrence(x)
        return states, last
    lengths = mask.sum(dim=1)
    if not torch.equal(mask, padding_mask(lengths, mask.shape[1])):
        raise ValueError("padding must come after the tokens: a recurrent network reads from the first to the last")
    if not lengths.all():
        raise ValueError("a sequence has no tokens: all of it is padding")
    packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    states, last = recurrence(packed)
    return pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])[0], last


def _gated_recurrence(d_model: int, layers: int, dropout: float, *, both_ways: bool = False) -> nn.GRU:
    return nn.GRU(
        d_model,
        d_model // 2 if both_ways else d_model,
        layers,
        batch_first=True,
        bidirectional=both_ways,
        dropout=dropout if layers > 1 else 0.0,  # torch's stands between layers only, and warns where there is one
    )


def _check_even(d_model: int) -> None:
    if d_model % 2:
        raise ValueError(f"reading both ways needs an even d_model, not {d_model}")


# --- Writing ---------------------------------------------------------------------------------------------------


class RecurrentLanguageModel(nn.Module):
    """Predicts each token from one vector, the state into which all the tokens before it went (S1)."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.recurrence = _gated_recurrence(config.d_model, config.layers, config.dropout)
        self.output = nn.Linear(config.d_model, config.vocab_size)

    def forward(
        self, ids: Int[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"] | None = None
    ) -> Float[Tensor, "batch tokens vocab_size"]:
        """Logits of the token after each token: position t has seen tokens 0..t.

        Args:
            ids: the tokens.
            mask: True at tokens, False at padding, which must come after them; None where there is none.

        Raises:
            TypeError, ValueError: as for `GPT`; padding before a token; a text without tokens.
        """
        return self.read(ids, mask)[0]

    def read(
        self,
        ids: Int[Tensor, "batch tokens"],
        mask: Bool[Tensor, "batch tokens"] | None = None,
        state: Float[Tensor, "layers batch d_model"] | None = None,
    ) -> tuple[Float[Tensor, "batch tokens vocab_size"], Float[Tensor, "layers batch d_model"]]:
        """The same, going on from `state`, with the state after the last token.

        Raises:
            ValueError: both a mask and a state: tokens that go on are not padded.
        """
        check_ids(ids, self.config.vocab_size, "ids")
        check_mask(mask, ids)
        if mask is not None and state is not None:
            raise ValueError("tokens that go on from a state are not padded: give a mask or a state, not both")
        x = self.dropout(self.embedding(ids))
        states, last = self.recurrence(x, state) if state is not None else read_sequences(self.recurrence, x, mask)
        return self.output(self.dropout(states)), last

    def begin(
        self, prompt: Int[Tensor, "batch tokens"], max_new_tokens: int, *, use_cache: bool = True
    ) -> DecodingState:
        """Texts that go on after their prompts; a state is all that is kept, `use_cache` or not.

        Raises:
            TypeError, ValueError: no ids, or outside the vocabulary.
        """
        return _RecurrentGenerationState(self, prompt, max_new_tokens)


@dataclass(frozen=True)
class RecurrentSeq2SeqConfig:
    """The sizes of a recurrent encoder-decoder.

    Attributes:
        source_vocab_size, target_vocab_size: how many tokens the two languages have.
        d_model: the length of a token's vector and of its state.
        layers: recurrent layers in the encoder, and in the decoder.
        dropout: the probability of dropping a value of the embeddings and of the states, in training.
        attention: whether the decoder may look at all the encoder's states, or has only the last one.
        padding_id, start_id, end_id: of <pad>, <s> and <e>.
    """

    source_vocab_size: int
    target_vocab_size: int
    d_model: int = 128
    layers: int = 1
    dropout: float = 0.1
    attention: bool = True
    padding_id: int = 0
    start_id: int = 1
    end_id: int = 2

    def __post_init__(self) -> None:
        check_at_least(1, source_vocab_size=self.source_vocab_size, target_vocab_size=self.target_vocab_size)
        check_at_least(1, d_model=self.d_model, layers=self.layers)
        check_probability(dropout=self.dropout)
        check_special_ids(min(self.source_vocab_size, self.target_vocab_size), padding_id=self.padding_id)
        check_special_ids(self.target_vocab_size, start_id=self.start_id, end_id=self.end_id)


@dataclass(frozen=True)
class RecurrentEncoded:
    """The encoder's output, as the decoder needs it.

    Attributes:
        summary: where its states begin: all that it gets without attention, the bottleneck (S1, S4).
        states: a state for each source token, for attention.
        mask: True at tokens, False at padding.
    """

    summary: Float[Tensor, "layers batch d_model"]
    states: Float[Tensor, "batch source d_model"]
    mask: Bool[Tensor, "batch 1 source"]


@dataclass(frozen=True)
class RecurrentDecoded:
    """The decoder's output, and its state.

    Attributes:
        logits: of the token after each target token.
        state: after the last target token.
        alpha: each target token's attention weights over the source; None without attention.
    """

    logits: Float[Tensor, "batch target vocab_size"]
    state: Float[Tensor, "layers batch d_model"]
    alpha: Float[Tensor, "batch target source"] | None


class RecurrentSeq2Seq(nn.Module):
    """A recurrent encoder-decoder (Sutskever et al., 2014), with attention over the source's states or without.

    Attention came first to these (Bahdanau et al., 2015). Here the decoder's states are the queries, as in Luong et
    al. (2015), the source's states are keys and values, and the similarity is our scaled dot product:

        out = tanh(W [state; attention(state, source states, source states)])
    """

    def __init__(self, config: RecurrentSeq2SeqConfig) -> None:
        """An encoder that reads both ways, and a decoder.

        Raises:
            ValueError: `d_model` is odd.
        """
        super().__init__()
        _check_even(config.d_model)
        self.config = config
        d_model = config.d_model
        self.source_embedding = nn.Embedding(config.source_vocab_size, d_model)
        self.target_embedding = nn.Embedding(config.target_vocab_size, d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = _gated_recurrence(d_model, config.layers, config.dropout, both_ways=True)
        self.bridge = nn.Linear(d_model, d_model)
        self.decoder = _gated_recurrence(d_model, config.layers, config.dropout)
        self.combine = nn.Linear(2 * d_model, d_model) if config.attention else None
        self.output = nn.Linear(d_model, config.target_vocab_size)

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocab_size"]:
        """Logits of the token after each target token: position t has seen target tokens 0..t and the source.

        Raises:
            TypeError, ValueError: as for `Transformer`; padding before a token; a source without tokens.
        """
        return self.decode(target, self.encode(source)).logits

    def encode(self, source: Int[Tensor, "batch source"]) -> RecurrentEncoded:
        """Read the source, forwards and backwards; padding must come after its tokens.

        Raises:
            TypeError, ValueError: no ids, or outside the vocabulary; padding before a token; a source without tokens.
        """
        check_ids(source, self.config.source_vocab_size, "source")
        mask = source != self.config.padding_id
        states, last = read_sequences(self.encoder, self.dropout(self.source_embedding(source)), mask)
        both_ways = last.unflatten(0, (self.config.layers, 2)).transpose(1, 2).flatten(2)
        return RecurrentEncoded(torch.tanh(self.bridge(both_ways)), self.dropout(states), mask.unsqueeze(1))

    def decode(
        self,
        target: Int[Tensor, "batch target"],
        encoded: RecurrentEncoded,
        state: Float[Tensor, "layers batch d_model"] | None = None,
    ) -> RecurrentDecoded:
        """Read target tokens, from <s> on, or from where `state` was left; padding must come after the tokens.

        Raises:
            TypeError, ValueError: no ids, or outside the vocabulary; not as many targets as sources.
        """
        check_ids(target, self.config.target_vocab_size, "target")
        if len(target) != len(encoded.states):
            raise ValueError(f"{len(target)} targets need as many sources, not {len(encoded.states)}")
        x = self.dropout(self.target_embedding(target))
        states, state = self.decoder(x, encoded.summary if state is None else state)
        states, alpha = self._look_back(states, encoded)
        return RecurrentDecoded(self.output(self.dropout(states)), state, alpha)

    def begin(
        self, source: Int[Tensor, "batch source"], max_new_tokens: int, *, use_cache: bool = True
    ) -> DecodingState:
        """Translations to be written; a state is all that is kept, `use_cache` or not.

        Raises:
            TypeError, ValueError: no ids, or outside the vocabulary.
        """
        return _RecurrentTranslationState(self, source, max_new_tokens)

    def _look_back(self, states: Tensor, encoded: RecurrentEncoded) -> tuple[Tensor, Tensor | None]:
        if self.combine is None:
            return states, None
        looked = attention(states, encoded.states, encoded.states, encoded.mask)
        return torch.tanh(self.combine(torch.cat([states, looked.out], dim=-1))), looked.alpha


# --- Decoding them ---------------------------------------------------------------------------------------------


class _RecurrentTranslationState(DecodingState):
    """The target of a recurrent encoder-decoder. Its state is all that it keeps."""

    of_source = ("_states", "_mask")
    of_tokens = ("_state",)

    def __init__(self, model: RecurrentSeq2Seq, source: Tensor, max_new_tokens: int) -> None:
        check_at_least(1, max_new_tokens=max_new_tokens)
        check_ids(source, model.config.source_vocab_size, "source", wait=True)
        self._model = model
        encoded = model.encode(source)
        self._states, self._mask = encoded.states, encoded.mask
        self._state = encoded.summary.transpose(0, 1)  # [batch, layers, d_model]
        self.batch, self.prompt = len(source), torch.full_like(source[:, :1], model.config.start_id)
        self.end_ids, self.padding_id = (model.config.end_id,), model.config.padding_id

    def prefill(self) -> Tensor:
        return self.step(self.prompt.flatten())

    def step(self, tokens: Int[Tensor, " batch"]) -> Tensor:
        state = self._state.transpose(0, 1).contiguous()
        decoded = self._model.decode(tokens.unsqueeze(1), RecurrentEncoded(state, self._states, self._mask))
        self._state = decoded.state.transpose(0, 1)
        return decoded.logits[:, -1]


class _RecurrentGenerationState(DecodingState):
    """A recurrent language model's text after its prompt. Its state is all that it keeps."""

    of_tokens = ("_state",)

    def __init__(self, model: RecurrentLanguageModel, prompt: Tensor, max_new_tokens: int) -> None:
        check_at_least(1, max_new_tokens=max_new_tokens)
        check_ids(prompt, model.config.vocab_size, "the prompt", wait=True)
        self._model, self.prompt = model, prompt
        self.batch, self.prompt = len(prompt), prompt
        config = model.config
        self.end_ids = () if config.end_id is None else (config.end_id,)
        self.padding_id = config.padding_id if config.padding_id is not None else config.end_id or 0
        self._mask = self.prompt_mask = None if config.padding_id is None else prompt != config.padding_id

    def prefill(self) -> Tensor:
        return at_last_token(self._read(self.prompt, mask=self._mask), self._mask)

    def step(self, tokens: Int[Tensor, " batch"]) -> Tensor:
        state = self._state.transpose(0, 1).contiguous()
        return self._read(tokens.unsqueeze(1), state=state)[:, -1]

    def _read(self, ids: Tensor, mask: Tensor | None = None, state: Tensor | None = None) -> Tensor:
        logits, last = self._model.read(ids, mask, state)
        self._state = last.transpose(0, 1)  # [batch, layers, d_model]
        return logits
