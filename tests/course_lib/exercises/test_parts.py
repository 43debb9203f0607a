"""A mistake costs the part that it concerns, and no other; one in the core costs all."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.judging.observation import Outcome
from course_lib.references.heads_and_blocks import AddAndNorm
from tests.course_lib.exercises.judging import mistake, verdict

Step = Callable[[Tensor], Tensor]

POINTS = {
    "words_in_a_bag.mean_pooling": {"nan_without_words": 3},
    "attention.weights": {
        "large_scores_overflow": 2,
        "one_maximum_for_all_rows": 2,
        "normalised_over_queries": 0,
    },
    "masking.masked_weights": {"nan_where_nothing_is_allowed": 3, "uniform_where_nothing_is_allowed": 3},
    "masking.padding_mask": {"on_the_cpu": 1},
    "masking.packed_mask": {"on_the_cpu": 3},
    "heads_and_blocks.multi_head_attention": {
        "memory_ignored": 4,
        "x_and_memory_exchanged": 4,
        "values_from_x": 4,
        "mask_ignored": 5,
        "mask_inverted": 5,
        "masks_meet_heads": 5,
        "scaled_by_d_model": 0,
    },
    "heads_and_blocks.layer_norm": {"epsilon_left_out": 2, "epsilon_outside_the_root": 2, "epsilon_fixed": 2},
    "heads_and_blocks.feed_forward": {"always_relu": 2},
    "heads_and_blocks.add_and_norm": {"always_post_norm": 2, "residual_normalised_too": 2},
    "encoder_decoder.loss_and_perplexity": {"log_of_softmax": 2, "padding_counted": 0},
    "encoder_decoder.encode_and_decode": {"mask_on_the_cpu": 3, "future_seen": 0},
    "encoder_decoder.training_loop": {"losses_in_single_precision": 3, "not_clipped": 0},
    "encoder_decoder.label_smoothing": {"log_of_softmax": 2, "softmax_by_hand": 2},
    "decoding.speculative_step": {"row_before_the_last": 3},
    "gpt.causal_language_model": {"always_causal": 4, "mask_on_the_cpu": 4},
    "gpt.generate": {"context_ignored": 2, "first_words_kept": 2},
    "subwords.merge": {"first_one_only": 0},
    "bert.answer_span": {"limit_ignored": 3, "one_word_too_many": 3},
    "bert.multiple_choice": {"exponentials_too_large": 2, "largest_of_the_batch": 2},
    "evaluation.precision_recall_f1": {"nan_for_nothing": 2},
    "evaluation.clipped_ngrams": {"first_reference_only": 3},
    "evaluation.brevity_penalty": {"one_for_nothing": 1},
    "evaluation.corpus_bleu": {"zeros_left_out": 3, "first_of_two": 3},
    "evaluation.pairwise_accuracy": {"tolerance_excluded": 2},
    "evaluation.seen_before": {"sentences_left_out": 3},
    "evaluation.corpus_or_sentence": {"passed_over": 1},
}


@pytest.mark.parametrize(
    ("exercise_id", "name", "points"),
    [(exercise_id, name, points) for exercise_id, of in POINTS.items() for name, points in of.items()],
)
def test_a_mistake_costs_its_own_part(exercise_id: str, name: str, points: int) -> None:
    for seed in (1, 5):
        assert verdict(exercise_id, mistake(exercise_id, name), seed).points == points


@pytest.mark.parametrize(
    "subtracted",
    [
        lambda scaled: scaled.mean(-1, keepdim=True),
        lambda scaled: scaled.amin(-1, keepdim=True),
        lambda scaled: scaled.median(-1, keepdim=True).values,
        lambda scaled: scaled[..., :1],
        lambda scaled: scaled.double() * 0,
    ],
)
def test_only_the_largest_score_is_safe(subtracted: Callable[[Tensor], Tensor]) -> None:
    def answer(scaled: Tensor) -> Tensor:
        powers = torch.exp(scaled - subtracted(scaled))
        return (powers / powers.sum(-1, keepdim=True)).to(scaled.dtype)

    for seed in (None, 1, 2):
        assert verdict("attention.weights", answer, seed).points == 2


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


def test_a_single_new_token_earns_its_part() -> None:
    assert verdict("decoding.attend_with_cache", _causal).points == 2
    assert verdict("decoding.attend_with_cache", partial(_causal, is_causal=True)).points == 0


def test_all_but_the_limit_earns_its_part() -> None:
    assert verdict("decoding.greedy", _counting_the_start).points == 2
    assert verdict("decoding.greedy", _while_true).points == 0


def test_beams_within_the_vocabulary_earn_their_part() -> None:
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


def test_a_k_within_the_vocabulary_earns_its_part() -> None:
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


class PostNormOnly(AddAndNorm):
    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.norm_first:
            raise NotImplementedError()
        return self.norm(x + self.dropout(sublayer(x)))


def test_post_norm_alone_earns_its_part_where_pre_norm_is_still_the_stub() -> None:
    found = verdict("heads_and_blocks.add_and_norm", PostNormOnly)
    assert (found.outcome, found.points) == (Outcome.RAISED, 2)


class _Sliced(nn.Module):
    def __init__(self, d_model: int, context_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.encoding.narrow(0, 0, min(x.shape[-2], len(self.encoding)))


class _StartsOver(_Sliced):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.stack([self.encoding[i % len(self.encoding)] for i in range(x.shape[-2])])


class _Indexed(_Sliced):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.encoding[torch.arange(x.shape[-2])]


def test_a_missing_refusal_costs_its_own_part_only() -> None:
    for answer in (_Sliced, _StartsOver, _Indexed):
        assert verdict("positions.learned_positions", answer).points == 2
    told = " ".join(verdict("positions.learned_positions", _Indexed).text().split())
    assert "This call should raise a plain ValueError. Your answer raised IndexError" in told


def test_learning_without_an_end_earns_its_part() -> None:
    def learn(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
        ids = dict(ids)
        learned = []
        for _ in range(merges):
            learned.append(choose(count(words), ids))
            ids.setdefault("".join(learned[-1]), len(ids))
            words = {join(pieces, learned[-1]): times for pieces, times in words.items()}
        return learned

    assert verdict("subwords.learn_merges", learn).points == 3
