"""Beam search, beside every sentence there is."""

from __future__ import annotations

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
from tests.course_lib.writers import END, PROMPTS_LEFT, SOURCES, Tree, gpt, new_tokens, transformer

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


class TestAgainstEverySentence:
    @pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
    def test_as_wide_as_it_can_be_it_finds_the_best(self, alpha: float) -> None:
        tree = Tree(seed=1)
        found = beam_search(tree, FIRST, beams=100, length_penalty=alpha, max_new_tokens=4)
        for row, first in enumerate(FIRST.flatten().tolist()):
            score, tokens = every_sentence(tree, first, 4, alpha)[0]
            assert found.scores[row, 0].item() == pytest.approx(score, abs=1e-5)
            assert without_padding(found.tokens[row, 0].tolist(), 4) == tokens

    @pytest.mark.parametrize("beams", [1, 2, 3, 5])
    @pytest.mark.parametrize("seed", range(4))
    def test_scores_are_those_of_the_tokens_and_fall(self, beams: int, seed: int) -> None:
        tree = Tree(seed=seed)
        found = beam_search(tree, FIRST, beams, max_new_tokens=6)
        for row, first in enumerate(FIRST.flatten().tolist()):
            assert found.scores[row].tolist() == sorted(found.scores[row].tolist(), reverse=True)
            seen = [without_padding(tokens, 6) for tokens in found.tokens[row].tolist()]
            assert len(set(seen)) == beams
            for tokens, score in zip(seen, found.scores[row].tolist(), strict=True):
                assert score == pytest.approx(
                    log_probability(tree, first, tokens) / penalty(len(tokens), 0.6), abs=1e-5
                )


def test_a_wider_search_can_find_what_greedy_misses() -> None:
    better = 0
    for seed in range(20):
        tree = Tree(seed=seed)
        narrow, wide = (beam_search(tree, FIRST, beams, 0.0, 6).scores[:, 0] for beams in (1, 4))
        better += int((wide > narrow + 1e-4).sum())
    assert better > 5


@pytest.mark.parametrize(("make", "inputs"), [(transformer, SOURCES), (gpt, PROMPTS_LEFT)])
@pytest.mark.parametrize("seed", range(3))
class TestWithModels:
    def test_one_beam_without_penalty_is_greedy(self, make: type[nn.Module], inputs: Tensor, seed: int) -> None:
        model = make(seed)
        found = beam_search(model, inputs, beams=1, length_penalty=0.0, max_new_tokens=10)
        greedy = new_tokens(model, inputs, max_new_tokens=10)
        assert torch.equal(found.tokens[:, 0, : greedy.shape[1]], greedy)

    def test_cached_and_uncached_find_the_same(self, make: type[nn.Module], inputs: Tensor, seed: int) -> None:
        model = make(seed)
        cached, uncached = (
            beam_search(model, inputs, beams=3, max_new_tokens=10, use_cache=way) for way in (True, False)
        )
        assert torch.equal(cached.tokens, uncached.tokens)
        assert torch.allclose(cached.scores, uncached.scores, atol=1e-4)

    def test_an_input_is_searched_alike_alone(self, make: type[nn.Module], inputs: Tensor, seed: int) -> None:
        model = make(seed)
        together, alone = (
            beam_search(model, inputs, max_new_tokens=10),
            beam_search(model, inputs[1:2], max_new_tokens=10),
        )
        tokens = min(together.tokens.shape[2], alone.tokens.shape[2])
        assert torch.equal(together.tokens[1:2, :, :tokens], alone.tokens[:, :, :tokens])
        assert torch.allclose(together.scores[1:2], alone.scores, atol=1e-4)


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


def test_the_other_penalty_is_the_length() -> None:
    assert penalty(1, 0.6, "length") == 1.0
    assert penalty(7, 1.0, "length") == 7.0
    assert penalty(7, 2.0, "length") == 49.0
    assert penalty(40, 0.0, "length") == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_divided_by_the_one_that_is_asked_for(seed: int) -> None:
    tree = Tree(seed=seed)
    for formula in get_args(LengthFormula):
        found = beam_search(tree, FIRST, 3, 1.5, 6, length_formula=formula)
        for row, first in enumerate(FIRST.flatten().tolist()):
            for tokens, score in zip(found.tokens[row].tolist(), found.scores[row].tolist(), strict=True):
                written = without_padding(tokens, 6)
                divisor = penalty(len(written), 1.5, formula)
                assert score == pytest.approx(log_probability(tree, first, written) / divisor, abs=1e-5)


def test_the_longer_a_search_waits_the_better_it_finds() -> None:
    better = 0
    for seed in range(30):
        early, usual, never = (
            beam_search(Tree(seed=seed), FIRST, 2, 2.0, 8, early_stopping=when).scores[:, 0]
            for when in (True, False, "never")
        )
        assert (early <= usual + 1e-6).all()
        assert (usual <= never + 1e-6).all()
        better += int((early < never - 1e-4).sum())
    assert better > 5


def test_texts_without_an_end_are_refused() -> None:
    with pytest.raises(ValueError, match="give it an end_id"):
        beam_search(gpt(end_id=None), PROMPTS_LEFT, max_new_tokens=5)
