"""Models: the encoder-decoder `Transformer`, the decoder `GPT` and the encoder `BERT`.

    Transformer: source ids, target ids -> logits   [batch, target, vocab_size]
    GPT:         ids                    -> logits   [batch, tokens, vocab_size]
    BERT:        ids, segments          -> states   [batch, tokens, d_model], and one vector for all of them

All three are built from the same blocks; they differ in which tokens may attend to which, and in what comes before and
after the blocks.

Vaswani et al. (2017), section 3; Radford et al. (2019), "Language Models are Unsupervised Multitask Learners";
Devlin et al. (2019), "BERT"; slides S1 to S4.
"""

import math
from dataclasses import dataclass, replace
from typing import cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.blocks import BlockConfig, DecoderBlock, EncoderBlock, make_norm
from course_lib.configurations import BERTConfig, GPTConfig, TransformerConfig
from course_lib.decoding.generation_mixin import GenerationMixin
from course_lib.decoding.state import DecodingState
from course_lib.decoding_states import (
    CompiledGenerationState,
    CompiledTranslationState,
    GenerationState,
    SlidingGenerationState,
    TranslationState,
    with_end_ids,
)
from course_lib.ground.encoder import BERTOutput, Encoder
from course_lib.ground.validation import check_batch, check_ids, check_mask
from course_lib.kv_cache import KVCache, PositionsAndMask
from course_lib.multihead import MultiHeadAttention, Rotate
from course_lib.positions import LearnedPositions, SinusoidalPositions
from course_lib.published.bert import BERTS
from course_lib.published.from_pretrained import FromPretrained
from course_lib.published.gpt2 import GPT2
from course_lib.published.llama import LLAMAS
from course_lib.published.marian import MARIAN
from course_lib.published.own import OWN_BERT, OWN_GPT, OWN_TRANSFORMER

__all__ = [
    "BERT",
    "GPT",
    "BERTConfig",
    "BERTOutput",
    "Encoded",
    "GPTConfig",
    "Transformer",
    "TransformerConfig",
]


@dataclass(frozen=True)
class Encoded:
    """The encoder's output, as the decoder needs it.

    Attributes:
        states: the encoder's output, a vector for each source token.
        mask: True at tokens, False at padding; the same for every query.
    """

    states: Float[Tensor, "batch source d_model"]
    mask: Bool[Tensor, "batch 1 source"]


class Transformer(GenerationMixin, FromPretrained, nn.Module):
    """The encoder-decoder transformer.

    `forward` is for training, where the whole target is known. To translate, `generate` (of `GenerationMixin`) calls
    `begin`, which returns a decoding state that encodes the source once and reads the target token by token.
    """

    families = (MARIAN, OWN_TRANSFORMER)  # the checkpoints that `from_pretrained` reads

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_vocab_size, config.d_model)
        self.target_embedding = nn.Embedding(config.target_vocab_size, config.d_model)
        self.positions = SinusoidalPositions(config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = nn.ModuleList(EncoderBlock(config.block) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderBlock(config.block) for _ in range(config.decoder_layers))
        self.encoder_norm = _final_norm(config.block)
        self.decoder_norm = _final_norm(config.block)
        self.output = nn.Linear(config.d_model, config.target_vocab_size, bias=config.output_bias)
        _initialize_as_glorot(self)
        if config.shared_embeddings:
            self.source_embedding.weight = self.target_embedding.weight
        if config.tied_output:
            self.output.weight = self.target_embedding.weight

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocab_size"]:
        """Return the logits of the token after each target token; position t sees the source and target tokens 0..t.

        Raises:
            TypeError: ids are not whole numbers.
            ValueError: ids are outside the vocabulary (checked on the CPU only), there are no tokens, or not as many
                targets as sources.
        """
        return self.decode(target, self.encode(source))

    def encode(self, source: Int[Tensor, "batch source"]) -> Encoded:
        """Read the source. Every token may attend to every other, but not to padding.

        Raises:
            TypeError, ValueError: `source` is not a batch of ids, has no tokens, or (checked on the CPU only) has ids
                outside the vocabulary.
        """
        check_ids(source, self.config.source_vocab_size, "source")
        mask = (source != self.config.padding_id).unsqueeze(1)  # [batch, 1, source], the same for every query
        x = self._embed(source, self.source_embedding, PositionsAndMask(start=0))
        for block in self.encoder:
            x = block(x, mask).out
        return Encoded(self.encoder_norm(x), mask)

    def decode(
        self, target: Int[Tensor, "batch target"], encoded: Encoded, kv_cache: KVCache | None = None
    ) -> Float[Tensor, "batch target vocab_size"]:
        """Return the logits of the token after each target token, given the encoded source and the cached tokens."""
        check_ids(target, self.config.target_vocab_size, "target")
        return self.logits(self.target_states(target, encoded, kv_cache))

    def target_states(
        self, target: Int[Tensor, "batch target"], encoded: Encoded, kv_cache: KVCache | None = None
    ) -> Float[Tensor, "batch target d_model"]:
        """Return the decoder's vector of each target token, which the output layer turns into logits.

        Args:
            target: ids within the vocabulary (not checked here); padding must come after the tokens, where the causal
                mask hides it.
            encoded: the encoded source.
            kv_cache: holds the tokens before `target`; those of `target` are added to it.

        Raises:
            TypeError, ValueError: `target` is not a batch of ids, has no tokens, or does not have as many rows as the
                source; or the cache is full or for another number of blocks.
        """
        check_batch(target, "target")
        if target.shape[0] != encoded.states.shape[0]:
            raise ValueError(f"{len(target)} targets need as many sources, not {len(encoded.states)}")
        positions = _positions_and_mask(target, None, kv_cache, self.decoder)
        x = self._embed(target, self.target_embedding, positions)
        for i, block in enumerate(self.decoder):
            memory = encoded.states if kv_cache is None else kv_cache.memory[i]  # the source, or its keys and values
            layer_cache = None if kv_cache is None else kv_cache.blocks[i]
            x = block(x, memory, positions.mask, encoded.mask, is_causal=positions.is_causal, kv_cache=layer_cache).out
        states: Tensor = self.decoder_norm(x)
        return states

    def logits(self, states: Float[Tensor, "... d_model"]) -> Float[Tensor, "... vocab_size"]:
        """Apply the output layer: return a score for each token of the target language."""
        out: Tensor = self.output(states)
        return out

    def kv_cache(self, encoded: Encoded, capacity: int) -> KVCache:
        """Return an empty cache for `capacity` target tokens, with the source's keys and values for every block.

        Raises:
            ValueError: `capacity` is below 1.
        """
        blocks = cast("list[DecoderBlock]", list(self.decoder))
        memory = tuple(block.cross_attention.keys_and_values(encoded.states) for block in blocks)
        return KVCache.empty(
            self.config.block, len(self.decoder), len(encoded.states), capacity, like=encoded.states, memory=memory
        )

    def begin(
        self,
        source: Int[Tensor, "batch source"],
        max_new_tokens: int,
        *,
        mask: Bool[Tensor, "batch source"] | None = None,
        use_cache: bool = True,
        compiled: bool = False,
        past_context: bool = False,
        end_ids: tuple[int, ...] | None = None,
    ) -> DecodingState:
        """Begin translations of at most `max_new_tokens` tokens, which decoding then continues step by step.

        Args:
            source: ids, padded after their tokens.
            max_new_tokens: the most tokens to write.
            mask: True at the source's tokens, False at padding; None to find the padding by its id.
            use_cache: whether to keep keys and values; compiled steps always do.
            compiled: whether torch compiles the steps.
            past_context: has no effect: a translation may have any length.
            end_ids: the ids that end a translation; None for the configuration's.

        Raises:
            TypeError, ValueError: `source` is not a batch of ids, has no tokens or ids outside the vocabulary, or
                `mask` is True at padding.
        """
        padding_id = self.config.padding_id
        if mask is not None:  # the encoder finds padding by its id
            if bool((mask & (source == padding_id)).any()):
                raise ValueError(f"attention_mask must be 0 wherever input_ids is padding, {padding_id}")
            source = source.masked_fill(~mask, padding_id)
        state = (
            CompiledTranslationState(self, source, max_new_tokens)
            if compiled
            else TranslationState(self, source, max_new_tokens, use_cache)
        )
        return with_end_ids(state, end_ids, self.config.target_vocab_size)

    def _embed(
        self, ids: Int[Tensor, "batch tokens"], embedding: nn.Embedding, positions: PositionsAndMask
    ) -> Float[Tensor, "batch tokens d_model"]:
        scale = math.sqrt(self.config.d_model)  # embeddings are initialized small, for the tied output's sake
        x: Tensor = self.dropout(self.positions(embedding(ids) * scale, positions.start, positions.position_ids))
        return x


class GPT(GenerationMixin, FromPretrained, nn.Module):
    """The decoder-only transformer: a language model, GPT-2 or one of its descendants, such as Llama.

    Its blocks are the encoder's, with a causal mask: without a source there is nothing to cross-attend to (S2).
    `generate` (of `GenerationMixin`) calls `begin`, then asks the decoding state for one token after another.
    """

    families = (GPT2, *LLAMAS, OWN_GPT)

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = None if config.rotary else LearnedPositions(config.d_model, config.context_length)
        self.rotary = _rotary_positions(config)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(EncoderBlock(config.block) for _ in range(config.layers))
        self.has_window = [config.window_of(layer) is not None for layer in range(config.layers)]
        self.norm = _final_norm(config.block)  # its name in checkpoints
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        _initialize_as_gpt(self)
        if config.tied_output:
            self.output.weight = self.embedding.weight

    def forward(
        self,
        ids: Int[Tensor, "batch tokens"],
        mask: Bool[Tensor, "batch tokens"] | None = None,
        kv_cache: KVCache | None = None,
        *,
        documents: Int[Tensor, "batch tokens"] | None = None,
    ) -> Float[Tensor, "batch tokens vocab_size"]:
        """Return the logits of the token after each token; position t sees tokens 0..t.

        Args:
            ids: the tokens.
            mask: True at tokens, False at padding, before or after them; None if there is no padding.
            kv_cache: holds the tokens before `ids`; those of `ids` are added to it.
            documents: for packing, where a row holds several texts without padding: the number of each token's text,
                such as [0, 0, 0, 1, 1]. A token sees only its own text, and positions count from 0 in each text. Not
                allowed with a mask or a cache.

        Raises:
            TypeError: ids or documents are not whole numbers, or the mask is not boolean.
            ValueError: ids are outside the vocabulary (checked on the CPU only), there are no tokens or more than the
                context, or the mask has another shape.
        """
        check_ids(ids, self.config.vocab_size, "ids")
        return self.logits(self.states(ids, mask, kv_cache, documents=documents))

    def states(
        self,
        ids: Int[Tensor, "batch tokens"],
        mask: Bool[Tensor, "batch tokens"] | None = None,
        kv_cache: KVCache | None = None,
        *,
        documents: Int[Tensor, "batch tokens"] | None = None,
    ) -> Float[Tensor, "batch tokens d_model"]:
        """Return each token's vector after the last block and the final norm; the output layer turns these into logits.

        Raises:
            TypeError, ValueError: as for `forward`, but ids are not checked against the vocabulary; or the cache is
                full or for another number of blocks.
        """
        check_batch(ids, "ids")
        check_mask(mask, ids)
        if documents is None:
            positions = _positions_and_mask(ids, mask, kv_cache, self.blocks)
        else:
            _check_packed(documents, ids, mask, kv_cache)
            positions = PositionsAndMask.packed(documents)
        end = positions.start + ids.shape[1]
        if end > self.config.context_length:
            raise ValueError(f"{end} tokens are more than the context of {self.config.context_length}")
        x, rotate = self._embed(ids, positions)
        in_window = self._in_window(ids, positions) if any(self.has_window) else positions
        for i, block in enumerate(self.blocks):
            seen = in_window if self.has_window[i] else positions  # where this block's tokens may attend
            layer_cache = None if kv_cache is None else kv_cache.blocks[i]
            x = block(x, seen.mask, is_causal=seen.is_causal, kv_cache=layer_cache, rotate=rotate).out
        states: Tensor = self.norm(x)
        return states

    def _embed(self, ids: Int[Tensor, "batch tokens"], positions: PositionsAndMask) -> tuple[Tensor, Rotate | None]:
        """Embed the tokens and add learned positions; return the rotation of rotary positions, for queries and keys."""
        x = self.embedding(ids)
        if self.positions is not None:
            return self.dropout(self.positions(x, positions.start, positions.position_ids)), None
        assert self.rotary is not None
        position_ids, _ = positions.of_queries_and_keys(ids.shape[1], ids.device)
        return self.dropout(x), self.rotary(position_ids, positions.start + ids.shape[1])

    def _in_window(self, ids: Int[Tensor, "batch tokens"], positions: PositionsAndMask) -> PositionsAndMask:
        """Return the same positions with the mask of the sliding window, which is itself causal."""
        tokens, window = ids.shape[1], self.config.window
        if window is None or positions.start + tokens <= window:
            return positions
        from course_lib.modern.sliding_window import (
            sliding_window_mask,  # imported late: a lesson may withhold it
        )

        mask = sliding_window_mask(*positions.of_queries_and_keys(tokens, ids.device), window)
        if positions.mask is not None:
            mask = mask & positions.mask
        return replace(positions, mask=mask, is_causal=False)

    def logits(self, states: Float[Tensor, "... d_model"]) -> Float[Tensor, "... vocab_size"]:
        """Apply the output layer: return a score for each token of the vocabulary."""
        out: Tensor = self.output(states)
        return out

    def kv_cache(self, batch: int, capacity: int) -> KVCache:
        """Return an empty cache for `batch` texts of `capacity` tokens.

        Raises:
            ValueError: `capacity` is above the context or below 1.
        """
        if capacity > self.config.context_length:
            raise ValueError(f"{capacity} tokens are more than the context of {self.config.context_length}")
        return KVCache.empty(self.config.block, len(self.blocks), batch, capacity, like=self.embedding.weight)

    def begin(
        self,
        prompt: Int[Tensor, "batch tokens"],
        max_new_tokens: int,
        *,
        mask: Bool[Tensor, "batch tokens"] | None = None,
        use_cache: bool = True,
        compiled: bool = False,
        past_context: bool = False,
        end_ids: tuple[int, ...] | None = None,
    ) -> DecodingState:
        """Begin texts of at most `max_new_tokens` tokens after the prompts, which decoding then continues.

        Args:
            prompt: ids, padded on either side.
            max_new_tokens: the most tokens to write.
            mask: True at the prompts' tokens, False at padding; None to find the padding by its id.
            use_cache: whether to keep keys and values; compiled steps always do.
            compiled: whether torch compiles the steps; they stay within the context whatever `past_context` says.
            past_context: whether to continue past the context, predicting each token from the last `context_length`
                ones.
            end_ids: the ids that end a text; None for the configuration's.

        Raises:
            TypeError, ValueError: `prompt` is not a batch of ids, has no tokens or ids outside the vocabulary, or there
                is no room within the context.
        """
        if compiled:
            state: DecodingState = CompiledGenerationState(self, prompt, max_new_tokens, mask)
        else:
            state = (SlidingGenerationState if past_context else GenerationState)(
                self, prompt, max_new_tokens, use_cache, mask
            )
        return with_end_ids(state, end_ids, self.config.vocab_size)


class BERT(FromPretrained, Encoder):
    """The encoder-only transformer: every token sees every other, so it can read but not write."""

    config: BERTConfig
    families = (*BERTS, OWN_BERT)

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = LearnedPositions(config.d_model, config.context_length)
        self.segment_embedding = nn.Embedding(config.segments, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, config.norm_epsilon)  # of the embeddings; blocks have their own
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(EncoderBlock(config.block) for _ in range(config.layers))
        self.pooler = nn.Linear(config.d_model, config.d_model)
        self.apply(_initialize_normal)

    def forward(
        self,
        ids: Int[Tensor, "batch tokens"],
        *,
        segments: Int[Tensor, "batch tokens"] | None = None,
        mask: Bool[Tensor, "batch tokens"] | None = None,
    ) -> BERTOutput:
        """Return every token's vector after the last block, and that of [CLS] after the pooler.

        Raises:
            TypeError, ValueError: as for `Encoder`; or segments do not exist or have another shape, or there are more
                tokens than the context.
        """
        check_ids(ids, self.config.vocab_size, "ids")
        check_mask(mask, ids)
        segments = torch.zeros_like(ids) if segments is None else segments
        check_ids(segments, self.config.segments, "segments")
        if segments.shape != ids.shape:
            raise ValueError(f"segments must be {list(ids.shape)} as ids are, not {list(segments.shape)}")
        x = self.positions(self.embedding(ids) + self.segment_embedding(segments))
        x = self.dropout(self.norm(x))
        keys_mask = None if mask is None else mask.unsqueeze(1)  # the same for every query
        for block in self.blocks:
            x = block(x, keys_mask).out
        pooled = self.pooler(x[:, 0])
        return BERTOutput(x, torch.tanh(pooled) if self.config.pooler_activation == "tanh" else torch.relu(pooled))


def _positions_and_mask(
    ids: Int[Tensor, "batch tokens"],
    mask: Bool[Tensor, "batch tokens"] | None,
    kv_cache: KVCache | None,
    blocks: nn.ModuleList,
) -> PositionsAndMask:
    """Return the positions of these tokens and what they may attend to; the cache records their padding.

    Raises:
        ValueError: the cache is for another number of blocks, or has no room for these tokens.
    """
    if kv_cache is None:
        return PositionsAndMask.after(0, ids.shape[1], mask, ids.device)
    if len(kv_cache.blocks) != len(blocks):
        raise ValueError(f"the cache is of a model with {len(kv_cache.blocks)} blocks, but this one has {len(blocks)}")
    return kv_cache.advance(mask, ids)


def _check_packed(documents: Tensor, ids: Tensor, mask: Tensor | None, kv_cache: KVCache | None) -> None:
    check_batch(documents, "documents")
    if documents.shape != ids.shape:
        raise ValueError(f"documents must be {list(ids.shape)} as ids are, not {list(documents.shape)}")
    if mask is not None or kv_cache is not None:
        raise ValueError("give documents or mask and cache, not both: number the padding as a text of its own")


def _rotary_positions(config: GPTConfig) -> nn.Module | None:
    if not config.rotary:
        return None
    from course_lib.modern.rotary import RotaryPositions  # imported late: a lesson may withhold it

    return RotaryPositions(config.block.head_dim, config.rotary)


def _final_norm(config: BlockConfig) -> nn.Module:
    """Return the norm after the last block: pre-norm needs one, while a post-norm block normalizes its own output."""
    return make_norm(config) if config.norm_first else nn.Identity()


def _initialize_as_glorot(model: Transformer) -> None:
    """Draw Glorot's uniform weights, and embeddings of length about 1; set biases to zero.

    W_q, W_k and W_v are drawn from 1 / √2 of the range that each would have by itself, as in `nn.Transformer`, where
    they are one matrix. From a wider range, a post-norm model learns slowly: `benchmarks/README.md`.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            for projection in module.projections():
                nn.init.xavier_uniform_(projection, gain=0.5**0.5)


def _initialize_normal(module: nn.Module) -> None:
    """Initialize as GPT-2 and BERT do: normal weights of standard deviation 0.02, and zero biases."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


def _initialize_as_gpt(model: GPT) -> None:
    """Initialize as `_initialize_normal` does, but with smaller weights where a layer adds to the residual path.

    Radford et al. (2019), section 2.3: smaller by 1 / √N, where N = 2 · layers, since each block adds to the path
    twice.
    """
    model.apply(_initialize_normal)
    deviation = 0.02 / math.sqrt(2 * len(model.blocks))
    for name, weight in model.blocks.named_parameters():
        if name.endswith((".W_o.weight", ".W_2.weight")):
            nn.init.normal_(weight, std=deviation)
