"""Trains the demo's translator, in a separate process.

Grading forks its workers from the process that runs the demo. If torch has computed with several threads in a process,
a fork of it lacks these threads and may hang at its first matrix product; the user's environment sets their number. So
all computation before the fork happens elsewhere.
"""

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection

from course_lib.toys.grammar import toy_translation
from course_lib.toys.toy_translator import train_toy_translator


@dataclass(frozen=True)
class Learned:
    """The result of the training.

    Attributes:
        training_pairs: number of different sentences that it learned from.
        matches: number of held-out sentences that it translates word for word.
        held_out: number of held-out sentences.
        seconds: wall-clock time of the training.
        translation: its translation of the requested sentence.
        was_known: whether the training included that sentence.
    """

    training_pairs: int
    matches: int
    held_out: int
    seconds: float
    translation: str
    was_known: bool


def learn(sentence: str, steps: int, progress: Callable[[int, float], None]) -> Learned:
    """Train the small translator in another process, and let it translate a sentence.

    Args:
        sentence: the sentence to translate.
        steps: how many training steps.
        progress: called after each step with its number and its loss.

    Raises:
        RuntimeError: the other process ended early.
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
    """Train in this process; send each step's number and loss, and then the result."""
    training = train_toy_translator(progress=lambda step, loss: connection.send((step, loss)), steps=steps)
    [translation] = training.translator.translate([sentence])
    was_known = sentence in {pair.source for pair in toy_translation().training}
    connection.send(
        Learned(training.training_pairs, training.matches, training.held_out, training.seconds, translation, was_known)
    )
