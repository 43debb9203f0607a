"""A text in characters, and models that learn a little of it."""

import math

import pytest
import torch
from torch import nn

from course_lib.toys.trials import CONTEXT, CharacterText, held_out_loss, python_documentation, trial


def test_pythons_documentation_is_english_and_long_enough() -> None:
    text = python_documentation()
    assert len(text.training) > 200_000
    assert len(text.held_out) > 20_000
    assert 80 < len(text.characters) < 128
    assert "".join(text.characters[i] for i in text.training.tolist()).count(" the ") > 1000


def test_a_text_is_cut_in_two_and_its_characters_are_numbered() -> None:
    text = CharacterText.of("katzekatze" * 2)
    assert text.characters == "aektz"
    assert text.training.tolist() == text.encode("katzekatzekatzekat").tolist()
    assert text.held_out.tolist() == text.encode("ze").tolist()


def pairs_of_characters() -> nn.Module:
    return nn.Embedding(2, 2)


@pytest.mark.usefixtures("slow")
def test_a_trial_learns_and_is_the_same_again() -> None:
    text = CharacterText.of("ab" * 1000)
    untrained = held_out_loss(nn.Sequential(nn.Embedding(2, 2)), text.held_out)
    found = [trial(pairs_of_characters, text, "ab", [0.05] * 40, seeds=2) for _ in range(2)]
    assert found[0].losses == found[1].losses
    assert found[0].parameters == 4
    assert max(found[0].losses) < min(0.3, untrained)
    assert str(found[0]).endswith(")")


def test_what_is_called_before_each_step_sees_the_rate() -> None:
    seen = []
    text = CharacterText.of("ab" * 1000)
    trial(pairs_of_characters, text, "ab", [0.0, 0.1], seeds=1, before=lambda model, rate: seen.append(rate))
    assert seen == [0.0, 0.1]


def test_a_model_that_knows_nothing_has_the_loss_of_guessing() -> None:
    model = nn.Embedding(4, 4)
    nn.init.zeros_(model.weight)
    ids = torch.arange(4).repeat(CONTEXT)
    assert math.isclose(held_out_loss(model, ids), math.log(4), rel_tol=1e-5)
