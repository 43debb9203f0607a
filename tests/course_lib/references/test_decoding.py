"""The plain forms of decoding, beside the library's own that read a model in batches."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from course_lib.attention import attention
from course_lib.references import decoding
from course_lib.text.tokenization import SPECIAL
from tests.course_lib.writers import END, Tree, new_tokens, transformer

START = 1


def step_of(tree: Tree, first: int) -> decoding.Step:
    """What a tree says, as a step function of sentences that begin with `first`."""

    def step(tokens: Tensor) -> Tensor:
        return tree.logits([first, *tokens.tolist()[1:]])

    return step


class TestSearching:
    def test_greedy_writes_what_the_library_writes(self) -> None:
        model = transformer().eval()
        source = torch.tensor([[4, 5, 6, 7]])
        encoded = model.encode(source)

        def step(tokens: Tensor) -> Tensor:
            return model.decode(tokens.unsqueeze(0), encoded)[0, -1]

        expected = new_tokens(model, source, 9)[0]
        with torch.no_grad():
            assert decoding.greedy(step, model.config.start_id, model.config.end_id, 9).tolist() == expected.tolist()

    @pytest.mark.parametrize("seed", range(6))
    def test_one_beam_is_greedy_and_many_find_what_the_library_finds(self, seed: int) -> None:
        tree, first = Tree(seed=seed), 7
        step = step_of(tree, first)
        assert torch.equal(decoding.beam_search(step, START, END, 1, 5), decoding.greedy(step, START, END, 5))
        expected = new_tokens(tree, torch.tensor([[first]]), 4, num_beams=100, length_penalty=0.0)[0]
        found = decoding.beam_search(step, START, END, 100, 4).tolist()
        assert found == expected.tolist()[: len(found)]
        assert set(expected.tolist()[len(found) :]) <= {0}


class TestDrawing:
    probabilities = torch.tensor([[0.1, 0.4, 0.2, 0.3], [0.7, 0.05, 0.15, 0.1]])

    def test_what_is_kept_keeps_its_proportions(self) -> None:
        expected = torch.tensor([[0, 4 / 7, 0, 3 / 7], [14 / 17, 0, 3 / 17, 0]])
        assert_close(decoding.top_k(self.probabilities, 2), expected)
        assert_close(decoding.top_k(self.probabilities, 9), self.probabilities)
        expected = torch.tensor([[0, 4 / 9, 2 / 9, 3 / 9], [14 / 17, 0, 3 / 17, 0]])
        assert_close(decoding.nucleus(self.probabilities, 0.75), expected)


def test_a_vote_goes_to_what_all_samples_share() -> None:
    assert decoding.overlap([3, 5, 3], [3, 3, 7, 7]) == 4 / 7
    assert decoding.consensus([[2], [2], [3, 5, 8, 2], [4, 5, 8, 2], [3, 5, 7, 2]]) == [3, 5, 8, 2]


@pytest.mark.parametrize("cuts", [[1, 1, 1, 1, 1], [3, 2], [5], [1, 4]])
def test_some_tokens_at_a_time_are_the_whole_at_once(cuts: list[int]) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 5, 6, generator=generator)
    projections = [torch.randn(6, 3, generator=generator) for _ in range(3)]
    q, k, v = (x @ projection for projection in projections)
    whole = attention(q, k, v, torch.ones(5, 5, dtype=torch.bool).tril()).out
    keys, values, rows = k[:, :0], v[:, :0], []
    for new in x.split(cuts, dim=1):
        out, keys, values = decoding.attend_with_cache(new, keys, values, *projections)
        rows.append(out)
    assert_close(torch.cat(rows, dim=1), whole)
    assert_close(keys, k)
    assert_close(values, v)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_what_a_draft_leads_to_is_distributed_as_the_target(first: int) -> None:
    """The probability of each first token, exactly: that it was drafted and kept, or drawn in place of another."""
    draft = torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64)
    target = torch.tensor([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], dtype=torch.float64)
    found = 0.0
    for token in range(3):
        ratio = min(1.0, float(target[0, token] / draft[0, token]))
        for chance, share in ((0.0, ratio), (0.999, 1 - ratio)):
            if share > 0:
                kept, following = decoding.speculative_step(
                    torch.tensor([token]), draft, target, torch.tensor([chance], dtype=torch.float64)
                )
                drawn = float(token == first) if kept else float(following[first])
                found += float(draft[0, token]) * share * drawn
    assert found == pytest.approx(float(target[0, first]))


class TestTheTree:
    def test_probabilities_sum_to_one_and_tokens_are_known(self) -> None:
        assert decoding.TANZTE_WORDS[:3] == SPECIAL[:3]
        for following in decoding.TANZTE.values():
            assert math.isclose(sum(following.values()), 1.0)
            assert set(following) <= set(decoding.TANZTE_WORDS)

    def test_wider_searches_find_better_sentences(self) -> None:
        assert [decoding.sentence_found(beams)[0] for beams in (1, 2, 3, 4, 100)] == ["B", "E", "A", "A", "A"]

    def test_the_best_sentence_is_third_after_three_tokens(self) -> None:
        for beams in (1, 2, 3):
            assert decoding.sentence_found(beams)[1] == pytest.approx([0.27, 0.24, 0.216][:beams])

    def test_a_step_says_what_the_tree_says(self) -> None:
        step = decoding.tree_step(decoding.TANZTE, decoding.TANZTE_WORDS)
        logits = step(torch.tensor([1, 3, 5]))
        assert_close(logits.exp()[[7, 8, 9]], torch.tensor([0.5, 0.4, 0.1]))
        assert int(logits.isfinite().sum()) == 3
        assert step(torch.tensor([1, 3, 5, 9])).argmax() == 2
