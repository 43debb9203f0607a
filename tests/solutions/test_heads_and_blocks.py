"""Lesson 04, run."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch

from tests.solutions.executing import ExecutedLesson
from tests.solutions.reading import read_lesson

NUMBER = r"([\d.]+(?:e[+-]\d+)?)"


class TestHeadsAndBlocks(ExecutedLesson):
    lesson = "04_heads_and_blocks"
    pictures = 14

    def test_two_patterns_are_in_a_published_model_and_one_is_not(self, output: str) -> None:
        found = re.findall(r"^(\w+) +layer (\d), head +(\d+): (\d+)%; a head on average (\d+)%$", output, re.M)
        best = {pattern: (int(layer), int(share)) for pattern, layer, _head, share, _mean in found}
        mean = {pattern: int(share) for pattern, *_best, share in found}
        assert best["before"][0] == 1
        assert best["before"][1] > 97
        assert best["after"][0] == 2
        assert best["after"][1] > 60
        assert 37 < mean["first"] < 47, "two fifths"
        assert max(mean[pattern] for pattern in ("before", "after", "same")) < 10
        assert 15 < best["same"][1] < 25, "a fifth"

    def test_layer_norm_does_not_mind_the_size_of_the_weights(self, output: str) -> None:
        found = re.findall(rf"weights × +(\d+): their size +{NUMBER}, out of the norm comes +(.*) \.\.\.", output)
        (_, small, before), (_, large, after) = found
        assert float(large) > 50 * float(small)
        for one, other in zip(before.split(), after.split(), strict=True):
            assert abs(float(one) - float(other)) < 1e-3

    def test_dropout_keeps_the_mean(self, output: str) -> None:
        (away,) = re.findall(rf"mean of 2000 draws: at most {NUMBER} away", output)
        assert float(away) < 0.2

    def test_gradients_need_residual_connections(self, output: str) -> None:
        shares = dict(re.findall(rf"^(\S.*?) +the first block gets {NUMBER} times", output, re.M))
        assert float(shares["without residual connections"]) < 1e-6
        assert 0.1 < float(shares["post-norm"]) < 10
        assert 0.1 < float(shares["pre-norm"]) < 10

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
        assert shapes["hidden = ReLU(x W_1 + b_1)"] == "[2, 5, 128]"
        assert shapes["x = norm_2(x + back)"] == "[2, 5, 32]"
        (difference,) = re.findall(r"line by line and in one go: largest difference (\S+)", output)
        assert float(difference) < 1e-4

    def test_an_activation_bends_the_line(self, output: str) -> None:
        ((bent, straight),) = re.findall(rf"with activation {NUMBER}, without {NUMBER}", output)
        assert float(bent) < 0.15
        assert float(straight) > 0.3

    def test_only_the_encoder_tells_news_from_no_news(self, output: str) -> None:
        right = dict(re.findall(r"^(bag of embeddings|encoder) +right on new sentences: (\d+)%", output, re.M))
        assert 40 < int(right["bag of embeddings"]) < 65
        assert int(right["encoder"]) > 85

    def test_the_papers_block_is_counted_rightly(self, output: str) -> None:
        found = re.findall(r"counted ([\d,]+), built ([\d,]+)", output)
        assert found == [("3,152,384", "3,152,384")] * 2

    def test_tokens_meeting_tokens_become_most_of_the_work(self, output: str) -> None:
        shares = [int(share) for share in re.findall(r"million, (\d+)%", output)]
        assert shares == sorted(shares)
        assert shares[0] < 10
        assert shares[-1] > 50

    def test_more_than_half_of_the_work_is_meetings_from_384_tokens_on(self, output: str) -> None:
        assert "the meetings are half of the work at: 384 tokens" in output


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
        losses = dict(
            re.findall(rf"^(p\S+norm(?:, warmed up)?) +mean loss of the last 10 steps: {NUMBER}", output, re.M)
        )
        post, warmed, pre = (float(losses[name]) for name in ("post-norm", "post-norm, warmed up", "pre-norm"))
        assert post > 1.1
        assert pre < 0.6
        assert pre < warmed < post


def test_the_slips_of_the_formula_print_the_evidence() -> None:
    (cell,) = (
        cell.source for cell in read_lesson("04_heads_and_blocks").cells if cell.source.startswith("def suspect(q, k)")
    )
    names: dict[str, Any] = {"torch": torch, "math": math}
    printed = []
    for answer in ("q @ k.mT / math.sqrt(2)", "q @ k.mT / 2", "q @ k / math.sqrt(2)", "q @ k / 2"):
        exec(cell.replace("q @ k.mT / math.sqrt(2)", answer), names)
        printed.append(torch.allclose(names["reconstructed"], names["evidence"]))
        if len(printed) == 1:
            right = torch.tensor([[1.4142, 0.0], [2.8284, 1.4142]])
            torch.testing.assert_close(names["reconstructed"], right, atol=1e-4, rtol=0)
    assert printed == [False, False, False, True]
