"""The small translator: what its training reports, and that it learns to translate."""

import pytest
import torch

from course_lib.toys.toy_translator import train_toy_translator


def test_a_short_training_reports_what_it_did() -> None:
    told: list[int] = []
    result = train_toy_translator(progress=lambda step, loss: told.append(step), steps=3)
    assert told == [1, 2, 3]
    assert result.training_pairs == 20_000
    assert result.held_out == 1000
    assert 0 <= result.matches < 500


def test_the_number_of_threads_comes_back() -> None:
    before = torch.get_num_threads()
    during: list[int] = []
    torch.set_num_threads(2)
    try:
        train_toy_translator(progress=lambda step, loss: during.append(torch.get_num_threads()), steps=1)
        assert during == [1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.usefixtures("thorough")
def test_it_learns_to_translate_what_it_has_never_seen() -> None:
    result = train_toy_translator(seed=3)
    assert result.matches >= 0.99 * result.held_out
    assert result.translator.translate(["the cat danced"]) == ["die Katze tanzte"]
