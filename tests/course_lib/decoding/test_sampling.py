"""Sampling: which tokens may be drawn, and that a seed repeats them."""

import math

import pytest
import torch
from torch import Tensor, nn
from transformers import MinPLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from course_lib.decoding.sampling import keep_min_p, keep_nucleus, keep_top_k
from tests.course_lib.writers import PROMPTS_LEFT, SOURCES, gpt, new_tokens, transformer

PROBABILITIES = torch.tensor([[0.1, 0.4, 0.2, 0.3], [0.7, 0.1, 0.1, 0.1]])
LOGITS = PROBABILITIES.log()
WORDS = torch.zeros(50, 1, dtype=torch.long)


def kept(logits: Tensor) -> list[list[int]]:
    return [row.nonzero().flatten().tolist() for row in logits > -math.inf]


@pytest.mark.parametrize(
    ("k", "tokens"),
    [(1, [[1], [0]]), (2, [[1, 3], [0, 1, 2, 3]]), (3, [[1, 2, 3], [0, 1, 2, 3]]), (9, [[0, 1, 2, 3]] * 2)],
)
def test_top_k_keeps_the_k_most_probable_and_their_equals(k: int, tokens: list[list[int]]) -> None:
    assert kept(keep_top_k(LOGITS, k)) == tokens


class TestNucleus:
    @pytest.mark.parametrize(
        ("p", "tokens"),
        [
            (0.05, [[1], [0]]),
            (0.39, [[1], [0]]),
            (0.69, [[1, 3], [0]]),
            (0.75, [[1, 2, 3], [0, 1]]),
            (1.0, [[0, 1, 2, 3]] * 2),
        ],
    )
    def test_keeps_the_fewest_tokens_of_that_mass(self, p: float, tokens: list[list[int]]) -> None:
        assert kept(keep_nucleus(LOGITS, p)) == tokens

    def test_never_keeps_none(self) -> None:
        assert kept(keep_nucleus(torch.full((1, 5), 3.0), 1e-9)) == [[0]]


class TestAsTheirs:
    """The same tokens stay as in the `transformers` library."""

    SCORES = 3 * torch.randn(50, 40, generator=torch.Generator().manual_seed(0))

    @pytest.mark.parametrize("k", [1, 7, 40, 99])
    def test_top_k(self, k: int) -> None:
        assert torch.equal(keep_top_k(self.SCORES, k), TopKLogitsWarper(k)(WORDS, self.SCORES))

    @pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
    def test_nucleus(self, p: float) -> None:
        assert torch.equal(keep_nucleus(self.SCORES, p), TopPLogitsWarper(p)(WORDS, self.SCORES))

    @pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 1.0])
    def test_min_p(self, p: float) -> None:
        assert torch.equal(keep_min_p(self.SCORES, p), MinPLogitsWarper(p)(WORDS, self.SCORES))


@pytest.mark.parametrize(("make", "inputs"), [(transformer, SOURCES), (gpt, PROMPTS_LEFT)])
def test_a_seed_repeats_the_draws_with_and_without_the_cache(make: type[nn.Module], inputs: Tensor) -> None:
    def draw(seed: int, use_cache: bool) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return new_tokens(make(), inputs, 10, do_sample=True, generator=generator, use_cache=use_cache)

    first = draw(1, use_cache=True)
    assert torch.equal(first, draw(1, use_cache=True))
    assert torch.equal(first, draw(1, use_cache=False))
    other = draw(2, use_cache=True)
    assert first.shape != other.shape or not torch.equal(first, other)
