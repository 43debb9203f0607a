"""Greedy decoding: it takes the best token, stops at <e>, and leaves the model as it was."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from course_lib.text.tokenization import START_ID
from tests.course_lib.writers import END, PROMPTS_LEFT, SOURCES, Tree, gpt, new_tokens, transformer

MODELS = {
    "translation": (transformer, SOURCES),
    "language model": (gpt, PROMPTS_LEFT),
    "post-norm language model": (lambda seed: gpt(seed, norm_first=False), PROMPTS_LEFT),
}


def climbed(tree: Tree, first: int, longest: int) -> list[int]:
    """The best token at every step, by hand."""
    begun = [first]
    while len(begun) <= longest and (len(begun) == 1 or begun[-1] != END):
        begun.append(int(tree.logits(begun).argmax()))
    return begun[1:]


class TestGreedy:
    def test_says_the_best_token_until_the_end(self) -> None:
        tree = Tree()
        tokens = new_tokens(tree, torch.tensor([[7], [8], [9], [10]]), max_new_tokens=12).tolist()
        expected = [climbed(tree, first, 12) for first in (7, 8, 9, 10)]
        assert len({len(each) for each in expected}) > 1
        longest = max(len(each) for each in expected)
        assert tokens == [each + [0] * (longest - len(each)) for each in expected]

    def test_stops_at_the_longest_length(self) -> None:
        assert new_tokens(gpt(end_id=None), PROMPTS_LEFT, max_new_tokens=7).shape == (3, 7)

    def test_switches_dropout_off_and_back_on(self) -> None:
        tree = Tree().train()
        new_tokens(tree, torch.tensor([[7]]))
        assert set(tree.modes) == {False}
        assert tree.training
        new_tokens(tree.eval(), torch.tensor([[7]]))
        assert not tree.training

    def test_leaves_frozen_what_was_frozen(self) -> None:
        model = transformer().train()
        model.encoder.eval()
        new_tokens(model, SOURCES, max_new_tokens=2)
        assert model.training
        assert all(module.training for module in model.decoder.modules())
        assert not any(module.training for module in model.encoder.modules())

    def test_is_the_models_best_token_at_every_place(self) -> None:
        model = transformer().eval()
        tokens = new_tokens(model, SOURCES[:1], max_new_tokens=8)
        read = torch.cat([torch.tensor([[START_ID]]), tokens[:, :-1]], dim=-1)
        assert torch.equal(model(SOURCES[:1], read).argmax(dim=-1), tokens)

    def test_a_language_model_goes_on_behind_its_prompt(self) -> None:
        model, prompt = gpt(end_id=None).eval(), PROMPTS_LEFT[:1]
        tokens = new_tokens(model, prompt, max_new_tokens=8)
        read = torch.cat([prompt, tokens[:, :-1]], dim=-1)
        assert torch.equal(model(read)[:, 3:].argmax(dim=-1), tokens)

    @pytest.mark.parametrize(("make", "inputs"), MODELS.values(), ids=MODELS.keys())
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_cached_and_uncached_say_the_same(self, make: type[nn.Module], inputs: Tensor, seed: int) -> None:
        model = make(seed)
        cached = new_tokens(model, inputs, max_new_tokens=12)
        assert torch.equal(cached, new_tokens(model, inputs, max_new_tokens=12, use_cache=False))
        assert len(set(cached.flatten().tolist())) > 1

    def test_a_sentence_is_translated_alike_alone_and_in_a_batch(self) -> None:
        model = transformer()
        together = new_tokens(model, SOURCES, max_new_tokens=8)
        for row, tokens in ((1, 2), (2, 1)):
            alone = new_tokens(model, SOURCES[row : row + 1, :tokens], max_new_tokens=8)
            assert torch.equal(together[row : row + 1, : alone.shape[1]], alone)

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
