"""Lesson 04, run."""

from __future__ import annotations

import re

from tests.solutions.executing import ExecutedLesson

NUMBER = r"([\d.]+(?:e[+-]\d+)?)"


class TestHeadsAndBlocks(ExecutedLesson):
    lesson = "04_heads_and_blocks"
    pictures = 12

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

    def test_an_activation_bends_the_line(self, output: str) -> None:
        ((bent, straight),) = re.findall(rf"with activation {NUMBER}, without {NUMBER}", output)
        assert float(bent) < 0.15
        assert float(straight) > 0.3

    def test_the_slides_hidden_dim_changes_nothing(self, output: str) -> None:
        counts = re.findall(r"hidden_dim +[\d,]+: ([\d,]+) parameters", output)
        assert counts == ["128,258"] * 2

    def test_deep_post_norm_is_stuck_where_pre_norm_learns(self, output: str) -> None:
        losses = dict(
            re.findall(rf"^(p\S+norm(?:, warmed up)?) +mean loss of the last 10 steps: {NUMBER}", output, re.M)
        )
        post, warmed, pre = (float(losses[name]) for name in ("post-norm", "post-norm, warmed up", "pre-norm"))
        assert post > 1.1
        assert pre < 0.6
        assert pre < warmed < post

    def test_only_the_encoder_tells_news_from_no_news(self, output: str) -> None:
        right = dict(re.findall(r"^(bag of embeddings|encoder) +right on new sentences: (\d+)%", output, re.M))
        assert 40 < int(right["bag of embeddings"]) < 65
        assert int(right["encoder"]) > 85

    def test_the_papers_block_is_counted_rightly(self, output: str) -> None:
        found = re.findall(r"counted ([\d,]+), built ([\d,]+)", output)
        assert found == [("3,152,384", "3,152,384")] * 2

    def test_words_meeting_words_become_most_of_the_work(self, output: str) -> None:
        shares = [int(share) for share in re.findall(r"million, (\d+)%", output)]
        assert shares == sorted(shares)
        assert shares[0] < 10
        assert shares[-1] > 50
