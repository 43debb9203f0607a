"""All of decoding in one call: `model.generate(...)`."""

from functools import partial

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from course_lib.decoding.beam import search
from course_lib.decoding.generation_config import GenerationConfig, LogitsProcessor, Streamer
from course_lib.decoding.greedy import decode_from, decoding, most_probable
from course_lib.decoding.rules import Processor, Rules, no_end_before, no_repeated_ngram, repetition_penalty, stop_rule
from course_lib.decoding.sampling import draw
from course_lib.decoding.state import DecodingState, begin_decoding
from course_lib.ground.validation import check_batch


def generate(
    model: nn.Module,
    input_ids: Int[Tensor, "batch tokens"],
    attention_mask: Tensor | None,
    settings: GenerationConfig,
    streamer: Streamer | None = None,
) -> Int[Tensor, "texts written"]:
    """Generate texts as `GenerationMixin.generate` describes."""
    beams, copies = settings.num_beams, settings.num_return_sequences
    if streamer is not None and beams > 1:
        raise ValueError("beam search may still change its tokens, so there is nothing to stream yet")
    if copies > 1 and beams == 1:
        input_ids = input_ids.repeat_interleave(copies, dim=0)
        attention_mask = None if attention_mask is None else attention_mask.repeat_interleave(copies, dim=0)
    with decoding(model):  # in evaluation, without gradients
        state = _begin(model, input_ids, attention_mask, settings)
        rules, prompt = _rules(state, settings), state.prompt
        if beams > 1:
            found = search(state, settings, rules).tokens  # [batch, beams, written], the best first
            prompt, tokens = prompt.repeat_interleave(copies, dim=0), found[:, :copies].flatten(0, 1)
        else:
            choose = partial(draw, settings=settings) if settings.samples else most_probable
            if streamer is not None:
                streamer.put(prompt.cpu())
            listen = None if streamer is None else streamer.put
            tokens = decode_from(state, choose, settings.max_new_tokens, rules, listen)
        state.close()
        written = torch.cat([prompt, tokens], dim=1)
    if streamer is not None:
        streamer.end()
    return written.clone()  # outside of inference mode, so that it can be trained with


def _begin(
    model: nn.Module, input_ids: Tensor, attention_mask: Tensor | None, settings: GenerationConfig
) -> DecodingState:
    """Return the decoding state of these prompts or sources, which has written nothing yet."""
    check_batch(input_ids, "input_ids")
    ends = settings.eos_token_id
    return begin_decoding(
        model,
        input_ids,
        settings.max_new_tokens,
        mask=_as_boolean(attention_mask, input_ids),
        use_cache=settings.use_cache,
        compiled=settings.compiled,
        past_context=settings.past_context,
        end_ids=ends if ends is None else (ends,) if isinstance(ends, int) else tuple(ends),
    )


def _rules(state: DecodingState, settings: GenerationConfig) -> Rules:
    """Return rules that change the next token's scores, in the order of the `transformers` library, and end texts."""
    processors: list[Processor] = []
    if settings.repetition_penalty != 1.0:
        processors.append(repetition_penalty(settings.repetition_penalty))
    if settings.no_repeat_ngram_size:
        processors.append(no_repeated_ngram(settings.no_repeat_ngram_size))
    if settings.min_new_tokens and state.end_ids:
        processors.append(no_end_before(state.prompt.shape[1] + settings.min_new_tokens, state.end_ids))
    processors += [_with_ids(processor) for processor in settings.processors]
    stop = stop_rule(settings.stop_strings, settings.tokenizer) if settings.stop_strings else None
    return Rules(state.prompt, state.prompt_mask, processors, stop)


def _with_ids(processor: LogitsProcessor) -> Processor:
    """Wrap a caller's processor, which takes no mask of the tokens."""
    return lambda ids, _, scores: processor(ids, scores)


def _as_boolean(attention_mask: Tensor | None, ids: Tensor) -> Bool[Tensor, "batch tokens"] | None:
    """Return the mask as booleans, since tokenizers give 1 and 0."""
    if attention_mask is None:
        return None
    if not isinstance(attention_mask, Tensor) or attention_mask.dtype not in (torch.bool, torch.int64, torch.int32):
        found = getattr(attention_mask, "dtype", type(attention_mask).__name__)
        raise TypeError(f"attention_mask must be 1 (or True) at tokens and 0 (or False) at padding, not {found}")
    if attention_mask.shape != ids.shape:
        raise ValueError(f"attention_mask must be {list(ids.shape)} as input_ids are, not {list(attention_mask.shape)}")
    mask = attention_mask.bool()
    if not torch.equal(mask.to(attention_mask.dtype), attention_mask):
        raise ValueError("attention_mask must be 1 at tokens and 0 at padding, and has other numbers")
    return mask
