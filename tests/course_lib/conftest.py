"""Every test of the library draws the same random numbers in every run and in any order."""

import pytest
import torch


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)
