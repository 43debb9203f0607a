"""The demo's translator, in a process of its own."""

from types import SimpleNamespace
from typing import Any

import pytest

from autograder.demo.translation import Learned, learn, learn_here
from course_lib.toys import toy_translator
from course_lib.toys.grammar import Split, toy_translation


@pytest.fixture
def little_data(monkeypatch: pytest.MonkeyPatch) -> Split:
    little = toy_translation(training=60, held_out=6)
    for module in (toy_translator, __import__("autograder.demo.translation", fromlist=["x"])):
        monkeypatch.setattr(module, "toy_translation", lambda **options: little)
    return little


def sent(sentence: str, steps: int) -> list[Any]:
    """What the training process sends."""
    messages: list[Any] = []
    learn_here(SimpleNamespace(send=messages.append), sentence, steps)  # type: ignore[arg-type]
    return messages


def test_every_step_is_told_and_then_what_was_learned(little_data: Split) -> None:
    *steps, learned = sent("the cat danced", 3)
    assert [step for step, _ in steps] == [1, 2, 3]
    assert isinstance(learned, Learned)
    assert (learned.training_pairs, learned.held_out) == (60, 6)
    assert 0 <= learned.matches <= 6
    assert not learned.was_known


def test_a_sentence_that_was_learned_from_is_known(little_data: Split) -> None:
    assert sent(little_data.training[0].source, 1)[-1].was_known


@pytest.mark.usefixtures("processes")
def test_a_training_that_ends_early_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="ended early, with status 1"):
        learn("the cat danced", "many", lambda step, loss: None)  # type: ignore[arg-type]
