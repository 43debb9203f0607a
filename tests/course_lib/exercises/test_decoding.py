"""What costs a part of the points, and predictions, which no verdict tells."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.course_lib.exercises.judging import verdict

Step = Callable[[Tensor], Tensor]


def _while_true(step: Step, start_id: int, end_id: int, max_new_tokens: int) -> Tensor:
    ids = torch.tensor([start_id])
    for _ in range(max_new_tokens):
        ids = torch.cat([ids, step(ids).argmax().reshape(1)])
    return ids[1:]


def _counting_the_start(step: Step, start_id: int, end_id: int, max_new_tokens: int) -> Tensor:
    ids = [start_id]
    while len(ids) < max_new_tokens and ids[-1] != end_id:
        ids.append(int(step(torch.tensor(ids)).argmax()))
    return torch.tensor(ids[1:], dtype=torch.int64)


def _causal(
    x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, **how: Any
) -> tuple[Tensor, Tensor, Tensor]:
    k, v = torch.cat((keys, x @ W_k), -2), torch.cat((values, x @ W_v), -2)
    return F.scaled_dot_product_attention(x @ W_q, k, v, **how), k, v


class TestParts:
    def test_a_single_new_token_earns_its_part(self) -> None:
        assert verdict("decoding.attend_with_cache", _causal).points == 2
        assert verdict("decoding.attend_with_cache", partial(_causal, is_causal=True)).points == 0

    def test_all_but_the_limit_earns_its_part(self) -> None:
        assert verdict("decoding.greedy", _counting_the_start).points == 2
        assert verdict("decoding.greedy", _while_true).points == 0

    def test_beams_within_the_vocabulary_earn_their_part(self) -> None:
        def with_topk(step: Step, start_id: int, end_id: int, beams: int, max_new_tokens: int) -> Tensor:
            kept: list[tuple[float, list[int]]] = [(0.0, [start_id])]
            for _ in range(max_new_tokens):
                candidates = [sentence for sentence in kept if sentence[1][-1] == end_id]
                for score, tokens in kept:
                    if tokens[-1] != end_id:
                        best = torch.log_softmax(step(torch.tensor(tokens)), dim=-1).topk(beams)
                        following = zip(best.values.tolist(), best.indices.tolist(), strict=True)
                        candidates += [(score + more, [*tokens, token]) for more, token in following]
                kept = sorted(candidates, reverse=True)[:beams]
            return torch.tensor(kept[0][1][1:])

        found = verdict("decoding.beam_search", with_topk)
        assert found.points == 5
        assert "out of range" in found.text()

    def test_a_k_within_the_vocabulary_earns_its_part(self) -> None:
        def plain(probabilities: Tensor, k: int) -> Tensor:
            values, positions = probabilities.topk(k)
            return torch.zeros_like(probabilities).scatter(-1, positions, values / values.sum(-1, keepdim=True))

        found = verdict("decoding.top_k", plain)
        assert found.points == 2
        assert "out of range" in found.text()


def test_a_mass_of_1_may_be_out_of_reach() -> None:
    def by_the_last(probabilities: Tensor, p: float) -> Tensor:
        ordered = probabilities.sort(dim=-1, descending=True).values
        last = ordered.gather(-1, (ordered.cumsum(-1) < p).sum(-1, keepdim=True))
        return F.normalize(probabilities * (probabilities >= last), p=1.0, dim=-1)

    found = verdict("decoding.nucleus", by_the_last, None)
    assert [case.case.name for case in found.cases if not case.passed] == ["p = 1, which the sum may miss by rounding"]
    assert found.points == 2


@pytest.mark.parametrize(
    "wrong",
    [
        ("D", [0.06]),
        ("B", [0.5]),
        ("B", [0.6, 0.5]),
        "B",
        list("ABCDEF"),
        [("B", [0.27]), ("E", [0.27, 0.24]), ("A", [0.27, 0.24, 0.216])],
        None,
    ],
)
def test_a_prediction_is_not_told(wrong: object) -> None:
    found = verdict("decoding.sentence_found", lambda beams: wrong, None)
    assert not found.passed
    for text in (found.text(), found.html(), str(found.record())):
        assert "is right" not in text
        assert "expected  " not in text
        assert "<th>expected" not in text


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ([[1, 3]], "step takes the ids of one sentence, [tokens], not a tensor of shape [1, 2]"),
        ([1.0, 3.0], "an int64 tensor [tokens] that begins with <s>"),
        ([], "an int64 tensor [tokens] that begins with <s>"),
        ([1, 99], "step takes the ids 0 to 12, but it was given [1, 99]"),
    ],
)
def test_a_step_says_what_it_takes(tokens: list[float], said: str) -> None:
    def asks(step: Step, start_id: int, end_id: int, max_new_tokens: int) -> Tensor:
        return step(torch.tensor(tokens))

    assert said in verdict("decoding.greedy", asks, None).text().replace("\n        ", " ")
