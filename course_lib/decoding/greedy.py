"""Decoding: from a trained model to a sentence, one token at a time (S2).

Greedy decoding takes the most probable token at every step. `decode_from` is the loop for any choice.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.decoding.rules import Rules
from course_lib.decoding.state import DecodingState
from course_lib.ground.modules import evaluating

Choice = Callable[[Float[Tensor, "batch vocab_size"]], Int[Tensor, " batch"]]
"""Chooses the tokens to write from the logits."""

Listener = Callable[[Int[Tensor, " batch"]], object]
"""Called with each step's tokens, on the CPU."""


def decode_from(
    text: DecodingState, choose: Choice, max_new_tokens: int, rules: Rules, listen: Listener | None = None
) -> Int[Tensor, "batch new"]:
    """Choose one token after another until every text has ended; call it within `decoding`.

    Args:
        text: the decoding state, which has read nothing yet.
        choose: chooses the next token of each text.
        max_new_tokens: the most tokens to write, the end included; a text that is not finished by then stays cut off.
        rules: change the logits first, and may stop a text before its end token.
        listen: called with each step's tokens as soon as they are on the CPU; on other devices, after several steps.

    Returns:
        The new tokens, with padding after each end.
    """
    tokens = torch.full((text.batch, max_new_tokens), text.padding_id, device=text.device)
    finished = torch.zeros(text.batch, dtype=torch.bool, device=text.device)
    logits = text.prefill()
    longest = torch.zeros((), dtype=torch.long, device=text.device)
    reported = 0
    for length in range(1, max_new_tokens + 1):
        longest += ~finished.all()
        token = choose(rules.change(tokens[:, : length - 1], logits)).masked_fill(finished, text.padding_id)
        tokens[:, length - 1] = token
        finished |= rules.stops(tokens[:, :length]) | text.has_ended(token)
        is_last = length == max_new_tokens
        if is_last or time_to_ask(length, text.device):
            if listen is not None:
                for column in tokens[:, reported : int(longest)].T.cpu():
                    listen(column)
                reported = length
            if is_last or finished.all():
                break
        logits = text.step(token)
    return tokens[:, : int(longest)]


def time_to_ask(step: int, device: torch.device) -> bool:
    """Return whether to check now if all texts are finished; on devices but the CPU, this makes the program wait."""
    return device.type == "cpu" or step % STEPS_BETWEEN_QUESTIONS == 0


STEPS_BETWEEN_QUESTIONS = 8


def most_probable(logits: Float[Tensor, "batch vocab_size"]) -> Int[Tensor, " batch"]:
    """Return the most probable token of each text: greedy decoding."""
    return logits.argmax(dim=-1)


@contextmanager
def decoding(model: nn.Module) -> Iterator[None]:
    """Switch gradients and dropout off."""
    with evaluating(model), torch.inference_mode():
        yield
