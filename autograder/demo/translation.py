"""The demo's translator, trained in a process of its own.

Grading forks its workers from the process that runs the demo. A fork of a process in which torch has computed with
several threads can hang at its first matrix product, since it lacks those threads; how many there are is for the
user's environment to say. So whatever computes before the fork does so elsewhere.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection

from course_lib.toys.grammar import toy_translation
from course_lib.toys.toy_translator import train_toy_translator


@dataclass(frozen=True)
class Learned:
    """What the translator has learned.

    Attributes:
        training_pairs: how many different sentences it learned from.
        matches: how many held-out sentences it translates word for word.
        held_out: how many there are.
        seconds: wall-clock time of the training.
        translation: its translation of the sentence that was asked for.
        was_known: whether that sentence is one of those that it learned from.
    """

    training_pairs: int
    matches: int
    held_out: int
    seconds: float
    translation: str
    was_known: bool


def learn(sentence: str, steps: int, progress: Callable[[int, float], None]) -> Learned:
    """Train the small translator, in another process, and let it translate a sentence.

    Args:
        sentence: what to translate.
        steps: of training.
        progress: called after each step with its number and its loss.

    Raises:
        RuntimeError: the other process has ended early.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=learn_here, args=(sender, sentence, steps), daemon=True)
    process.start()
    sender.close()
    try:
        while not isinstance(message := receiver.recv(), Learned):
            progress(*message)
        return message
    except EOFError:
        process.join()
        raise RuntimeError(f"the training has ended early, with status {process.exitcode}") from None
    finally:
        process.terminate()
        process.join()


def learn_here(connection: Connection, sentence: str, steps: int) -> None:
    """Train in this process, and send each step's number and loss, then what was learned."""
    training = train_toy_translator(progress=lambda step, loss: connection.send((step, loss)), steps=steps)
    [translation] = training.translator.translate([sentence])
    was_known = sentence in {pair.source for pair in toy_translation().training}
    connection.send(
        Learned(training.training_pairs, training.matches, training.held_out, training.seconds, translation, was_known)
    )
