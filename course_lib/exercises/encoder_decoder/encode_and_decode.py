"""Lesson 05, encoder_decoder.encode_and_decode: Encoder and decoder joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import integer, slips
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
_slips = partial(slips, _joined)

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
        "decoder, output) -> logits [batch, target, vocab_size]: with masks [batch, queries, keys] on the ids' device, "
        "blocks called in order, and the last encoder block's output as every decoder block's memory."
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
            "Encode the source once, through all encoder blocks in a chain. Then every decoder block attends to the "
            "last encoder block's output. You need two masks: one hides the source's padding, the other the target's "
            "future.",
        ),
        Hint(
            "shapes",
            "The source's mask, True at tokens, is `[batch, source]`. All queries see the same keys, so make it "
            "`[batch, 1, source]`, for the encoder and for cross-attention. The causal mask is `[1, target, target]`, "
            "on the target's device. Leave padding after the target unmasked.",
            answers=("causal_encoder", "causal_cross_attention", "masks_exchanged", "keys_as_rows", "padding_seen"),
        ),
        Hint(
            "outline",
            "Create the source's mask, with a dimension of size 1 for the queries.\n"
            "Embed the source and pass it through the encoder's blocks, one after the other.\n"
            "Create the causal mask for as many tokens as the target has.\n"
            "Embed the target and pass it through the decoder's blocks, each with the memory and both masks.\n"
            "Compute the scores with the output layer.",
            answers=("level_by_level", "encoder_not_chained", "decoder_not_chained", "first_blocks_only", "softmaxed"),
        ),
    ),
    misconceptions=(
        Misconception(
            "mask_on_the_cpu",
            "Your answer always creates a tensor on the CPU, so it raises an error on a GPU. Create the causal mask "
            "on the device of the ids: device=target.device.",
            _slip((", target.device)", ")")),
            alone=True,
        ),
        *_slips(
            future_seen=(
                "Your answer lets the decoder's tokens see later ones. Use a causal mask: the lower triangle.",
                (_CAUSAL, f"torch.ones_like({_CAUSAL})"),
            ),
            itself_forbidden=(
                "Your answer forbids each target token from seeing itself. Include the diagonal of the causal mask.",
                (_CAUSAL, f"{_CAUSAL}.tril(-1)"),
            ),
            keys_as_rows=(
                "Your causal mask is the upper triangle, so tokens see the future, not the past. Use the lower one.",
                (_CAUSAL, f"{_CAUSAL}.T"),
            ),
            padding_seen_by_the_encoder=(
                "Your answer's encoder attends to padding. Pass the source's mask to the encoder's blocks too.",
                _ALL_SEEN[0],
            ),
            padding_seen_by_the_decoder=(
                "Your answer's decoder attends to the source's padding. Pass it the source's mask too.",
                _ALL_SEEN[1],
            ),
            causal_encoder=(
                "Your answer's encoder is causal. The whole source is known from the start: hide only its padding.",
                (" tokens)\n", " tokens & causal_mask(source.shape[1]))\n"),
            ),
            causal_cross_attention=(
                "Your cross-attention is causal. The whole source is known from the start: hide only its padding.",
                ("mask, memory_mask", "mask, tokens & torch.ones(target.shape[1], source.shape[1]).tril().bool()"),
            ),
            only_padding_seen=(
                "Your answer attends only to the source's padding. Make the mask True at tokens: !=, not ==.",
                ("!=", "=="),
            ),
            unknown_words_hidden=(
                "Your answer hides ids other than padding, such as 3. Hide only padding: source != PADDING_ID.",
                ("!= PADDING_ID", "> UNKNOWN_ID"),
            ),
            encoder_left_out=(
                "Your answer doesn't use what the encoder's blocks return. Keep it: x = block(x, mask).",
                ("in encoder", "in encoder[:0]"),
            ),
            level_by_level=(
                "Your answer pairs each decoder block with one encoder block. Give them all the last one's output.",
                *_LEVEL_BY_LEVEL,
            ),
            encoder_not_chained=(
                "Your answer gives each encoder block the embedded tokens. Give it the output of the block before.",
                ("read(memory", "read(embed_source(source)"),
            ),
            decoder_not_chained=(
                "Your answer gives each decoder block the embedded tokens. Give it the output of the block before.",
                ("write(x", "write(embed_target(target)"),
            ),
            embed_source_for_both=(
                "Your answer embeds the target with embed_source. Use its own embedding: embed_target(target).",
                ("embed_target(target)", "embed_source(target)"),
            ),
            softmaxed=(
                "Your answer takes a softmax at the end. Return the scores: the loss applies the softmax itself.",
                ("output(x)", "output(x).softmax(dim=-1)"),
            ),
            log_softmaxed=(
                "Your answer takes log_softmax at the end. Return the scores: the loss applies it itself.",
                ("output(x)", "output(x).log_softmax(dim=-1)"),
            ),
        ),
        *_slips(
            paired=False,
            causal_mask_inverted=(
                "Your causal mask is True where attention is forbidden. Here, True means `may attend`: use torch.tril.",
                (_CAUSAL, f"~{_CAUSAL}"),
            ),
            masks_inverted=(
                "Your masks are True where attention is forbidden, as torch's modules need. Here, leave out the ~.",
                (_CAUSAL, f"~{_CAUSAL}"),
                ("!=", "=="),
            ),
            padding_seen=(
                "Your answer attends to the source's padding. Make the mask True only where source != PADDING_ID.",
                *_ALL_SEEN,
            ),
            masks_exchanged=(
                "Your answer swaps the decoder's masks. The target's comes first: block(x, memory, mask, memory_mask).",
                ("mask, memory_mask", "memory_mask, mask"),
            ),
            first_blocks_only=(
                "Your answer uses only the first block of each stack: does it return inside the loop? Use all blocks.",
                ("in encoder", "in encoder[:1]"),
                ("in decoder", "in decoder[:1]"),
            ),
            first_decoder_block_only=(
                "Your answer uses only the first decoder block: does it return inside the loop? Go through all blocks.",
                ("in decoder", "in decoder[:1]"),
            ),
            output_left_out=(
                "Your answer returns the last block's vectors. Turn them into scores with the output layer: output(x).",
                ("output(x)", "x"),
            ),
        ),
    ),
    listed_pairs=(Pair("padding_seen", "level_by_level", _slip(*_ALL_SEEN, *_LEVEL_BY_LEVEL)),),
)
