"""Reading without dropout."""

import pytest
from torch import nn

from course_lib.ground.modules import evaluating


def test_a_frozen_whole_may_have_parts_that_train() -> None:
    model = nn.Sequential(nn.Dropout(), nn.Linear(2, 2)).eval()
    model[0].train()
    with evaluating(model):
        assert not model[0].training
    assert [module.training for module in model.modules()] == [False, True, False]


def test_the_mode_comes_back_after_an_error() -> None:
    model = nn.Dropout()

    def fail() -> None:
        with evaluating(model):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert model.training
