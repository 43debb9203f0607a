"""Lesson 05, encoder_decoder.encode_and_decode: Encoder and decoder joined."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import ANOTHER_DEVICE, elsewhere, hints, integer, made_on_the_cpu, mistake, slips
from course_lib.exercises.encoder_decoder.shared import GERMAN, drawn
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Pair, Value
from course_lib.masking import causal_mask, padding_mask
from course_lib.references import encoder_decoder
from course_lib.text.tokenization import PADDING_ID, START_ID, UNKNOWN_ID


def _parts(generator: Generator, d_model: int, layers: int, vocabularies: tuple[int, int]) -> tuple[Value, ...]:
    """embed_source, encoder, embed_target, decoder and output, with random weights."""
    part = partial(drawn, generator, 0.4)
    source, target = vocabularies
    return (
        part("nn.Embedding", num_embeddings=source, embedding_dim=d_model),
        [part("Block", d_model=d_model, heads=2) for _ in range(layers)],
        part("nn.Embedding", num_embeddings=target, embedding_dim=d_model),
        [part("AskingBlock", d_model=d_model, heads=2) for _ in range(layers)],
        part("nn.Linear", in_features=d_model, out_features=target),
    )


def _forward_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        inputs = (torch.tensor([[4, 5, 6]]), GERMAN[:, :-1], *_parts(generator, 6, 2, (9, 10)))
        yield Case("worked example: the cat danced, <s> die Katze tanzte", inputs)
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
            yield elsewhere(case)
    alone = torch.randint(4, 12, (1, 1), generator=generator)
    yield Case("one token, and <s> alone", (alone, torch.tensor([[START_ID]]), *_parts(generator, 2, 1, (12, 13))))


def _joined(source: Tensor, target: Tensor, *parts: Any) -> Tensor:
    embed_source, encoder, embed_target, decoder, output = parts
    memory_mask = tokens = (source != PADDING_ID).unsqueeze(1)
    memory = embed_source(source)
    for read in encoder:
        memory = read(memory, tokens)
    mask = causal_mask(target.shape[1], device=target.device).unsqueeze(0)
    x = embed_target(target)
    for write in decoder:
        x = write(x, memory, mask, memory_mask)
    logits: Tensor = output(x)
    return logits


_slip, _slips = partial(Edited, _joined), partial(slips, _joined)
_slip_alone = partial(_slip, paired=False)

_CAUSAL = "causal_mask(target.shape[1], device=target.device)"
_ALL_SEEN = (" tokens)\n", " torch.ones_like(tokens))\n"), ("mask, memory_mask", "mask, torch.ones_like(tokens)")
_LEVEL_BY_LEVEL = (
    ("memory = embed_source(source)", "memories, memory = [], embed_source(source)"),
    ("in encoder:", "in encoder:\n        memories.append(memory)"),
    ("for write in decoder", "for write, memory in zip(decoder, [*memories[1:], memory])"),
)
_CROSS_CAUSAL = "mask, tokens & torch.ones(target.shape[1], source.shape[1]).tril().bool()"


def _joined_sentence_by_sentence(source: Tensor, target: Tensor, *parts: Any) -> Tensor:
    """Without any padding: each sentence is as long as it is."""
    return torch.cat(
        [
            _joined_by_reduce(one[one > 0].unsqueeze(0), two.unsqueeze(0), *parts)
            for one, two in zip(source, target, strict=True)
        ]
    )


def _joined_by_reduce(source: Tensor, target: Tensor, *parts: Any) -> Any:
    embed_source, encoder, embed_target, decoder, output = parts
    seen, tokens = (source != 0)[:, None], target.shape[1]
    causal = seen.new_ones(1, tokens, tokens).tril()
    memory = reduce(lambda x, block: block(x, seen), encoder, embed_source(source))
    return output(reduce(lambda x, block: block(x, memory, causal, seen), decoder, embed_target(target)))


EXERCISE = Exercise(
    id="encoder_decoder.encode_and_decode",
    title="Encoder and decoder joined",
    statement=(
        "encode_and_decode(source [batch, source], target [batch, target], embed_source, encoder, embed_target, "
        "decoder, output) -> logits [batch, target, vocab_size]: with masks [batch, queries, keys] on the ids' device, "
        "blocks called in order, and the output of the last encoder block as the memory of every decoder block."
    ),
    parts={CORE: 3, ANOTHER_DEVICE: 1},
    minutes=20,
    difficulty=4,
    importance=5,
    section="The two stacks joined",
    source="S2, T-ED; S4, encoder and decoder; Vaswani et al. (2017), figure 1",
    reference=encoder_decoder.encode_and_decode,
    cases=_forward_cases,
    correct=(_joined, _joined_sentence_by_sentence, _joined_by_reduce),
    steps=("memory",),
    hints=hints(
        idea=(
            "Pass the source through all encoder blocks. Every decoder block attends to the output of the last "
            "encoder block. You need two masks: one hides the padding of the source, and the other hides later tokens "
            "of the target."
        ),
        shapes=(
            "The source mask is `[batch, source]` at first, and True at real tokens. All queries see the same keys, "
            "so make it `[batch, 1, source]`, for the encoder and for cross-attention. The causal mask is `[1, "
            "target, target]`, on the target's device. Leave padding after the target unmasked.",
            ("causal_encoder", "causal_cross_attention", "masks_exchanged", "keys_as_rows", "padding_seen"),
        ),
        outline=(
            "Create the source mask, with a dimension of size 1 for the queries.\n"
            "Embed the source and pass it through the encoder's blocks, one after the other.\n"
            "Create a causal mask for the length of the target.\n"
            "Embed the target and pass it through the decoder's blocks, each with the memory and both masks.\n"
            "Compute the scores with the output layer.",
            ("level_by_level", "encoder_not_chained", "decoder_not_chained", "first_blocks_only", "softmaxed"),
        ),
    ),
    misconceptions=(
        replace(made_on_the_cpu(_joined, "target.device"), id="mask_on_the_cpu", alone=True),
        *mistake(
            "Your answer attends to padding in the source. Pass the source mask to every block, in both stacks.",
            padding_seen_by_the_encoder=_slip(_ALL_SEEN[0]),
            padding_seen_by_the_decoder=_slip(_ALL_SEEN[1]),
            padding_seen=_slip_alone(*_ALL_SEEN),
        ),
        *mistake(
            "Your answer hides later words of the source. The whole source is known at once: hide only its padding.",
            causal_encoder=_slip((" tokens)\n", " tokens & causal_mask(source.shape[1]))\n")),
            causal_cross_attention=_slip(("mask, memory_mask", _CROSS_CAUSAL)),
        ),
        *mistake(
            "Your answer lets target tokens see later tokens. Use a causal mask: the lower triangle.",
            future_seen=_slip((_CAUSAL, f"torch.ones_like({_CAUSAL})")),
            keys_as_rows=_slip((_CAUSAL, f"{_CAUSAL}.T")),
            causal_mask_inverted=_slip_alone((_CAUSAL, f"~{_CAUSAL}")),
        ),
        *mistake(
            "Your answer doesn't pass each block's output to the next. Keep it: x = block(x, ...).",
            encoder_left_out=_slip(("in encoder", "in encoder[:0]")),
            encoder_not_chained=_slip(("read(memory", "read(embed_source(source)")),
            decoder_not_chained=_slip(("write(x", "write(embed_target(target)")),
        ),
        *mistake(
            "Your answer doesn't go through all blocks of a stack. Does your function return inside the loop?",
            first_blocks_only=_slip_alone(("in encoder", "in encoder[:1]"), ("in decoder", "in decoder[:1]")),
            first_decoder_block_only=_slip_alone(("in decoder", "in decoder[:1]")),
        ),
        *mistake(
            "Your answer applies a softmax to the scores. Return the scores: the loss applies the softmax itself.",
            softmaxed=_slip(("output(x)", "output(x).softmax(dim=-1)")),
            log_softmaxed=_slip(("output(x)", "output(x).log_softmax(dim=-1)")),
        ),
        *_slips(
            itself_forbidden=(
                "Your answer keeps each target token from seeing itself. Include the diagonal of the causal mask.",
                (_CAUSAL, f"{_CAUSAL}.tril(-1)"),
            ),
            only_padding_seen=(
                "Your answer attends only to padding in the source. Make the mask True at real tokens: use !=, not ==.",
                ("!=", "=="),
            ),
            unknown_words_hidden=(
                "Your answer hides ids other than padding, such as 3. Hide only padding: source != PADDING_ID.",
                ("!= PADDING_ID", "> UNKNOWN_ID"),
            ),
            level_by_level=(
                "Your answer pairs each decoder block with one encoder block. Give all of them the output of the last "
                "encoder block.",
                *_LEVEL_BY_LEVEL,
            ),
            embed_source_for_both=(
                "Your answer embeds the target with embed_source. Use the target's embedding: embed_target(target).",
                ("embed_target(target)", "embed_source(target)"),
            ),
        ),
        *_slips(
            paired=False,
            masks_inverted=(
                "Your masks are True where attention is forbidden, as torch's modules expect. Here, True means `may "
                "attend`: leave out the ~.",
                (_CAUSAL, f"~{_CAUSAL}"),
                ("!=", "=="),
            ),
            masks_exchanged=(
                "Your answer swaps the decoder's masks. Call block(x, memory, mask, memory_mask).",
                ("mask, memory_mask", "memory_mask, mask"),
            ),
            output_left_out=("Your answer returns vectors. Return the scores, output(x).", ("output(x)", "x")),
        ),
    ),
    listed_pairs=(Pair("padding_seen", "level_by_level", _slip(*_ALL_SEEN, *_LEVEL_BY_LEVEL)),),
)
