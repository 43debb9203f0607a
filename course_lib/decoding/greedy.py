"""Decoding: from a trained model to a sentence, one token at a time (S2).

Greedy decoding takes the most probable token at every step. `decode_from` is the loop, whatever the choice.
"""

from __future__ import annotations

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
    """Ask for logits, choose, read what was chosen, ask again, until every text has its end; within `decoding`.

    Args:
        text: nothing of it has been read yet.
        choose: which token to write.
        max_new_tokens: the most tokens to write, the end included; a text that is not finished by then stays cut off.
        rules: what changes the logits first, and where a text stops besides at its end.
        listen: is told each step's tokens, as soon as they are on the CPU: on other devices, several steps at once.

    Returns:
        The new tokens, with padding after each end.
    """
    tokens = torch.full((text.batch, max_new_tokens), text.padding_id, device=text.device)
    finished = torch.zeros(text.batch, dtype=torch.bool, device=text.device)
    logits = text.prefill()
    longest = torch.zeros((), dtype=torch.long, device=text.device)
    told = 0
    for length in range(1, max_new_tokens + 1):
        longest += ~finished.all()
        token = choose(rules.change(tokens[:, : length - 1], logits)).masked_fill(finished, text.padding_id)
        tokens[:, length - 1] = token
        finished |= rules.stops(tokens[:, :length]) | text.has_ended(token)
        is_last = length == max_new_tokens
        if is_last or time_to_ask(length, text.device):
            if listen is not None:
                for column in tokens[:, told : int(longest)].T.cpu():
                    listen(column)
                told = length
            if is_last or finished.all():
                break
        logits = text.step(token)
    return tokens[:, : int(longest)]


def time_to_ask(step: int, device: torch.device) -> bool:
    """Return whether to look now if all texts are finished: every device but the CPU makes the program wait."""
    return device.type == "cpu" or step % STEPS_BETWEEN_QUESTIONS == 0


STEPS_BETWEEN_QUESTIONS = 8


def most_probable(logits: Float[Tensor, "batch vocab_size"]) -> Int[Tensor, " batch"]:
    """Greedy decoding's choice."""
    return logits.argmax(dim=-1)


@contextmanager
def decoding(model: nn.Module) -> Iterator[None]:
    """Switch gradients and dropout off."""
    with evaluating(model), torch.inference_mode():
        yield
