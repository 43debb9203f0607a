"""Beam search, beside every sentence there is."""

import math
from itertools import product
from typing import Any, get_args

import pytest
import torch
from torch import Tensor, nn

from course_lib.decoding.beam import Beams, penalty, search
from course_lib.decoding.generation_config import GenerationConfig, LengthFormula
from course_lib.decoding.greedy import decoding
from course_lib.decoding.rules import Rules
from course_lib.decoding.state import begin_decoding
from tests.course_lib.writers import END, PROMPTS_LEFT, SOURCES, Tree, gpt, transformer

FIRST = torch.tensor([[7], [8], [9]])


def beam_search(
    model: nn.Module,
    inputs: Tensor,
    beams: int = 4,
    length_penalty: float = 0.6,
    max_new_tokens: int = 50,
    use_cache: bool = True,
    **how: Any,
) -> Beams:
    """The sentences that are found, with their scores."""
    settings = GenerationConfig(
        max_new_tokens, num_beams=beams, length_penalty=length_penalty, **{"length_formula": "wu", **how}
    )
    with decoding(model):
        text = begin_decoding(model, inputs, max_new_tokens, use_cache=use_cache)
        return search(text, settings, Rules(text.prompt))


def log_probability(tree: Tree, first: int, tokens: tuple[int, ...]) -> float:
    total, begun = 0.0, [first]
    for token in tokens:
        total += torch.log_softmax(tree.logits(begun), dim=-1)[token].item()
        begun.append(token)
    return total


def every_sentence(tree: Tree, first: int, longest: int, alpha: float) -> list[tuple[float, tuple[int, ...]]]:
    """All the sentences up to `longest` tokens, finished or cut off there, best first."""
    sentences = []
    for length in range(1, longest + 1):
        for tokens in product(range(tree.vocab_size), repeat=length):
            if END not in tokens[:-1] and (tokens[-1] == END or length == longest):
                sentences.append((log_probability(tree, first, tokens) / penalty(length, alpha), tokens))
    return sorted(sentences, reverse=True)


def without_padding(tokens: list[int], longest: int) -> tuple[int, ...]:
    return tuple(tokens[: tokens.index(END) + 1] if END in tokens else tokens[:longest])


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_as_wide_as_it_can_be_it_finds_the_best_of_every_sentence(alpha: float) -> None:
    tree = Tree(seed=1)
    found = beam_search(tree, FIRST, beams=100, length_penalty=alpha, max_new_tokens=4)
    for row, first in enumerate(FIRST.flatten().tolist()):
        score, tokens = every_sentence(tree, first, 4, alpha)[0]
        assert found.scores[row, 0].item() == pytest.approx(score, abs=1e-5)
        assert without_padding(found.tokens[row, 0].tolist(), 4) == tokens


@pytest.mark.parametrize(("make", "inputs"), [(transformer, SOURCES), (gpt, PROMPTS_LEFT)])
@pytest.mark.parametrize("seed", range(3))
def test_cached_and_uncached_find_the_same(make: type[nn.Module], inputs: Tensor, seed: int) -> None:
    model = make(seed)
    cached, uncached = (beam_search(model, inputs, beams=3, max_new_tokens=10, use_cache=way) for way in (True, False))
    assert torch.equal(cached.tokens, uncached.tokens)
    assert torch.allclose(cached.scores, uncached.scores, atol=1e-4)


def test_fewer_sentences_than_beams_leave_rows_empty() -> None:
    found = beam_search(Tree(), FIRST, beams=6, max_new_tokens=1)
    assert found.tokens.shape == (3, 6, 1)
    assert (found.scores.isfinite().sum(dim=1) == 4).all()
    assert (found.tokens[found.scores.isneginf()] == 0).all()


def test_the_penalty_is_the_papers() -> None:
    assert penalty(1, 0.6) == 1.0
    assert penalty(7, 1.0) == 2.0
    assert penalty(40, 0.0) == 1.0
    assert penalty(7, 0.6) == pytest.approx(math.exp(0.6 * math.log(2)))


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_the_tokens_divided_as_is_asked_for_and_fall(seed: int) -> None:
    tree = Tree(seed=seed)
    for formula in get_args(LengthFormula):
        found = beam_search(tree, FIRST, 3, 1.5, 6, length_formula=formula)
        for row, first in enumerate(FIRST.flatten().tolist()):
            written, scores = [without_padding(tokens, 6) for tokens in found.tokens[row].tolist()], found.scores[row]
            assert len({*written}) == 3
            assert scores.tolist() == sorted(scores.tolist(), reverse=True)
            for tokens, score in zip(written, scores.tolist(), strict=True):
                divisor = penalty(len(tokens), 1.5, formula)
                assert score == pytest.approx(log_probability(tree, first, tokens) / divisor, abs=1e-5)
