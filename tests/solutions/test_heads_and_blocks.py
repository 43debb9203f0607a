"""Lesson 04, run."""

import math
import re

import pytest
import torch

from tests.solutions.executing import ExecutedLesson, numbers, table
from tests.solutions.reading import defined_by

NUMBER = r"([\d.]+(?:e[+-]\d+)?)"


class TestHeadsAndBlocks(ExecutedLesson):
    lesson = "04_heads_and_blocks"
    pictures = 14
    prints = ("comparisons are half of the work at: 384 tokens",)

    def test_two_patterns_are_in_a_published_model_and_one_is_not(self, output: str) -> None:
        found = table(r"^(\w+) +layer (\d), head +\d+: (\d+)%; a head on average (\d+)%$", output)
        (layer_before, before, _), (layer_after, after, _) = found["before"], found["after"]
        assert (layer_before, layer_after) == (1, 2)
        assert before > 97 > after > 60
        assert 37 < found["first"][2] < 47, "two fifths"
        assert max(found[pattern][2] for pattern in ("before", "after", "same")) < 10
        assert 15 < found["same"][1] < 25, "a fifth"

    def test_layer_norm_does_not_mind_the_size_of_the_weights(self, output: str) -> None:
        found = re.findall(rf"weights × +(\d+): their size +{NUMBER}, the norm returns +(.*) \.\.\.", output)
        (_, small, before), (_, large, after) = found
        assert float(large) > 50 * float(small)
        for one, other in zip(before.split(), after.split(), strict=True):
            assert abs(float(one) - float(other)) < 1e-3

    def test_dropout_keeps_the_mean(self, output: str) -> None:
        assert numbers(rf"mean of 2000 draws: at most {NUMBER} away", output)[0] < 0.2

    def test_gradients_need_residual_connections(self, output: str) -> None:
        shares = table(rf"^(\S.*?) +the first block gets {NUMBER} times", output)
        assert shares["without residual connections"][0] < 1e-6
        assert all(0.1 < shares[order][0] < 10 for order in ("post-norm", "pre-norm"))

    def test_near_the_loss_the_two_orders_part(self, output: str) -> None:
        """In post-norm the last block's gradient does not mind the depth; in pre-norm it shrinks with it."""
        last = {
            order: [float(size) for size in re.findall(r"blocks ([\d.]+)", row)]
            for order, row in re.findall(r"^(\w+-norm) +gradient at the last block: (.*)$", output, re.M)
        }
        assert max(last["post-norm"]) < 1.1 * min(last["post-norm"])
        flat, deep, deeper = last["pre-norm"]
        assert flat > 1.15 * deep > 1.3 * deeper

    def test_the_shape_at_every_line(self, output: str) -> None:
        shapes = dict(re.findall(r"^(\S.*?)  +(\[[\d, ]+\])  ", output, re.M))
        assert shapes["scores = q kᵀ / √d_head"] == "[2, 4, 5, 5]"
        assert shapes["hidden = GELU(x W_1 + b_1)"] == "[2, 5, 128]"
        assert shapes["x = norm_2(x + back)"] == "[2, 5, 32]"
        assert numbers(r"line by line and in one go: largest difference (\S+)", output)[0] < 1e-4

    def test_an_activation_bends_the_line(self, output: str) -> None:
        assert 1e-5 < numbers(rf"two forms of GELU differ by {NUMBER} at most", output)[0] < 1e-3
        bent, straight = numbers(rf"with activation {NUMBER}, without {NUMBER}", output)
        assert bent < 0.15 < 0.3 < straight

    def test_only_the_encoder_tells_news_from_no_news(self, output: str) -> None:
        right = table(r"^(bag of embeddings|encoder) +right on new sentences: (\d+)%", output)
        assert 40 < right["bag of embeddings"][0] < 65 < 85 < right["encoder"][0]

    def test_the_papers_block_is_counted_rightly(self, output: str) -> None:
        found = re.findall(r"counted ([\d,]+), built ([\d,]+)", output)
        assert found == [("3,152,384", "3,152,384")] * 2

    def test_tokens_meeting_tokens_become_most_of_the_work(self, output: str) -> None:
        shares = [int(share) for share in re.findall(r"million, (\d+)%", output)]
        assert shares == sorted(shares)
        assert shares[0] < 10 < 50 < shares[-1]


@pytest.mark.usefixtures("thorough")
class TestWhatHeadsAndBlocksLearn:
    lesson = TestHeadsAndBlocks.lesson

    def test_four_heads_look_at_four_things(self, output: str) -> None:
        assert "patterns found by the heads: after, before, first, same" in output

    def test_as_many_heads_as_patterns_are_needed(self, output: str) -> None:
        rows = {
            heads: sorted(map(int, re.findall(r"(\d+)%", row)))
            for heads, row in re.findall(r"^(\d) heads? (.*)$", output, re.M)
        }
        assert len(rows["4"]) == 4
        assert min(rows["4"]) > 85
        assert sum(share > 75 for share in rows["2"]) <= 2
        assert sum(share > 75 for share in rows["1"]) <= 1

    def test_deep_post_norm_is_stuck_where_pre_norm_learns(self, output: str) -> None:
        losses = table(rf"^(p\S+norm(?:, warmed up)?) +mean loss of the last 10 steps: {NUMBER}", output)
        (post,), (warmed,), (pre,) = (losses[name] for name in ("post-norm", "post-norm, warmed up", "pre-norm"))
        assert pre < 0.1
        assert 0.85 < warmed < 1.45
        assert 1.0 < post < 1.45


def test_the_slips_of_the_formula_print_the_evidence() -> None:
    printed, suspected = [], "q @ k.mT / math.sqrt(2)"
    for answer in (suspected, "q @ k.mT / 2", "q @ k / math.sqrt(2)", "q @ k / 2"):
        names = defined_by("04_heads_and_blocks", "def suspect(q, k)", suspected, answer, torch=torch, math=math)
        printed.append(torch.allclose(names["reconstructed"], names["evidence"]))
        if len(printed) == 1:
            right = torch.tensor([[1.4142, 0.0], [2.8284, 1.4142]])
            torch.testing.assert_close(names["reconstructed"], right, atol=1e-4, rtol=0)
    assert printed == [False, False, False, True]
