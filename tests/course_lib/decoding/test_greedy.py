"""Greedy decoding: it takes the best token, stops at <e>, and leaves the model as it was."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from course_lib.decoding.greedy import decode_with, greedy_decode
from course_lib.text.tokenization import START_ID
from tests.course_lib.writers import END, PROMPTS_LEFT, SOURCES, Tree, gpt, transformer

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
        tokens = greedy_decode(tree, torch.tensor([[7], [8], [9], [10]]), max_new_tokens=12).tolist()
        expected = [climbed(tree, first, 12) for first in (7, 8, 9, 10)]
        assert len({len(each) for each in expected}) > 1
        longest = max(len(each) for each in expected)
        assert tokens == [each + [0] * (longest - len(each)) for each in expected]

    def test_stops_at_the_longest_length(self) -> None:
        assert greedy_decode(gpt(end_id=None), PROMPTS_LEFT, max_new_tokens=7).shape == (3, 7)

    def test_switches_dropout_off_and_back_on(self) -> None:
        tree = Tree().train()
        greedy_decode(tree, torch.tensor([[7]]))
        assert set(tree.modes) == {False}
        assert tree.training
        greedy_decode(tree.eval(), torch.tensor([[7]]))
        assert not tree.training

    def test_leaves_frozen_what_was_frozen(self) -> None:
        model = transformer().train()
        model.encoder.eval()
        greedy_decode(model, SOURCES, max_new_tokens=2)
        assert model.training
        assert all(module.training for module in model.decoder.modules())
        assert not any(module.training for module in model.encoder.modules())

    def test_is_the_models_best_token_at_every_place(self) -> None:
        model = transformer().eval()
        tokens = greedy_decode(model, SOURCES[:1], max_new_tokens=8)
        read = torch.cat([torch.tensor([[START_ID]]), tokens[:, :-1]], dim=-1)
        assert torch.equal(model(SOURCES[:1], read).argmax(dim=-1), tokens)

    def test_a_language_model_goes_on_behind_its_prompt(self) -> None:
        model, prompt = gpt(end_id=None).eval(), PROMPTS_LEFT[:1]
        tokens = greedy_decode(model, prompt, max_new_tokens=8)
        read = torch.cat([prompt, tokens[:, :-1]], dim=-1)
        assert torch.equal(model(read)[:, 3:].argmax(dim=-1), tokens)

    @pytest.mark.parametrize(("make", "inputs"), MODELS.values(), ids=MODELS.keys())
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_cached_and_uncached_say_the_same(self, make: type[nn.Module], inputs: Tensor, seed: int) -> None:
        model = make(seed)
        cached = greedy_decode(model, inputs, max_new_tokens=12)
        assert torch.equal(cached, greedy_decode(model, inputs, max_new_tokens=12, use_cache=False))
        assert len(set(cached.flatten().tolist())) > 1

    def test_a_sentence_is_translated_alike_alone_and_in_a_batch(self) -> None:
        model = transformer()
        together = greedy_decode(model, SOURCES, max_new_tokens=8)
        for row, tokens in ((1, 2), (2, 1)):
            alone = greedy_decode(model, SOURCES[row : row + 1, :tokens], max_new_tokens=8)
            assert torch.equal(together[row : row + 1, : alone.shape[1]], alone)

    @pytest.mark.parametrize("side", ["left", "right", "between"])
    @pytest.mark.parametrize("use_cache", [True, False])
    def test_padding_changes_nothing_wherever_it_stands(self, side: str, use_cache: bool) -> None:
        model = gpt(end_id=None)
        padded = {"left": [0, 0, 8, 9], "right": [8, 9, 0, 0], "between": [8, 0, 0, 9]}[side]
        prompts = torch.tensor([[4, 5, 6, 7], padded])
        together = greedy_decode(model, prompts, max_new_tokens=8, use_cache=use_cache)
        assert torch.equal(
            together[1:], greedy_decode(model, torch.tensor([[8, 9]]), max_new_tokens=8, use_cache=use_cache)
        )
        assert torch.equal(together[:1], greedy_decode(model, prompts[:1], max_new_tokens=8, use_cache=use_cache))

    def test_what_it_says_can_be_trained_on(self) -> None:
        model = gpt()
        tokens = greedy_decode(model, PROMPTS_LEFT, max_new_tokens=4)
        model(tokens).sum().backward()
        assert model.embedding.weight.grad is not None


class TestRefusals:
    @pytest.mark.parametrize(
        ("model", "inputs", "max_new_tokens", "error", "match"),
        [
            (gpt(), torch.tensor([[12]]), 3, ValueError, "from 0 to 11, the vocabulary's last, but there is a 12"),
            (gpt(), torch.tensor([[1.0]]), 3, TypeError, r"whole numbers \(torch.long\), not torch.float32"),
            (gpt(), torch.tensor([1, 2]), 3, ValueError, r"must be \[batch, tokens\], not \[2\]"),
            (gpt(), torch.empty(0, 3, dtype=torch.long), 3, ValueError, r"has no tokens: \[0, 3\]"),
            (gpt(), torch.tensor([[1, 2], [0, 0]]), 3, ValueError, "one of the inputs is all padding"),
            (
                gpt(),
                torch.tensor([[1] * 30]),
                4,
                ValueError,
                "30 tokens leaves no room for 4 more in the context of 32",
            ),
            (gpt(), torch.tensor([[1]]), 0, ValueError, "max_new_tokens must be at least 1, not 0"),
            (transformer(), torch.tensor([[-1]]), 3, ValueError, "there is a -1"),
            (transformer(), torch.tensor([[4]]), 0, ValueError, "max_new_tokens must be at least 1, not 0"),
            (nn.Linear(2, 2), torch.tensor([[4]]), 3, TypeError, "cannot write with a Linear"),
        ],
    )
    def test_says_what_is_wrong(
        self, model: nn.Module, inputs: Tensor, max_new_tokens: int, error: type[Exception], match: str
    ) -> None:
        for use_cache in (True, False):
            with pytest.raises(error, match=match):
                greedy_decode(model, inputs, max_new_tokens, use_cache=use_cache)

    def test_the_last_token_that_fits_is_written(self) -> None:
        assert greedy_decode(gpt(end_id=None), torch.ones(1, 30, dtype=torch.long), max_new_tokens=3).shape == (1, 3)


def test_any_choice_will_do() -> None:
    worst = decode_with(gpt(end_id=None), PROMPTS_LEFT[:1], lambda logits: logits.argmin(dim=-1), max_new_tokens=5)
    assert not torch.equal(worst, greedy_decode(gpt(end_id=None), PROMPTS_LEFT[:1], max_new_tokens=5))
