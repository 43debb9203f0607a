"""The plain forms of decoding, beside the library's own that read a model in batches."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from course_lib.attention import attention
from course_lib.decoding.beam import beam_search, penalty
from course_lib.decoding.greedy import greedy_decode
from course_lib.references import decoding
from course_lib.text.tokenization import SPECIAL
from tests.course_lib.writers import END, Tree, transformer

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

        expected = greedy_decode(model, source, 9)[0]
        with torch.no_grad():
            assert decoding.greedy(step, model.config.start_id, model.config.end_id, 9).tolist() == expected.tolist()

    @pytest.mark.parametrize("seed", range(6))
    def test_one_beam_is_greedy_and_many_find_what_the_library_finds(self, seed: int) -> None:
        tree, first = Tree(seed=seed), 7
        step = step_of(tree, first)
        assert torch.equal(decoding.beam_search(step, START, END, 1, 5), decoding.greedy(step, START, END, 5))
        expected = beam_search(tree, torch.tensor([[first]]), beams=100, length_penalty=0.0, max_new_tokens=4).tokens[
            0, 0
        ]
        found = decoding.beam_search(step, START, END, 100, 4).tolist()
        assert found == expected.tolist()[: len(found)]
        assert set(expected.tolist()[len(found) :]) <= {0}

    def test_the_penalty_is_the_librarys(self) -> None:
        scores, lengths = torch.tensor([[-1.0, -2.0], [-3.0, -4.0]]), torch.tensor([[1, 7], [13, 20]])
        expected = [[-1 / penalty(1, 0.6), -2 / penalty(7, 0.6)], [-3 / penalty(13, 0.6), -4 / penalty(20, 0.6)]]
        assert_close(decoding.length_penalised(scores, lengths, 0.6), torch.tensor(expected))


class TestDrawing:
    probabilities = torch.tensor([[0.1, 0.4, 0.2, 0.3], [0.7, 0.05, 0.15, 0.1]])

    def test_temperature_sharpens_and_flattens(self) -> None:
        logits = self.probabilities.log()
        assert_close(decoding.with_temperature(logits, 1.0), self.probabilities)
        squared = self.probabilities**2
        assert_close(decoding.with_temperature(logits, 0.5), squared / squared.sum(dim=-1, keepdim=True))

    def test_what_is_kept_keeps_its_proportions(self) -> None:
        expected = torch.tensor([[0, 4 / 7, 0, 3 / 7], [14 / 17, 0, 3 / 17, 0]])
        assert_close(decoding.top_k(self.probabilities, 2), expected)
        assert_close(decoding.top_k(self.probabilities, 9), self.probabilities)
        expected = torch.tensor([[0, 4 / 9, 2 / 9, 3 / 9], [14 / 17, 0, 3 / 17, 0]])
        assert_close(decoding.nucleus(self.probabilities, 0.75), expected)


def test_token_by_token_is_the_whole_at_once() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 5, 6, generator=generator)
    projections = [torch.randn(6, 3, generator=generator) for _ in range(3)]
    q, k, v = (x @ projection for projection in projections)
    whole = attention(q, k, v, torch.ones(5, 5, dtype=torch.bool).tril()).out
    keys, values = k[:, :0], v[:, :0]
    for i in range(5):
        out, keys, values = decoding.cached_attention(x[:, i : i + 1], keys, values, *projections)
        assert_close(out, whole[:, i : i + 1])
    assert_close(keys, k)
    assert_close(values, v)


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


class TestSequences:
    """S1's *The gray fluffy cat meowed very loudly EOS*; the slide prints .2 for EOS, whose row says .3."""

    RIGHT = torch.tensor([0.2, 0.12, 0.2, 0.19, 0.3, 0.2, 0.2, 0.3])
    PRINTED = torch.tensor([0.2, 0.12, 0.2, 0.19, 0.3, 0.2, 0.2, 0.2])
    WORDS = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])

    def logits(self, right: Tensor) -> Tensor:
        """Scores that give each right token its probability, and the rest of it to nine others; any number may be added
        to all scores of a position."""
        others = ((1 - right) / 9).unsqueeze(-1).repeat(1, 10)
        return others.scatter(-1, self.WORDS.unsqueeze(-1), right.unsqueeze(-1)).log() + torch.randn(8, 1)

    @pytest.mark.parametrize(("right", "mean"), [(RIGHT, 1.5783), (PRINTED, 1.6290)])
    def test_of_the_slide(self, right: Tensor, mean: float) -> None:
        total = decoding.sequence_log_probability(self.logits(right), self.WORDS)
        assert_close(total.exp(), right.prod())
        assert -total.item() / 8 == pytest.approx(mean, abs=5e-5)

    def test_are_torchs(self) -> None:
        logits, tokens = torch.randn(2, 3, 5, 7), torch.randint(7, (2, 3, 5))
        theirs = torch.distributions.Categorical(logits=logits).log_prob(tokens)
        assert_close(decoding.sequence_log_probability(logits, tokens), theirs.sum(dim=-1))

    def test_padding_does_not_count(self) -> None:
        logits, tokens = torch.randn(2, 5, 7), torch.randint(7, (2, 5))
        logits[1, 3:] = -torch.inf
        logits[1, 3:, tokens[1, 3:] - 1] = 0.0  # padding is impossible here
        mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
        alone = decoding.sequence_log_probability(logits[1, :3], tokens[1, :3])
        assert_close(decoding.sequence_log_probability(logits, tokens, mask)[1], alone)
