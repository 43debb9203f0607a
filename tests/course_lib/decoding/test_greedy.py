"""Greedy decoding: with and without a cache, beside padding anywhere, and the model stays as it was."""

import pytest
import torch
from torch import Tensor, nn

from tests.course_lib.writers import PROMPTS_LEFT, SOURCES, Tree, gpt, new_tokens, transformer

MODELS = {
    "translation": (transformer, SOURCES),
    "language model": (gpt, PROMPTS_LEFT),
    "post-norm language model": (lambda seed: gpt(seed, norm_first=False), PROMPTS_LEFT),
}


class TestGreedy:
    def test_switches_dropout_off_and_back_on(self) -> None:
        tree = Tree().train()
        new_tokens(tree, torch.tensor([[7]]))
        assert set(tree.modes) == {False}
        assert tree.training
        new_tokens(tree.eval(), torch.tensor([[7]]))
        assert not tree.training

    @pytest.mark.parametrize(("make", "inputs"), MODELS.values(), ids=MODELS.keys())
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_cached_and_uncached_say_the_same(self, make: type[nn.Module], inputs: Tensor, seed: int) -> None:
        model = make(seed)
        cached = new_tokens(model, inputs, max_new_tokens=12)
        assert torch.equal(cached, new_tokens(model, inputs, max_new_tokens=12, use_cache=False))
        assert len(set(cached.flatten().tolist())) > 1

    @pytest.mark.parametrize("side", ["left", "right", "between"])
    @pytest.mark.parametrize("use_cache", [True, False])
    def test_padding_changes_nothing_wherever_it_stands(self, side: str, use_cache: bool) -> None:
        model = gpt(end_id=None)
        padded = {"left": [0, 0, 8, 9], "right": [8, 9, 0, 0], "between": [8, 0, 0, 9]}[side]
        prompts = torch.tensor([[4, 5, 6, 7], padded])
        together = new_tokens(model, prompts, max_new_tokens=8, use_cache=use_cache)
        assert torch.equal(
            together[1:], new_tokens(model, torch.tensor([[8, 9]]), max_new_tokens=8, use_cache=use_cache)
        )
        assert torch.equal(together[:1], new_tokens(model, prompts[:1], max_new_tokens=8, use_cache=use_cache))

    def test_the_last_token_that_fits_is_written(self) -> None:
        assert new_tokens(gpt(end_id=None), torch.ones(1, 30, dtype=torch.long), max_new_tokens=3).shape == (1, 3)
