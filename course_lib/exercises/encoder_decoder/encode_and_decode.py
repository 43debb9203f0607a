"""Lesson 05, encoder_decoder.encode_and_decode: Encoder and decoder joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import integer
from course_lib.exercises.encoder_decoder.shared import GERMAN
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception, Pair, Value
from course_lib.judging.given import Given
from course_lib.masking import causal_mask, padding_mask
from course_lib.references import encoder_decoder
from course_lib.text.tokenization import PADDING_ID, START_ID, UNKNOWN_ID

ANOTHER_DEVICE = "another device"


def _parts(generator: Generator, d_model: int, layers: int, vocabularies: tuple[int, int]) -> tuple[Value, ...]:
    """embed_source, encoder, embed_target, decoder and output, with random weights."""

    def drawn(kind: str, **construct: int) -> Given:
        shapes = Given(kind, construct).module().state_dict()
        weights = {name: 0.4 * torch.randn(weight.shape, generator=generator) for name, weight in shapes.items()}
        return Given(kind, construct, weights)

    source, target = vocabularies
    return (
        drawn("nn.Embedding", num_embeddings=source, embedding_dim=d_model),
        [drawn("Block", d_model=d_model, heads=2) for _ in range(layers)],
        drawn("nn.Embedding", num_embeddings=target, embedding_dim=d_model),
        [drawn("AskingBlock", d_model=d_model, heads=2) for _ in range(layers)],
        drawn("nn.Linear", in_features=d_model, out_features=target),
    )


def _forward_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        source = torch.tensor([[4, 5, 6]])
        yield Case(
            "worked example: the cat danced, <s> die Katze tanzte",
            (source, GERMAN[:, :-1], *_parts(generator, 6, 2, (9, 10))),
        )
    # The same shape twice, for answers that keep something between calls; once source and target are equally long.
    batch, target = integer(generator, 2, 4), 4
    for name, layers, longest in (
        ("a batch with padding in the source", 2, 6),
        ("three blocks on each side, and unknown words", 3, 6),
        ("one block on each side", 1, target),
    ):
        lengths = torch.full((batch,), longest)
        lengths[:-1] = integer(generator, 2, longest - 1)
        source = torch.randint(4, 12, (batch, longest), generator=generator)
        source[:, 1] = UNKNOWN_ID if layers == 3 else source[:, 1]
        source = source.masked_fill(~padding_mask(lengths, longest), PADDING_ID)
        tokens = torch.randint(4, 12, (batch, target), generator=generator)
        tokens[:, 0] = START_ID
        case = Case(name, (source, tokens, *_parts(generator, 2 * integer(generator, 4, 7), layers, (12, 13))))
        yield case
        if layers == 1:
            yield replace(case, name="on another device", elsewhere=True, part=ANOTHER_DEVICE)
    alone = torch.randint(4, 12, (1, 1), generator=generator)
    yield Case("one token, and <s> alone", (alone, torch.tensor([[START_ID]]), *_parts(generator, 2, 1, (12, 13))))


def _joined(source: Tensor, target: Tensor, *parts: Any) -> Tensor:
    embed_source, encoder, embed_target, decoder, output = parts
    memory_mask = tokens = (source != PADDING_ID).unsqueeze(1)
    memory = embed_source(source)
    for read in encoder:
        memory = read(memory, tokens)
    mask = causal_mask(target.shape[1], target.device).unsqueeze(0)
    x = embed_target(target)
    for write in decoder:
        x = write(x, memory, mask, memory_mask)
    logits: Tensor = output(x)
    return logits


_slip = partial(Edited, _joined)

_slip_alone = partial(Edited, _joined, paired=False)
"""One that is not tried together with others."""

_CAUSAL = "causal_mask(target.shape[1], target.device)"


_ALL_SEEN = (" tokens)\n", " torch.ones_like(tokens))\n"), ("mask, memory_mask", "mask, torch.ones_like(tokens)")


_LEVEL_BY_LEVEL = (
    ("memory = embed_source(source)", "memories, memory = [], embed_source(source)"),
    ("in encoder:", "in encoder:\n        memories.append(memory)"),
    ("for write in decoder", "for write, memory in zip(decoder, [*memories[1:], memory])"),
)


def _joined_sentence_by_sentence(source: Tensor, target: Tensor, *parts: Any) -> Tensor:
    """Without any padding: each sentence is as long as it is."""
    embed_source, encoder, embed_target, decoder, output = parts
    rows = []
    for english, german in zip(source, target, strict=True):
        memory = embed_source(english[english > 0].unsqueeze(0))
        seen = torch.ones(1, 1, 1, dtype=torch.bool, device=source.device)
        for block in encoder:
            memory = block(memory, seen)
        x = embed_target(german.unsqueeze(0))
        for block in decoder:
            x = block(x, memory, seen.new_ones(1, len(german), len(german)).tril(), seen)
        rows.append(output(x))
    return torch.cat(rows)


def _joined_token_by_token(source: Tensor, target: Tensor, *parts: Any) -> Tensor:
    """As in translating: the decoder reads one more token each time, and only the last logits are kept."""
    embed_source, encoder, embed_target, decoder, output = parts
    seen = (source != 0).unsqueeze(1)
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, seen)
    rows = []
    for length in range(1, target.shape[1] + 1):
        x = embed_target(target[:, :length])
        for block in decoder:
            x = block(x, memory, seen.new_ones(1, length, length).tril(), seen)
        rows.append(output(x)[:, -1])
    return torch.stack(rows, dim=1)


CORRECT = (_joined, _joined_sentence_by_sentence, _joined_token_by_token)


EXERCISE = Exercise(
    id="encoder_decoder.encode_and_decode",
    name="encode_and_decode",
    title="Encoder and decoder joined",
    statement=(
        "encode_and_decode(source [batch, source], target [batch, target], embed_source, encoder, embed_target, "
        "decoder, output) -> logits [batch, target, vocab_size]: masks [batch, queries, keys] made on the ids' device, "
        "blocks called in order, the last encoder block's output as every decoder block's memory."
    ),
    points=4,
    parts={CORE: 3, ANOTHER_DEVICE: 1},
    minutes=20,
    difficulty=4,
    importance=5,
    section="The two stacks joined",
    source="S2, T-ED; S4, encoder and decoder; Vaswani et al. (2017), figure 1",
    reference=encoder_decoder.encode_and_decode,
    cases=_forward_cases,
    correct=CORRECT,
    steps=("memory",),
    hints=(
        Hint(
            "idea",
            "The source is encoded once, by all encoder blocks in a chain; then every decoder block looks at the last "
            "block's output. Of the masks, one hides padding of the source, the other hides the future of the target.",
        ),
        Hint(
            "shapes",
            "Where the source is not padding is `[batch, source]`; queries are in the middle and see all the same "
            "keys, so it becomes `[batch, 1, source]` and serves encoder and cross-attention alike. The causal mask "
            "is `[1, target, target]`, on the device of the target. Padding after the target needs none.",
            answers=(
                "padded_queries_in_the_encoder",
                "causal_encoder",
                "causal_cross_attention",
                "masks_exchanged",
                "keys_as_rows",
                "padding_seen",
            ),
        ),
        Hint(
            "outline",
            "The mask of the source, with a dimension of size 1 for the queries.\n"
            "Embed the source and send it through the encoder's blocks, one after the other.\n"
            "The causal mask for as many tokens as the target has.\n"
            "Embed the target and send it through the decoder's blocks, each with the memory and both masks.\n"
            "The output layer gives the scores.",
            answers=("level_by_level", "encoder_not_chained", "decoder_not_chained", "first_blocks_only", "softmaxed"),
        ),
    ),
    misconceptions=(
        Misconception(
            "mask_on_the_cpu",
            "Your answer is right on the CPU, but makes a tensor there wherever its input is, so that it stops with an "
            "error on a GPU. Make the causal mask on the device of the ids: device=target.device.",
            _slip((", target.device)", ")")),
            alone=True,
        ),
        Misconception(
            "future_seen",
            "Your answer lets the decoder's tokens see those after them: its mask does not forbid it. It must be "
            "causal: the lower triangle.",
            _slip((_CAUSAL, f"torch.ones_like({_CAUSAL})")),
        ),
        Misconception(
            "itself_forbidden",
            "Your answer forbids each target token to see itself, and the first to see anything. The diagonal of the "
            "causal mask is allowed.",
            _slip((_CAUSAL, f"{_CAUSAL}.tril(-1)")),
        ),
        Misconception(
            "keys_as_rows",
            "Your answer lets the decoder's tokens see the future but not the past: its mask is the upper triangle. "
            "Rows are queries: the lower triangle is allowed.",
            _slip((_CAUSAL, f"{_CAUSAL}.T")),
        ),
        Misconception(
            "causal_mask_inverted",
            "Your causal mask is True where attention is forbidden, as torch's own modules have it (torch.triu). In "
            "this course True means `may attend`: torch.tril, or causal_mask.",
            _slip_alone((_CAUSAL, f"~{_CAUSAL}")),
        ),
        Misconception(
            "padding_seen",
            "Your answer lets every token attend to the source's padding. Its mask is True only where source != "
            "PADDING_ID.",
            _slip_alone(*_ALL_SEEN),
        ),
        Misconception(
            "padding_seen_by_the_encoder",
            "Your answer lets the source's tokens attend to its padding: the encoder's blocks need the source's mask, "
            "just as the cross-attention does.",
            _slip(_ALL_SEEN[0]),
        ),
        Misconception(
            "padding_seen_by_the_decoder",
            "Your answer lets the target's tokens attend to the source's padding: the cross-attention needs the "
            "source's mask, just as the encoder's blocks do.",
            _slip(_ALL_SEEN[1]),
        ),
        Misconception(
            "causal_encoder",
            "Your answer lets each source token see only those up to itself: the encoder's mask is causal. The source "
            "is there from the beginning, so that only its padding is forbidden.",
            _slip((" tokens)\n", " tokens & causal_mask(source.shape[1]))\n")),
        ),
        Misconception(
            "causal_cross_attention",
            "Your answer's cross-attention is causal: position t sees the first t + 1 tokens of the source only. The "
            "source is there from the beginning, so that only its padding is forbidden.",
            _slip(("mask, memory_mask", "mask, tokens & torch.ones(target.shape[1], source.shape[1]).tril().bool()")),
        ),
        Misconception(
            "only_padding_seen",
            "Your answer attends to the source's padding and to no token of it. The mask is True at tokens: source != "
            "PADDING_ID, not ==.",
            _slip(("!=", "==")),
        ),
        Misconception(
            "padded_queries_in_the_encoder",
            "In the encoder your mask forbids padding to look, but not to be looked at. Keys are the last dimension "
            "of a mask: unsqueeze(1), which makes it [batch, 1, source].",
            _slip((" tokens)\n", " tokens.mT)\n")),
        ),
        Misconception(
            "unknown_words_hidden",
            "Your answer hides other ids than the padding's, such as 3, the unknown token. Only padding is hidden: the "
            "mask is source != PADDING_ID.",
            _slip(("!= PADDING_ID", "> UNKNOWN_ID")),
        ),
        Misconception(
            "masks_inverted",
            "Your answer's masks are True where attention is forbidden, as torch's own modules have it. In this course "
            "True means `may attend`: leave out the ~.",
            _slip_alone((_CAUSAL, f"~{_CAUSAL}"), ("!=", "==")),
        ),
        Misconception(
            "masks_exchanged",
            "Your answer hands the decoder's blocks their two masks in the wrong order. First comes the target's, then "
            "the source's: block(x, memory, mask, memory_mask).",
            _slip_alone(("mask, memory_mask", "memory_mask, mask")),
        ),
        Misconception(
            "encoder_left_out",
            "Your answer hands the embedded source to the decoder: the encoder's blocks are not used, or what they "
            "return is dropped. Keep it: x = block(x, mask).",
            _slip(("in encoder", "in encoder[:0]")),
        ),
        Misconception(
            "level_by_level",
            "Your answer gives each decoder block the encoder block of the same height. All of them get the output of "
            "the last: run the whole encoder first.",
            _slip(*_LEVEL_BY_LEVEL),
        ),
        Misconception(
            "encoder_not_chained",
            "Your answer gives each of the encoder's blocks the embedded tokens, so that only its last block counts. "
            "Each reads what the block before it returned.",
            _slip(("read(memory", "read(embed_source(source)")),
        ),
        Misconception(
            "decoder_not_chained",
            "Your answer gives each of the decoder's blocks the embedded tokens, so that only its last block counts. "
            "Each reads what the block before it returned.",
            _slip(("write(x", "write(embed_target(target)")),
        ),
        Misconception(
            "first_blocks_only",
            "Your answer uses only the first block of each stack, or returns from within the loop. Go through all of "
            "them.",
            _slip_alone(("in encoder", "in encoder[:1]"), ("in decoder", "in decoder[:1]")),
        ),
        Misconception(
            "first_encoder_block_only",
            "Only the first of the encoder's blocks counts in your answer. Go through all of them, and hand the "
            "decoder what the last one returned.",
            _slip(("in encoder", "in encoder[:1]")),
        ),
        Misconception(
            "first_decoder_block_only",
            "Only the first of the decoder's blocks counts in your answer: does it return from within the loop? Go "
            "through all of them.",
            _slip_alone(("in decoder", "in decoder[:1]")),
        ),
        Misconception(
            "embed_source_for_both",
            "Your answer embeds the target with embed_source as well. Each language has its own: embed_target(target).",
            _slip(("embed_target(target)", "embed_source(target)")),
        ),
        Misconception(
            "output_left_out",
            "Your answer is the last block's vectors. The output layer should turn them into scores: output(x).",
            _slip_alone(("output(x)", "x")),
        ),
        Misconception(
            "softmaxed",
            "Your answer takes the softmax at the end. Return the scores as the output layer gives them: the loss "
            "takes their logarithm and softmax in one.",
            _slip(("output(x)", "output(x).softmax(dim=-1)")),
        ),
        Misconception(
            "log_softmaxed",
            "Your answer takes log_softmax at the end. Return the scores as the output layer gives them.",
            _slip(("output(x)", "output(x).log_softmax(dim=-1)")),
        ),
    ),
    listed_pairs=(Pair("padding_seen", "level_by_level", _slip(*_ALL_SEEN, *_LEVEL_BY_LEVEL)),),
)
